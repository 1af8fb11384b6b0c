/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of expressions: the result of two integers is an integer of 64 bits; otherwise it is a real. */
#include <math.h>

#include "arch/data/expression_node.h"
#include "graft/convert.h"

/* The two operands of an operation. */
struct pair {
    int32_t at;
    enum graft_node_kind kind;
    int32_t first; /* numbers of their nodes, for messages */
    int32_t second;
    struct graft_operand a;
    struct graft_operand b;
};

static struct graft_operand fail_large(struct graft_scope *scope, int32_t at) {
    return graft_operand_fail(scope, at, NULL, "the result is not within 64 bits");
}

static struct graft_operand fail_zero(struct graft_scope *scope, const struct pair *pair) {
    struct graft_label whole;
    if (pair->b.field < 0) {
        return graft_operand_fail(scope, pair->at, NULL, "division by zero");
    }
    graft_operand_label(scope, pair->at, NULL, &whole);
    return graft_operand_fail(scope, pair->second, &pair->b, "division by zero in \"%s\"", whole.text);
}

/* Fails for a division with a remainder. The message names the divisor if that is a field, else the dividend. */
static struct graft_operand fail_remainder(struct graft_scope *scope, const struct pair *pair) {
    struct graft_label dividend;
    const long long a = (long long)pair->a.value.integer, b = (long long)pair->b.value.integer;
    if (pair->b.field < 0 && scope->expression->nodes[pair->second].kind == GRAFT_NODE_CONSTANT) {
        return graft_operand_fail(scope, pair->first, &pair->a, "%lld does not divide %lld", b, a);
    }
    graft_operand_label(scope, pair->first, &pair->a, &dividend);
    return graft_operand_fail(scope, pair->second, &pair->b, "%lld does not divide %s (%lld)", b, dividend.text, a);
}

/* Divides, rounding down. */
static struct graft_operand divide_integers(struct graft_scope *scope, const struct pair *pair) {
    const int64_t a = pair->a.value.integer, b = pair->b.value.integer;
    int64_t negative = 0;
    if (b == 0) {
        return fail_zero(scope, pair);
    }
    if (b == -1) { /* INT64_MIN / -1 overflows, and processors trap on it */
        return pair->kind != GRAFT_NODE_REMAINDER && __builtin_sub_overflow(0, a, &negative)
                   ? fail_large(scope, pair->at)
                   : graft_operand_int(negative);
    }
    const int64_t remainder = a % b;
    const int is_above = remainder != 0 && (remainder < 0) != (b < 0); /* C rounds towards 0 */
    if (pair->kind == GRAFT_NODE_DIVIDE && remainder != 0) {
        return fail_remainder(scope, pair);
    }
    return graft_operand_int(pair->kind == GRAFT_NODE_REMAINDER ? remainder + is_above * b : a / b - is_above);
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

static struct graft_operand operate_on_integers(struct graft_scope *scope, const struct pair *pair) {
    const int64_t a = pair->a.value.integer, b = pair->b.value.integer;
    int64_t value = 0;
    int overflows = 0;
    switch (pair->kind) {
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
    default:
        return divide_integers(scope, pair);
    }
    return overflows ? fail_large(scope, pair->at) : graft_operand_int(value);
}

static struct graft_operand operate_on_reals(struct graft_scope *scope, const struct pair *pair) {
    const double a = pair->a.value.real, b = pair->b.value.real;
    if (pair->kind == GRAFT_NODE_POWER) {
        return a == 0.0 && b < 0.0 ? graft_operand_fail(scope, pair->at, NULL, "division by zero")
                                   : graft_operand_real(pow(a, b));
    }
    switch (pair->kind) {
    case GRAFT_NODE_ADD:
        return graft_operand_real(a + b);
    case GRAFT_NODE_SUBTRACT:
        return graft_operand_real(a - b);
    case GRAFT_NODE_MULTIPLY:
        return graft_operand_real(a * b);
    default:
        break;
    }
    if (b == 0.0) {
        return fail_zero(scope, pair);
    }
    if (pair->kind == GRAFT_NODE_REMAINDER) {
        const double remainder = fmod(a, b);
        return graft_operand_real(remainder != 0.0 && (remainder < 0.0) != (b < 0.0) ? remainder + b : remainder);
    }
    return graft_operand_real(pair->kind == GRAFT_NODE_DIVIDE ? a / b : floor(a / b));
}

static struct graft_operand evaluate_pair(struct graft_scope *scope, int32_t at, const struct graft_node *node) {
    struct pair pair = {.at = at, .kind = node->kind, .first = node->first, .second = node->second};
    pair.a = graft_evaluate_number(scope, node->first);
    pair.b = graft_evaluate_number(scope, node->second);
    const struct graft_value *a = &pair.a.value, *b = &pair.b.value;
    const int are_integers = a->kind == GRAFT_VALUE_INT && b->kind == GRAFT_VALUE_INT;
    if (node->kind == GRAFT_NODE_MIN || node->kind == GRAFT_NODE_MAX) {
        const int is_less = are_integers ? a->integer < b->integer : a->real < b->real;
        return is_less == (node->kind == GRAFT_NODE_MIN) ? pair.a : pair.b;
    }
    const int has_fraction = node->kind == GRAFT_NODE_POWER && b->integer < 0; /* 2 ** -1 is not an integer */
    return are_integers && !has_fraction ? operate_on_integers(scope, &pair) : operate_on_reals(scope, &pair);
}

static struct graft_operand negate(struct graft_scope *scope, int32_t at, const struct graft_value *value) {
    int64_t negative = 0;
    if (value->kind == GRAFT_VALUE_REAL) {
        return graft_operand_real(-value->real);
    }
    return __builtin_sub_overflow(0, value->integer, &negative) ? fail_large(scope, at) : graft_operand_int(negative);
}

static struct graft_operand truncate_real(struct graft_scope *scope, int32_t at, const struct graft_value *value) {
    if (value->kind == GRAFT_VALUE_INT) {
        return graft_operand_int(value->integer);
    }
    return graft_real_is_within(value->real) ? graft_operand_int((int64_t)value->real) : fail_large(scope, at);
}

struct graft_operand graft_evaluate_arithmetic(struct graft_scope *scope, int32_t at) {
    const struct graft_node *node = &scope->expression->nodes[at];
    if (node->second != -1) {
        return evaluate_pair(scope, at, node);
    }
    const struct graft_operand operand = graft_evaluate_number(scope, node->first);
    const double real = operand.value.real;
    switch (node->kind) {
    case GRAFT_NODE_NEGATE:
        return negate(scope, at, &operand.value);
    case GRAFT_NODE_INT:
        return truncate_real(scope, at, &operand.value);
    case GRAFT_NODE_BF16:
        return graft_operand_real((double)graft_f32_from_bf16(graft_bf16_from_f32((float)real)));
    case GRAFT_NODE_LOG:
        return real > 0.0 ? graft_operand_real(log(real))
                          : graft_operand_fail(scope, node->first, &operand, "expected more than 0, got %g", real);
    default:
        return real < 0.0 ? graft_operand_fail(scope, node->first, &operand, "expected at least 0, got %g", real)
                          : graft_operand_real(sqrt(real));
    }
}
