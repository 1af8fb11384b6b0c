/* SPDX-License-Identifier: Apache-2.0 */
/* "is ...". */
#include "jinja/methods.h"

#define SELF (call->self)

static int answer(struct graft_jinja_value *result, int truth) {
    *result = graft_jinja_bool(truth);
    return GRAFT_OK;
}

#define KIND_TEST(name, condition)                                                    \
    static int name(struct graft_jinja_run *run, const struct graft_jinja_call *call, \
                    struct graft_jinja_value *result) {                               \
        (void)run;                                                                    \
        return answer(result, condition);                                             \
    }

KIND_TEST(is_defined, SELF->kind != GRAFT_JINJA_UNDEFINED)
KIND_TEST(is_undefined, SELF->kind == GRAFT_JINJA_UNDEFINED)
KIND_TEST(is_none, SELF->kind == GRAFT_JINJA_NONE)
KIND_TEST(is_boolean, SELF->kind == GRAFT_JINJA_BOOL)
KIND_TEST(is_true, SELF->kind == GRAFT_JINJA_BOOL && SELF->as.truth)
KIND_TEST(is_false, SELF->kind == GRAFT_JINJA_BOOL && !SELF->as.truth)
KIND_TEST(is_integer, SELF->kind == GRAFT_JINJA_INT)
KIND_TEST(is_float, SELF->kind == GRAFT_JINJA_FLOAT)
KIND_TEST(is_number, graft_jinja_is_number(SELF))
KIND_TEST(is_string, SELF->kind == GRAFT_JINJA_STRING)
KIND_TEST(is_mapping, SELF->kind == GRAFT_JINJA_DICT)
KIND_TEST(is_callable, SELF->kind >= GRAFT_JINJA_LOOP)
KIND_TEST(is_iterable, SELF->kind == GRAFT_JINJA_UNDEFINED || SELF->kind == GRAFT_JINJA_STRING ||
                           SELF->kind == GRAFT_JINJA_LIST || SELF->kind == GRAFT_JINJA_DICT ||
                           SELF->kind == GRAFT_JINJA_LOOP)
/* Values with a length and elements. An undefined value counts, since it has both methods. */
KIND_TEST(is_sequence, SELF->kind == GRAFT_JINJA_UNDEFINED || SELF->kind == GRAFT_JINJA_STRING ||
                           SELF->kind == GRAFT_JINJA_DICT ||
                           (SELF->kind == GRAFT_JINJA_LIST && SELF->as.list->form < GRAFT_JINJA_VIEW))
KIND_TEST(is_filter, SELF->kind == GRAFT_JINJA_STRING && graft_jinja_find_filter(&SELF->as.string) != NULL)
KIND_TEST(is_test, SELF->kind == GRAFT_JINJA_STRING && graft_jinja_find_test(&SELF->as.string) != NULL)

/* Whether str(value) has letters of this case only. */
static int test_case(struct graft_jinja_run *run, const struct graft_jinja_value *self, const char *method,
                     struct graft_jinja_value *result) {
    const struct graft_jinja_string name = graft_jinja_literal(method);
    const struct graft_jinja_arguments none = {0};
    struct graft_jinja_value text, called;
    int status = graft_jinja_to_text(run, self, &text);
    if (status == GRAFT_OK && !graft_jinja_find_method(run, &text, &name, &called)) {
        status = graft_jinja_fail_memory(run);
    }
    return status == GRAFT_OK ? graft_jinja_call_value(run, &called, &none, result) : status;
}

static int is_lower(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return test_case(run, SELF, "islower", result);
}

static int is_upper(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return test_case(run, SELF, "isupper", result);
}

/* Tests whether the remainder of a division by `by` is `wanted`, or is not. */
static int test_remainder(struct graft_jinja_run *run, const struct graft_jinja_value *self, int64_t by, int is_zero,
                          struct graft_jinja_value *result) {
    const struct graft_jinja_value divisor = graft_jinja_int(by);
    int status = graft_jinja_binary(run, GRAFT_JINJA_MODULO, self, &divisor, result);
    return status == GRAFT_OK ? answer(result, graft_jinja_truth(result) != is_zero) : status;
}

static int is_even(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return test_remainder(run, SELF, 2, 1, result);
}

static int is_odd(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return test_remainder(run, SELF, 2, 0, result);
}

static int is_divisible(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result) {
    int64_t by = 0;
    int status = graft_jinja_want_int(run, call->given[0], "divisibleby's argument", &by);
    return status == GRAFT_OK ? test_remainder(run, SELF, by, 1, result) : status;
}

static int compare(struct graft_jinja_run *run, const struct graft_jinja_call *call, int op,
                   struct graft_jinja_value *result) {
    int truth = 0;
    int status = graft_jinja_compare(run, op, SELF, call->given[0], &truth);
    return status == GRAFT_OK ? answer(result, truth) : status;
}

#define COMPARE_TEST(name, op)                                                        \
    static int name(struct graft_jinja_run *run, const struct graft_jinja_call *call, \
                    struct graft_jinja_value *result) {                               \
        return compare(run, call, op, result);                                        \
    }

COMPARE_TEST(is_equal, GRAFT_JINJA_EQUAL)
COMPARE_TEST(is_not_equal, GRAFT_JINJA_NOT_EQUAL)
COMPARE_TEST(is_less, GRAFT_JINJA_LESS)
COMPARE_TEST(is_less_equal, GRAFT_JINJA_LESS_EQUAL)
COMPARE_TEST(is_greater, GRAFT_JINJA_GREATER)
COMPARE_TEST(is_greater_equal, GRAFT_JINJA_GREATER_EQUAL)
COMPARE_TEST(is_in, GRAFT_JINJA_IN)

/* Python's "is". For the values that templates have, it means equal and of the same type. */
static int is_same(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return answer(result, SELF->kind == call->given[0]->kind && graft_jinja_equal(run, SELF, call->given[0]));
}

static const struct graft_jinja_built_in entries[] = {
    {"defined", is_defined, "", 0},
    {"undefined", is_undefined, "", 0},
    {"none", is_none, "", 0},
    {"boolean", is_boolean, "", 0},
    {"true", is_true, "", 0},
    {"false", is_false, "", 0},
    {"integer", is_integer, "", 0},
    {"float", is_float, "", 0},
    {"number", is_number, "", 0},
    {"string", is_string, "", 0},
    {"mapping", is_mapping, "", 0},
    {"callable", is_callable, "", 0},
    {"iterable", is_iterable, "", 0},
    {"sequence", is_sequence, "", 0},
    {"filter", is_filter, "", 0},
    {"test", is_test, "", 0},
    {"lower", is_lower, "", 0},
    {"upper", is_upper, "", 0},
    {"even", is_even, "", 0},
    {"odd", is_odd, "", 0},
    {"divisibleby", is_divisible, "num", 1},
    {"eq", is_equal, "other", 1},
    {"equalto", is_equal, "other", 1},
    {"==", is_equal, "other", 1},
    {"ne", is_not_equal, "other", 1},
    {"!=", is_not_equal, "other", 1},
    {"lt", is_less, "other", 1},
    {"lessthan", is_less, "other", 1},
    {"<", is_less, "other", 1},
    {"le", is_less_equal, "other", 1},
    {"<=", is_less_equal, "other", 1},
    {"gt", is_greater, "other", 1},
    {"greaterthan", is_greater, "other", 1},
    {">", is_greater, "other", 1},
    {"ge", is_greater_equal, "other", 1},
    {">=", is_greater_equal, "other", 1},
    {"in", is_in, "seq", 1},
    {"sameas", is_same, "other", 1},
};

const struct graft_jinja_built_in *graft_jinja_find_test(const struct graft_jinja_string *name) {
    return graft_jinja_find_in(entries, sizeof entries / sizeof entries[0], name);
}

int graft_jinja_apply_test(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                           const struct graft_jinja_value *input, const struct graft_jinja_arguments *arguments,
                           int *truth) {
    const struct graft_jinja_built_in *test = graft_jinja_find_test(name);
    struct graft_jinja_value result;
    if (test == NULL) {
        return graft_jinja_fail(run, "No test named '%.*s'.", name->length < 60 ? (int)name->length : 60, name->bytes);
    }
    int status = graft_jinja_call_built_in(run, test, input, arguments, &result);
    *truth = status == GRAFT_OK && graft_jinja_truth(&result);
    return status;
}
