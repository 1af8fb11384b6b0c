/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 4 bits (load_in_4bit). Codes are in rows, but the tensor has one column, and so have the scales, one for
 * each block of weights. Codes and scales are used in place, except for two kinds of scales that are computed for each
 * row: scales that are codes themselves (double quantization), and scales of blocks that span two rows. */
#include "linear.h"
#include "numbers.h"
#include "quant_state.h"
#include "scales.h"

enum { NUMBERS = 16, NESTED_NUMBERS = 256, LEAST_BLOCK = 32, MOST_TEXT = 4096 };

#define FIELD(name) "quantization_config." name

/* Settings of config.json. */
struct kept {
    int32_t is_fp4;
    int32_t is_nested;
};

static const char *state_name(int32_t is_fp4) {
    return is_fp4 ? "weight.quant_state.bitsandbytes__fp4" : "weight.quant_state.bitsandbytes__nf4";
}

static int read_config(const struct graft_config *config, struct kept *kept, struct graft_error *error) {
    const char *type = "fp4", *storage = "uint8"; /* transformers' defaults */
    graft_config_string(config, FIELD("bnb_4bit_quant_type"), &type, error);
    graft_config_bool(config, FIELD("bnb_4bit_use_double_quant"), &kept->is_nested, error);
    graft_config_string(config, FIELD("bnb_4bit_quant_storage"), &storage, error);
    kept->is_fp4 = strcmp(type, "fp4") == 0;
    if (!kept->is_fp4 && strcmp(type, "nf4") != 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                        FIELD("bnb_4bit_quant_type") ": expected \"nf4\" or \"fp4\", got \"%s\"", type);
    }
    return strcmp(storage, "uint8") == 0
               ? error->code
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 FIELD("bnb_4bit_quant_storage") ": expected \"uint8\", got \"%s\"", storage);
}

/* Adds a vector whose length is that of the checkpoint's tensor. */
static void add_vector(struct graft_scheme *scheme, int32_t role, const char *name, int64_t most, graft_dtype dtype) {
    struct graft_parameter_info *info = graft_scheme_add(scheme, role, name, dtype, 1, &most);
    info->flags = GRAFT_PARAMETER_ANY_LENGTH;
    info->join = graft_join_whole(GRAFT_JOIN_EACH);
}

static void add_map(struct graft_scheme *scheme, const char *name, int64_t length) {
    graft_scheme_add(scheme, GRAFT_CODED_OTHER, name, GRAFT_DTYPE_F32, 1, &length)->join =
        graft_join_whole(GRAFT_JOIN_EQUAL);
}

/* The block size is only in the quantization state, which is read when the tensors are bound, so lengths are not
 * checked here. */
static void add_tensors(struct graft_scheme *scheme, const struct kept *kept) {
    const int64_t bytes = scheme->codec.rows * graft_codec_row_bytes(&scheme->codec);
    const int64_t scales = bytes * 2 / LEAST_BLOCK + 1, column[2] = {bytes, 1};
    graft_scheme_add(scheme, GRAFT_CODED_CODES, "weight", GRAFT_DTYPE_U8, 2, column)->join = graft_join_rows(0, 1);
    add_map(scheme, "weight.quant_map", NUMBERS);
    add_vector(scheme, GRAFT_CODED_OTHER, "weight.absmax", scales, kept->is_nested ? GRAFT_DTYPE_U8 : GRAFT_DTYPE_F32);
    if (kept->is_nested) {
        add_map(scheme, "weight.nested_quant_map", NESTED_NUMBERS);
        add_vector(scheme, GRAFT_CODED_OTHER, "weight.nested_absmax", scales, GRAFT_DTYPE_F32);
    }
    add_vector(scheme, GRAFT_CODED_OTHER, state_name(kept->is_fp4), MOST_TEXT, GRAFT_DTYPE_U8);
}

static int check_numbers(const struct graft_build *build, const struct graft_weight *map, int32_t is_fp4,
                         struct graft_error *error) {
    const float *expected = is_fp4 ? fp4_numbers : nf4_numbers;
    for (int64_t i = 0; i < map->rows; i++) {
        const float *number = bnb_elements(map, i, 1);
        if (*number != expected[i % NUMBERS]) {
            const struct bnb_name name = bnb_name_of(build->path, "weight.quant_map");
            return graft_error_set(error, GRAFT_ERROR_MODEL, name.text,
                                   "number %lld of the table is %g, but for %s it must be %g", (long long)i,
                                   (double)*number, is_fp4 ? "fp4" : "nf4", (double)expected[i % NUMBERS]);
        }
    }
    return GRAFT_OK;
}

static int find_parts(const struct graft_build *build, const struct kept *kept, const struct graft_weight *codes,
                      struct bnb_parts *parts, struct graft_error *error) {
    *parts = (struct bnb_parts){
        .path = build->path, .type = kept->is_fp4 ? "fp4" : "nf4", .state_name = state_name(kept->is_fp4)};
    parts->codes = codes;
    parts->absmax = graft_build_weight(build, "weight.absmax", error);
    parts->state = graft_build_weight(build, parts->state_name, error);
    const struct graft_weight *map = graft_build_weight(build, "weight.quant_map", error);
    if (error->code == GRAFT_OK && kept->is_nested) {
        parts->nested_absmax = graft_build_weight(build, "weight.nested_absmax", error);
        const struct graft_weight *nested = graft_build_weight(build, "weight.nested_quant_map", error);
        parts->nested_map = error->code == GRAFT_OK ? bnb_elements(nested, 0, NESTED_NUMBERS) : NULL;
    }
    return error->code == GRAFT_OK ? check_numbers(build, map, kept->is_fp4, error) : error->code;
}

static int finish(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error) {
    struct bnb_parts parts;
    find_parts(build, context, codec->codes, &parts, error);
    return error->code == GRAFT_OK ? bnb_scales_bind(&parts, build, codec, error) : error->code;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    struct kept kept = {0};
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    if (scheme.codec.columns % 2 != 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                        "in_features is %lld, expected an even number, because a byte holds two codes",
                        (long long)scheme.codec.columns);
    }
    read_config(config, &kept, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    scheme.codec.kind = GRAFT_CODE_TABLE;
    scheme.codec.bits = 4;
    scheme.codec.table = kept.is_fp4 ? fp4_numbers : nf4_numbers;
    scheme.finish = finish;
    scheme.context = &kept;
    scheme.context_bytes = sizeof kept;
    add_tensors(&scheme, &kept);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

const struct graft_class bnb_linear4bit_class = GRAFT_SCHEME_LINEAR_CLASS("Linear4bit", describe);
