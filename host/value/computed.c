/* SPDX-License-Identifier: Apache-2.0 */
#include "value/computed.h"

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/dtype.h"
#include "base/fail.h"

/* A thread gathers about BYTES_AT_ONCE of inputs at a time; scratch memory is estimated for THREADS threads. */
enum { BYTES_AT_ONCE = 1 << 20, THREADS = 16 };

static graft_dtype dtype_of(const struct graft_value *value) {
    graft_dtype dtype = value->n_parts > 0 ? value->parts[0].tensor->dtype : GRAFT_DTYPE_F32;
    for (size_t i = 1; i < value->n_parts; i++) {
        if (value->parts[i].tensor->dtype != dtype) {
            return GRAFT_DTYPE_NONE;
        }
    }
    return dtype;
}

static int is_float(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

/* Whether every part has a type that widens to f32. */
static int all_float(const struct graft_value *value) {
    for (size_t i = 0; i < value->n_parts; i++) {
        if (!is_float(value->parts[i].tensor->dtype)) {
            return 0;
        }
    }
    return 1;
}

static int describe_input(const struct graft_computed *computed, const struct graft_value *value,
                          struct graft_value_info *info, struct graft_error *error) {
    graft_dtype dtype = dtype_of(value);
    int sees_f32 = (computed->operation->flags & GRAFT_CUSTOM_SEES_F32) != 0;
    if (all_float(value) && (sees_f32 || dtype == GRAFT_DTYPE_NONE)) {
        dtype = GRAFT_DTYPE_F32;
    }
    if (dtype == GRAFT_DTYPE_NONE || (sees_f32 && dtype != GRAFT_DTYPE_F32) || value->n_parts == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, computed->place, "%s: %s has no type that it can be given",
                               computed->operation->name,
                               value->n_parts > 0 ? value->parts[0].tensor->name : "an empty tensor");
    }
    *info = (struct graft_value_info){.struct_size = sizeof *info, .dtype = dtype, .rank = value->rank};
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        info->shape[i] = value->shape[i];
    }
    return GRAFT_OK;
}

static int64_t bytes_of(const struct graft_value_info *info) {
    return graft_tensor_view_size(info->dtype, info->rank, info->shape);
}

/* Checks an output that a plugin describes by the same rules as a tensor in a file. */
static int check_output(const struct graft_computed *computed, struct graft_value_info *info,
                        struct graft_error *error) {
    int sound = graft_dtype_size(info->dtype) > 0 && info->rank >= 1 && info->rank <= GRAFT_MAX_RANK;
    if (info->reserved != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, computed->place,
                               "%s: infer set `reserved` of an output, which is 0", computed->operation->name);
    }
    for (int32_t i = 0; i < GRAFT_MAX_RANK && sound; i++) {
        info->shape[i] = i < info->rank ? info->shape[i] : 1;
        sound = info->shape[i] >= 1;
    }
    if (!sound || bytes_of(info) <= 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, computed->place,
                               "%s: infer made an output without type or shape", computed->operation->name);
    }
    if ((computed->operation->flags & GRAFT_CUSTOM_ROWS) != 0 && info->shape[0] != computed->input_infos[0].shape[0]) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, computed->place,
                               "%s works row by row, but an output has %lld rows and the input %lld",
                               computed->operation->name, (long long)info->shape[0],
                               (long long)computed->input_infos[0].shape[0]);
    }
    return GRAFT_OK;
}

int64_t graft_computed_rows_at_once(const struct graft_computed *computed) {
    int64_t rows = computed->input_infos[0].shape[0], largest = 1;
    if ((computed->operation->flags & GRAFT_CUSTOM_ROWS) == 0) {
        return rows;
    }
    for (int32_t i = 0; i < computed->n_inputs; i++) {
        int64_t row = bytes_of(&computed->input_infos[i]) / rows;
        largest = row > largest ? row : largest;
    }
    int64_t at_once = BYTES_AT_ONCE / largest;
    at_once = at_once > 0 ? at_once : 1;
    return at_once < rows ? at_once : rows;
}

int64_t graft_computed_input_rows(const struct graft_computed *computed, int32_t i, int64_t rows) {
    return (computed->operation->flags & GRAFT_CUSTOM_ROWS) != 0 ? rows : computed->input_infos[i].shape[0];
}

static void count_bytes(struct graft_computed *computed) {
    int64_t rows = computed->input_infos[0].shape[0], at_once = graft_computed_rows_at_once(computed);
    int64_t threads = rows / at_once < THREADS ? rows / at_once : THREADS;
    for (int32_t i = 0; i < computed->n_inputs; i++) {
        const struct graft_value_info *info = &computed->input_infos[i];
        computed->scratch_bytes +=
            bytes_of(info) / info->shape[0] * graft_computed_input_rows(computed, i, at_once) * threads;
    }
    for (int32_t i = 0; i < computed->n_outputs; i++) {
        computed->output_bytes += bytes_of(&computed->output_infos[i]);
    }
}

static int infer(struct graft_computed *computed, const struct graft_value *const *values, struct graft_error *error) {
    const struct graft_custom_shapes shapes = {
        .struct_size = sizeof shapes,
        .n_inputs = computed->n_inputs,
        .n_outputs = computed->n_outputs,
        .info_stride = sizeof *computed->input_infos,
        .inputs = computed->input_infos,
        .outputs = computed->output_infos,
    };
    int status = GRAFT_OK;
    for (int32_t i = 0; i < computed->n_inputs && status == GRAFT_OK; i++) {
        status = describe_input(computed, values[i], &computed->input_infos[i], error);
        if (status == GRAFT_OK && (computed->operation->flags & GRAFT_CUSTOM_ROWS) != 0 &&
            values[i]->shape[0] != values[0]->shape[0]) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, computed->place,
                                     "%s works row by row, but its inputs have %lld and %lld rows",
                                     computed->operation->name, (long long)values[0]->shape[0],
                                     (long long)values[i]->shape[0]);
        }
        status = status == GRAFT_OK ? graft_value_copy(values[i], &computed->inputs[i], error) : status;
    }
    for (int32_t i = 0; i < computed->n_outputs; i++) {
        computed->output_infos[i].struct_size = sizeof computed->output_infos[i];
    }
    if (status == GRAFT_OK) {
        const struct graft_plugin_call task = {"infer", computed->place, computed->operation->name, computed->plugin,
                                               NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        status = computed->operation->infer(computed->operation, &shapes, error);
        graft_crash_context_end(before);
        if (status != GRAFT_OK) {
            status = graft_error_complete(error, status, computed->place,
                                          "infer of %s failed with status %d and recorded no error",
                                          computed->operation->name, status);
        }
    }
    for (int32_t i = 0; i < computed->n_outputs && status == GRAFT_OK; i++) {
        status = check_output(computed, &computed->output_infos[i], error);
    }
    return status;
}

static int make_results(struct graft_computed *computed, struct graft_value *results, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < computed->n_outputs && status == GRAFT_OK; i++) {
        const struct graft_value_info *info = &computed->output_infos[i];
        struct graft_tensor_view *view = &computed->outputs[i];
        *view = (struct graft_tensor_view){
            .name = computed->inputs[0].parts[0].tensor->name,
            .dtype = info->dtype,
            .rank = info->rank,
            .bytes = bytes_of(info),
            .file = computed->operation->name,
            .computed = computed,
        };
        for (int32_t k = 0; k < GRAFT_MAX_RANK; k++) {
            view->shape[k] = info->shape[k];
        }
        status = graft_value_of(view, &results[i], error);
    }
    for (int32_t i = 0; i < computed->n_outputs && status != GRAFT_OK; i++) {
        graft_value_free(&results[i]);
    }
    return status;
}

int graft_computed_make(const struct graft_custom_operation *operation, const char *plugin, const char *place,
                        const struct graft_value *const *values, size_t n, struct graft_value *results,
                        size_t n_results, struct graft_computed **computed, struct graft_error *error) {
    struct graft_computed *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, place);
    }
    *made = (struct graft_computed){
        .operation = operation,
        .plugin = plugin,
        .place = place,
        .inputs = graft_alloc(n, sizeof *made->inputs),
        .input_infos = graft_alloc(n, sizeof *made->input_infos),
        .outputs = graft_alloc(n_results, sizeof *made->outputs),
        .output_infos = graft_alloc(n_results, sizeof *made->output_infos),
    };
    int status = GRAFT_OK;
    if (made->inputs == NULL || made->input_infos == NULL || made->outputs == NULL || made->output_infos == NULL) {
        status = graft_fail_memory(error, place);
    } else {
        made->n_inputs = (int32_t)n;
        made->n_outputs = (int32_t)n_results;
        status = infer(made, values, error);
    }
    if (status == GRAFT_OK) {
        count_bytes(made);
        status = make_results(made, results, error);
    }
    if (status != GRAFT_OK) {
        graft_computed_free(made);
        return status;
    }
    *computed = made;
    return GRAFT_OK;
}

void graft_computed_free(struct graft_computed *computed) {
    if (computed != NULL) {
        for (int32_t i = 0; i < computed->n_inputs; i++) {
            graft_value_free(&computed->inputs[i]);
        }
        graft_free(computed->inputs);
        graft_free(computed->input_infos);
        graft_free(computed->outputs);
        graft_free(computed->output_infos);
        graft_free(computed);
    }
}
