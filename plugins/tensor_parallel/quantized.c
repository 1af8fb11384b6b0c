/* SPDX-License-Identifier: Apache-2.0 */
#include "quantized.h"

#include <stdio.h>
#include <string.h>

#include "graft/auto_round.h"

enum { MAX_GROUP = 1 << 30 };

#define FIELD(name) "quantization_config." name
#define WEIGHTS(name) FIELD("config_groups.#0.weights." name)

#define NOT \
    { SPREAD_NOT, 0 }
#define EACH(dim) \
    { SPREAD_EACH, dim }
#define GROUPS(dim) \
    { SPREAD_GROUPS, dim }

static const struct quantized_tensor gptq[] = {
    {"qweight", EACH(1), EACH(0)},
    {"qzeros", EACH(1), GROUPS(0)},
    {"scales", EACH(1), GROUPS(0)},
    {"g_idx", NOT, EACH(0)},
};
static const struct quantized_tensor fp8[] = {
    {"weight_scale_inv", GROUPS(0), GROUPS(1)},
    {"weight_scale", GROUPS(0), GROUPS(1)},
};
static const struct quantized_tensor compressed_tensors[] = {
    {"weight_packed", EACH(0), EACH(1)},
    {"weight_scale", GROUPS(0), GROUPS(1)},
    {"weight_zero_point", EACH(0), GROUPS(1)},
};
enum { GPTQ_TENSORS = 4, AWQ_TENSORS = 3, FP8_TENSORS = 2, CT_TENSORS = 3 };

/* A number of outputs or inputs; absent, null or below 1 it is all. */
static int read_group(const struct graft_config *config, const char *field, int64_t *group, struct graft_error *error) {
    int64_t read = 0;
    int status = graft_config_int(config, field, -1, MAX_GROUP, &read, error);
    *group = read > 0 ? read : INT64_MAX;
    return status;
}

/* Words of 32 bits, along the outputs or the inputs. */
static int read_bits(const struct graft_config *config, const char *field, int64_t *word, struct graft_error *error) {
    int64_t bits = 4;
    int status = graft_config_int(config, field, 1, 32, &bits, error);
    *word = 32 / bits;
    return status;
}

/* Groups of inputs and words of 32 bits, of GPTQ's layout and AWQ's. */
static int read_codes(const struct graft_config *config, int64_t *group, int64_t *word, struct graft_error *error) {
    int64_t bits = 4, read = 128;
    int status = graft_word_bits_and_groups(config, "quantization_config", &bits, &read, error);
    *group = read > 0 ? read : INT64_MAX;
    *word = 32 / bits;
    return status == GRAFT_OK && bits != 4 && bits != 8
               ? graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                                 "%s: %s: codes of %lld bits cannot be divided among processes", config->file,
                                 FIELD("bits"), (long long)bits)
               : status;
}

static int refuse_order(const struct graft_config *config, const char *field, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                           "inputs whose groups lie in any order cannot be divided among processes (%s: %s)",
                           config->file, field);
}

/* --- The methods --- */

static int read_gptq(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    int32_t is_ordered = 0;
    quantized->tensors = gptq;
    quantized->n = GPTQ_TENSORS;
    int status = read_codes(config, &quantized->input_group, &quantized->input_word, error);
    quantized->output_word = quantized->input_word;
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, FIELD("desc_act"), &is_ordered, error);
    }
    return status == GRAFT_OK && is_ordered ? refuse_order(config, FIELD("desc_act"), error) : status;
}

static int read_awq(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    quantized->tensors = gptq;
    quantized->n = AWQ_TENSORS;
    return read_codes(config, &quantized->input_group, &quantized->output_word, error);
}

/* Either of these layouts. Words are checked where they are described, but not groups of single modules. */
static int read_auto_round(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    const char *layout = graft_auto_round_layout(config), *key;
    char field[96];
    for (int64_t i = 0; (key = config->key(config->data, FIELD("extra_config"), i)) != NULL; i++) {
        (void)snprintf(field, sizeof field, FIELD("extra_config.#%lld.group_size"), (long long)i);
        if (graft_config_has(config, field)) {
            return graft_error_set(
                error, GRAFT_ERROR_USAGE, "tensor_parallel",
                "Linears with groups of their own cannot be divided among processes (%s: %s, \"%s\")", config->file,
                FIELD("extra_config"), key);
        }
    }
    return layout != NULL && strstr(layout, "awq") != NULL ? read_awq(config, quantized, error)
                                                           : read_gptq(config, quantized, error);
}

static int read_fp8(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    quantized->tensors = fp8;
    quantized->n = FP8_TENSORS;
    int status = read_group(config, FIELD("weight_block_size.0"), &quantized->output_group, error);
    return status == GRAFT_OK ? read_group(config, FIELD("weight_block_size.1"), &quantized->input_group, error)
                              : status;
}

/* A scale for each row. */
static int read_fbgemm(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    int status = read_fp8(config, quantized, error);
    quantized->output_group = 1;
    return status;
}

static int read_mxfp8(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    int status = read_fp8(config, quantized, error);
    if (!graft_config_has(config, FIELD("weight_block_size"))) {
        quantized->output_group = 1;
        quantized->input_group = 32;
    }
    return status;
}

static int is_string(const struct graft_config *config, const char *field, const char *value) {
    const char *found = config->string(config->data, field);
    return found != NULL && strcmp(found, value) == 0;
}

static int read_modelopt(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    quantized->tensors = fp8;
    quantized->n = FP8_TENSORS;
    if (is_string(config, FIELD("quant_algo"), "MIXED_PRECISION")) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                               "Linears quantized in several ways cannot be divided among processes (%s: %s)",
                               config->file, FIELD("quant_algo"));
    }
    if (!is_string(config, FIELD("quant_algo"), "FP8")) {
        quantized->output_group = 1;
        quantized->input_group = 16;
        quantized->input_word = 2;
    }
    return GRAFT_OK;
}

static int read_compressed(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    int64_t groups = config->size(config->data, FIELD("config_groups"));
    int status = GRAFT_OK;
    quantized->tensors = compressed_tensors;
    quantized->n = CT_TENSORS;
    if (groups != 1) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                               "Linears quantized in %lld ways cannot be divided among processes (%s: %s)",
                               (long long)groups, config->file, FIELD("config_groups"));
    }
    if (is_string(config, WEIGHTS("actorder"), "group")) {
        return refuse_order(config, WEIGHTS("actorder"), error);
    }
    if (!is_string(config, WEIGHTS("strategy"), "tensor")) {
        quantized->output_group = 1;
    }
    if (is_string(config, WEIGHTS("strategy"), "group") || is_string(config, WEIGHTS("strategy"), "tensor_group")) {
        status = read_group(config, WEIGHTS("group_size"), &quantized->input_group, error);
    }
    if (status == GRAFT_OK && is_string(config, WEIGHTS("strategy"), "block")) {
        status = read_group(config, WEIGHTS("block_structure.0"), &quantized->output_group, error);
        if (status == GRAFT_OK) {
            status = read_group(config, WEIGHTS("block_structure.1"), &quantized->input_group, error);
        }
    }
    return status == GRAFT_OK ? read_bits(config, WEIGHTS("num_bits"), &quantized->input_word, error) : status;
}

int quantized_read(const struct graft_config *config, struct quantized *quantized, struct graft_error *error) {
    static const struct {
        const char *method;
        int (*read)(const struct graft_config *config, struct quantized *quantized, struct graft_error *error);
    } methods[] = {{"gptq", read_gptq},
                   {"awq", read_awq},
                   {"auto-round", read_auto_round},
                   {"intel/auto-round", read_auto_round},
                   {"fp8", read_fp8},
                   {"fbgemm_fp8", read_fbgemm},
                   {"mxfp8", read_mxfp8},
                   {"modelopt", read_modelopt},
                   {"compressed-tensors", read_compressed}};
    const char *method = NULL;
    *quantized =
        (struct quantized){.output_group = INT64_MAX, .input_group = INT64_MAX, .output_word = 1, .input_word = 1};
    if (!graft_config_has(config, "quantization_config")) {
        return GRAFT_OK;
    }
    int status = graft_config_string(config, FIELD("quant_method"), &method, error);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0] && status == GRAFT_OK && method != NULL; i++) {
        if (strcmp(methods[i].method, method) == 0) {
            return methods[i].read(config, quantized, error);
        }
    }
    return status != GRAFT_OK ? status
                              : graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                                                "projections quantized by \"%s\" are not divided among processes",
                                                method != NULL ? method : "");
}

/* --- What fits --- */

/* What has a single group is not divided. */
static int check(const char *what, int64_t count, int64_t group, int64_t word, int32_t ranks, const char *path,
                 struct graft_error *error) {
    int64_t unit = group < count && group > word ? group : word;
    return count % ranks == 0 && count / ranks % unit == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                                 "%lld %s, quantized in groups of %lld, cannot be divided among %ld processes (%s)",
                                 (long long)count, what, (long long)unit, (long)ranks, path);
}

int quantized_check_outputs(const struct quantized *quantized, int64_t outputs, int32_t ranks, const char *path,
                            struct graft_error *error) {
    return quantized->n > 0
               ? check("outputs", outputs, quantized->output_group, quantized->output_word, ranks, path, error)
               : GRAFT_OK;
}

int quantized_check_inputs(const struct quantized *quantized, int64_t inputs, int32_t ranks, const char *path,
                           struct graft_error *error) {
    return quantized->n > 0 ? check("inputs", inputs, quantized->input_group, quantized->input_word, ranks, path, error)
                            : GRAFT_OK;
}

int quantized_dim(const struct along *along, int64_t count, int64_t group) {
    return along->spread == SPREAD_EACH || (along->spread == SPREAD_GROUPS && group < count) ? along->dim : -1;
}
