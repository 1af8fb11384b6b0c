/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of checkpoints by Quanto (optimum-quanto, quant_method "quanto"): 8-bit integers or F8_E4M3 in rows with a
 * scale each, or 4 or 2-bit codes in strips, with a scale and a shift for each group (packed.c). */
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "packed.h"

#define FIELD(name) "quantization_config." name

/* Types of weights, with transformers' names. */
static const struct type {
    const char *name;
    int32_t kind;
    int32_t bits;
    graft_dtype dtype;
} types[] = {
    {"int8", GRAFT_CODE_INT, 8, GRAFT_DTYPE_I8},
    {"float8", GRAFT_CODE_FLOAT8, 8, GRAFT_DTYPE_F8_E4M3},
    {"int4", GRAFT_CODE_UINT, 4, GRAFT_DTYPE_U8},
    {"int2", GRAFT_CODE_UINT, 2, GRAFT_DTYPE_U8},
};

static int read_type(const struct graft_config *config, const struct type **type, struct graft_error *error) {
    static const char field[] = FIELD("weights");
    const char *name = "int8"; /* transformers' default */
    graft_config_string(config, field, &name, error);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *type = &types[i];
            return error->code;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                           "%s: expected \"int8\", \"float8\", \"int4\" or \"int2\", got \"%s\"", field, name);
}

/* Declares the scales of activations, which are not used: activations are not quantized here. */
static void add_activations(struct graft_scheme *scheme) {
    static const char *const names[] = {"input_scale", "output_scale"};
    const int64_t one = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct graft_parameter_info *info =
            graft_scheme_add(scheme, GRAFT_CODED_OTHER, names[i], GRAFT_DTYPE_NONE, 1, &one);
        info->flags = GRAFT_PARAMETER_SCALAR | GRAFT_PARAMETER_ANY_LENGTH;
        info->init = GRAFT_INIT_ABSENT;
        info->join = graft_join_whole(GRAFT_JOIN_EACH);
        info->inputs = graft_join_whole(GRAFT_JOIN_EQUAL);
    }
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    const struct type *type = NULL;
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    read_type(config, &type, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    scheme.codec.kind = type->kind;
    scheme.codec.bits = type->bits;
    if (type->bits < 8) {
        quanto_add_packed(&scheme);
    } else {
        graft_scheme_codes(&scheme, "weight._data", scheme.codec.columns, type->dtype);
        graft_scheme_scales(&scheme, "weight._scale", GRAFT_DTYPE_NONE);
    }
    add_activations(&scheme);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

static const struct graft_class qlinear_class = GRAFT_SCHEME_LINEAR_CLASS("QLinear", describe);

static const char *const methods[] = {"quanto", NULL};
static const char *const tensors[] = {"weight._scale", NULL};

static const struct graft_condition conditions[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(tensors)};

static const struct graft_replacement replacement = GRAFT_SCHEME_LINEARS(&qlinear_class, conditions);

static const struct graft_field_rule field_rules[] = {
    /* The tensors show which modules are quantized, so lists of names are not needed. */
    {.name = FIELD("modules_to_not_convert")},
    /* Activations are not quantized here (README.md). */
    {.name = FIELD("activations")},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "quanto",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of checkpoints by Quanto: int8, float8, int4 and int2",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
