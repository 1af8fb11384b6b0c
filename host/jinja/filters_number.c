/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that return numbers, and `default`. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "jinja/methods.h"

static int length(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *self = call->self;
    size_t n = 0;
    switch (self->kind) {
    case GRAFT_JINJA_UNDEFINED:
        break;
    case GRAFT_JINJA_STRING:
        n = graft_utf8_count(self->as.string.bytes, self->as.string.length);
        break;
    case GRAFT_JINJA_LIST:
        n = self->as.list->n;
        break;
    case GRAFT_JINJA_DICT:
        n = self->as.dict->n;
        break;
    case GRAFT_JINJA_LOOP:
        n = self->as.loop->n;
        break;
    default:
        return graft_jinja_fail(run, "object of type '%s' has no len()", graft_jinja_type_name(self));
    }
    if (graft_jinja_is_list_of(self, GRAFT_JINJA_GENERATOR)) {
        return graft_jinja_fail(run, "object of type '%s' has no len()", graft_jinja_type_name(self));
    }
    *result = graft_jinja_int((int64_t)n);
    return self->kind == GRAFT_JINJA_STRING ? graft_jinja_spend(run, self->as.string.length) : GRAFT_OK;
}

static int default_of(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    static const struct graft_jinja_string nothing = {"", NULL, 0};
    const int any_false = call->given[1] != NULL && graft_jinja_truth(call->given[1]);
    const int is_absent = call->self->kind == GRAFT_JINJA_UNDEFINED || (any_false && !graft_jinja_truth(call->self));
    *result = !is_absent ? *call->self : call->given[0] != NULL ? *call->given[0] : graft_jinja_text(nothing);
    return graft_jinja_spend(run, 0);
}

static int absolute(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    const struct graft_jinja_value *self = call->self;
    if (!graft_jinja_is_number(self)) {
        return graft_jinja_fail(run, "bad operand type for abs(): '%s'", graft_jinja_type_name(self));
    }
    *result = *self;
    if (graft_jinja_as_double(self) < 0) {
        return graft_jinja_negate(run, self, result);
    }
    const struct graft_jinja_value zero = graft_jinja_int(0);
    return graft_jinja_binary(run, GRAFT_JINJA_ADD, self, &zero, result);
}

/* Parses a string as Python's int() or float() do, ignoring white space around the number. Returns 1 and the number, or
 * 0 if the string is none. */
static int read_number(const struct graft_jinja_string *string, struct graft_jinja_value *number) {
    char text[64];
    const struct graft_jinja_string digits = graft_jinja_strip(string, NULL, GRAFT_JINJA_BOTH);
    if (digits.length == 0 || digits.length >= sizeof text) {
        return 0;
    }
    memcpy(text, digits.bytes, digits.length);
    text[digits.length] = '\0';
    char *end = NULL;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0) {
        *number = graft_jinja_int(whole);
        return 1;
    }
    if (strpbrk(text, "xXpP") != NULL) {
        return 0;
    }
    *number = graft_jinja_float(strtod(text, &end));
    return *end == '\0';
}

/* default=0. Bases other than 10 are refused, as no template uses them. */
static int to_int(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_value number = *call->self;
    int64_t base = 10;
    int status = graft_jinja_want_int(run, call->given[1], "int's base", &base);
    if (status == GRAFT_OK && base != 10) {
        return graft_jinja_fail(run, "int's base is not 10");
    }
    int is_number = number.kind == GRAFT_JINJA_STRING ? read_number(&call->self->as.string, &number)
                                                      : graft_jinja_is_number(&number);
    double real = is_number ? graft_jinja_as_double(&number) : 0;
    if (!is_number || (number.kind == GRAFT_JINJA_FLOAT && !(fabs(real) < 9.2e18))) {
        *result = call->given[0] != NULL ? *call->given[0] : graft_jinja_int(0);
    } else if (number.kind == GRAFT_JINJA_FLOAT) {
        *result = graft_jinja_int((int64_t)real);
    } else {
        *result = number.kind == GRAFT_JINJA_BOOL ? graft_jinja_int(number.as.truth) : number;
    }
    return status;
}

static int to_float(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    struct graft_jinja_value number = *call->self;
    int is_number = number.kind == GRAFT_JINJA_STRING ? read_number(&call->self->as.string, &number)
                                                      : graft_jinja_is_number(&number);
    *result = is_number                ? graft_jinja_float(graft_jinja_as_double(&number))
              : call->given[0] != NULL ? *call->given[0]
                                       : graft_jinja_float(0);
    return graft_jinja_spend(run, 0);
}

/* Rounds to a number of decimals; halves go to the even digit, as in Python. */
static double rounded(double number, int64_t precision) {
    char text[400];
    if (!isfinite(number) || precision > 300 || precision < -300) {
        return precision < 0 && isfinite(number) ? 0 : number;
    }
    if (precision < 0) {
        double scale = pow(10, (double)-precision);
        return nearbyint(number / scale) * scale;
    }
    (void)snprintf(text, sizeof text, "%.*f", (int)(precision < 30 ? precision : 30), number);
    return fabs(number) < 1e22 ? strtod(text, NULL) : number;
}

/* precision=0, method='common', 'ceil' or 'floor'. */
static int round_to(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    int64_t precision = 0;
    struct graft_jinja_string method = graft_jinja_literal("common");
    int status = graft_jinja_want_int(run, call->given[0], "round's precision", &precision);
    if (status == GRAFT_OK) {
        status = graft_jinja_want_text(run, call->given[1], "round's method", &method);
    }
    if (status == GRAFT_OK && !graft_jinja_is_number(call->self)) {
        status = graft_jinja_fail(run, "type %s doesn't define __round__ method", graft_jinja_type_name(call->self));
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const double number = graft_jinja_as_double(call->self), scale = pow(10, (double)precision);
    if (graft_jinja_string_is(&method, "common")) {
        /* round(int, 0) returns an int. */
        *result = call->self->kind == GRAFT_JINJA_FLOAT ? graft_jinja_float(rounded(number, precision))
                                                        : graft_jinja_int((int64_t)number);
    } else if (graft_jinja_string_is(&method, "ceil") || graft_jinja_string_is(&method, "floor")) {
        double product = number * scale;
        *result = graft_jinja_float((method.bytes[0] == 'c' ? ceil(product) : floor(product)) / scale);
    } else {
        return graft_jinja_fail(run, "method must be common, ceil or floor");
    }
    return GRAFT_OK;
}

static const struct graft_jinja_built_in entries[] = {
    {"length", length, "", 0},
    {"count", length, "", 0},
    {"default", default_of, "default_value boolean", 0},
    {"d", default_of, "default_value boolean", 0},
    {"abs", absolute, "", 0},
    {"int", to_int, "default base", 0},
    {"float", to_float, "default", 0},
    {"round", round_to, "precision method", 0},
};

const struct graft_jinja_table graft_jinja_number_filters = GRAFT_JINJA_TABLE(entries);
