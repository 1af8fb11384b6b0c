/* SPDX-License-Identifier: Apache-2.0 */
#include "int8_linear.h"

#include "graft/linear.h"
#include "quantize.h"

int32_t int8_input_bits;

void int8_set_codec(struct graft_codec *codec) {
    codec->kind = GRAFT_CODE_INT;
    codec->bits = 8;
    codec->group_size = codec->columns / int8_groups(codec->columns);
    codec->input_bits = int8_input_bits;
}

/* Scales of a row each are a vector. */
static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)self;
    (void)config;
    int status = graft_scheme_of_linear(&scheme, args, sink->path, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int8_set_codec(&scheme.codec);
    graft_scheme_codes(&scheme, "qweight", scheme.codec.columns, GRAFT_DTYPE_I8);
    graft_scheme_scales(&scheme, "scales", GRAFT_DTYPE_F32);
    if (graft_codec_groups(&scheme.codec) == 1) {
        scheme.tensors[1].rank = 1;
        scheme.tensors[1].inputs = graft_join_whole(GRAFT_JOIN_EQUAL);
    }
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

static const char *const sources[] = {"weight"};
static const char *const targets[] = {"qweight", "scales"};

static const struct graft_operation quantize[] = {
    {.struct_size = sizeof quantize[0], .kind = GRAFT_OP_CUSTOM, .custom = &int8_quantize_rows},
};

static const struct graft_conversion conversions[] = {
    {
        .struct_size = sizeof conversions[0],
        .n_sources = 1,
        .sources = sources,
        .n_targets = 2,
        .targets = targets,
        .n_operations = 1,
        .operations = quantize,
        .operation_stride = sizeof quantize[0],
    },
};

const struct graft_class int8_linear_class = {
    .struct_size = sizeof int8_linear_class,
    .name = "Int8Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .conversions = conversions,
    .n_conversions = 1,
    .conversion_stride = sizeof conversions[0],
};
