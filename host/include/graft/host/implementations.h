/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is chosen by name without replacing a class (struct graft_model_options): how attention and experts are
 * computed, and kernels, which are other forwards for one class.
 */
#ifndef GRAFT_HOST_IMPLEMENTATIONS_H
#define GRAFT_HOST_IMPLEMENTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;
struct graft_model;

enum graft_implementation_kind {
    GRAFT_IMPLEMENTATION_ATTENTION = 0,
    GRAFT_IMPLEMENTATION_EXPERTS = 1,
    GRAFT_IMPLEMENTATION_KERNEL = 2,
    GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR = 3 /* chosen by struct graft_generation, not by a model */
};

struct graft_implementation_info {
    uint32_t struct_size;
    int32_t kind;               /* GRAFT_IMPLEMENTATION_... */
    const char *name;           /* "sdpa" */
    const char *plugin;         /* id of the plugin that provides it; NULL: the host's own */
    const char *class_name;     /* kernel: the class that it brings; else NULL */
    const char *original_class; /* kernel: the class that it is for; else NULL */
    int64_t modules;            /* kernel of a model: how many modules run it; else 0 */
    int32_t is_default;         /* 1: used if nothing else is chosen */
    uint32_t reserved;
};

/* [any] What the model uses: number 0 is its attention, number 1 its experts, then come the kernels that its modules
 * run; NULL after the last. Owned by the model, const, valid until graft_model_free. */
const struct graft_implementation_info *graft_model_implementation(const struct graft_model *model, size_t i);

/* [any] The choices available, in the order of registration. The caller frees the array with
 * graft_implementations_free; the strings belong to whoever registered them and are valid as long as the library. */
int graft_library_implementations(struct graft_library *library, struct graft_implementation_info **implementations,
                                  size_t *n, struct graft_error *error);

/* [any] Frees the array. Accepts NULL. */
void graft_implementations_free(struct graft_implementation_info *implementations);

#ifdef __cplusplus
}
#endif

#endif
