/* SPDX-License-Identifier: Apache-2.0 */
/* 4-bit signed integers, two in a byte, with a scale and a shift for each group of inputs, stored with outputs last: W
 * = scale * q + shift. The host multiplies unsigned integers with a zero point, so q becomes u = q + 8, which flips one
 * bit of each code, and the zero point is 8 - shift / scale. */
#include "graft/conversion.h"
#include "graft/convert.h"
#include "torchao.h"

enum { HALF = 8, SIGNS = 0x88 };

int torchao_read_group(const struct graft_config *config, const char *field, struct graft_codec *codec,
                       struct graft_error *error) {
    int status = graft_config_need_int(config, field, 1, INT32_MAX, &codec->group_size, error);
    return status == GRAFT_OK && codec->columns % codec->group_size != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: groups of %lld inputs do not divide %lld inputs", field,
                                 (long long)codec->group_size, (long long)codec->columns)
               : status;
}

void torchao_add_inputs(struct graft_scheme *scheme) {
    struct graft_parameter_info *info = graft_scheme_add(scheme, GRAFT_CODED_OTHER, "_weight_act_pre_scale",
                                                         GRAFT_DTYPE_NONE, 1, &scheme->codec.columns);
    info->flags = GRAFT_PARAMETER_ANY_LENGTH;
    info->init = GRAFT_INIT_ABSENT;
    info->join = graft_join_whole(GRAFT_JOIN_EACH);
    info->inputs = graft_join_rows(0, 1);
}

int torchao_check_inputs(const struct graft_build *build, struct graft_error *error) {
    return build->weight(build->data, "_weight_act_pre_scale") == NULL
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                 "_weight_act_pre_scale: activations would have to be scaled beforehand, which is not "
                                 "supported");
}

/* --- Codes --- */

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct graft_value_info *input = &shapes->inputs[0];
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    if (shapes->n_inputs != 1 || shapes->n_outputs != 1 ||
        (input->dtype != GRAFT_DTYPE_I8 && input->dtype != GRAFT_DTYPE_U8)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "expected bytes of two codes each");
    }
    output->dtype = GRAFT_DTYPE_U8;
    output->rank = input->rank;
    memcpy(output->shape, input->shape, sizeof output->shape);
    return GRAFT_OK;
}

/* Flips the sign bit of each code, q to q + 8. It is its own reverse. */
static int turn_signs(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                      struct graft_error *error) {
    int64_t bytes = work->end - work->begin;
    const uint8_t *from = work->from[0];
    uint8_t *to = work->to[0];
    (void)self;
    (void)error;
    for (int32_t i = 1; i < work->inputs[0].rank; i++) {
        bytes *= work->inputs[0].shape[i];
    }
    for (int64_t i = 0; i < bytes; i++) {
        to[i] = from[i] ^ SIGNS;
    }
    return GRAFT_OK;
}

static const struct graft_custom_operation offset_codes = {
    .struct_size = sizeof offset_codes,
    .flags = GRAFT_CUSTOM_ROWS,
    .name = "offset_codes",
    .infer = infer,
    .apply = turn_signs,
    .reverse = turn_signs,
};

static const struct graft_operation offset[] = {
    {.struct_size = sizeof offset[0], .kind = GRAFT_OP_CUSTOM, .custom = &offset_codes}};
static const struct graft_operation transpose[] = {
    {.struct_size = sizeof transpose[0], .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1}};

static const char *const names[][1] = {{"_weight_qdata"}, {"_weight_codes"},      {"_weight_scale"},
                                       {"_scales"},       {"_weight_zero_point"}, {"_shifts"}};

#define CONVERSION(from, to, ops)                                                                               \
    {                                                                                                           \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = names[from], .n_targets = 1, \
        .targets = names[to], .n_operations = 1, .operations = (ops),                                           \
        .operation_stride = sizeof(struct graft_operation)                                                      \
    }

static const struct graft_conversion conversions[] = {CONVERSION(0, 1, offset), CONVERSION(2, 3, transpose),
                                                      CONVERSION(4, 5, transpose)};

/* --- The class --- */

static int finish(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error) {
    (void)torchao_check_inputs(build, error);
    const struct graft_weight *shifts = graft_build_weight(build, "_shifts", error);
    float *numbers = NULL;
    (void)context;
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const int64_t groups = graft_codec_groups(codec);
    codec->zeros = graft_build_floats(build, codec->rows, groups, &numbers, error);
    if (codec->zeros == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_row_block *scale = graft_weight_block(codec->scales, 0), *shift = graft_weight_block(shifts, 0);
    for (int64_t i = 0; i < codec->rows * groups; i++) {
        const float by = graft_f32_at(scale->data, scale->dtype, i);
        numbers[i] = (float)HALF - (by != 0.0F ? graft_f32_at(shift->data, shift->dtype, i) / by : 0.0F);
    }
    return GRAFT_OK;
}

/* Describes the checkpoint's tensors before conversions rearrange them, so that those of several modules can be
 * joined. */
static int describe_sources(const struct graft_codec *codec, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t codes[2] = {codec->rows, (codec->columns + 1) / 2},
                  scales[2] = {graft_codec_groups(codec), codec->rows};
    graft_describe_joined(sink, "_weight_qdata", 2, codes, GRAFT_DTYPE_I8, GRAFT_PARAMETER_SOURCE,
                          graft_join_rows(0, 1), error);
    graft_describe_joined(sink, "_weight_scale", 2, scales, GRAFT_DTYPE_NONE, GRAFT_PARAMETER_SOURCE,
                          graft_join_rows(1, 1), error);
    graft_describe_joined(sink, "_weight_zero_point", 2, scales, GRAFT_DTYPE_NONE, GRAFT_PARAMETER_SOURCE,
                          graft_join_rows(1, 1), error);
    return error->code;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)cls;
    if (graft_scheme_of_linear(&scheme, args, sink->path, error) != GRAFT_OK ||
        torchao_read_group(config, TORCHAO_FIELD("group_size"), &scheme.codec, error) != GRAFT_OK) {
        return error->code;
    }
    scheme.codec.kind = GRAFT_CODE_UINT;
    scheme.codec.bits = 4;
    scheme.finish = finish;
    graft_scheme_codes(&scheme, "_weight_codes", (scheme.codec.columns + 1) / 2, GRAFT_DTYPE_U8);
    graft_scheme_scales(&scheme, "_scales", GRAFT_DTYPE_NONE);
    scheme.tensors[1].flags = GRAFT_PARAMETER_CONTIGUOUS;
    struct graft_parameter_info *shifts =
        graft_scheme_add(&scheme, GRAFT_CODED_OTHER, "_shifts", GRAFT_DTYPE_NONE, 2, scheme.tensors[1].shape);
    shifts->flags = GRAFT_PARAMETER_CONTIGUOUS;
    shifts->join = scheme.tensors[1].join;
    shifts->inputs = scheme.tensors[1].inputs;
    torchao_add_inputs(&scheme);
    describe_sources(&scheme.codec, sink, error);
    graft_scheme_describe_linear(&scheme, args, sink, error);
    return error->code;
}

const struct graft_class torchao_int4_class = {
    .struct_size = sizeof torchao_int4_class,
    .name = "TorchAoInt4Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    GRAFT_CLASS_CONVERSIONS(conversions),
};
