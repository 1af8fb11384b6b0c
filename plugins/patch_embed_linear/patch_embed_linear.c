/* SPDX-License-Identifier: Apache-2.0 */
/* The fusion family `patch_embeddings`: a patch embedding whose Conv3d reads every patch exactly once becomes a Linear
 * on flattened patches. With a stride equal to the kernel size, no padding, no dilation and one group, each output
 * position is the product of the weight [out, channels * time * height * width] and its own patch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graft/conv3d.h"
#include "graft/describe.h"
#include "graft/fusion.h"
#include "graft/linear.h"
#include "graft/patch_embed.h"
#include "graft/plugin.h"

/* --- The fused class; the family reads its arguments in_features, out_features and bias from the module --- */

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    (void)config;
    return graft_describe_linear(sink, "linear_proj", graft_args_int(args, "in_features", 0),
                                 graft_args_int(args, "out_features", 0), graft_args_int(args, "bias", 0) != 0, error);
}

/* The instance is its only child. */
static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    *instance = (void *)(uintptr_t)graft_build_child(build, "linear_proj", error);
    return error->code;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_embed_args *args,
                   struct graft_error *error) {
    /* Pixels are already flattened: [patches, in_features]. */
    const struct graft_linear_args linear_args = {sizeof linear_args, 0, args->patches, args->pixel_values,
                                                  args->output};
    return graft_linear_forward(instance, call, &linear_args, error);
}

static const struct graft_patch_embed vtable = {.struct_size = sizeof vtable, .forward = forward};

/* Its name is "Fused" followed by the name of the class that it replaces. */
static const struct graft_class fused = {
    .struct_size = sizeof fused,
    .interface_id = GRAFT_INTERFACE_PATCH_EMBED,
    .describe = describe,
    .create = create,
    .forward = &vtable,
};

/* --- Which modules can be fused --- */

/* Formats values as "[2, 14, 14]". */
static const char *values_text(const int64_t *values, int32_t count, char text[64]) {
    size_t length = (size_t)snprintf(text, 64, "[");
    for (int32_t i = 0; i < count && length < 64; i++) {
        length += (size_t)snprintf(text + length, 64 - length, "%s%lld", i > 0 ? ", " : "", (long long)values[i]);
    }
    if (length < 64) {
        (void)snprintf(text + length, 64 - length, "]");
    }
    return text;
}

/* Reads the three values of an attribute of proj; a Conv3d that does not declare it has `fallback`. */
static void read_axes(const struct graft_module_info *proj, const char *name, int64_t fallback, int64_t axes[3]) {
    int64_t values[GRAFT_MAX_RANK];
    int32_t count = proj->attribute(proj->data, name, values);
    for (int32_t i = 0; i < 3; i++) {
        axes[i] = count == 3 ? values[i] : count == 1 ? values[0] : fallback;
    }
}

static int64_t read_number(const struct graft_module_info *proj, const char *name, int64_t fallback) {
    int64_t values[GRAFT_MAX_RANK];
    return proj->attribute(proj->data, name, values) == 1 ? values[0] : fallback;
}

/* Whether the attribute's three values are `wanted`; if not, `reason` says what they are. */
static int has_axes(const struct graft_module_info *proj, const char *name, int64_t fallback, const int64_t wanted[3],
                    const char *consequence, char reason[GRAFT_FUSION_REASON]) {
    int64_t axes[3];
    char got[64], expected[64];
    read_axes(proj, name, fallback, axes);
    if (memcmp(axes, wanted, sizeof axes) == 0) {
        return 1;
    }
    (void)snprintf(reason, GRAFT_FUSION_REASON, "%s of proj is %s, expected %s: %s", name, values_text(axes, 3, got),
                   values_text(wanted, 3, expected), consequence);
    return 0;
}

static int is_each_patch_once(const struct graft_module_info *proj, char reason[GRAFT_FUSION_REASON]) {
    static const int64_t zeros[3] = {0, 0, 0}, ones[3] = {1, 1, 1};
    int64_t kernel[3];
    read_axes(proj, "kernel_size", 0, kernel);
    if (read_number(proj, "groups", 1) != 1) {
        (void)snprintf(reason, GRAFT_FUSION_REASON, "proj has %lld groups, expected 1",
                       (long long)read_number(proj, "groups", 1));
        return 0;
    }
    return has_axes(proj, "stride", 1, kernel, "patches overlap, or leave gaps", reason) &&
           has_axes(proj, "padding", 0, zeros, "a patch would see beyond its edge", reason) &&
           has_axes(proj, "dilation", 1, ones, "a patch would have holes", reason);
}

static int is_fusable(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error) {
    const struct graft_module_info *proj = module->child(module->data, "proj");
    char reason[GRAFT_FUSION_REASON];
    int64_t weight[GRAFT_MAX_RANK];
    int32_t fusable = 0;
    (void)self;
    (void)options;
    (void)error;
    if (strcmp(module->interface_id, GRAFT_INTERFACE_PATCH_EMBED) != 0) {
        (void)snprintf(reason, sizeof reason, "%s is no patch embedding: its interface is %s", module->class_name,
                       module->interface_id);
    } else if (proj == NULL) {
        (void)snprintf(reason, sizeof reason, "%s has no child proj", module->class_name);
    } else if (strcmp(proj->interface_id, GRAFT_INTERFACE_CONV3D) != 0) {
        (void)snprintf(reason, sizeof reason, "proj is a %s, expected a Conv3d", proj->class_name);
    } else if (proj->parameter(proj->data, "weight", weight) != 5) {
        (void)snprintf(reason, sizeof reason, "proj has no weight of five dimensions");
    } else if (is_each_patch_once(proj, reason)) {
        fusable = 1;
        (void)snprintf(reason, sizeof reason, "proj is a Conv3d that sees each patch once");
    }
    return graft_fusion_decide(verdict, fusable, reason);
}

static const struct graft_class *make_fused_class(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error) {
    const struct graft_module_info *proj = module->child(module->data, "proj");
    int64_t weight[GRAFT_MAX_RANK] = {0}; /* [out_channels, in_channels, time, height, width] */
    int64_t bias[GRAFT_MAX_RANK];
    (void)self;
    (void)options;
    if (proj == NULL || proj->parameter(proj->data, "weight", weight) != 5) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, module->path, "has no convolution proj");
        return NULL;
    }
    int has_bias = proj->parameter(proj->data, "bias", bias) != 0;
    const struct graft_arg items[] = {
        graft_int_arg("in_features", weight[1] * weight[2] * weight[3] * weight[4]),
        graft_int_arg("out_features", weight[0]),
        graft_int_arg("bias", has_bias),
    };
    const struct graft_args args = graft_args_of(items, 3);
    return sink->arguments(sink->data, &args, error) == GRAFT_OK ? &fused : NULL;
}

/* --- Conversions --- */

enum { MAX_SIZE = 1 << 20 };

/* Reads patch_size: one number, or one for height and one for width. */
static int read_patch_size(const struct graft_config *config, const char *path, int64_t kernel[3],
                           struct graft_error *error) {
    char element[72];
    if (config->kind(config->data, path) != GRAFT_FIELD_ARRAY) {
        graft_config_need_int(config, path, 1, MAX_SIZE, &kernel[1], error);
        kernel[2] = kernel[1];
        return error->code;
    }
    if (config->size(config->data, path) != 2) {
        return graft_config_expected(config, path, "an integer, or an array of height and width", error);
    }
    for (int32_t i = 0; i < 2; i++) {
        (void)snprintf(element, sizeof element, "%s%s", path, i == 0 ? ".0" : ".1");
        graft_config_need_int(config, element, 1, MAX_SIZE, &kernel[1 + i], error);
    }
    return error->code;
}

/* Reads the sizes from the vision section of a config, or from a config that has only vision. */
static int read_config(const struct graft_config *config, struct graft_operation *operation,
                       struct graft_error *error) {
    const char *prefix = graft_config_has(config, "vision_config") ? "vision_config." : "";
    char path[64];
    (void)snprintf(path, sizeof path, "%spatch_size", prefix);
    read_patch_size(config, path, operation->kernel_size, error);
    (void)snprintf(path, sizeof path, "%stemporal_patch_size", prefix);
    graft_config_need_int(config, path, 1, MAX_SIZE, &operation->kernel_size[0], error);
    (void)snprintf(path, sizeof path, "%sin_channels", prefix);
    graft_config_need_int(config, path, 1, MAX_SIZE, &operation->in_channels, error);
    return error->code;
}

/* Reads the sizes from the module itself. */
static int read_module(const struct graft_module_info *module, struct graft_operation *operation,
                       struct graft_error *error) {
    const struct graft_module_info *proj = module->child(module->data, "proj");
    int64_t weight[GRAFT_MAX_RANK]; /* [out_channels, in_channels, time, height, width] */
    if (proj == NULL || proj->parameter(proj->data, "weight", weight) != 5) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, module->path, "has no convolution proj");
    }
    operation->in_channels = weight[1];
    memcpy(operation->kernel_size, weight + 2, sizeof operation->kernel_size);
    return GRAFT_OK;
}

static const char *const weight_sources[] = {"proj.weight"};
static const char *const weight_targets[] = {"linear_proj.weight"};
static const char *const bias_sources[] = {"proj.bias"};
static const char *const bias_targets[] = {"linear_proj.bias"};

static int make_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error) {
    struct graft_operation flatten = {.struct_size = sizeof flatten, .kind = GRAFT_OP_CONV3D_TO_LINEAR};
    const struct graft_conversion weight = {
        .struct_size = sizeof weight,
        .n_sources = 1,
        .sources = weight_sources,
        .n_targets = 1,
        .targets = weight_targets,
        .n_operations = 1,
        .operations = &flatten,
        .operation_stride = sizeof flatten,
    };
    /* The host skips it if there is no bias. */
    static const struct graft_conversion bias = GRAFT_RENAMING(bias_sources, bias_targets);
    (void)self;
    (void)options;
    if (module != NULL) {
        read_module(module, &flatten, error);
    } else {
        read_config(config, &flatten, error);
    }
    sink->conversion(sink->data, &weight, error);
    sink->conversion(sink->data, &bias, error);
    return error->code;
}

/* --- Descriptor --- */

static const char *const target_modules_patterns[] = {"(^|\\.)patch_embed$", NULL};

static const struct graft_fusion_family families[] = {{
    .struct_size = sizeof(struct graft_fusion_family),
    .name = "patch_embeddings",
    .description = "Conv3d patch embeddings as a Linear on flattened patches",
    .target_modules_patterns = target_modules_patterns,
    .is_fusable = is_fusable,
    .make_fused_class = make_fused_class,
    .make_transforms = make_transforms,
}};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "patch_embed_linear",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Conv3d patch embeddings as a Linear on flattened patches (--fusion patch_embeddings)",
    .fusion_families = families,
    .n_fusion_families = sizeof families / sizeof families[0],
    .fusion_family_stride = sizeof families[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
