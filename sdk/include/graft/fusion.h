/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusion families: "wherever in a model a module is built like this, build another class there" (ModuleFusionSpec of
 * transformers). A replacement names a class; a family looks at modules, and is used only where `fusion_config` asks
 * for it by name.
 *
 * The host builds the module tree without replacements and weights, and shows the family each module. One whose path
 * is found by a target pattern, and which the family calls fusable, is built from the fused class instead: that module,
 * not every module of its class. All functions are [load].
 */
#ifndef GRAFT_FUSION_H
#define GRAFT_FUSION_H

#include <string.h>

#include "abi.h"
#include "class.h"
#include "config.h"
#include "conversion.h"
#include "error.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A module that has described itself and has no weights yet. Strings and `data` are valid during the call that was
 * given it. */
struct graft_module_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;         /* "visual.patch_embed"; of the model itself "" */
    const char *class_name;   /* "PatchEmbed"; "ModuleList" for a list */
    const char *interface_id; /* "graft.patch_embed/1"; "" for a list */
    const void *data;         /* the host's; to be handed back to the functions below */
    /* The attribute of that name: writes its values and returns how many there are; 0 when there is none. */
    int32_t (*attribute)(const void *data, const char *name, int64_t values[GRAFT_MAX_RANK]);
    /* The module's own parameter of that name: writes its shape and returns its rank; 0 when there is none. */
    int32_t (*parameter)(const void *data, const char *name, int64_t shape[GRAFT_MAX_RANK]);
    /* The module at a path below this one ("proj"), the host's; NULL when there is none. */
    const struct graft_module_info *(*child)(const void *data, const char *path);
    /* The name of attribute number `i`; NULL behind the last. */
    const char *(*attribute_name)(const void *data, int32_t i);
    /* The same for parameters. */
    const char *(*parameter_name)(const void *data, int32_t i);
    /* The same for children. */
    const char *(*child_name)(const void *data, int32_t i);
};

/* Room for a reason, with its NUL: part of the ABI for ever. */
enum { GRAFT_FUSION_REASON = 240 };

/* What a family says of a module. The host's, zeroed but for its size. */
struct graft_fusion_verdict {
    uint32_t struct_size;
    int32_t fusable; /* 1: fuse it; 0: leave it as it is */
    /* Why, or why not, in a few words, NUL-terminated: "proj is a Conv3d with stride = kernel_size". */
    char reason[GRAFT_FUSION_REASON];
};

/* Where what a family makes goes. Arguments are copied before the call returns, and of conversions the names and the
 * operations themselves. What an operation points to (its strings, a custom operation) is not: it stays valid until
 * `deinit`. A call that fails has recorded why, and the family's function should return its status. */
struct graft_fusion_sink {
    uint32_t struct_size;
    uint32_t reserved;
    void *data; /* the host's; to be handed back to the functions below */
    /* In make_fused_class: arguments for the fused class, behind those that the module's parent gives it. So the class
     * can be const, and learn here what the family read off the module. */
    int (*arguments)(void *data, const struct graft_args *args, struct graft_error *error);
    /* In make_transforms: a conversion of the fused class. */
    int (*conversion)(void *data, const struct graft_conversion *conversion, struct graft_error *error);
};

/* Const until the plugin's `deinit`. `options` are what fusion_config gives the family: an object without members for
 * `true`. */
struct graft_fusion_family {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;        /* "patch_embeddings": what fusion_config calls it, letters, digits and '_' */
    const char *description; /* one line */
    /* NULL-terminated list of regular expressions, one of which must be found in a module's path
     * ("(^|\.)patch_embed$"); NULL: every path. */
    const char *const *target_modules_patterns;
    /* Whether the module can be fused, and why: asked of every module, whatever its path. Required. */
    int (*is_fusable)(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error);
    /* The class to build in the place of a fusable module; it has the module's interface. The struct is copied, so that
     * `self` of its functions is not this one; what it points to is valid until `deinit`. Its `name` may be NULL, for
     * "Fused" and the name of the module's class. It brings no conversions: the next function does. NULL with the
     * reason in `error`. Required. */
    const struct graft_class *(*make_fused_class)(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error);
    /* Gives the conversions of the fused class, whose names are relative to the module as in every class. `module` is
     * the one to be fused; NULL when a list for all models of a type is made, where sizes are those of the config.
     * Required. */
    int (*make_transforms)(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error);
    const void *data; /* the family's own; may be NULL */
};

#define GRAFT_FUSION_FAMILY_SIZE_1_0 GRAFT_END_OF(struct graft_fusion_family, data)

GRAFT_ASSERT_SIZE(struct graft_module_info, 88);
GRAFT_ASSERT_SIZE(struct graft_fusion_verdict, 248);
GRAFT_ASSERT_SIZE(struct graft_fusion_sink, 32);
GRAFT_ASSERT_SIZE(struct graft_fusion_family, 64);

/* Decides, with a reason that is cut if it is too long; returns GRAFT_OK. */
GRAFT_INLINE int graft_fusion_decide(struct graft_fusion_verdict *verdict, int32_t fusable, const char *reason) {
    size_t length = strlen(reason);
    length = length < sizeof verdict->reason ? length : sizeof verdict->reason - 1;
    verdict->fusable = fusable;
    memcpy(verdict->reason, reason, length);
    verdict->reason[length] = '\0';
    return GRAFT_OK;
}

#ifdef __cplusplus
}
#endif

#endif
