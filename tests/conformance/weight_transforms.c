/* SPDX-License-Identifier: Apache-2.0 */
/* weight_transforms.json: operations and chains on small tensors. */
#include "weight_transforms.h"

#include <string.h>

#include "weight_load.h"

static int read_names(const graft_json *list, const char **names, int32_t *n) {
    *n = (int32_t)graft_json_size(list);
    for (int32_t i = 0; i < *n && i < CASE_NAMES; i++) {
        names[i] = graft_json_string(graft_json_at(list, (size_t)i), NULL);
    }
    return *n <= CASE_NAMES ? 0 : -1;
}

static int read_operation(const graft_json *item, struct case_transform *read) {
    struct graft_operation *operation = &read->operations[read->n_operations];
    const char **permuted = read->permuted[read->n_operations++];
    const graft_json *names = graft_json_get(item, "permute_layer_names");
    const char *first = graft_json_get(item, "dim0") != NULL ? "dim0" : "dim";
    int32_t n = 0;
    *operation = (struct graft_operation){
        .struct_size = sizeof *operation,
        .kind = graft_operation_kind(text_at(item, "op")),
        .dim = graft_json_int(graft_json_get(item, first)),
        .dim1 = graft_json_int(graft_json_get(item, "dim1")),
        .check_dims = graft_json_bool(graft_json_get(item, "check_dims")),
        .inverse = graft_json_bool(graft_json_get(item, "inverse")),
        .num_shards_attribute = graft_json_string(graft_json_get(item, "num_shards_attribute"), NULL),
        .subconfig_key = graft_json_string(graft_json_get(item, "subconfig_key"), NULL),
        .in_channels = graft_json_int(graft_json_get(item, "in_channels")),
    };
    for (size_t i = 0; i < 3; i++) {
        operation->kernel_size[i] = graft_json_int(graft_json_at(graft_json_get(item, "kernel_size"), i));
    }
    if (graft_json_type(names) == GRAFT_JSON_ARRAY) {
        if (read_names(names, permuted, &n) != 0 || n == CASE_NAMES) {
            return -1;
        }
        permuted[n] = NULL;
        operation->permute_layer_names = permuted;
    }
    return operation->kind != 0 ? 0 : -1;
}

int case_transform_read(const graft_json *transform, struct case_transform *read, struct graft_text *why) {
    const graft_json *operations = graft_json_get(transform, "operations");
    *read = (struct case_transform){0};
    if (read_names(graft_json_get(transform, "source_patterns"), read->sources, &read->n_sources) != 0 ||
        read_names(graft_json_get(transform, "target_patterns"), read->targets, &read->n_targets) != 0 ||
        graft_json_size(operations) > CASE_OPERATIONS) {
        (void)fail(why, "more names or operations than this runner takes");
        return -1;
    }
    for (size_t i = 0; i < graft_json_size(operations); i++) {
        if (read_operation(graft_json_at(operations, i), read) != 0) {
            (void)fail(why, "an operation that this runner does not know: %s",
                       text_at(graft_json_at(operations, i), "op"));
            return -1;
        }
    }
    return 0;
}

const char *case_fault_kind(enum graft_operation_fault fault) {
    static const char *const kinds[] = {
        [GRAFT_FAULT_NO_OPERATIONS] = "no_operations",
        [GRAFT_FAULT_MANY_TO_MANY] = "many_to_many",
        [GRAFT_FAULT_UNDEFINED_OPERATION] = "undefined_operation",
        [GRAFT_FAULT_SOURCE_ABSENT] = "empty_concatenation",
        [GRAFT_FAULT_SINGLE_EXPECTED] = "single_tensor_expected",
        [GRAFT_FAULT_CONCAT_SHAPE] = "concat_shape_mismatch",
        [GRAFT_FAULT_CONCAT_RANK] = "concat_rank_mismatch",
        [GRAFT_FAULT_STACK_SHAPE] = "stack_shape_mismatch",
        [GRAFT_FAULT_SPLIT_SIZES] = "split_sizes_mismatch",
        [GRAFT_FAULT_DIM_OUT_OF_RANGE] = "dim_out_of_range",
        [GRAFT_FAULT_RESHAPE] = "reshape_invalid",
        [GRAFT_FAULT_RANK] = "rank_invalid",
        [GRAFT_FAULT_NO_SUCH_PARAMETER] = "no_such_parameter",
        [GRAFT_FAULT_NO_SUCH_ATTRIBUTE] = "no_such_attribute",
    };
    size_t n = sizeof kinds / sizeof kinds[0];
    return (size_t)fault < n && kinds[fault] != NULL ? kinds[fault] : "";
}

static int knows(const graft_json *row) {
    const char *type = text_at(row, "type");
    return strcmp(type, "load") == 0 || (strcmp(type, "convert") == 0 && graft_json_get(row, "transform") != NULL);
}

static enum verdict judge(const graft_json *row, struct graft_text *why) {
    return strcmp(text_at(row, "type"), "load") == 0 ? load_judge(row, why) : convert_judge(row, why);
}

const struct schema weight_transforms_schema = {"weight_transforms", knows, judge};
