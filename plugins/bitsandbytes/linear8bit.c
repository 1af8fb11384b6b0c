/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 8 bits (load_in_8bit, LLM.int8): integers, and for each row its largest absolute value, which corresponds
 * to 127. Activations are not rounded here, so no outliers have to be kept apart. */
#include "graft/quant_format.h"
#include "linear.h"

enum { LARGEST = 127 };

/* Checks that rows are in plain order; older versions stored them in an order made for certain processors. */
static int check_format(const struct graft_build *build, const struct graft_weight *format, struct graft_error *error) {
    for (int32_t i = 0; i < format->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(format, i);
        for (int64_t k = 0; k < block->rows; k++) {
            const int number = ((const uint8_t *)block->data)[k];
            if (number != 0) {
                return graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                       "weight_format: expected 0 (rows in their usual order), got %d", number);
            }
        }
    }
    return GRAFT_OK;
}

/* The stored scales are 127 times too large. */
static int finish(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error) {
    float *scale = NULL;
    (void)context;
    const struct graft_weight *format = graft_build_weight(build, "weight_format", error);
    if (error->code != GRAFT_OK || check_format(build, format, error) != GRAFT_OK) {
        return error->code;
    }
    const struct graft_weight *largest = codec->scales;
    codec->scales = graft_build_floats(build, codec->rows, 1, &scale, error);
    for (int32_t i = 0; codec->scales != NULL && i < largest->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(largest, i);
        for (int64_t r = 0; r < block->rows; r++) {
            *scale++ = ((const float *)block->data)[r] / (float)LARGEST;
        }
    }
    return codec->scales != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)cls;
    (void)config;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    scheme.codec.kind = GRAFT_CODE_INT;
    scheme.codec.bits = 8;
    scheme.finish = finish;
    graft_scheme_codes(&scheme, "weight", scheme.codec.columns, GRAFT_DTYPE_I8);
    struct graft_parameter_info *largest =
        graft_scheme_add(&scheme, GRAFT_CODED_SCALES, "SCB", GRAFT_DTYPE_F32, 1, &scheme.codec.rows);
    largest->join = graft_join_rows(0, 1);
    largest->inputs = graft_join_whole(GRAFT_JOIN_EQUAL);
    graft_scheme_number(&scheme, GRAFT_CODED_OTHER, "weight_format", GRAFT_DTYPE_U8, GRAFT_JOIN_EQUAL);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

const struct graft_class bnb_linear8bit_class = GRAFT_SCHEME_LINEAR_CLASS("Linear8bitLt", describe);
