/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic as in Python, on 64-bit integers; an overflow is an error. */
#include <math.h>

#include "jinja/run.h"

static const char *const signs[] = {"+", "-", "*", "/", "//", "%", "**"};

static int overflow(struct graft_jinja_run *run, int op) {
    return graft_jinja_fail(run, "the result of '%s' does not fit into 64 bits", signs[op]);
}

static int power(struct graft_jinja_run *run, int64_t a, int64_t b, struct graft_jinja_value *result) {
    int64_t product = 1;
    if (b < 0) {
        *result = graft_jinja_float(pow((double)a, (double)b));
        return GRAFT_OK;
    }
    if (a == 0 || a == 1 || a == -1) {
        *result = graft_jinja_int(b == 0 ? 1 : a == -1 && b % 2 == 0 ? 1 : a);
        return GRAFT_OK;
    }
    for (; b > 0; b--) {
        if (__builtin_mul_overflow(product, a, &product)) {
            return overflow(run, GRAFT_JINJA_POWER);
        }
    }
    *result = graft_jinja_int(product);
    return GRAFT_OK;
}

/* Rounds down, as Python's // does. */
static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int of_integers(struct graft_jinja_run *run, int op, int64_t a, int64_t b, struct graft_jinja_value *result) {
    int64_t number = 0;
    int overflows = 0;
    if (op >= GRAFT_JINJA_DIVIDE && op <= GRAFT_JINJA_MODULO && b == 0) {
        return graft_jinja_fail(run, "division by zero");
    }
    switch (op) {
    case GRAFT_JINJA_ADD:
        overflows = __builtin_add_overflow(a, b, &number);
        break;
    case GRAFT_JINJA_SUBTRACT:
        overflows = __builtin_sub_overflow(a, b, &number);
        break;
    case GRAFT_JINJA_MULTIPLY:
        overflows = __builtin_mul_overflow(a, b, &number);
        break;
    case GRAFT_JINJA_DIVIDE:
        *result = graft_jinja_float((double)a / (double)b);
        return GRAFT_OK;
    case GRAFT_JINJA_FLOOR_DIVIDE:
    case GRAFT_JINJA_MODULO:
        overflows = a == INT64_MIN && b == -1;
        if (!overflows) {
            number = op == GRAFT_JINJA_FLOOR_DIVIDE ? floor_divide(a, b) : a - floor_divide(a, b) * b;
        }
        break;
    default:
        return power(run, a, b, result);
    }
    if (overflows) {
        return overflow(run, op);
    }
    *result = graft_jinja_int(number);
    return GRAFT_OK;
}

static int of_reals(struct graft_jinja_run *run, int op, double a, double b, struct graft_jinja_value *result) {
    if (op >= GRAFT_JINJA_DIVIDE && op <= GRAFT_JINJA_MODULO && b == 0) {
        return graft_jinja_fail(run, "division by zero");
    }
    double remainder = op == GRAFT_JINJA_MODULO ? fmod(a, b) : 0;
    remainder += remainder != 0 && (remainder < 0) != (b < 0) ? b : 0;
    double number = op == GRAFT_JINJA_ADD            ? a + b
                    : op == GRAFT_JINJA_SUBTRACT     ? a - b
                    : op == GRAFT_JINJA_MULTIPLY     ? a * b
                    : op == GRAFT_JINJA_DIVIDE       ? a / b
                    : op == GRAFT_JINJA_FLOOR_DIVIDE ? floor(a / b)
                    : op == GRAFT_JINJA_MODULO       ? remainder
                                                     : pow(a, b);
    *result = graft_jinja_float(number);
    return GRAFT_OK;
}

static int repeat_text(struct graft_jinja_run *run, const struct graft_jinja_string *string, int64_t n,
                       struct graft_jinja_value *result) {
    struct graft_jinja_builder text = {0};
    int status = GRAFT_OK;
    for (int64_t i = 0; i < n && status == GRAFT_OK && string->length > 0; i++) {
        status = graft_jinja_add(run, &text, string);
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

static int join_lists(struct graft_jinja_run *run, const struct graft_jinja_list *a, const struct graft_jinja_list *b,
                      struct graft_jinja_value *result) {
    struct graft_jinja_list *joined = graft_jinja_new_list(run, a->form, a->n + b->n);
    int status = joined != NULL ? graft_jinja_spend(run, 16 * (a->n + b->n)) : graft_jinja_failed(run);
    for (size_t i = 0; i < a->n + b->n && status == GRAFT_OK; i++) {
        status = graft_jinja_push(run, joined, i < a->n ? &a->items[i] : &b->items[i - a->n]);
    }
    *result = graft_jinja_of_list(joined);
    return status;
}

static int repeat_list(struct graft_jinja_run *run, const struct graft_jinja_list *list, int64_t n,
                       struct graft_jinja_value *result) {
    struct graft_jinja_list *joined = graft_jinja_new_list(run, list->form, 0);
    int status = joined != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (int64_t i = 0; i < n && status == GRAFT_OK && list->n > 0; i++) {
        status = graft_jinja_spend(run, 16 * list->n);
        for (size_t k = 0; k < list->n && status == GRAFT_OK; k++) {
            status = graft_jinja_push(run, joined, &list->items[k]);
        }
    }
    *result = graft_jinja_of_list(joined);
    return status;
}

static int is_sequence(const struct graft_jinja_value *value) {
    return value->kind == GRAFT_JINJA_LIST && value->as.list->form <= GRAFT_JINJA_TUPLE;
}

/* Joins a safe string and another one, which is escaped, as jinja2's Markup does even without autoescape. */
static int join_texts(struct graft_jinja_run *run, const struct graft_jinja_value *left,
                      const struct graft_jinja_value *right, struct graft_jinja_value *result) {
    struct graft_jinja_value a = *left, b = *right;
    struct graft_jinja_builder text = {0};
    const int safe = a.safe || b.safe;
    int status = safe ? graft_jinja_escape(run, &a) : GRAFT_OK;
    if (status == GRAFT_OK && safe) {
        status = graft_jinja_escape(run, &b);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_add(run, &text, &a.as.string);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_add(run, &text, &b.as.string);
    }
    status = graft_jinja_finish_text(run, &text, status, result);
    result->safe = safe;
    return status;
}

static int of_sequences(struct graft_jinja_run *run, int op, const struct graft_jinja_value *a,
                        const struct graft_jinja_value *b, struct graft_jinja_value *result) {
    int64_t n = 0;
    if (op == GRAFT_JINJA_ADD && a->kind == GRAFT_JINJA_STRING && b->kind == GRAFT_JINJA_STRING) {
        return join_texts(run, a, b, result);
    }
    if (op == GRAFT_JINJA_ADD && is_sequence(a) && is_sequence(b) && a->as.list->form == b->as.list->form) {
        return join_lists(run, a->as.list, b->as.list, result);
    }
    if (op == GRAFT_JINJA_MULTIPLY) {
        const struct graft_jinja_value *sequence = graft_jinja_as_int(b, &n) ? a : b;
        if (sequence == a || graft_jinja_as_int(a, &n)) {
            if (sequence->kind == GRAFT_JINJA_STRING) {
                return repeat_text(run, &sequence->as.string, n, result);
            }
            if (is_sequence(sequence)) {
                return repeat_list(run, sequence->as.list, n, result);
            }
        }
    }
    return graft_jinja_fail(run, "unsupported operand types for %s: '%s' and '%s'", signs[op], graft_jinja_type_name(a),
                            graft_jinja_type_name(b));
}

int graft_jinja_binary(struct graft_jinja_run *run, int op, const struct graft_jinja_value *left,
                       const struct graft_jinja_value *right, struct graft_jinja_value *result) {
    const struct graft_jinja_value a = *left, b = *right;
    int64_t m = 0, n = 0;
    int status = graft_jinja_need_defined(run, &a);
    if (status == GRAFT_OK) {
        status = graft_jinja_need_defined(run, &b);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_jinja_as_int(&a, &m) && graft_jinja_as_int(&b, &n)) {
        return of_integers(run, op, m, n, result);
    }
    if (graft_jinja_is_number(&a) && graft_jinja_is_number(&b)) {
        return of_reals(run, op, graft_jinja_as_double(&a), graft_jinja_as_double(&b), result);
    }
    return of_sequences(run, op, &a, &b, result);
}

int graft_jinja_negate(struct graft_jinja_run *run, const struct graft_jinja_value *a,
                       struct graft_jinja_value *result) {
    const struct graft_jinja_value zero = graft_jinja_int(0);
    if (a->kind == GRAFT_JINJA_FLOAT) {
        *result = graft_jinja_float(-a->as.real);
        return GRAFT_OK;
    }
    if (a->kind != GRAFT_JINJA_UNDEFINED && !graft_jinja_is_number(a)) {
        return graft_jinja_fail(run, "bad operand type for unary -: '%s'", graft_jinja_type_name(a));
    }
    return graft_jinja_binary(run, GRAFT_JINJA_SUBTRACT, &zero, a, result);
}
