/* SPDX-License-Identifier: Apache-2.0 */
/* Random chains of operations on random tensors: the reversed chain restores the same bytes, and so does the reversed
 * box of each part. Seeds are fixed, and some differ in each run and are printed after a failure. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "bind/copy.h"
#include "bind/copy_box.h"
#include "operation_reverse.h"
#include "value/operations.h"

enum { MAX_SOURCES = 3, MAX_ITEMS = 3, MAX_CHAIN = 8, FIXED_SEEDS = 400, OTHER_SEEDS = 300 };

static uint64_t state_now;

static uint64_t next_random(void) {
    state_now ^= state_now << 13;
    state_now ^= state_now >> 7;
    state_now ^= state_now << 17;
    return state_now;
}

static int64_t below(int64_t n) {
    return (int64_t)(next_random() % (uint64_t)n);
}

struct chain {
    struct graft_operation operations[MAX_CHAIN];
    int32_t count;
    const char *sources[MAX_SOURCES];
    const char *targets[MAX_SOURCES];
    int32_t n_sources;
    int32_t n_targets;
    const struct graft_value_list *shapes; /* of the targets */
    int64_t heads;
};

static int32_t target_shape(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct chain *chain = data;
    if (chain->shapes == NULL) {
        return -1;
    }
    memcpy(shape, chain->shapes[target].items[0].shape, sizeof chain->shapes[target].items[0].shape);
    return chain->shapes[target].items[0].rank;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct chain *chain = data;
    (void)part;
    (void)field;
    *number = chain->heads;
    return 0;
}

static void run(struct chain *chain, struct graft_value_list **lists, size_t *n) {
    struct graft_error error = graft_error_none();
    const struct graft_operations operations = {.items = chain->operations,
                                                .count = chain->count,
                                                .stride = sizeof chain->operations[0],
                                                .place = "m",
                                                .sources = chain->sources,
                                                .targets = chain->targets,
                                                .n_targets = chain->n_targets,
                                                .data = chain,
                                                .target_shape = target_shape,
                                                .config_number = config_number};
    int status = graft_operations_run(&operations, lists, n, NULL, &error);
    if (status != GRAFT_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, GRAFT_OK);
}

static void shape_of(struct graft_tensor_view *view, int32_t rank, const int64_t *shape, graft_dtype dtype) {
    *view = (struct graft_tensor_view){.name = "t", .dtype = dtype, .rank = rank};
    int64_t count = 1;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        view->shape[i] = i < rank ? shape[i] : 1;
        count *= view->shape[i];
    }
    view->bytes = count * graft_dtype_size(dtype);
    unsigned char *bytes = malloc((size_t)view->bytes);
    assert_non_null(bytes);
    view->data = bytes;
}

static void add(struct chain *chain, struct graft_operation operation) {
    operation.struct_size = sizeof operation;
    chain->operations[chain->count++] = operation;
}

/* Adds an operation that this shape allows to each value; the shape changes with it. */
static void add_each(struct chain *chain, int32_t *rank, int64_t *shape) {
    int64_t a = below(*rank), b = below(*rank);
    switch (below(4)) {
    case 0:
        add(chain, (struct graft_operation){.kind = GRAFT_OP_TRANSPOSE, .dim = a, .dim1 = b - *rank});
        int64_t size = shape[a];
        shape[a] = shape[b];
        shape[b] = size;
        break;
    case 1:
        if (shape[a] % 2 == 0) {
            add(chain, (struct graft_operation){.kind = GRAFT_OP_INTERLEAVE, .dim = a, .inverse = (int32_t)below(2)});
        }
        break;
    case 2:
        if (*rank <= 2 && shape[0] % (2 * chain->heads) == 0) {
            add(chain, (struct graft_operation){.kind = GRAFT_OP_PERMUTE_FOR_ROPE, .inverse = (int32_t)below(2)});
        }
        break;
    default:
        if (*rank == 5) {
            add(chain, (struct graft_operation){.kind = GRAFT_OP_CONV3D_TO_LINEAR,
                                                .in_channels = shape[1],
                                                .kernel_size = {shape[2], shape[3], shape[4]}});
            shape[1] *= shape[2] * shape[3] * shape[4];
            *rank = 2;
        }
    }
}

/* Joins several sources of equal or different sizes, perhaps lists, in one target. The sources' shapes are `shape`
 * except for dimension `*joined`, which differs; -1 if it must not. */
static void make_chain(struct chain *chain, int32_t rank, const int64_t *shape, int lists) {
    static const char *const names[] = {"a", "b", "c"};
    int64_t now[GRAFT_MAX_RANK];
    memcpy(now, shape, sizeof now);
    for (int32_t i = 0; i < chain->n_sources; i++) {
        chain->sources[i] = names[i];
    }
    chain->targets[0] = "joined";
    chain->n_targets = 1;
    for (int64_t n = below(3); n > 0; n--) {
        add_each(chain, &rank, now);
    }
    int64_t dim = -1;
    if (lists) {
        dim = below(rank + 1);
        add(chain, (struct graft_operation){.kind = GRAFT_OP_MERGE_MODULELIST, .dim = dim});
        memmove(now + dim + 1, now + dim, (size_t)(rank - dim) * sizeof now[0]);
        now[dim] = 2;
        rank++;
    }
    if (chain->n_sources > 1) {
        /* The parameters do not say how many values Split, its reverse, gets in a dimension that only stacks. */
        int64_t along = lists ? below(rank) : 0;
        add(chain,
            (struct graft_operation){.kind = GRAFT_OP_CONCATENATE, .dim = along == dim ? (dim + 1) % rank : along});
        now[chain->operations[chain->count - 1].dim] *= chain->n_sources;
    }
    for (int64_t n = below(2); n > 0; n--) {
        add_each(chain, &rank, now);
    }
}

struct world {
    struct graft_tensor_view inputs[MAX_SOURCES][MAX_ITEMS];
    struct graft_value_list *lists;
    size_t n;
    int64_t items;
};

static void make_inputs(struct world *world, const struct chain *chain, int32_t rank, const int64_t *shape,
                        graft_dtype dtype) {
    struct graft_error error = graft_error_none();
    world->lists = graft_alloc((size_t)chain->n_sources, sizeof *world->lists);
    world->n = (size_t)chain->n_sources;
    for (int32_t i = 0; i < chain->n_sources; i++) {
        world->lists[i].items = graft_alloc((size_t)world->items, sizeof(struct graft_value));
        world->lists[i].count = (size_t)world->items;
        for (int64_t k = 0; k < world->items; k++) {
            struct graft_tensor_view *view = &world->inputs[i][k];
            shape_of(view, rank, shape, dtype);
            for (int64_t b = 0; b < view->bytes; b++) {
                ((unsigned char *)(uintptr_t)view->data)[b] = (unsigned char)next_random();
            }
            assert_int_equal(graft_value_of(view, &world->lists[i].items[k], &error), GRAFT_OK);
        }
    }
}

static void free_lists(struct graft_value_list *lists, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
}

/* Fills each input through the inverse of the parts that contain it. */
static void check_inverse(const struct graft_value *value, const unsigned char *bytes,
                          const struct graft_tensor_view *input) {
    int64_t size = graft_dtype_size(input->dtype), found = 0;
    unsigned char *back = malloc((size_t)input->bytes);
    assert_non_null(back);
    for (size_t i = 0; i < value->n_parts; i++) {
        if (value->parts[i].tensor == input) {
            struct graft_box inverse = graft_box_inverse(&value->parts[i].box);
            assert_true(graft_box_valid(&inverse, input->bytes / size, graft_value_extent(value, 0, value->rank)));
            graft_copy_box(&inverse, size, bytes, back);
            found += graft_box_count(&inverse);
        }
    }
    assert_int_equal(found * size, input->bytes);
    assert_memory_equal(back, input->data, (size_t)input->bytes);
    free(back);
}

static struct chain reversed(const struct chain *chain) {
    struct chain back = {.n_sources = 1, .n_targets = chain->n_sources, .heads = chain->heads};
    back.sources[0] = chain->targets[0];
    memcpy(back.targets, chain->sources, sizeof back.targets);
    for (int32_t i = chain->count - 1; i >= 0; i--) {
        back.operations[back.count++] = operation_reverse(&chain->operations[i]);
    }
    return back;
}

static void check_back(const struct world *world, struct chain *chain, const struct graft_tensor_view *output) {
    struct graft_error error = graft_error_none();
    struct chain back = reversed(chain);
    struct graft_value_list shapes[MAX_SOURCES] = {{0}};
    struct graft_value wanted[MAX_SOURCES];
    struct graft_value_list *lists = graft_alloc(1, sizeof *lists);
    size_t n = 1;
    lists[0].items = graft_alloc(1, sizeof(struct graft_value));
    lists[0].count = 1;
    assert_int_equal(graft_value_of(output, &lists[0].items[0], &error), GRAFT_OK);
    for (int32_t i = 0; i < back.n_targets; i++) {
        assert_int_equal(graft_value_of(&world->inputs[i][0], &wanted[i], &error), GRAFT_OK);
        shapes[i] = (struct graft_value_list){&wanted[i], 1};
    }
    back.shapes = shapes;
    run(&back, &lists, &n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lists[i].count, world->items);
        for (size_t k = 0; k < lists[i].count; k++) {
            const struct graft_tensor_view *input = &world->inputs[i][k];
            unsigned char *bytes = malloc((size_t)input->bytes);
            assert_non_null(bytes);
            assert_memory_equal(lists[i].items[k].shape, input->shape, sizeof input->shape);
            graft_copy_value(&lists[i].items[k], input->dtype, bytes);
            assert_memory_equal(bytes, input->data, (size_t)input->bytes);
            free(bytes);
        }
        graft_value_free(&wanted[i]);
    }
    free_lists(lists, n);
}

static void check_seed(uint64_t seed) {
    static const graft_dtype dtypes[] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, GRAFT_DTYPE_I8, GRAFT_DTYPE_F64};
    state_now = seed * 2654435761U + 88172645463325252U;
    int64_t shape[GRAFT_MAX_RANK];
    int32_t rank = below(4) == 0 ? 5 : 1 + (int32_t)below(3);
    struct chain chain = {.n_sources = 1 + (int32_t)below(MAX_SOURCES), .heads = 1 + below(3)};
    int lists = below(2) == 0;
    struct world world = {.items = lists ? 2 : 1};
    graft_dtype dtype = dtypes[below(4)];
    for (int32_t i = 0; i < rank; i++) {
        shape[i] = 1 + below(rank == 5 ? 4 : 9) + (i == 0 && below(2) == 0 ? 11 : 0);
    }
    make_chain(&chain, rank, shape, lists);
    make_inputs(&world, &chain, rank, shape, dtype);
    run(&chain, &world.lists, &world.n);
    assert_int_equal(world.n, 1);
    assert_int_equal(world.lists[0].count, 1);
    const struct graft_value *value = &world.lists[0].items[0];
    struct graft_tensor_view output;
    shape_of(&output, value->rank, value->shape, dtype);
    graft_copy_value(value, dtype, (void *)(uintptr_t)output.data);
    for (int32_t i = 0; i < chain.n_sources; i++) {
        for (int64_t k = 0; k < world.items; k++) {
            check_inverse(value, output.data, &world.inputs[i][k]);
        }
    }
    check_back(&world, &chain, &output);
    free((void *)(uintptr_t)output.data);
    for (int32_t i = 0; i < chain.n_sources; i++) {
        for (int64_t k = 0; k < world.items; k++) {
            free((void *)(uintptr_t)world.inputs[i][k].data);
        }
    }
    free_lists(world.lists, world.n);
}

static void test_reverse_is_identity(void **state) {
    (void)state;
    uint64_t base = (uint64_t)time(NULL);
    for (uint64_t i = 0; i < FIXED_SEEDS; i++) {
        check_seed(i);
    }
    print_message("other seeds from %" PRIu64 "\n", base);
    for (uint64_t i = 0; i < OTHER_SEEDS; i++) {
        check_seed(base + i);
    }
}

struct dense {
    int64_t map[4096]; /* element of B for each of A; -1: none */
};

static int put(void *data, int64_t at, int64_t begin, int64_t count) {
    struct dense *dense = data;
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(dense->map[at + i], -1);
        dense->map[at + i] = begin + i;
    }
    return 0;
}

static int put_box(void *data, const struct graft_box *box) {
    return graft_box_stretches(box, put, data);
}

/* A transposed part of a matrix. */
static struct graft_box random_box(void) {
    struct graft_box box = {.at = below(40), .begin = below(40), .loops = 2};
    int64_t columns = 2 + below(9);
    box.size[0] = 2 + below(9);
    box.size[1] = 2 + below(columns - 1);
    box.to[0] = columns * (1 + below(2));
    box.to[1] = 1;
    box.from[0] = below(2) == 0 ? columns + below(5) : 1;
    box.from[1] = box.from[0] == 1 ? box.size[0] + below(5) : 1;
    graft_box_tidy(&box);
    return box;
}

static void test_pieces(void **state) {
    static struct dense whole, other, pieces, composed;
    (void)state;
    state_now = 99;
    for (int i = 0; i < 3000; i++) {
        struct graft_box box = random_box(), second = random_box();
        int64_t low = below(120), high = low + below(120), limit = 100000;
        memset(&whole, 0xff, sizeof whole);
        memset(&pieces, 0xff, sizeof pieces);
        put_box(&whole, &box);
        assert_int_equal(graft_box_align(&box, 1 + below(30), put_box, &pieces), 0);
        assert_memory_equal(&whole, &pieces, sizeof whole);
        memset(&pieces, 0xff, sizeof pieces);
        assert_int_equal(graft_box_cut(&box, low, high, put_box, &pieces), 0);
        for (int64_t k = 0; k < 4096; k++) {
            assert_int_equal(pieces.map[k], k >= low && k < high ? whole.map[k] : -1);
        }
        memset(&other, 0xff, sizeof other);
        memset(&composed, 0xff, sizeof composed);
        put_box(&other, &second);
        assert_int_equal(graft_box_compose(&box, &second, &limit, put_box, &composed), 0);
        for (int64_t k = 0; k < 4096; k++) {
            assert_int_equal(composed.map[k], whole.map[k] >= 0 ? other.map[whole.map[k]] : -1);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reverse_is_identity),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
