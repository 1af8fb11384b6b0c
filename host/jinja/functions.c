/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that templates call by name, such as range and dict. */
#include <locale.h>
#include <string.h>
#include <time.h>

#include "jinja/methods.h"

/* The limit of jinja2's sandbox. */
enum { MAX_RANGE = 100000 };

static int range(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    int64_t start = 0, stop = 0, step = 1;
    const int has_start = call->given[1] != NULL;
    int status = graft_jinja_want_int(run, call->given[0], "range's argument", has_start ? &start : &stop);
    if (status == GRAFT_OK) {
        status = graft_jinja_want_int(run, call->given[1], "range's argument", &stop);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_want_int(run, call->given[2], "range's step", &step);
    }
    if (status == GRAFT_OK && step == 0) {
        status = graft_jinja_fail(run, "range() arg 3 must not be zero");
    }
    if (status == GRAFT_OK && (start > INT32_MAX || start < -INT32_MAX || stop > INT32_MAX || stop < -INT32_MAX ||
                               step > INT32_MAX || step < -INT32_MAX)) {
        status = graft_jinja_fail(run, "range() takes numbers of 32 bits");
    }
    int64_t n = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
    if (status == GRAFT_OK && n > MAX_RANGE) {
        status =
            graft_jinja_fail(run, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", MAX_RANGE);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_spend(run, n > 0 ? (size_t)n : 0);
    }
    struct graft_jinja_list *list =
        status == GRAFT_OK ? graft_jinja_new_list(run, GRAFT_JINJA_RANGE, n > 0 ? (size_t)n : 0) : NULL;
    status = status == GRAFT_OK && list == NULL ? graft_jinja_failed(run) : status;
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_jinja_value number = graft_jinja_int(start + i * step);
        status = graft_jinja_push(run, list, &number);
    }
    *result = graft_jinja_of_list(list);
    return status;
}

/* dict(mapping or pairs, name=value, ...). */
static int make_dict(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_dict **dict) {
    const struct graft_jinja_arguments *arguments = call->arguments;
    *dict = graft_jinja_new_dict(run, 0);
    int status = *dict != NULL ? GRAFT_OK : graft_jinja_failed(run);
    if (status == GRAFT_OK && arguments->n > 1) {
        status = graft_jinja_fail(run, "dict expected at most 1 argument, got %zu", arguments->n);
    }
    if (status == GRAFT_OK && arguments->n == 1 && arguments->values[0].kind == GRAFT_JINJA_DICT) {
        const struct graft_jinja_dict *from = arguments->values[0].as.dict;
        for (size_t i = 0; i < from->n && status == GRAFT_OK; i++) {
            status = graft_jinja_put(run, *dict, &from->entries[i].key, &from->entries[i].value);
        }
    } else if (status == GRAFT_OK && arguments->n == 1) {
        const struct graft_jinja_value *pairs = NULL;
        size_t n = 0;
        status = graft_jinja_walk(run, &arguments->values[0], &pairs, &n);
        for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
            status = pairs[i].kind == GRAFT_JINJA_LIST && pairs[i].as.list->n == 2
                         ? graft_jinja_put(run, *dict, &pairs[i].as.list->items[0], &pairs[i].as.list->items[1])
                         : graft_jinja_fail(run, "dict() takes pairs");
        }
    }
    for (size_t i = 0; i < arguments->n_keywords && status == GRAFT_OK; i++) {
        const struct graft_jinja_value key = graft_jinja_text(arguments->keywords[i].name);
        status = graft_jinja_put(run, *dict, &key, &arguments->keywords[i].value);
    }
    return status;
}

static int dict(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_dict *made = NULL;
    int status = make_dict(run, call, &made);
    *result = graft_jinja_of_dict(made);
    return status;
}

static int new_namespace(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                         struct graft_jinja_value *result) {
    struct graft_jinja_dict *made = NULL;
    int status = make_dict(run, call, &made);
    for (size_t i = 0; status == GRAFT_OK && i < made->n; i++) {
        const struct graft_jinja_value *key = &made->entries[i].key;
        if (key->kind == GRAFT_JINJA_STRING && key->as.string.length > 0 && key->as.string.bytes[0] == '_') {
            status = graft_jinja_fail(run, "a namespace takes no member whose name begins with '_'");
        }
    }
    *result = (struct graft_jinja_value){.kind = GRAFT_JINJA_NAMESPACE, .as.dict = made};
    return status;
}

/* Fails with the template's own message, as a usage error of the caller. */
static int raise_exception(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                           struct graft_jinja_value *result) {
    int status = graft_jinja_to_text(run, call->given[0], result);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_jinja_string *message = &result->as.string;
    return graft_error_set(run->error, GRAFT_ERROR_USAGE, run->parsed->source.name,
                           "the chat template refuses these messages: %.*s",
                           message->length < 800 ? (int)message->length : 800, message->bytes);
}

static int strftime_now(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result) {
    struct graft_jinja_string format = {0};
    char copy[256], text[1024];
    struct tm local;
    int status = graft_jinja_want_text(run, call->given[0], "strftime_now's format", &format);
    if (status != GRAFT_OK) {
        return status;
    }
    if (format.length >= sizeof copy) {
        return graft_jinja_fail(run, "strftime_now's format has %zu bytes, expected fewer than %zu", format.length,
                                sizeof copy);
    }
    memcpy(copy, format.bytes, format.length);
    copy[format.length] = '\0';
    /* Month names are English, whatever locale the embedding program has set. */
    locale_t english = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    size_t length = 0;
    if (english != (locale_t)0 && localtime_r(&run->now, &local) != NULL) {
        length = strftime_l(text, sizeof text, copy, &local, english);
    }
    if (english != (locale_t)0) {
        freelocale(english);
    }
    struct graft_jinja_builder builder = {0};
    status = graft_jinja_add_bytes(run, &builder, text, graft_utf8_valid_prefix(text, length), 0);
    return graft_jinja_finish_text(run, &builder, status, result);
}

static const struct graft_jinja_built_in entries[] = {
    {"range", range, "start stop step", 1},      {"dict", dict, NULL, 0},
    {"namespace", new_namespace, NULL, 0},       {"raise_exception", raise_exception, "message", 1},
    {"strftime_now", strftime_now, "format", 1},
};

int graft_jinja_find_function(const struct graft_jinja_string *name, struct graft_jinja_value *result) {
    const struct graft_jinja_built_in *found = graft_jinja_find_in(entries, sizeof entries / sizeof entries[0], name);
    if (found == NULL) {
        return 0;
    }
    *result = (struct graft_jinja_value){.kind = GRAFT_JINJA_FUNCTION, .as.function = (int)(found - entries)};
    return 1;
}

const struct graft_jinja_built_in *graft_jinja_function(int which) {
    return &entries[which];
}
