/* SPDX-License-Identifier: Apache-2.0 */
#include "model_weight.h"

#include <stdio.h>

#include "adapters.h"
#include "fields.h"
#include "graft/convert.h"
#include "sums.h"
#include "targets.h"

static const char TOKENS[] = "token_adapter.trainable_tokens_delta";
static const char INDICES[] = "trainable_token_indices";

/* --- Rows of single tokens --- */

/* An operation that replaces some rows of a table [rows, columns] by others [n, columns]. */
struct token_rows {
    struct graft_custom_operation operation; /* its `data` points to this struct */
    int64_t n;
    int64_t rows[]; /* [n] */
};

static int is_float(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct token_rows *tokens = self->data;
    const struct graft_value_info *table = graft_value_info_at(shapes->inputs, shapes->info_stride, 0);
    const struct graft_value_info *some = graft_value_info_at(shapes->inputs, shapes->info_stride, 1);
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    if (shapes->n_inputs != 2 || !is_float(table->dtype) || !is_float(some->dtype) || table->rank != 2 ||
        some->rank != 2 || some->shape[0] != tokens->n || some->shape[1] != table->shape[1]) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, TOKENS,
                               "expected a row of floats for each of %lld tokens (%s), as long as those of the table",
                               (long long)tokens->n, INDICES);
    }
    for (int64_t i = 0; i < tokens->n; i++) {
        if (tokens->rows[i] < 0 || tokens->rows[i] >= table->shape[0]) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, TOKENS, "%s: expected tokens from 0 to %lld, got %lld",
                                   INDICES, (long long)table->shape[0] - 1, (long long)tokens->rows[i]);
        }
    }
    output->dtype = table->dtype == GRAFT_DTYPE_BF16 ? GRAFT_DTYPE_BF16 : GRAFT_DTYPE_F32;
    output->rank = 2;
    memcpy(output->shape, table->shape, sizeof output->shape);
    return GRAFT_OK;
}

/* Converts row `row` of `from` to the type of the result, bf16 or f32, as PEFT does. */
static void convert_row(const void *from, graft_dtype from_dtype, int64_t row, int64_t columns, graft_dtype dtype,
                        char *to) {
    for (int64_t k = 0; k < columns; k++) {
        const float value = graft_f32_at(from, from_dtype, row * columns + k);
        if (dtype == GRAFT_DTYPE_BF16) {
            ((uint16_t *)(void *)to)[k] = graft_bf16_from_f32(value);
        } else {
            ((float *)(void *)to)[k] = value;
        }
    }
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const struct token_rows *tokens = self->data;
    const struct graft_value_info *table = graft_value_info_at(work->inputs, work->info_stride, 0);
    const struct graft_value_info *some = graft_value_info_at(work->inputs, work->info_stride, 1);
    const graft_dtype dtype = graft_value_info_at(work->outputs, work->info_stride, 0)->dtype;
    const int64_t rows = table->shape[0], columns = table->shape[1],
                  bytes = columns * (dtype == GRAFT_DTYPE_F32 ? 4 : 2);
    char *to = work->to[0];
    (void)error;
    if (dtype == table->dtype) {
        memcpy(to, work->from[0], (size_t)(rows * bytes));
    }
    for (int64_t i = 0; i < rows && dtype != table->dtype; i++) {
        convert_row(work->from[0], table->dtype, i, columns, dtype, to + i * bytes);
    }
    for (int64_t i = 0; i < tokens->n; i++) {
        convert_row(work->from[1], some->dtype, i, columns, dtype, to + tokens->rows[i] * bytes);
    }
    return GRAFT_OK;
}

/* Finds the config's list of tokens for a module: a list for the input embeddings, or a list under the end of the
 * module's name. */
static int find_indices(const struct lora_fields *fields, const char *module, char path[LORA_FIELD],
                        struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char field[LORA_FIELD];
    const char *key;
    lora_field_path(fields, INDICES, field);
    (void)snprintf(path, LORA_FIELD, "%s", field);
    if (config->kind(config->data, field) == GRAFT_FIELD_ARRAY) {
        return GRAFT_OK;
    }
    for (int64_t i = 0; (key = config->key(config->data, field, i)) != NULL; i++) {
        const size_t length = strlen(module), wanted = strlen(key);
        if (wanted <= length && strcmp(module + length - wanted, key) == 0) {
            (void)snprintf(path, LORA_FIELD, "%.*s.#%lld", LORA_FIELD - 32, field, (long long)i);
            return config->kind(config->data, path) == GRAFT_FIELD_ARRAY
                       ? GRAFT_OK
                       : graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: expected a list for \"%s\"",
                                         INDICES, key);
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                           "%s: does not name %s, for which the adapter has tensors", INDICES, module);
}

static int read_indices(const struct lora_fields *fields, const char *path, struct token_rows *tokens,
                        struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char element[LORA_FIELD + 24];
    tokens->n = config->size(config->data, path);
    for (int64_t i = 0; i < tokens->n; i++) {
        (void)snprintf(element, sizeof element, "%s.%lld", path, (long long)i);
        if (config->kind(config->data, element) != GRAFT_FIELD_INT) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: expected integers", INDICES);
        }
        tokens->rows[i] = config->integer(config->data, element);
    }
    return GRAFT_OK;
}

/* --- Conversions --- */

/* Finds the tensor that an adapter stores for the parameter; none for a module that it saves whole (adapters.h). */
static int find_stored(const struct lora_fields *fields, const struct graft_sink *sink, int64_t i,
                       const char *parameter, char name[LORA_TENSOR_NAME]) {
    static const char *const prefixes[] = {"base_layer.", "token_adapter.base_layer.", ""};
    char tensor[64], module[LORA_MODULE_NAME];
    for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++) {
        (void)snprintf(tensor, sizeof tensor, "%s%s", prefixes[k], parameter);
        if (lora_has_tensor(fields->config, sink, i, tensor, name, module)) {
            return prefixes[k][0] != '\0' || !lora_is_saved(fields, module);
        }
    }
    return 0;
}

static int describe_conversion(const struct graft_sink *sink, const char *const *sources, int32_t n_sources,
                               const char *target, const struct graft_operation *operation, struct graft_error *error) {
    const struct graft_conversion conversion = {
        .struct_size = sizeof conversion,
        .n_sources = n_sources,
        .sources = sources,
        .targets = &target,
        .operations = operation,
        .n_targets = 1,
        .n_operations = 1,
        .operation_stride = sizeof *operation,
    };
    return sink->conversion(sink->data, &conversion, error);
}

/* Declares that a tensor of the adapter replaces the parameter. */
static int describe_table(const struct graft_sink *sink, const char *source, const char *target,
                          struct graft_error *error) {
    const struct graft_operation as_it_is = {.struct_size = sizeof as_it_is, .kind = GRAFT_OP_CONCATENATE, .dim = 0};
    return describe_conversion(sink, &source, 1, target, &as_it_is, error);
}

static int describe_tokens(const struct graft_sink *sink, const char *table, const char *rows,
                           struct token_rows *tokens, struct graft_error *error) {
    const char *const sources[] = {table, rows};
    const struct graft_operation operation = {
        .struct_size = sizeof operation, .kind = GRAFT_OP_CUSTOM, .custom = &tokens->operation};
    tokens->operation = (struct graft_custom_operation){
        .struct_size = sizeof tokens->operation, .name = "token_rows", .data = tokens, .infer = infer, .apply = apply};
    return describe_conversion(sink, sources, 2, "weight", &operation, error);
}

/* Describes what adapter `i` has; `*kept` is advanced. */
static int describe_one(const struct graft_config *config, const struct graft_sink *sink, int64_t i, int64_t **kept,
                        struct graft_error *error) {
    char table[LORA_TENSOR_NAME], bias[LORA_TENSOR_NAME], rows[LORA_TENSOR_NAME];
    char module[LORA_MODULE_NAME], path[LORA_FIELD];
    struct lora_fields fields;
    lora_fields_of(config, i, &fields);
    const int has_table = find_stored(&fields, sink, i, "weight", table);
    const int has_bias = find_stored(&fields, sink, i, "bias", bias);
    const int has_rows = lora_has_tensor(config, sink, i, TOKENS, rows, module);
    if (!has_table && !has_bias && !has_rows) {
        return GRAFT_OK;
    }
    lora_fields_check(&fields, NULL, error);
    if (has_bias) {
        describe_table(sink, bias, "bias", error);
    }
    if (has_rows && find_indices(&fields, module, path, error) == GRAFT_OK) {
        struct token_rows *tokens = (struct token_rows *)(void *)*kept;
        read_indices(&fields, path, tokens, error);
        *kept = tokens->rows + tokens->n;
        describe_tokens(sink, has_table ? table : "weight", rows, tokens, error);
    } else if (has_table) {
        describe_table(sink, table, "weight", error);
    }
    return error->code;
}

int64_t lora_weight_bytes(const struct graft_config *config, const struct graft_sink *sink) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < lora_count(config); i++) {
        char module[LORA_MODULE_NAME], path[LORA_FIELD];
        struct lora_fields fields;
        struct graft_error unread = graft_error_none();
        lora_fields_of(config, i, &fields);
        if (lora_has_tensor(config, sink, i, TOKENS, NULL, module) &&
            find_indices(&fields, module, path, &unread) == GRAFT_OK) {
            bytes += (int64_t)sizeof(struct token_rows) + config->size(config->data, path) * (int64_t)sizeof(int64_t);
        }
    }
    return bytes;
}

int lora_describe_weight(const struct graft_config *config, const struct graft_sink *sink, int64_t *kept,
                         struct graft_error *error) {
    for (int64_t i = 0; i < lora_count(config); i++) {
        describe_one(config, sink, i, &kept, error);
    }
    return error->code;
}
