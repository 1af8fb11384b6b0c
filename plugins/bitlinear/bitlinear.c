/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of BitNet checkpoints (quant_method "bitnet"), with two bits a weight. */
#include "graft/plugin.h"
#include "graft/quant_format.h"
#include "linear.h"

#define FIELD(name) "quantization_config." name

static const char *const methods[] = {"bitnet", NULL};
static const char *const of_packed[] = {"weight_scale", NULL};
static const char *const autobitlinear[] = {"autobitlinear", NULL};
static const char *const offline[] = {"offline", NULL};
static const char *const online[] = {"online", NULL};

#define CONDITION(kind, field, names) \
    { sizeof(struct graft_condition), kind, field, names }
#define CONDITION_AUTO CONDITION(GRAFT_CONDITION_CONFIG, FIELD("linear_class"), autobitlinear)

/* The class BitLinear ignores `quantization_mode`. An unknown `linear_class` or `quantization_mode` matches a class
 * whose `describe` refuses it. */
static const struct graft_condition if_bitlinear[] = {
    GRAFT_SCHEME_IS_METHOD(methods), CONDITION(GRAFT_CONDITION_NO_CONFIG, FIELD("linear_class"), autobitlinear),
    GRAFT_SCHEME_HAS_TENSOR(of_packed)};
static const struct graft_condition if_auto[] = {
    GRAFT_SCHEME_IS_METHOD(methods), CONDITION_AUTO,
    CONDITION(GRAFT_CONDITION_NO_CONFIG, FIELD("quantization_mode"), online), GRAFT_SCHEME_HAS_TENSOR(of_packed)};
static const struct graft_condition if_online[] = {
    GRAFT_SCHEME_IS_METHOD(methods), CONDITION_AUTO,
    CONDITION(GRAFT_CONDITION_CONFIG, FIELD("quantization_mode"), NULL),
    CONDITION(GRAFT_CONDITION_NO_CONFIG, FIELD("quantization_mode"), offline)};

#define LINEAR(class, array, path)                                                                        \
    {                                                                                                     \
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = "Linear",       \
        .replacement = &(class), .conditions = (array), .n_conditions = sizeof(array) / sizeof(array)[0], \
        .condition_stride = sizeof(array)[0], .module_path = (path)                                       \
    }

static const struct graft_replacement replacements[] = {
    LINEAR(bitlinear_class, if_bitlinear, NULL),
    LINEAR(bitlinear_auto_class, if_auto, NULL),
    LINEAR(bitlinear_online_class, if_online, "^(?!(.*\\.)?lm_head$)"),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "bitlinear",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of BitNet checkpoints, 2 bits a weight, multiplied as they are stored",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .quant_methods = methods,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
