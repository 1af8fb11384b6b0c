/* SPDX-License-Identifier: Apache-2.0 */
#include "adapters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"
#include "targets.h"

enum { MAX_PATTERN = 4096, MAX_RANK = 1 << 16, MAX_MODULE = LORA_MODULE_NAME, MAX_TENSOR = LORA_TENSOR_NAME };

int64_t lora_count(const struct graft_config *config) {
    return config->size(config->data, "adapters");
}

void lora_child_name(const struct graft_config *config, int64_t i, const char *below, char child[LORA_CHILD_NAME]) {
    char path[LORA_FIELD];
    (void)snprintf(path, sizeof path, "adapters.%lld.name", (long long)i);
    (void)snprintf(child, LORA_CHILD_NAME, "%s%sadapter.%s", below, below[0] != '\0' ? "." : "",
                   config->string(config->data, path));
}

int lora_describe_by_row(const struct graft_sink *sink, struct graft_error *error) {
    const int64_t yes = 1;
    return sink->attribute(sink->data, "adapters_by_row", &yes, 1, error);
}

/* Reads the value of the first key of `field` that matches the module as PEFT matches it, `(.*\.)?(KEY)`; without a
 * match `*value` is unchanged. */
static int read_pattern(const struct lora_fields *fields, const char *field, const char *module, double *value,
                        struct graft_error *error) {
    char path[LORA_FIELD], pattern[MAX_PATTERN + 16];
    lora_field_path(fields, field, path);
    if (graft_config_has(fields->config, path) &&
        fields->config->kind(fields->config->data, path) != GRAFT_FIELD_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: expected an object", field);
    }
    for (int64_t i = 0; error->code == GRAFT_OK && i < fields->config->size(fields->config->data, path); i++) {
        const char *key = fields->config->key(fields->config->data, path, i);
        int32_t found = 0;
        (void)snprintf(pattern, sizeof pattern, "(.*\\.)?(%.*s)", MAX_PATTERN, key);
        lora_matches(pattern, module, fields->file, &found, error);
        if (found) {
            char element[LORA_FIELD / 2];
            (void)snprintf(element, sizeof element, "%s.#%lld", field, (long long)i);
            return lora_field_number(fields, element, value, error);
        }
    }
    return error->code;
}

/* The scale that the user gave for adapter `i`. */
static double read_scale(const struct graft_config *config, int64_t i) {
    char path[LORA_FIELD];
    (void)snprintf(path, sizeof path, "adapters.%lld.scale", (long long)i);
    return config->real(config->data, path);
}

/* Reads rank and factor of a pair: alpha / rank, or alpha / sqrt(rank) (Kalajdzievski 2023), times the user's scale. */
static int read_strength(const struct lora_fields *fields, const char *module, int64_t i, struct lora_adapter *adapter,
                         struct graft_error *error) {
    double rank = 8.0, alpha = 8.0; /* PEFT's own */
    int32_t rslora = 0;
    lora_field_number(fields, "r", &rank, error);
    lora_field_number(fields, lora_alpha_field(fields), &alpha, error);
    lora_field_bool(fields, "use_rslora", &rslora, error);
    read_pattern(fields, "rank_pattern", module, &rank, error);
    read_pattern(fields, "alpha_pattern", module, &alpha, error);
    if (!(rank >= 1.0 && rank <= (double)MAX_RANK && rank == floor(rank))) {
        graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "r: expected 1 to %d for %s, got %g", (int)MAX_RANK,
                        module, rank);
    }
    if (error->code == GRAFT_OK) {
        adapter->rank = (int64_t)rank;
        adapter->factor = read_scale(fields->config, i) * alpha / (rslora ? sqrt(rank) : rank);
    }
    return error->code;
}

static void tensor_name(const struct lora_adapter *adapter, const char *tensor, char name[MAX_TENSOR]) {
    (void)snprintf(name, MAX_TENSOR, "%s.%s", adapter->child, tensor);
}

static int32_t has(const struct graft_sink *sink, const struct lora_adapter *adapter, const char *tensor) {
    struct graft_value_info info = {.struct_size = sizeof info};
    char name[MAX_TENSOR];
    tensor_name(adapter, tensor, name);
    return sink->adapter_tensor(sink->data, name, &info);
}

/* The first of two tensors that the adapter has; NULL: it has neither. A pair of which one half is missing counts too,
 * and is refused later. */
static const char *find_pair(const struct graft_sink *sink, const struct lora_adapter *adapter, const char *a,
                             const char *b) {
    return has(sink, adapter, a) ? a : has(sink, adapter, b) ? b : NULL;
}

/* Writes the adapter's name for the module: that of its tensor without the last components. adapter_config.json uses
 * the same names. */
static void module_name(const struct graft_sink *sink, const struct lora_place *place,
                        const struct lora_adapter *adapter, const char *tensor, char module[MAX_MODULE]) {
    char name[MAX_TENSOR];
    tensor_name(adapter, tensor, name);
    const char *full =
        GRAFT_HAS(sink, struct graft_sink, adapter_tensor_name) ? sink->adapter_tensor_name(sink->data, name) : NULL;
    const size_t length = full != NULL ? strlen(full) - strlen(tensor) - 1 : 0;
    (void)snprintf(module, MAX_MODULE, "%.*s", (int)(full != NULL && length < MAX_MODULE ? length : MAX_MODULE - 1),
                   full != NULL ? full : place->path);
}

static void parameter_name(const char *module, const char *name, char parameter[MAX_TENSOR]) {
    (void)snprintf(parameter, MAX_TENSOR, "%.*s.%s", MAX_MODULE, module, name);
}

/* Refuses `use_dora` for modules in which this plugin does not support DoRA. */
static int refuse_magnitudes(const struct lora_fields *fields, const char *what, struct graft_error *error) {
    int32_t has_magnitudes = 0;
    lora_field_bool(fields, "use_dora", &has_magnitudes, error);
    return has_magnitudes ? lora_field_refuse(fields, "use_dora", what, error) : error->code;
}

/* Checks LoHa, LoKr and VeRA, whose product is computed from other tensors. `r` of the config is the rank of those
 * tensors, not of the product. */
static int read_made(const struct lora_fields *fields, const char *module, int64_t i, struct lora_adapter *adapter,
                     struct graft_error *error) {
    const struct lora_made *made = &adapter->made;
    int32_t has_projection = 1;
    if (made->method == LORA_METHOD_LORA) {
        return GRAFT_OK;
    }
    if (made->method == LORA_METHOD_VERA) {
        lora_field_bool(fields, "save_projection", &has_projection, error);
    }
    if (!has_projection) {
        return lora_field_refuse(fields, "save_projection",
                                 "expected true: only PyTorch can draw vera_A and vera_B again", error);
    }
    if (made->stored_rank > 0 && made->stored_rank != adapter->rank) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                               "r: expected %lld for %s, as its tensors have, got %lld", (long long)made->stored_rank,
                               module, (long long)adapter->rank);
    }
    if (made->rank < 1 || made->rank > MAX_RANK) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                               "%s: its tensors make a product of rank %lld, expected 1 to %d", module,
                               (long long)made->rank, (int)MAX_RANK);
    }
    adapter->rank = made->rank;
    adapter->factor = made->method == LORA_METHOD_VERA ? read_scale(fields->config, i) : adapter->factor;
    return error->code;
}

/* Finds IA3's scales, which multiply outputs, [out, 1], or inputs, [1, in]. */
static int find_scale(const struct graft_sink *sink, struct lora_adapter *adapter) {
    struct graft_value_info info = {.struct_size = sizeof info};
    char name[MAX_TENSOR];
    tensor_name(adapter, "ia3_l", name);
    const int found = sink->adapter_tensor(sink->data, name, &info) != 0;
    adapter->of_inputs = found && info.rank == 2 && info.shape[0] == 1;
    return found;
}

int lora_read(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
              const struct lora_place *place, struct lora_adapter *adapter, struct graft_error *error) {
    struct lora_fields fields;
    char module[MAX_MODULE];
    *adapter = (struct lora_adapter){.kind = LORA_NOTHING};
    lora_child_name(config, i, place->below, adapter->child);
    const char *tensor = find_pair(sink, adapter, "lora_A.weight", "lora_B.weight");
    if (tensor != NULL || (tensor = lora_made_find(sink, adapter->child, &adapter->made)) != NULL) {
        adapter->kind = LORA_PAIR;
    } else if (find_scale(sink, adapter)) {
        adapter->kind = LORA_SCALE;
        tensor = "ia3_l";
    } else if ((tensor = find_pair(sink, adapter, "lora_embedding_A", "lora_embedding_B")) != NULL) {
        adapter->kind = LORA_EMBEDDING;
    } else if (has(sink, adapter, "weight")) {
        adapter->kind = LORA_WHOLE;
    } else {
        return GRAFT_OK;
    }
    lora_fields_of(config, i, &fields);
    const char *type = adapter->kind == LORA_WHOLE   ? NULL
                       : adapter->kind == LORA_SCALE ? "IA3"
                                                     : lora_method_types[adapter->made.method];
    lora_fields_check(&fields, type, error);
    module_name(sink, place, adapter, tensor != NULL ? tensor : "weight", module);
    if (error->code != GRAFT_OK || adapter->kind == LORA_WHOLE) {
        /* otherwise it is a table that replaces the model's own (model_weight.h) */
        adapter->kind = lora_is_saved(&fields, module) ? LORA_WHOLE : LORA_NOTHING;
        return error->code;
    }
    lora_check_target(&fields, module, place->outputs, error);
    if (adapter->kind == LORA_SCALE) {
        adapter->factor = read_scale(config, i);
        return error->code;
    }
    read_strength(&fields, module, i, adapter, error);
    if (error->code == GRAFT_OK) {
        read_made(&fields, module, i, adapter, error);
    }
    lora_field_bool(&fields, "use_dora", &adapter->has_magnitude, error);
    lora_field_bool(&fields, "lora_bias", &adapter->has_bias, error);
    return adapter->kind == LORA_EMBEDDING ? refuse_magnitudes(&fields, "not done for embeddings", error) : error->code;
}

int32_t lora_has_tensor(const struct graft_config *config, const struct graft_sink *sink, int64_t i, const char *tensor,
                        char name[LORA_TENSOR_NAME], char module[LORA_MODULE_NAME]) {
    const struct lora_place itself = {.below = "", .path = sink->path};
    struct lora_adapter adapter = {.kind = LORA_NOTHING};
    lora_child_name(config, i, "", adapter.child);
    if (name != NULL) {
        tensor_name(&adapter, tensor, name);
    }
    if (module != NULL) {
        module_name(sink, &itself, &adapter, tensor, module);
    }
    return has(sink, &adapter, tensor);
}

/* Index of the parameter that the outer tensors are for: the second if there are inner ones, else the one that the
 * config names. */
static int find_parameter(const struct lora_fields *fields, const char *module, const char *const names[2],
                          const struct lora_adapter adapters[2], struct graft_error *error) {
    char parameter[MAX_TENSOR];
    if (adapters[0].kind == LORA_PAIR) {
        return 1;
    }
    parameter_name(module, names[0], parameter);
    const int is_first = lora_names_parameter(fields, parameter);
    parameter_name(module, names[1], parameter);
    if (is_first && lora_names_parameter(fields, parameter)) {
        graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                        "target_parameters: names two of %s, and the adapter has tensors for one", module);
    }
    return !is_first;
}

static int read_parameter(const struct lora_fields *fields, const char *module, const char *name, int64_t i,
                          struct lora_adapter *adapter, struct graft_error *error) {
    char parameter[MAX_TENSOR];
    parameter_name(module, name, parameter);
    if (!lora_names_parameter(fields, parameter)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                               "target_parameters: does not name %s, for which the adapter has tensors", parameter);
    }
    adapter->kind = LORA_PAIR;
    return read_strength(fields, parameter, i, adapter, error);
}

int lora_read_parameters(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
                         const char *const names[2], struct lora_adapter adapters[2], struct graft_error *error) {
    const struct lora_place place = {.below = "", .path = sink->path};
    struct lora_fields fields;
    char module[MAX_MODULE];
    for (int k = 0; k < 2; k++) {
        adapters[k] = (struct lora_adapter){.kind = LORA_NOTHING};
        lora_child_name(config, i, "", adapters[k].child);
    }
    const char *inside = find_pair(sink, &adapters[0], "base_layer.lora_A.weight", "base_layer.lora_B.weight");
    const char *outside = find_pair(sink, &adapters[0], "lora_A.weight", "lora_B.weight");
    if (inside == NULL && outside == NULL) {
        return GRAFT_OK;
    }
    lora_fields_of(config, i, &fields);
    module_name(sink, &place, &adapters[0], inside != NULL ? inside : outside, module);
    lora_fields_check(&fields, lora_method_types[LORA_METHOD_LORA], error);
    refuse_magnitudes(&fields, "not done for stacked experts", error);
    if (inside != NULL) {
        read_parameter(&fields, module, names[0], i, &adapters[0], error);
    }
    const int outer = find_parameter(&fields, module, names, adapters, error);
    read_parameter(&fields, module, names[outer], i, &adapters[outer], error);
    return error->code;
}
