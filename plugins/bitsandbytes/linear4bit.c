/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of 4 bits (load_in_4bit). Codes lie in rows but are stored as one column, and so are their scales, one for
 * each block of weights. Both are read where they are: only scales that are codes themselves (double quantization), or
 * of rows that do not end with a block, are computed, and then those of a row are its own.
 */
#include "linear.h"
#include "loops.h"
#include "numbers.h"
#include "quant_state.h"
#include "scales.h"

enum { NUMBERS = 16, NESTED_NUMBERS = 256, LEAST_BLOCK = 32, MOST_TEXT = 4096 };

#define FIELD(name) "quantization_config." name

/* What `describe` keeps. */
struct kept {
    struct graft_packed_rows rows; /* the sizes */
    int32_t is_fp4;
    int32_t is_nested;
};

static const char *state_name(int32_t is_fp4) {
    return is_fp4 ? "weight.quant_state.bitsandbytes__fp4" : "weight.quant_state.bitsandbytes__nf4";
}

static int read_config(const struct graft_config *config, struct kept *kept, struct graft_error *error) {
    const char *type = "fp4", *storage = "uint8"; /* as transformers has it */
    int status = graft_config_string(config, FIELD("bnb_4bit_quant_type"), &type, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, FIELD("bnb_4bit_use_double_quant"), &kept->is_nested, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_string(config, FIELD("bnb_4bit_quant_storage"), &storage, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    kept->is_fp4 = strcmp(type, "fp4") == 0;
    if (!kept->is_fp4 && strcmp(type, "nf4") != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               FIELD("bnb_4bit_quant_type") ": expected \"nf4\" or \"fp4\", got \"%s\"", type);
    }
    return strcmp(storage, "uint8") == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 FIELD("bnb_4bit_quant_storage") ": expected \"uint8\", got \"%s\"", storage);
}

static int describe_vector(const struct graft_sink *sink, const char *name, int64_t most, graft_dtype dtype,
                           struct graft_error *error) {
    return graft_describe_joined(sink, name, 1, &most, dtype, GRAFT_PARAMETER_ANY_LENGTH,
                                 graft_join_whole(GRAFT_JOIN_EACH), error);
}

static int describe_map(const struct graft_sink *sink, const char *name, int64_t length, struct graft_error *error) {
    return graft_describe_joined(sink, name, 1, &length, GRAFT_DTYPE_F32, 0, graft_join_whole(GRAFT_JOIN_EQUAL), error);
}

/* The size of a block stands in the text, which is read in `create`. */
static int describe_tensors(const struct graft_sink *sink, const struct kept *kept, struct graft_error *error) {
    const int64_t bytes = kept->rows.out_features * kept->rows.row_bytes, scales = bytes * 2 / LEAST_BLOCK + 1;
    int status = graft_packed_rows_codes(sink, "weight", bytes, 1, GRAFT_DTYPE_U8, error);
    if (status == GRAFT_OK) {
        status = describe_map(sink, "weight.quant_map", NUMBERS, error);
    }
    if (status == GRAFT_OK) {
        status =
            describe_vector(sink, "weight.absmax", scales, kept->is_nested ? GRAFT_DTYPE_U8 : GRAFT_DTYPE_F32, error);
    }
    if (status == GRAFT_OK && kept->is_nested) {
        status = describe_map(sink, "weight.nested_quant_map", NESTED_NUMBERS, error);
    }
    if (status == GRAFT_OK && kept->is_nested) {
        status = describe_vector(sink, "weight.nested_absmax", scales, GRAFT_DTYPE_F32, error);
    }
    return status == GRAFT_OK ? describe_vector(sink, state_name(kept->is_fp4), MOST_TEXT, GRAFT_DTYPE_U8, error)
                              : status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)cls;
    int status = kept != NULL ? graft_packed_rows_sizes(args, sink->path, &kept->rows, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && kept->rows.in_features % 2 != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                                 "in_features is %lld, expected an even number: a byte has two codes",
                                 (long long)kept->rows.in_features);
    }
    if (status == GRAFT_OK) {
        status = read_config(config, kept, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    kept->rows.row_bytes = kept->rows.in_features / 2;
    kept->rows.block_rows = 1;
    kept->rows.bits = 4;
    status = describe_tensors(sink, kept, error);
    return status == GRAFT_OK ? graft_packed_rows_describe(sink, &kept->rows, args, error) : status;
}

static int check_numbers(const struct graft_build *build, const struct graft_weight *map, int32_t is_fp4,
                         struct graft_error *error) {
    const float *expected = is_fp4 ? fp4_numbers : nf4_numbers;
    for (int64_t i = 0; i < map->rows; i++) {
        const float *number = bnb_elements(map, i, 1);
        if (*number != expected[i % NUMBERS]) {
            const struct bnb_name name = bnb_name_of(build->path, "weight.quant_map");
            return graft_error_set(error, GRAFT_ERROR_MODEL, name.text, "number %lld is %g, that of %s is %g",
                                   (long long)i, (double)*number, is_fp4 ? "fp4" : "nf4",
                                   (double)expected[i % NUMBERS]);
        }
    }
    return GRAFT_OK;
}

static int find_parts(const struct graft_build *build, const struct kept *kept, struct bnb_parts *parts,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    *parts = (struct bnb_parts){
        .path = build->path, .type = kept->is_fp4 ? "fp4" : "nf4", .state_name = state_name(kept->is_fp4)};
    parts->codes = graft_build_weight(build, "weight", &status, error);
    parts->absmax = graft_build_weight(build, "weight.absmax", &status, error);
    parts->state = graft_build_weight(build, parts->state_name, &status, error);
    const struct graft_weight *map = graft_build_weight(build, "weight.quant_map", &status, error);
    if (status == GRAFT_OK && kept->is_nested) {
        parts->nested_absmax = graft_build_weight(build, "weight.nested_absmax", &status, error);
        const struct graft_weight *nested = graft_build_weight(build, "weight.nested_quant_map", &status, error);
        parts->nested_map = status == GRAFT_OK ? bnb_elements(nested, 0, NESTED_NUMBERS) : NULL;
    }
    return status == GRAFT_OK ? check_numbers(build, map, kept->is_fp4, error) : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    static const struct graft_packed_rows_loops *const nf4[] = GRAFT_ISA_ALL_TABLES(bnb_nf4_loops);
    static const struct graft_packed_rows_loops *const fp4[] = GRAFT_ISA_ALL_TABLES(bnb_fp4_loops);
    const struct kept *kept = build->kept;
    struct bnb_parts parts;
    (void)cls;
    int status = find_parts(build, kept, &parts, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct bnb_linear *self = bnb_linear_new(&kept->rows, parts.codes->n_blocks + parts.absmax->n_blocks);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->rows.loops = graft_packed_rows_choose(kept->is_fp4 ? fp4 : nf4);
    self->rows.bias = build->weight(build->data, "bias"); /* or NULL */
    bnb_linear_lay(parts.codes, self->rows.row_bytes, self->blocks, &self->codes);
    status = bnb_scales_bind(&parts, self, error);
    if (status != GRAFT_OK) {
        bnb_linear_destroy(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

const struct graft_class bnb_linear4bit_class = {
    .struct_size = sizeof bnb_linear4bit_class,
    .name = "Linear4bit",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = bnb_linear_destroy,
    .forward = &bnb_linear_vtable,
};
