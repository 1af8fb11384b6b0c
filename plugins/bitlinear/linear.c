/* SPDX-License-Identifier: Apache-2.0 */
/* Describes and creates the classes: BitLinear, and AutoBitLinear with packed weights or with weights that are rounded
 * when loading. */
#include "linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graft/convert.h"
#include "graft/describe.h"
#include "graft/quant_format.h"

#define FIELD(name) "quantization_config." name

static const struct bitlinear_loops *const tables[] = GRAFT_ISA_ALL_TABLES(bitlinear_loops);

/* Settings of config.json that hold for all modules. */
struct settings {
    int32_t use_rms_norm;
    double rms_norm_eps;
};

/* --- Checks of tensors --- */

/* Refuses codes with both bits set, which would mean the weight 2. */
static int check_codes(const struct graft_weight *weight, const char *path, struct graft_error *error) {
    const uint8_t *codes = graft_weight_block(weight, 0)->data;
    for (int64_t r = 0; r < weight->rows; r++) {
        const uint8_t *row = codes + r * weight->columns;
        unsigned both = 0;
        for (int64_t i = 0; i < weight->columns; i++) {
            both |= row[i] & row[i] >> 1;
        }
        if ((both & 0x55) != 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                   "weight: row %lld has a code of 3, expected 0 to 2, which mean -1, 0 and 1",
                                   (long long)r);
        }
    }
    return GRAFT_OK;
}

static int read_scale(const struct graft_weight *weight, const char *path, float *scale, struct graft_error *error) {
    const struct graft_row_block *number = graft_weight_block(weight, 0);
    *scale = graft_f32_at(number->data, number->dtype, 0);
    return isfinite(*scale) && *scale > 0.0F
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, path, "weight_scale: expected a number above 0, got %g",
                                 (double)*scale);
}

/* --- Describing --- */

/* Refuses a field of config.json whose string is neither `one` nor `two`. */
static int check_string(const struct graft_config *config, const char *field, const char *one, const char *two,
                        struct graft_error *error) {
    const char *value = one;
    graft_config_string(config, field, &value, error);
    return strcmp(value, one) != 0 && strcmp(value, two) != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"%s\" or \"%s\", got \"%s\"",
                                 field, one, two, value)
               : error->code;
}

static int read_settings(const struct graft_config *config, struct settings *settings, struct graft_error *error) {
    *settings = (struct settings){.rms_norm_eps = 1e-6};
    check_string(config, FIELD("linear_class"), "bitlinear", "autobitlinear", error);
    check_string(config, FIELD("quantization_mode"), "offline", "online", error);
    graft_config_bool(config, FIELD("use_rms_norm"), &settings->use_rms_norm, error);
    graft_config_real(config, FIELD("rms_norm_eps"), 0.0, &settings->rms_norm_eps, error);
    return error->code;
}

/* In the mode "online" every weight is stored in floating point, so tensors do not show which modules are quantized:
 * only the usual list of exceptions, ["lm_head"], is accepted. */
static int check_skipped(const struct graft_config *config, struct graft_error *error) {
    static const char field[] = FIELD("modules_to_not_convert");
    const char *only = config->string(config->data, FIELD("modules_to_not_convert.0"));
    if (!graft_config_has(config, field) ||
        (config->size(config->data, field) == 1 && only != NULL && strcmp(only, "lm_head") == 0)) {
        return GRAFT_OK;
    }
    return graft_config_expected(config, field, "null or [\"lm_head\"] with quantization_mode \"online\"", error);
}

static int read_sizes(const struct graft_args *args, const char *path, struct bitlinear *self,
                      struct graft_error *error) {
    int64_t outputs = 0;
    graft_args_size(args, "in_features", BITLINEAR_MAX_INPUTS, path, &self->in_features, error);
    graft_args_size(args, "out_features", INT32_MAX, path, &outputs, error);
    if (graft_args_int(args, "whole_in_features", 0) > self->in_features ||
        graft_args_int(args, "whole_out_features", 0) > outputs) {
        graft_error_set(error, GRAFT_ERROR_USAGE, path,
                        "BitLinear cannot be divided: a scale is of all inputs of a token, or of all weights");
    }
    if (outputs % BITLINEAR_PARTS != 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, path, "out_features: expected a multiple of %d, got %lld",
                        BITLINEAR_PARTS, (long long)outputs);
    }
    self->rows = outputs / BITLINEAR_PARTS;
    return error->code;
}

/* Sets the module's single scale. BitLinear stores its inverse. */
static int finish(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error) {
    float scale = 0.0F, *numbers = NULL;
    read_scale(codec->scales, build->path, &scale, error);
    check_codes(codec->codes, build->path, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    codec->scales = graft_build_floats(build, 1, 1, &numbers, error);
    if (codec->scales == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *numbers = *(const int32_t *)context == BITLINEAR_DIVIDES ? 1.0F / scale : scale;
    return GRAFT_OK;
}

/* Describes the codec, so that the host can read the weights. Products do not use it, because this plugin has its own
 * loops. */
static int describe_packed(const struct graft_sink *sink, const struct bitlinear *self, const struct graft_args *args,
                           struct graft_error *error) {
    const int64_t packed[2] = {self->rows, self->in_features};
    struct graft_scheme scheme = graft_scheme_of(self->rows * BITLINEAR_PARTS, self->in_features);
    scheme.flags = GRAFT_CODED_OWN_LOOPS;
    scheme.codec.kind = GRAFT_CODE_UINT;
    scheme.codec.bits = 2;
    scheme.codec.layout = GRAFT_CODED_STRIPS_UPWARDS;
    scheme.codec.block_rows = scheme.codec.rows;
    scheme.codec.zero = 1;
    scheme.finish = finish;
    scheme.context = &self->kind;
    scheme.context_bytes = sizeof self->kind;
    graft_scheme_add(&scheme, GRAFT_CODED_CODES, "weight", GRAFT_DTYPE_U8, 2, packed)->flags =
        GRAFT_PARAMETER_CONTIGUOUS;
    graft_scheme_number(&scheme, GRAFT_CODED_SCALES, "weight_scale", GRAFT_DTYPE_NONE, GRAFT_JOIN_NONE);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

/* Describes a floating-point weight, which is rounded when the instance is made. */
static int describe_plain(const struct graft_sink *sink, const struct bitlinear *self, const struct graft_args *args,
                          struct graft_error *error) {
    const int32_t bias = graft_args_int(args, "bias", 1) != 0 ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT;
    const int64_t plain[2] = {self->rows * BITLINEAR_PARTS, self->in_features};
    graft_describe_parameter(sink, "weight", 2, plain, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error);
    graft_describe_parameter(sink, "bias", 1, plain, 0, bias, error);
    graft_describe_number(sink, "in_features", self->in_features, error);
    graft_describe_number(sink, "out_features", plain[0], error);
    return error->code;
}

/* The class's `data` is its kind (linear.h). */
static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct bitlinear *self = sink->keep(sink->data, sizeof *self, error); /* for `create` */
    struct settings settings;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *self = (struct bitlinear){.kind = *(const int32_t *)cls->data};
    read_settings(config, &settings, error);
    if (self->kind == BITLINEAR_ONLINE) {
        check_skipped(config, error);
    }
    if (read_sizes(args, sink->path, self, error) != GRAFT_OK) {
        return error->code;
    }
    if (self->kind == BITLINEAR_ONLINE) {
        describe_plain(sink, self, args, error);
    } else {
        describe_packed(sink, self, args, error);
    }
    if (settings.use_rms_norm) {
        graft_describe_norm(sink, "rms_norm", "LlamaRMSNorm", self->in_features, settings.rms_norm_eps, error);
    }
    return error->code;
}

/* --- Creating --- */

static int bind_packed(struct bitlinear *self, const struct graft_build *build, struct graft_error *error) {
    const struct graft_weight *weight = graft_build_weight(build, "weight", error);
    const struct graft_weight *scale = graft_build_weight(build, "weight_scale", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    self->codes = graft_weight_block(weight, 0)->data;
    read_scale(scale, build->path, &self->weight_scale, error);
    check_codes(weight, build->path, error);
    return error->code;
}

static int bind_plain(struct bitlinear *self, const struct graft_build *build, struct graft_error *error) {
    const struct graft_weight *weight = graft_build_weight(build, "weight", error);
    return error->code == GRAFT_OK ? bitlinear_pack(self, weight, build->path, error) : error->code;
}

static void destroy(void *instance) {
    struct bitlinear *self = instance;
    free(self->own);
    free(self);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct bitlinear *self = malloc(sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    memcpy(self, build->kept, sizeof *self);
    self->loops = tables[graft_isa_choose(sizeof tables / sizeof tables[0])];
    self->bias = build->weight(build->data, "bias");        /* or NULL */
    self->rms_norm = build->child(build->data, "rms_norm"); /* likewise */
    if (self->kind == BITLINEAR_ONLINE) {
        bind_plain(self, build, error);
    } else {
        bind_packed(self, build, error);
    }
    if (error->code != GRAFT_OK) {
        destroy(self);
        return error->code;
    }
    *instance = self;
    return GRAFT_OK;
}

static const int32_t divides = BITLINEAR_DIVIDES, multiplies = BITLINEAR_MULTIPLIES, online = BITLINEAR_ONLINE;

#define CLASS(class_name, its_kind)                                                                                   \
    {                                                                                                                 \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_LINEAR,      \
        .describe = describe, .create = create, .destroy = destroy, .forward = &bitlinear_vtable, .data = &(its_kind) \
    }

const struct graft_class bitlinear_class = CLASS("BitLinear", divides);
const struct graft_class bitlinear_auto_class = CLASS("AutoBitLinear", multiplies);
const struct graft_class bitlinear_online_class = CLASS("OnlineAutoBitLinear", online);
