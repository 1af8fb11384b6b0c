/* SPDX-License-Identifier: Apache-2.0 */
/* Compares run algebra with the same operations done element by element on arrays. */
#include "value/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"

enum { MAX_ELEMENTS = 1 << 14, MAX_VALUES = 4, ROUNDS = 200 };

/* A dense tensor whose elements are unique numbers: the tensor's number times MAX_ELEMENTS plus the element's index. */
struct dense {
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK];
    int64_t elements[MAX_ELEMENTS];
};

static struct graft_tensor_view tensors[MAX_VALUES];
static struct dense dense[MAX_VALUES], expected, got;

static int64_t count_of(const struct dense *tensor) {
    int64_t count = 1;
    for (int32_t i = 0; i < tensor->rank; i++) {
        count *= tensor->shape[i];
    }
    return count;
}

/* The index of the element with these coordinates. */
static int64_t place_of(const struct dense *tensor, const int64_t *at) {
    int64_t place = 0;
    for (int32_t i = 0; i < tensor->rank; i++) {
        place = place * tensor->shape[i] + at[i];
    }
    return place;
}

/* The coordinates of the next element; 0 after the last. */
static int advance(const struct dense *tensor, int64_t *at) {
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        if (++at[i] < tensor->shape[i]) {
            return 1;
        }
        at[i] = 0;
    }
    return 0;
}

static int64_t random_size(void) {
    return 1 + numbers_next() % 4;
}

/* Tensor number `i` and its dense form. */
static void make(int i, int32_t rank, const int64_t *shape) {
    static const char *const names[MAX_VALUES] = {"a", "b", "c", "d"};
    tensors[i] = (struct graft_tensor_view){.name = names[i], .dtype = GRAFT_DTYPE_F32, .rank = rank};
    dense[i].rank = rank;
    for (int32_t k = 0; k < GRAFT_MAX_RANK; k++) {
        tensors[i].shape[k] = dense[i].shape[k] = k < rank ? shape[k] : 1;
    }
    for (int64_t k = 0; k < count_of(&dense[i]); k++) {
        dense[i].elements[k] = (int64_t)i * MAX_ELEMENTS + k;
    }
}

struct expansion {
    int64_t tensor;
    int64_t filled;
    struct dense *to;
};

static int expand_stretch(void *data, int64_t at, int64_t begin, int64_t count) {
    struct expansion *expansion = data;
    assert_true(count > 0 && begin >= 0 && begin + count <= count_of(&dense[expansion->tensor]));
    for (int64_t k = 0; k < count; k++) {
        assert_in_range(at + k, 0, count_of(expansion->to) - 1);
        expansion->to->elements[at + k] = expansion->tensor * MAX_ELEMENTS + begin + k;
    }
    expansion->filled += count;
    return 0;
}

/* The dense form of a value. */
static void expand(const struct graft_value *value, struct dense *to) {
    struct expansion expansion = {.to = to};
    to->rank = value->rank;
    memcpy(to->shape, value->shape, sizeof to->shape);
    memset(to->elements, 0xff, (size_t)count_of(to) * sizeof to->elements[0]);
    for (size_t i = 0; i < value->n_parts; i++) {
        expansion.tensor = value->parts[i].tensor - tensors;
        assert_int_equal(graft_box_stretches(&value->parts[i].box, expand_stretch, &expansion), 0);
    }
    assert_int_equal(expansion.filled, count_of(to));
}

static void assert_same(const struct graft_value *value, const struct dense *wanted) {
    expand(value, &got);
    assert_int_equal(got.rank, wanted->rank);
    assert_memory_equal(got.shape, wanted->shape, sizeof got.shape);
    assert_memory_equal(got.elements, wanted->elements, (size_t)count_of(wanted) * sizeof wanted->elements[0]);
}

/* Places the elements of tensor number `i` in `expected`, shifted by `shift` along `dim`. */
static void put_joined(int i, int64_t dim, int64_t shift) {
    int64_t at[GRAFT_MAX_RANK] = {0};
    do {
        int64_t to[GRAFT_MAX_RANK];
        memcpy(to, at, sizeof to);
        to[dim] += shift;
        expected.elements[place_of(&expected, to)] = dense[i].elements[place_of(&dense[i], at)];
    } while (advance(&dense[i], at));
}

/* Does the same along a new dimension `dim`. */
static void put_stacked(int i, int64_t dim) {
    int64_t at[GRAFT_MAX_RANK] = {0};
    do {
        int64_t to[GRAFT_MAX_RANK] = {0};
        for (int32_t k = 0; k < expected.rank; k++) {
            to[k] = k == dim ? i : at[k < dim ? k : k - 1];
        }
        expected.elements[place_of(&expected, to)] = dense[i].elements[place_of(&dense[i], at)];
    } while (advance(&dense[i], at));
}

/* Random tensors whose shapes differ in `dim` only, or not at all if it is negative. */
static int32_t make_some(int n, int32_t rank, int64_t dim) {
    int64_t shape[GRAFT_MAX_RANK] = {0};
    for (int32_t i = 0; i < rank; i++) {
        shape[i] = random_size();
    }
    for (int i = 0; i < n; i++) {
        if (dim >= 0) {
            shape[dim] = random_size();
        }
        make(i, rank, shape);
    }
    return rank;
}

static void values_of(struct graft_value *values, const struct graft_value **pointers, int n) {
    for (int i = 0; i < n; i++) {
        assert_int_equal(graft_value_of(&tensors[i], &values[i], NULL), GRAFT_OK);
        assert_same(&values[i], &dense[i]);
        pointers[i] = &values[i];
    }
}

static void free_all(struct graft_value *values, int n) {
    for (int i = 0; i < n; i++) {
        graft_value_free(&values[i]);
    }
}

/* Concatenates as defined; splitting the result restores the values. */
static void test_concatenate_and_split(void **state) {
    struct graft_value values[MAX_VALUES], parts[MAX_VALUES], joined, copy;
    const struct graft_value *pointers[MAX_VALUES];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int n = 1 + (int)(numbers_next() % MAX_VALUES);
        int32_t rank = 1 + (int32_t)(numbers_next() % 4);
        int64_t dim = numbers_next() % (uint32_t)rank;
        int64_t sizes[MAX_VALUES], shift = 0;
        make_some(n, rank, dim);
        values_of(values, pointers, n);
        expected = dense[0];
        for (int i = 1; i < n; i++) {
            expected.shape[dim] += dense[i].shape[dim];
        }
        for (int i = 0; i < n; i++) {
            put_joined(i, dim, shift);
            sizes[i] = dense[i].shape[dim];
            shift += sizes[i];
        }
        assert_int_equal(graft_value_concatenate(pointers, (size_t)n, dim, "t", &joined, NULL), GRAFT_OK);
        assert_same(&joined, &expected);
        assert_int_equal(graft_value_copy(&joined, &copy, NULL), GRAFT_OK);
        graft_value_free(&joined);
        assert_same(&copy, &expected);
        assert_int_equal(graft_value_split(&copy, sizes, (size_t)n, dim, "t", parts, NULL), GRAFT_OK);
        for (int i = 0; i < n; i++) {
            assert_same(&parts[i], &dense[i]);
            assert_int_equal(parts[i].n_parts, 1);
        }
        free_all(parts, n);
        free_all(values, n);
        graft_value_free(&copy);
    }
}

/* Stacks as defined; splitting into ones and squeezing restores the values. */
static void test_stack_and_split(void **state) {
    static const int64_t ones[MAX_VALUES] = {1, 1, 1, 1};
    struct graft_value values[MAX_VALUES], parts[MAX_VALUES], stacked;
    const struct graft_value *pointers[MAX_VALUES];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int n = 1 + (int)(numbers_next() % MAX_VALUES);
        int32_t rank = (int32_t)(numbers_next() % 4);
        int64_t dim = numbers_next() % (uint32_t)(rank + 1);
        make_some(n, rank, -1);
        values_of(values, pointers, n);
        expected.rank = rank + 1;
        for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
            expected.shape[i] = i > rank ? 1 : i == dim ? n : dense[0].shape[i < dim ? i : i - 1];
        }
        for (int i = 0; i < n; i++) {
            put_stacked(i, dim);
        }
        assert_int_equal(graft_value_stack(pointers, (size_t)n, dim, "t", &stacked, NULL), GRAFT_OK);
        assert_same(&stacked, &expected);
        assert_int_equal(graft_value_split(&stacked, ones, (size_t)n, dim, "t", parts, NULL), GRAFT_OK);
        for (int i = 0; i < n; i++) {
            graft_value_squeeze(&parts[i], dim);
            assert_same(&parts[i], &dense[i]);
        }
        free_all(parts, n);
        free_all(values, n);
        graft_value_free(&stacked);
    }
}

/* A value concatenated along the first dimension has one run for each tensor, which makes views possible. */
static void test_runs_are_merged(void **state) {
    static const int64_t shape[] = {2, 3};
    static const int64_t sizes[] = {1, 3};
    struct graft_value values[2], parts[2], joined, again;
    const struct graft_value *pointers[2];
    (void)state;
    make(0, 2, shape);
    make(1, 2, shape);
    values_of(values, pointers, 2);
    assert_int_equal(graft_value_concatenate(pointers, 2, 0, "t", &joined, NULL), GRAFT_OK);
    assert_int_equal(joined.n_parts, 2);
    assert_int_equal(graft_value_split(&joined, sizes, 2, 0, "t", parts, NULL), GRAFT_OK);
    assert_int_equal(parts[0].n_parts, 1);
    assert_int_equal(parts[1].n_parts, 2);
    const struct graft_value *halves[] = {&parts[0], &parts[1]};
    assert_int_equal(graft_value_concatenate(halves, 2, 0, "t", &again, NULL), GRAFT_OK);
    assert_int_equal(again.n_parts, 2);
    free_all(values, 2);
    free_all(parts, 2);
    graft_value_free(&joined);
    graft_value_free(&again);
}

static void test_refusals(void **state) {
    static const int64_t shapes[][2] = {{2, 3}, {2, 4}};
    static const int64_t short_sizes[] = {1, 1};
    struct graft_value values[2], parts[2] = {0}, result = {0};
    const struct graft_value *pointers[2];
    struct graft_error error = graft_error_none();
    (void)state;
    make(0, 2, shapes[0]);
    make(1, 2, shapes[1]);
    values_of(values, pointers, 2);
    assert_int_equal(graft_value_concatenate(pointers, 2, 0, "w", &result, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, "w");
    assert_int_equal(graft_value_concatenate(pointers, 2, 2, "w", &result, NULL), GRAFT_ERROR_MODEL);
    assert_int_equal(graft_value_concatenate(pointers, 2, -1, "w", &result, NULL), GRAFT_ERROR_MODEL);
    assert_int_equal(graft_value_stack(pointers, 2, 0, "w", &result, NULL), GRAFT_ERROR_MODEL);
    assert_int_equal(graft_value_stack(pointers, 1, 3, "w", &result, NULL), GRAFT_ERROR_MODEL);
    assert_int_equal(graft_value_split(&values[1], short_sizes, 2, 1, "w", parts, NULL), GRAFT_ERROR_MODEL);
    assert_int_equal(graft_value_split(&values[1], short_sizes, 2, 2, "w", parts, NULL), GRAFT_ERROR_MODEL);
    values[0].rank = GRAFT_MAX_RANK;
    assert_int_equal(graft_value_stack(pointers, 1, 0, "w", &result, NULL), GRAFT_ERROR_MODEL);
    free_all(values, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concatenate_and_split),
        cmocka_unit_test(test_stack_and_split),
        cmocka_unit_test(test_runs_are_merged),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
