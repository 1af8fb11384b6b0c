/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of strings that split or join. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/methods.h"
#include "jinja/unicode.h"

#define SELF (&call->self->as.string)

static int push_part(struct graft_jinja_run *run, struct graft_jinja_list *list,
                     const struct graft_jinja_string *string, size_t begin, size_t end) {
    const struct graft_jinja_value part = graft_jinja_text(graft_jinja_part(string, begin, end));
    return graft_jinja_push(run, list, &part);
}

/* Splits at runs of white space; what is left after `max` splits keeps its inner white space. */
static int split_spaces(struct graft_jinja_run *run, const struct graft_jinja_string *string, int64_t max,
                        struct graft_jinja_list *list) {
    struct graft_jinja_string rest = graft_jinja_strip(string, NULL, GRAFT_JINJA_LEFT);
    int status = GRAFT_OK;
    while (rest.length > 0 && status == GRAFT_OK) {
        size_t end = 0;
        if (max-- == 0) {
            return push_part(run, list, &rest, 0, rest.length);
        }
        while (end < rest.length) {
            uint32_t code;
            size_t step = graft_utf8_read(rest.bytes + end, &code);
            if (graft_jinja_is_space(code)) {
                break;
            }
            end += step;
        }
        status = push_part(run, list, &rest, 0, end);
        const struct graft_jinja_string after = graft_jinja_part(&rest, end, rest.length);
        rest = graft_jinja_strip(&after, NULL, GRAFT_JINJA_LEFT);
    }
    return status;
}

static int split_at(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                    const struct graft_jinja_string *separator, int64_t max, struct graft_jinja_list *list) {
    size_t at = 0;
    int status = GRAFT_OK;
    for (;;) {
        size_t found = max-- != 0 ? graft_jinja_find_part(string, separator, at) : string->length + 1;
        if (found > string->length || status != GRAFT_OK) {
            break;
        }
        status = push_part(run, list, string, at, found);
        at = found + separator->length;
    }
    return status == GRAFT_OK ? push_part(run, list, string, at, string->length) : status;
}

static void reverse(struct graft_jinja_list *list) {
    for (size_t i = 0; i < list->n / 2; i++) {
        struct graft_jinja_value item = list->items[i];
        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = item;
    }
}

/* Finds the last separator before `end`. Returns an offset past the string if there is none or the limit is reached. */
static size_t find_last(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                        const struct graft_jinja_string *separator, size_t end) {
    for (size_t at = end >= separator->length ? end - separator->length + 1 : 0; at-- > 0;) {
        if (string->bytes[at] != separator->bytes[0]) {
            continue;
        }
        if (graft_jinja_spend(run, separator->length) != GRAFT_OK) {
            break;
        }
        if (memcmp(string->bytes + at, separator->bytes, separator->length) == 0) {
            return at;
        }
    }
    return string->length + 1;
}

static int rsplit_at(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                     const struct graft_jinja_string *separator, int64_t max, struct graft_jinja_list *list) {
    size_t end = string->length;
    int status = GRAFT_OK;
    for (;;) {
        size_t found = max-- != 0 ? find_last(run, string, separator, end) : string->length + 1;
        if (found > string->length || status != GRAFT_OK) {
            break;
        }
        status = push_part(run, list, string, found + separator->length, end);
        end = found;
    }
    status = status == GRAFT_OK ? push_part(run, list, string, 0, end) : status;
    reverse(list);
    return status;
}

static int rsplit_spaces(struct graft_jinja_run *run, const struct graft_jinja_string *string, int64_t max,
                         struct graft_jinja_list *list) {
    struct graft_jinja_string rest = graft_jinja_strip(string, NULL, GRAFT_JINJA_RIGHT);
    int status = GRAFT_OK;
    while (rest.length > 0 && status == GRAFT_OK) {
        size_t begin = max-- == 0 ? 0 : rest.length;
        while (begin > 0) {
            uint32_t code;
            size_t step = begin - graft_utf8_previous(rest.bytes, begin);
            (void)graft_utf8_read(rest.bytes + begin - step, &code);
            if (graft_jinja_is_space(code)) {
                break;
            }
            begin -= step;
        }
        status = push_part(run, list, &rest, begin, rest.length);
        const struct graft_jinja_string before = graft_jinja_part(&rest, 0, begin);
        rest = graft_jinja_strip(&before, NULL, GRAFT_JINJA_RIGHT);
    }
    reverse(list);
    return status;
}

static int split_any(struct graft_jinja_run *run, const struct graft_jinja_call *call, int from_right,
                     struct graft_jinja_value *result) {
    struct graft_jinja_list *list = graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, 0);
    struct graft_jinja_string separator = {0};
    const int at_spaces = call->given[0] == NULL || call->given[0]->kind == GRAFT_JINJA_NONE;
    int64_t max = -1;
    int status = list != NULL ? GRAFT_OK : graft_jinja_failed(run);
    if (status == GRAFT_OK && !at_spaces) {
        status = graft_jinja_want_text(run, call->given[0], "split's separator", &separator);
        if (status == GRAFT_OK && separator.length == 0) {
            status = graft_jinja_fail(run, "empty separator");
        }
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_want_int(run, call->given[1], "split's maxsplit", &max);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_spend(run, SELF->length);
    }
    if (status == GRAFT_OK) {
        status = at_spaces    ? (from_right ? rsplit_spaces : split_spaces)(run, SELF, max, list)
                 : from_right ? rsplit_at(run, SELF, &separator, max, list)
                              : split_at(run, SELF, &separator, max, list);
    }
    *result = graft_jinja_of_list(list);
    return status;
}

static int split(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return split_any(run, call, 0, result);
}

static int rsplit(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return split_any(run, call, 1, result);
}

static int partition_at(struct graft_jinja_run *run, const struct graft_jinja_call *call, int last,
                        struct graft_jinja_value *result) {
    struct graft_jinja_list *list = graft_jinja_new_list(run, GRAFT_JINJA_TUPLE, 3);
    struct graft_jinja_string separator = {0};
    int status = list != NULL ? graft_jinja_want_text(run, call->given[0], "partition's separator", &separator)
                              : graft_jinja_failed(run);
    if (status == GRAFT_OK && separator.length == 0) {
        status = graft_jinja_fail(run, "empty separator");
    }
    if (status != GRAFT_OK) {
        return status;
    }
    size_t at = last ? find_last(run, SELF, &separator, SELF->length) : graft_jinja_find_part(SELF, &separator, 0);
    const size_t length = SELF->length;
    const int found = at <= length;
    const size_t begin = found ? at : last ? 0 : length;
    const size_t end = found ? at + separator.length : begin;
    status = push_part(run, list, SELF, 0, begin);
    if (status == GRAFT_OK) {
        status = push_part(run, list, SELF, begin, end);
    }
    if (status == GRAFT_OK) {
        status = push_part(run, list, SELF, end, length);
    }
    *result = graft_jinja_of_list(list);
    return status == GRAFT_OK ? graft_jinja_spend(run, length) : status;
}

static int partition(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                     struct graft_jinja_value *result) {
    return partition_at(run, call, 0, result);
}

static int rpartition(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return partition_at(run, call, 1, result);
}

static int is_line_break(uint32_t code) {
    return (code >= '\n' && code <= '\r') || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 ||
           code == 0x2029;
}

static int splitlines(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    struct graft_jinja_list *list = graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, 0);
    const int keep = call->given[0] != NULL && graft_jinja_truth(call->given[0]);
    size_t begin = 0;
    int status = list != NULL ? graft_jinja_spend(run, SELF->length) : graft_jinja_failed(run);
    for (size_t at = 0; at < SELF->length && status == GRAFT_OK;) {
        uint32_t code;
        size_t next = at + graft_utf8_read(SELF->bytes + at, &code);
        if (is_line_break(code)) {
            next += code == '\r' && next < SELF->length && SELF->bytes[next] == '\n';
            status = push_part(run, list, SELF, begin, keep ? next : at);
            begin = next;
        }
        at = next;
    }
    if (status == GRAFT_OK && begin < SELF->length) {
        status = push_part(run, list, SELF, begin, SELF->length);
    }
    *result = graft_jinja_of_list(list);
    return status;
}

static int join(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *items = NULL;
    struct graft_jinja_builder text = {0};
    size_t n = 0;
    int status = graft_jinja_walk(run, call->given[0], &items, &n);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_jinja_string part = {0};
        status = graft_jinja_want_text(run, &items[i], "what join puts together", &part);
        if (status == GRAFT_OK && i > 0) {
            status = graft_jinja_add(run, &text, SELF);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_add(run, &text, &part);
        }
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

static const struct graft_jinja_built_in entries[] = {
    {"split", split, "sep maxsplit", 0},  {"rsplit", rsplit, "sep maxsplit", 0},     {"partition", partition, "sep", 1},
    {"rpartition", rpartition, "sep", 1}, {"splitlines", splitlines, "keepends", 0}, {"join", join, "iterable", 1},
};

const struct graft_jinja_table graft_jinja_string_split_methods = GRAFT_JINJA_TABLE(entries);
