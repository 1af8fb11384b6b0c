/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin in pieces. Each faulty plugin uses one of them and breaks one thing in it. */
#ifndef GRAFT_TEST_PARTS_H
#define GRAFT_TEST_PARTS_H

#include "graft/class.h"
#include "graft/fusion.h"
#include "graft/linear.h"
#include "graft/plugin.h"

static inline int good_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    (void)self, (void)config, (void)args, (void)sink, (void)error;
    return GRAFT_OK;
}

static inline int good_create(const struct graft_class *self, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    (void)self, (void)build, (void)error;
    *instance = NULL;
    return GRAFT_OK;
}

static inline void good_destroy(void *instance) {
    (void)instance;
}

static inline int good_forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                               struct graft_error *error) {
    (void)self, (void)call, (void)args, (void)error;
    return GRAFT_OK;
}

static const struct graft_linear good_vtable = {.struct_size = sizeof good_vtable, .forward = good_forward};

static const char *const good_sources[] = {"*.gate_proj.weight", "*.up_proj.weight"};
static const char *const good_targets[] = {"gate_up_proj"};
static const struct graft_operation good_operations[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1},
};

static inline struct graft_conversion good_conversion(void) {
    return (struct graft_conversion){
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 2,
        .sources = good_sources,
        .targets = good_targets,
        .operations = good_operations,
        .n_targets = 1,
        .n_operations = 2,
        .operation_stride = sizeof(struct graft_operation),
    };
}

static inline struct graft_class good_class(const struct graft_conversion *conversions, int32_t n) {
    return (struct graft_class){
        .struct_size = sizeof(struct graft_class),
        .name = "TestLinear",
        .interface_id = GRAFT_INTERFACE_LINEAR,
        .describe = good_describe,
        .create = good_create,
        .destroy = good_destroy,
        .forward = &good_vtable,
        .conversions = conversions,
        .n_conversions = n,
        .conversion_stride = sizeof(struct graft_conversion),
    };
}

static inline struct graft_replacement good_replacement(const struct graft_class *replacement) {
    return (struct graft_replacement){
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = replacement,
    };
}

static inline struct graft_plugin good_plugin(const char *id, const struct graft_replacement *replacements, int32_t n) {
    return (struct graft_plugin){
        GRAFT_PLUGIN_HEADER,
        .id = id,
        .version = "1.0.0",
        .license = "Apache-2.0",
        .description = "A plugin of the tests",
        .replacements = replacements,
        .n_replacements = n,
        .replacement_stride = sizeof(struct graft_replacement),
    };
}

/* --- A fusion family: it fuses nothing --- */

static inline int good_is_fusable(const struct graft_fusion_family *self, const struct graft_module_info *module,
                                  const struct graft_config *options, struct graft_fusion_verdict *verdict,
                                  struct graft_error *error) {
    (void)self, (void)module, (void)options, (void)error;
    return graft_fusion_decide(verdict, 0, "no module fits");
}

static inline const struct graft_class *good_make_fused_class(const struct graft_fusion_family *self,
                                                              const struct graft_module_info *module,
                                                              const struct graft_config *options,
                                                              const struct graft_fusion_sink *sink,
                                                              struct graft_error *error) {
    (void)self, (void)module, (void)options, (void)sink, (void)error;
    return NULL;
}

static inline int good_make_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                                       const struct graft_module_info *module, const struct graft_config *options,
                                       const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)config, (void)module, (void)options, (void)sink, (void)error;
    return GRAFT_OK;
}

static const char *const good_patterns[] = {"(^|\\.)stem$", NULL};

static inline struct graft_fusion_family good_family(void) {
    return (struct graft_fusion_family){
        .struct_size = sizeof(struct graft_fusion_family),
        .name = "stems",
        .description = "A family of the tests",
        .target_modules_patterns = good_patterns,
        .is_fusable = good_is_fusable,
        .make_fused_class = good_make_fused_class,
        .make_transforms = good_make_transforms,
    };
}

static inline struct graft_plugin good_fusing_plugin(const char *id, const struct graft_fusion_family *families,
                                                     int32_t n) {
    struct graft_plugin plugin = good_plugin(id, NULL, 0);
    plugin.fusion_families = families;
    plugin.n_fusion_families = n;
    plugin.fusion_family_stride = sizeof *families;
    return plugin;
}

#endif
