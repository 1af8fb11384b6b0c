/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of expressions: the result of two integers is an integer of 64 bits; otherwise it is a real. */
#include <math.h>

#include "arch/data/expression_node.h"
#include "graft/convert.h"

#define TOO_LARGE "the result is not within 64 bits"

/* The two operands of an operation. */
struct pair {
    int32_t at;
    int32_t first; /* numbers of their nodes, for messages */
    int32_t second;
    struct graft_operand a;
    struct graft_operand b;
};

static int is_integer(const struct pair *pair) {
    return pair->a.value.kind == GRAFT_VALUE_INT && pair->b.value.kind == GRAFT_VALUE_INT;
}

static int fail_zero(const struct graft_scope *scope, const struct pair *pair) {
    const struct graft_operand none = graft_operand_null();
    struct graft_label divisor, whole;
    if (pair->b.field < 0) {
        return graft_node_fail(scope, pair->at, "division by zero");
    }
    graft_operand_label(scope, pair->second, &pair->b, &divisor);
    graft_operand_label(scope, pair->at, &none, &whole);
    return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: division by zero in \"%s\"",
                           divisor.text, whole.text);
}

/* Sets the error of a division with a remainder. It names the divisor if that is a field, else the dividend. */
static int fail_remainder(const struct graft_scope *scope, const struct pair *pair) {
    struct graft_label divisor, dividend;
    long long a = (long long)pair->a.value.integer, b = (long long)pair->b.value.integer;
    graft_operand_label(scope, pair->second, &pair->b, &divisor);
    graft_operand_label(scope, pair->first, &pair->a, &dividend);
    if (pair->b.field < 0 && scope->expression->nodes[pair->second].kind == GRAFT_NODE_CONSTANT) {
        return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: %lld does not divide %lld",
                               dividend.text, b, a);
    }
    return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: %lld does not divide %s (%lld)",
                           divisor.text, b, dividend.text, a);
}

/* Quotient and remainder, rounded down; not defined for INT64_MIN / -1. */
static int64_t divide_down(int64_t a, int64_t b, int64_t *remainder) {
    int64_t quotient = a / b;
    *remainder = a % b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        quotient--;
        *remainder += b;
    }
    return quotient;
}

static int divide_integers(const struct graft_scope *scope, enum graft_node_kind kind, const struct pair *pair,
                           int64_t *result) {
    int64_t a = pair->a.value.integer, b = pair->b.value.integer, remainder = 0;
    if (b == 0) {
        return fail_zero(scope, pair);
    }
    if (b == -1) { /* INT64_MIN / -1 overflows, and processors trap on it */
        *result = 0;
        return kind != GRAFT_NODE_REMAINDER && __builtin_sub_overflow(0, a, result)
                   ? graft_node_fail(scope, pair->at, TOO_LARGE)
                   : GRAFT_OK;
    }
    int64_t quotient = divide_down(a, b, &remainder);
    *result = kind == GRAFT_NODE_REMAINDER ? remainder : quotient;
    return kind == GRAFT_NODE_DIVIDE && remainder != 0 ? fail_remainder(scope, pair) : GRAFT_OK;
}

/* Whether base ** exponent overflows 64 bits. The exponent is not negative. */
static int power_overflows(int64_t base, int64_t exponent, int64_t *result) {
    int overflows = 0;
    *result = 1;
    while (exponent > 0 && !overflows) {
        overflows = (exponent & 1) != 0 && __builtin_mul_overflow(*result, base, result);
        exponent >>= 1;
        overflows |= exponent > 0 && __builtin_mul_overflow(base, base, &base);
    }
    return overflows;
}

static int operate_on_integers(const struct graft_scope *scope, enum graft_node_kind kind, const struct pair *pair,
                               struct graft_operand *result) {
    int64_t a = pair->a.value.integer, b = pair->b.value.integer, value = 0;
    int overflows = 0;
    switch (kind) {
    case GRAFT_NODE_ADD:
        overflows = __builtin_add_overflow(a, b, &value);
        break;
    case GRAFT_NODE_SUBTRACT:
        overflows = __builtin_sub_overflow(a, b, &value);
        break;
    case GRAFT_NODE_MULTIPLY:
        overflows = __builtin_mul_overflow(a, b, &value);
        break;
    case GRAFT_NODE_POWER:
        overflows = power_overflows(a, b, &value);
        break;
    default: {
        int status = divide_integers(scope, kind, pair, &value);
        *result = graft_operand_int(value);
        return status;
    }
    }
    *result = graft_operand_int(value);
    return overflows ? graft_node_fail(scope, pair->at, TOO_LARGE) : GRAFT_OK;
}

static int operate_on_reals(const struct graft_scope *scope, enum graft_node_kind kind, const struct pair *pair,
                            struct graft_operand *result) {
    double a = pair->a.value.real, b = pair->b.value.real;
    int divides = kind == GRAFT_NODE_DIVIDE || kind == GRAFT_NODE_FLOOR_DIVIDE || kind == GRAFT_NODE_REMAINDER;
    if ((divides && b == 0.0) || (kind == GRAFT_NODE_POWER && a == 0.0 && b < 0.0)) {
        return divides ? fail_zero(scope, pair) : graft_node_fail(scope, pair->at, "division by zero");
    }
    switch (kind) {
    case GRAFT_NODE_ADD:
        *result = graft_operand_real(a + b);
        return GRAFT_OK;
    case GRAFT_NODE_SUBTRACT:
        *result = graft_operand_real(a - b);
        return GRAFT_OK;
    case GRAFT_NODE_MULTIPLY:
        *result = graft_operand_real(a * b);
        return GRAFT_OK;
    case GRAFT_NODE_DIVIDE:
        *result = graft_operand_real(a / b);
        return GRAFT_OK;
    case GRAFT_NODE_FLOOR_DIVIDE:
        *result = graft_operand_real(floor(a / b));
        return GRAFT_OK;
    case GRAFT_NODE_REMAINDER: {
        double remainder = fmod(a, b);
        *result = graft_operand_real(remainder != 0.0 && (remainder < 0.0) != (b < 0.0) ? remainder + b : remainder);
        return GRAFT_OK;
    }
    default:
        *result = graft_operand_real(pow(a, b));
        return GRAFT_OK;
    }
}

static int evaluate_pair(const struct graft_scope *scope, int32_t at, struct graft_operand *result) {
    const struct graft_node *node = &scope->expression->nodes[at];
    struct pair pair = {.at = at, .first = node->first, .second = node->second};
    int status = graft_evaluate_number(scope, node->first, &pair.a);
    if (status == GRAFT_OK) {
        status = graft_evaluate_number(scope, node->second, &pair.b);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (node->kind == GRAFT_NODE_MIN || node->kind == GRAFT_NODE_MAX) {
        int is_less =
            is_integer(&pair) ? pair.a.value.integer < pair.b.value.integer : pair.a.value.real < pair.b.value.real;
        *result = is_less == (node->kind == GRAFT_NODE_MIN) ? pair.a : pair.b;
        return GRAFT_OK;
    }
    int has_fraction = node->kind == GRAFT_NODE_POWER && pair.b.value.integer < 0; /* 2 ** -1 is not an integer */
    return is_integer(&pair) && !has_fraction ? operate_on_integers(scope, node->kind, &pair, result)
                                              : operate_on_reals(scope, node->kind, &pair, result);
}

static int negate(const struct graft_scope *scope, int32_t at, const struct graft_value *value,
                  struct graft_operand *result) {
    int64_t negative = 0;
    if (value->kind == GRAFT_VALUE_REAL) {
        *result = graft_operand_real(-value->real);
        return GRAFT_OK;
    }
    if (__builtin_sub_overflow(0, value->integer, &negative)) {
        return graft_node_fail(scope, at, TOO_LARGE);
    }
    *result = graft_operand_int(negative);
    return GRAFT_OK;
}

static int truncate_real(const struct graft_scope *scope, int32_t at, const struct graft_value *value,
                         struct graft_operand *result) {
    if (value->kind == GRAFT_VALUE_INT) {
        *result = graft_operand_int(value->integer);
        return GRAFT_OK;
    }
    if (!graft_real_is_within(value->real)) {
        return graft_node_fail(scope, at, TOO_LARGE);
    }
    *result = graft_operand_int((int64_t)value->real);
    return GRAFT_OK;
}

static int take_root(const struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                     struct graft_operand *result) {
    struct graft_label label;
    if (operand->value.real < 0.0) {
        graft_operand_label(scope, at, operand, &label);
        return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: expected at least 0, got %g",
                               label.text, operand->value.real);
    }
    *result = graft_operand_real(sqrt(operand->value.real));
    return GRAFT_OK;
}

static int take_logarithm(const struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                          struct graft_operand *result) {
    struct graft_label label;
    if (!(operand->value.real > 0.0)) {
        graft_operand_label(scope, at, operand, &label);
        return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: expected more than 0, got %g",
                               label.text, operand->value.real);
    }
    *result = graft_operand_real(log(operand->value.real));
    return GRAFT_OK;
}

int graft_evaluate_arithmetic(const struct graft_scope *scope, int32_t at, struct graft_operand *result) {
    const struct graft_node *node = &scope->expression->nodes[at];
    struct graft_operand operand;
    if (node->second != -1) {
        return evaluate_pair(scope, at, result);
    }
    int status = graft_evaluate_number(scope, node->first, &operand);
    if (status != GRAFT_OK) {
        return status;
    }
    if (node->kind == GRAFT_NODE_NEGATE) {
        return negate(scope, at, &operand.value, result);
    }
    if (node->kind == GRAFT_NODE_INT) {
        return truncate_real(scope, at, &operand.value, result);
    }
    if (node->kind == GRAFT_NODE_BF16) {
        *result = graft_operand_real((double)graft_f32_from_bf16(graft_bf16_from_f32((float)operand.value.real)));
        return GRAFT_OK;
    }
    return node->kind == GRAFT_NODE_LOG ? take_logarithm(scope, node->first, &operand, result)
                                        : take_root(scope, node->first, &operand, result);
}
