/* SPDX-License-Identifier: Apache-2.0 */
#include "adapters.h"

#include <math.h>
#include <stdio.h>

#include "fields.h"
#include "targets.h"

enum { MAX_PATTERN = 4096, MAX_RANK = 1 << 16 };

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

/* The value of the first key of `field` that matches the module as PEFT has it, `(.*\.)?(KEY)`; else `*value` stays. */
static int read_pattern(const struct lora_fields *fields, const char *field, const char *module, double *value,
                        struct graft_error *error) {
    char path[LORA_FIELD], pattern[MAX_PATTERN + 16];
    lora_field_path(fields, field, path);
    if (graft_config_has(fields->config, path) &&
        fields->config->kind(fields->config->data, path) != GRAFT_FIELD_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: expected an object", field);
    }
    for (int64_t i = 0; i < fields->config->size(fields->config->data, path); i++) {
        const char *key = fields->config->key(fields->config->data, path, i);
        int32_t found = 0;
        (void)snprintf(pattern, sizeof pattern, "(.*\\.)?(%.*s)", MAX_PATTERN, key);
        int status = lora_matches(pattern, module, fields->file, &found, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (found) {
            char element[LORA_FIELD / 2];
            (void)snprintf(element, sizeof element, "%s.#%lld", field, (long long)i);
            return lora_field_number(fields, element, value, error);
        }
    }
    return GRAFT_OK;
}

/* Rank and factor of a pair: alpha / rank, or alpha / sqrt(rank) (Kalajdzievski 2023), times the user's scale. */
static int read_strength(const struct lora_fields *fields, const char *module, int64_t i, struct lora_adapter *adapter,
                         struct graft_error *error) {
    double rank = 8.0, alpha = 8.0; /* PEFT's own */
    int32_t rslora = 0;
    char path[LORA_FIELD];
    int status = lora_field_number(fields, "r", &rank, error);
    if (status == GRAFT_OK) {
        status = lora_field_number(fields, "lora_alpha", &alpha, error);
    }
    if (status == GRAFT_OK) {
        status = lora_field_bool(fields, "use_rslora", &rslora, error);
    }
    if (status == GRAFT_OK) {
        status = read_pattern(fields, "rank_pattern", module, &rank, error);
    }
    if (status == GRAFT_OK) {
        status = read_pattern(fields, "alpha_pattern", module, &alpha, error);
    }
    if (status == GRAFT_OK && !(rank >= 1.0 && rank <= (double)MAX_RANK && rank == floor(rank))) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "r: expected 1 to %d for %s, got %g",
                                 (int)MAX_RANK, module, rank);
    }
    if (status == GRAFT_OK) {
        (void)snprintf(path, sizeof path, "adapters.%lld.scale", (long long)i);
        double scale = fields->config->real(fields->config->data, path);
        adapter->rank = (int64_t)rank;
        adapter->factor = scale * alpha / (rslora ? sqrt(rank) : rank);
    }
    return status;
}

static int32_t has(const struct graft_sink *sink, const struct lora_adapter *adapter, const char *tensor) {
    struct graft_value_info info = {.struct_size = sizeof info};
    char name[LORA_CHILD_NAME + 64];
    (void)snprintf(name, sizeof name, "%s.%s", adapter->child, tensor);
    return sink->adapter_tensor(sink->data, name, &info);
}

int lora_read(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
              const struct lora_place *place, struct lora_adapter *adapter, struct graft_error *error) {
    struct lora_fields fields;
    *adapter = (struct lora_adapter){.kind = LORA_NOTHING};
    lora_child_name(config, i, place->below, adapter->child);
    if (has(sink, adapter, "lora_A.weight") || has(sink, adapter, "lora_B.weight")) {
        adapter->kind = LORA_PAIR;
    } else if (has(sink, adapter, "lora_embedding_A") || has(sink, adapter, "lora_embedding_B")) {
        adapter->kind = LORA_EMBEDDING;
        adapter->has_base = has(sink, adapter, "base_layer.weight");
    } else if (has(sink, adapter, "weight")) {
        adapter->kind = LORA_WHOLE;
    } else {
        return GRAFT_OK;
    }
    lora_fields_of(config, i, &fields);
    int status = lora_fields_check(&fields, error);
    if (status == GRAFT_OK && adapter->kind != LORA_WHOLE) {
        status = lora_check_target(&fields, place->path, error);
    }
    return status == GRAFT_OK && adapter->kind != LORA_WHOLE ? read_strength(&fields, place->path, i, adapter, error)
                                                             : status;
}
