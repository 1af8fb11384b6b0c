/* SPDX-License-Identifier: Apache-2.0 */
/* A Linear that calls the original. The including file replaces single functions by `#define FORWARD forward` and the
 * like, before it includes this: FORWARD, DESCRIBE, CREATE, DESTROY, INIT and DEINIT name functions defined later.
 * AS_PRODUCT is a slot of the vtable, FEATURES are the vtable's, ENTRY: the file has its own graft_plugin_entry, TYPE
 * is the only model type of the replacement, and MODULES are the paths of the modules that it replaces. */
#ifndef GRAFT_TEST_BEHAVING_H
#define GRAFT_TEST_BEHAVING_H

#include "graft/describe.h"
#include "graft/linear.h"
#include "graft/plugin.h"

#ifndef TYPE
#define TYPE "llama"
#endif
#ifndef MODULES
#define MODULES "mlp\\.down_proj$"
#endif
#ifndef FEATURES
#define FEATURES 0
#endif

#ifndef FORWARD
#define FORWARD original
#endif
static int FORWARD(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error);

#ifdef DESCRIBE
static int DESCRIBE(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error);
#ifndef CREATE
#define CREATE behaving_create
#endif
static int CREATE(const struct graft_class *self, const struct graft_build *build, void **instance,
                  struct graft_error *error);
#else
#define DESCRIBE NULL
#define CREATE NULL
#endif

#ifdef DESTROY
static void DESTROY(void *instance);
#else
#define DESTROY NULL
#endif

#ifdef AS_PRODUCT
static int32_t AS_PRODUCT(void *self, const struct graft_linear_args *args, struct graft_product *product);
#else
#define AS_PRODUCT NULL
#endif

#ifdef INIT
static int INIT(struct graft_error *error);
#else
#define INIT NULL
#endif

#ifdef DEINIT
static void DEINIT(void);
#else
#define DEINIT NULL
#endif

/* Calls the original. */
static inline int original(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                           struct graft_error *error) {
    return graft_linear_forward((const struct graft_module *)self, call, args, error);
}

/* Describes the same as the original. */
static inline int describe_nothing(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    (void)self, (void)config, (void)args, (void)sink, (void)error;
    return GRAFT_OK;
}

/* For a class that describes itself: declares the original, which it calls. */
static inline int behaving_create(const struct graft_class *self, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    (void)self, (void)error;
    *instance = (void *)(uintptr_t)build->super;
    return GRAFT_OK;
}

static const struct graft_linear behaving_vtable = {
    .struct_size = sizeof behaving_vtable, .features = FEATURES, .forward = FORWARD, .as_product = AS_PRODUCT};
static const struct graft_class behaving_class = {.struct_size = sizeof behaving_class,
                                                  .flags = GRAFT_CLASS_CALLS_SUPER,
                                                  .name = "BehavingLinear",
                                                  .interface_id = GRAFT_INTERFACE_LINEAR,
                                                  .describe = DESCRIBE,
                                                  .create = CREATE,
                                                  .destroy = DESTROY,
                                                  .forward = &behaving_vtable};
static const char *const behaving_types[] = {TYPE, NULL};
static const struct graft_replacement behaving_replacement = {.struct_size = sizeof behaving_replacement,
                                                              .key = GRAFT_KEY_NAME,
                                                              .target = "Linear",
                                                              .replacement = &behaving_class,
                                                              .module_path = MODULES,
                                                              .model_types = behaving_types};
static struct graft_plugin behaving_plugin = {GRAFT_PLUGIN_HEADER,
                                              .id = "behaving",
                                              .version = "1.0.0",
                                              .license = "Apache-2.0",
                                              .description = "A plugin of the tests",
                                              .replacements = &behaving_replacement,
                                              .n_replacements = 1,
                                              .replacement_stride = sizeof behaving_replacement,
                                              .init = INIT,
                                              .deinit = DEINIT};

#ifndef ENTRY
const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    return &behaving_plugin;
}
#endif

#endif
