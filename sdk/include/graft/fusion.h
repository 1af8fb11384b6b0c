/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion families: "wherever a model builds a module like this, build another class" (ModuleFusionSpec of
 * transformers). A replacement names a class, while a fusion family examines modules, and is used only if
 * `fusion_config` names it. The host builds the module tree without replacements and weights, and shows each module to
 * the family. A module whose path matches a target pattern, and which the family calls fusable, is built from the fused
 * class instead; other modules of its class are not. All functions are [load]. */
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

/* A module that has been described and has no weights yet. Strings and `data` are valid during the call that they are
 * passed to. */
struct graft_module_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;         /* "visual.patch_embed"; "" for the model itself */
    const char *class_name;   /* "PatchEmbed"; "ModuleList" for a list */
    const char *interface_id; /* "graft.patch_embed/1"; "" for a list */
    const void *data;         /* the host's; passed back to the functions below */
    /* Gets an attribute by name: writes its values, and returns how many there are; 0 if there is no such attribute. */
    int32_t (*attribute)(const void *data, const char *name, int64_t values[GRAFT_MAX_RANK]);
    /* Gets one of the module's own parameters by name: writes its shape, and returns its rank; 0 if there is no such
     * parameter. */
    int32_t (*parameter)(const void *data, const char *name, int64_t shape[GRAFT_MAX_RANK]);
    /* The module at a path below this one ("proj"), which belongs to the host; NULL if there is none. */
    const struct graft_module_info *(*child)(const void *data, const char *path);
    /* The name of attribute `i`; NULL after the last one. */
    const char *(*attribute_name)(const void *data, int32_t i);
    /* The name of parameter `i`; NULL after the last one. */
    const char *(*parameter_name)(const void *data, int32_t i);
    /* The name of child `i`; NULL after the last one. */
    const char *(*child_name)(const void *data, int32_t i);
};

/* Size of the buffer for a reason, including the NUL. It is part of the ABI and will not change. */
enum { GRAFT_FUSION_REASON = 240 };

/* A family's verdict on a module. Belongs to the host; zeroed except for its size. */
struct graft_fusion_verdict {
    uint32_t struct_size;
    int32_t fusable; /* 1: fuse it; 0: leave it unchanged */
    /* Why, or why not, in a few words, NUL-terminated: "proj is a Conv3d with stride = kernel_size". */
    char reason[GRAFT_FUSION_REASON];
};

/* Receives what a family makes. Before a call returns, arguments are copied, and of conversions the names and the
 * operations. What an operation points to (strings, a custom operation) is not copied and must stay valid until
 * `deinit`. A call that fails has recorded why, and the family's function should return its status. */
struct graft_fusion_sink {
    uint32_t struct_size;
    uint32_t reserved;
    void *data; /* the host's; passed back to the functions below */
    /* In make_fused_class: declares arguments for the fused class, in addition to those that the module's parent
     * passes. So the class can be const, and gets what the family found in the module. */
    int (*arguments)(void *data, const struct graft_args *args, struct graft_error *error);
    /* In make_transforms: declares a conversion of the fused class. */
    int (*conversion)(void *data, const struct graft_conversion *conversion, struct graft_error *error);
};

/* Const until the plugin's `deinit`. `options` are what fusion_config gives the family: an object without members for
 * `true`. */
struct graft_fusion_family {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;        /* "patch_embeddings": its name in fusion_config; letters, digits and '_' */
    const char *description; /* one line */
    /* NULL-terminated list of regular expressions, one of which must be found in a module's path
     * ("(^|\.)patch_embed$"); NULL: every path. */
    const char *const *target_modules_patterns;
    /* Decides whether the module can be fused, and why; called for every module, whatever its path. Required. */
    int (*is_fusable)(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error);
    /* The class to build instead of a fusable module; it has the module's interface. The struct is copied, so the
     * `self` of its functions is another struct; what it points to must stay valid until `deinit`. Its `name` may be
     * NULL, for "Fused" and the name of the module's class. It has no conversions: the next function makes them. NULL
     * with the reason in `error` on failure. Required. */
    const struct graft_class *(*make_fused_class)(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error);
    /* Makes the conversions of the fused class, whose names are relative to the module. `module` is the module to be
     * fused; NULL when the conversions are made for all models of a type, and sizes are those of the config.
     * Required. */
    int (*make_transforms)(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error);
    const void *data; /* for the family's use; may be NULL */
};

#define GRAFT_FUSION_FAMILY_SIZE_1_0 GRAFT_END_OF(struct graft_fusion_family, data)

GRAFT_ASSERT_SIZE(struct graft_module_info, 88);
GRAFT_ASSERT_SIZE(struct graft_fusion_verdict, 248);
GRAFT_ASSERT_SIZE(struct graft_fusion_sink, 32);
GRAFT_ASSERT_SIZE(struct graft_fusion_family, 64);

/* Sets the verdict and its reason, which is truncated if it is too long; returns GRAFT_OK. */
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
