/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of strings that test their characters, pad them, or format. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/methods.h"
#include "jinja/unicode.h"

#define SELF (&call->self->as.string)

/* Whether all characters pass a test; false for an empty string. */
static int all(const struct graft_jinja_string *string, int (*is)(uint32_t code)) {
    size_t at = 0;
    for (uint32_t code; at < string->length;) {
        size_t step = graft_utf8_read(string->bytes + at, &code);
        if (!is(code)) {
            return 0;
        }
        at += step;
    }
    return string->length > 0;
}

static int is_alnum_character(uint32_t code) {
    return graft_jinja_is_alpha(code) || graft_jinja_is_numeric(code);
}

/* Whether there are letters of this case, and none of the other. */
static int is_cased(const struct graft_jinja_string *string, int (*wanted)(uint32_t), int (*other)(uint32_t)) {
    int found = 0;
    for (size_t at = 0; at < string->length;) {
        uint32_t code;
        at += graft_utf8_read(string->bytes + at, &code);
        if (other(code)) {
            return 0;
        }
        found |= wanted(code);
    }
    return found;
}

static int answer(struct graft_jinja_run *run, const struct graft_jinja_call *call, int truth,
                  struct graft_jinja_value *result) {
    *result = graft_jinja_bool(truth);
    return graft_jinja_spend(run, SELF->length);
}

static int isdigit_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer(run, call, all(SELF, graft_jinja_is_digit), result);
}

static int isnumeric_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return answer(run, call, all(SELF, graft_jinja_is_numeric), result);
}

static int isalpha_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer(run, call, all(SELF, graft_jinja_is_alpha), result);
}

static int isalnum_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer(run, call, all(SELF, is_alnum_character), result);
}

static int isspace_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer(run, call, all(SELF, graft_jinja_is_space), result);
}

static int isupper_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer(run, call, is_cased(SELF, graft_jinja_is_upper, graft_jinja_is_lower), result);
}

static int islower_(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer(run, call, is_cased(SELF, graft_jinja_is_lower, graft_jinja_is_upper), result);
}

static int add_fill(struct graft_jinja_run *run, struct graft_jinja_builder *text, int64_t n,
                    const struct graft_jinja_string *fill) {
    int status = GRAFT_OK;
    for (; n > 0 && status == GRAFT_OK; n--) {
        status = graft_jinja_add(run, text, fill);
    }
    return status;
}

/* Pads to a width; `left_share` is the left side's share of the padding, in halves. */
static int pad(struct graft_jinja_run *run, const struct graft_jinja_call *call, int left_share,
               struct graft_jinja_value *result) {
    struct graft_jinja_string fill = {" ", NULL, 1};
    struct graft_jinja_builder text = {0};
    int64_t width = 0;
    int status = graft_jinja_want_int(run, call->given[0], "the width", &width);
    if (status == GRAFT_OK) {
        status = graft_jinja_want_text(run, call->given[1], "the fill character", &fill);
    }
    int64_t length = (int64_t)graft_utf8_count(SELF->bytes, SELF->length);
    int64_t missing = width > length ? width - length : 0;
    /* As in str.center: if the padding is odd, the extra character goes to the left when the width is odd too. */
    int64_t left = left_share == 2 ? missing : left_share == 1 ? missing / 2 + (missing & width & 1) : 0;
    if (status == GRAFT_OK) {
        status = add_fill(run, &text, left, &fill);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_add(run, &text, SELF);
    }
    if (status == GRAFT_OK) {
        status = add_fill(run, &text, missing - left, &fill);
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

static int ljust(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return pad(run, call, 0, result);
}

static int rjust(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return pad(run, call, 2, result);
}

static int center(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return pad(run, call, 1, result);
}

/* Finds the argument that "{}", "{0}" or "{name}" refers to. */
static int find_field(struct graft_jinja_run *run, const struct graft_jinja_arguments *arguments,
                      const struct graft_jinja_string *field, int64_t *automatic,
                      const struct graft_jinja_value **value) {
    size_t number = 0, i = 0;
    for (; i < field->length && i < 6 && field->bytes[i] >= '0' && field->bytes[i] <= '9'; i++) {
        number = 10 * number + (size_t)(field->bytes[i] - '0');
    }
    *value = NULL;
    if (i == field->length) {
        /* As in Python, fields must either all have a number or all have none; -1 stands for numbers. */
        if (i == 0 ? *automatic < 0 : *automatic > 0) {
            return graft_jinja_fail(run, "format() has fields with a number and without");
        }
        number = i == 0 ? (size_t)*automatic : number;
        *automatic = i == 0 ? *automatic + 1 : -1;
        *value = number < arguments->n ? &arguments->values[number] : NULL;
    } else {
        for (size_t k = 0; k < arguments->n_keywords && *value == NULL; k++) {
            *value =
                graft_jinja_string_equal(&arguments->keywords[k].name, field) ? &arguments->keywords[k].value : NULL;
        }
    }
    return *value != NULL ? GRAFT_OK
                          : graft_jinja_fail(run, "format() has no value for \"{%.*s}\"",
                                             field->length < 60 ? (int)field->length : 60, field->bytes);
}

static int format_into(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                       struct graft_jinja_builder *text) {
    const struct graft_jinja_string *self = SELF;
    int64_t automatic = 0;
    int status = GRAFT_OK;
    for (size_t at = 0; at < self->length && status == GRAFT_OK;) {
        const char c = self->bytes[at];
        const int doubled = at + 1 < self->length && self->bytes[at + 1] == c;
        if (c == '{' && !doubled) {
            const char *close = memchr(self->bytes + at, '}', self->length - at);
            const struct graft_jinja_value *value = NULL;
            if (close == NULL) {
                return graft_jinja_fail(run, "format() finds no \"}\"");
            }
            const size_t end = (size_t)(close - self->bytes);
            const struct graft_jinja_string field = graft_jinja_part(self, at + 1, end);
            status = find_field(run, call->arguments, &field, &automatic, &value);
            if (status == GRAFT_OK) {
                status = graft_jinja_add_text(run, text, value);
            }
            at = end + 1;
            continue;
        }
        const struct graft_jinja_string one = graft_jinja_part(self, at, at + 1);
        status = graft_jinja_add(run, text, &one);
        at += (c == '{' || c == '}') && doubled ? 2 : 1;
    }
    return status;
}

static int format(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_builder text = {0};
    int status = format_into(run, call, &text);
    return graft_jinja_finish_text(run, &text, status, result);
}

static const struct graft_jinja_built_in entries[] = {
    {"isdigit", isdigit_, "", 0},
    {"isdecimal", isdigit_, "", 0},
    {"isnumeric", isnumeric_, "", 0},
    {"isalpha", isalpha_, "", 0},
    {"isalnum", isalnum_, "", 0},
    {"isspace", isspace_, "", 0},
    {"isupper", isupper_, "", 0},
    {"islower", islower_, "", 0},
    {"ljust", ljust, "width fillchar", 1},
    {"rjust", rjust, "width fillchar", 1},
    {"center", center, "width fillchar", 1},
    {"format", format, NULL, 0},
};

const struct graft_jinja_table graft_jinja_string_question_methods = GRAFT_JINJA_TABLE(entries);
