/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of operations on tensors of any shapes: results lie inside their tensors. The input contains the sources,
 * their shapes, the operations and their settings as numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz/target.h"
#include "value/operations.h"

enum { MAX_SOURCES = 3, MAX_ITEMS = 3, MAX_OPERATIONS = 6, MAX_COUNT = 1 << 16 };

struct source {
    const uint8_t *at;
    const uint8_t *end;
};

static int next(struct source *source) {
    return source->at < source->end ? *source->at++ : 0;
}

static int32_t target_shape(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct graft_tensor_view *view = data;
    (void)target;
    memcpy(shape, view->shape, sizeof view->shape);
    return view->rank;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct graft_tensor_view *view = data;
    *number = view->shape[0] - (part != NULL) - (field == NULL);
    return 0;
}

static void make_tensor(struct source *source, struct graft_tensor_view *view) {
    int64_t count = 1;
    *view = (struct graft_tensor_view){.name = "t", .dtype = GRAFT_DTYPE_I8, .rank = next(source) % 6};
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        view->shape[i] = i < view->rank ? next(source) % 18 : 1;
        view->shape[i] = count * view->shape[i] > MAX_COUNT ? 1 : view->shape[i];
        count *= view->shape[i];
    }
    view->bytes = count;
}

static struct graft_operation make_operation(struct source *source) {
    static const char *const names[] = {"a", NULL};
    int bits = next(source);
    return (struct graft_operation){
        .struct_size = sizeof(struct graft_operation),
        .kind = next(source) % (GRAFT_OP_CUSTOM + 2),
        .dim = next(source) % 9 - 3,
        .dim1 = next(source) % 9 - 3,
        .check_dims = bits & 1,
        .inverse = bits >> 1 & 1,
        .num_shards_attribute = bits & 4 ? "parts" : NULL,
        .subconfig_key = bits & 8 ? "text_config" : NULL,
        .permute_layer_names = bits & 16 ? names : NULL,
        .in_channels = next(source) % 5,
        .kernel_size = {1 + (bits >> 5 & 1), 1 + (bits >> 6 & 1), 2},
    };
}

/* Checks that each element is read once, from within its tensor. */
static void check(const struct graft_value *value) {
    int64_t count = graft_value_extent(value, 0, value->rank), found = 0;
    for (size_t i = 0; i < value->n_parts; i++) {
        const struct graft_box inverse = graft_box_inverse(&value->parts[i].box);
        if (!graft_box_valid(&value->parts[i].box, count, value->parts[i].tensor->bytes) ||
            !graft_box_valid(&inverse, value->parts[i].tensor->bytes, count)) {
            abort();
        }
        found += graft_box_count(&inverse);
    }
    if (found != count) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const names[] = {"a", "b", "c"};
    struct source source = {bytes, bytes + size};
    struct graft_tensor_view tensors[MAX_SOURCES][MAX_ITEMS], wanted;
    struct graft_operation operations[MAX_OPERATIONS];
    struct graft_error error = graft_error_none();
    enum graft_operation_fault fault;
    size_t n = 1 + (size_t)next(&source) % MAX_SOURCES;
    struct graft_value_list *lists = graft_alloc(n, sizeof *lists);
    struct graft_operations what = {.items = operations,
                                    .count = next(&source) % (MAX_OPERATIONS + 1),
                                    .stride = sizeof operations[0],
                                    .place = "m",
                                    .sources = names,
                                    .targets = names,
                                    .n_targets = 1 + next(&source) % MAX_SOURCES,
                                    .data = &wanted,
                                    .target_shape = next(&source) % 2 ? target_shape : NULL,
                                    .config_number = config_number};
    int alike = next(&source) % 2;
    make_tensor(&source, &wanted);
    for (int32_t i = 0; i < what.count; i++) {
        operations[i] = make_operation(&source);
    }
    for (size_t i = 0; lists != NULL && i < n; i++) {
        size_t items = (size_t)next(&source) % (MAX_ITEMS + 1);
        lists[i].items = graft_alloc(items, sizeof *lists[i].items);
        for (size_t k = 0; lists[i].items != NULL && k < items; k++) {
            make_tensor(&source, &tensors[i][k]);
            tensors[i][k] = alike ? wanted : tensors[i][k];
            if (graft_value_of(&tensors[i][k], &lists[i].items[k], &error) == GRAFT_OK) {
                lists[i].count++;
            }
        }
    }
    int status = lists != NULL ? graft_operations_run(&what, &lists, &n, &fault, &error) : GRAFT_OK;
    if (status != GRAFT_OK && error.message[0] == '\0') {
        abort();
    }
    for (size_t i = 0; lists != NULL && i < n; i++) {
        for (size_t k = 0; status == GRAFT_OK && k < lists[i].count; k++) {
            check(&lists[i].items[k]);
        }
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
    return 0;
}
