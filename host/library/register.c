/* SPDX-License-Identifier: Apache-2.0 */
/* Registers what a program provides by calls: plugins in memory, and single implementations. */
#include "base/alloc.h"
#include "base/fail.h"
#include "library/library.h"
#include "plugin/validate.h"

/* The rank of a plugin registered by a call: before all plugins from files, whose ranks start at 0, and in the order of
 * the calls. */
static int rank_of(const struct graft_library *library) {
    return INT32_MIN + (int)library->n_called;
}

/* Adds a plugin, which may use extensions of those already present. The lock must be held. */
static int take(const struct graft_library *library, const struct graft_plugin *plugin, struct graft_plugin_set **set,
                struct graft_error *error) {
    size_t n;
    const struct graft_plugin_set **others = graft_library_sets(library, &n);
    if (others == NULL) {
        return graft_fail_memory(error, "plugin");
    }
    int status = graft_plugins_take(plugin, others, n, set, error);
    graft_free(others);
    return status;
}

/* The lock must be held. */
static int register_plugin(struct graft_library *library, const struct graft_plugin *plugin,
                           struct graft_error *error) {
    struct graft_plugin_set *set = NULL;
    if (graft_grow(&library->called, &library->called_capacity, library->n_called, sizeof *library->called) != 0) {
        return graft_fail_memory(error, "plugin");
    }
    int status = take(library, plugin, &set, error);
    if (status == GRAFT_OK) {
        const struct graft_known_plugin added = {
            plugin, {plugin->id, NULL, rank_of(library)}, set->plugins[0].info.options};
        status = graft_registry_add_plugins(library->registry, &added, 1, error);
    }
    if (status != GRAFT_OK) {
        graft_plugin_set_free(set);
        return status;
    }
    library->called[library->n_called++] = set;
    return GRAFT_OK;
}

static int register_described(struct graft_library *library, const struct graft_plugin *plugin,
                              struct graft_error *error) {
    if (plugin == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "plugin", "expected a descriptor, got NULL");
    }
    (void)pthread_mutex_lock(&library->lock);
    int status = register_plugin(library, plugin, error);
    (void)pthread_mutex_unlock(&library->lock);
    return status;
}

int graft_library_register_plugin(struct graft_library *library, const struct graft_plugin *plugin,
                                  struct graft_error *error) {
    struct graft_context *before = graft_library_begin(library);
    int status = register_described(library, plugin, error);
    (void)graft_context_enter(before);
    return status;
}

/* Validates a plugin that provides a single element. */
static int check(const struct graft_plugin *plugin, struct graft_error *error) {
    const struct graft_place place = {.file = "program", .index = -1};
    struct graft_error cause = graft_error_none();
    int status = graft_implementations_validate(&place, plugin, &cause);
    if (status == GRAFT_OK) {
        return GRAFT_OK;
    }
    status = status == GRAFT_ERROR_INTERNAL ? status : GRAFT_ERROR_USAGE;
    (void)graft_error_set(error, status, cause.source, "%s", cause.message);
    graft_error_hint(error, "%s", cause.hint);
    return status;
}

static int add(struct graft_library *library, enum graft_implementation_kind kind, const char *name,
               const void *declared, struct graft_error *error) {
    static const struct graft_origin program = {.plugin = "program"};
    return graft_registry_add_implementation(library->registry, kind, name, declared, &program, error);
}

int graft_library_add_attention(struct graft_library *library, const struct graft_attention_implementation *attention,
                                struct graft_error *error) {
    const struct graft_plugin one = {.attention_implementations = attention,
                                     .n_attention_implementations = 1,
                                     .attention_implementation_stride = sizeof *attention};
    int status = check(&one, error);
    return status == GRAFT_OK ? add(library, GRAFT_IMPLEMENTATION_ATTENTION, attention->name, attention, error)
                              : status;
}

int graft_library_add_experts(struct graft_library *library, const struct graft_experts_implementation *experts,
                              struct graft_error *error) {
    const struct graft_plugin one = {.experts_implementations = experts,
                                     .n_experts_implementations = 1,
                                     .experts_implementation_stride = sizeof *experts};
    int status = check(&one, error);
    return status == GRAFT_OK ? add(library, GRAFT_IMPLEMENTATION_EXPERTS, experts->name, experts, error) : status;
}

int graft_library_add_kernel(struct graft_library *library, const struct graft_kernel_override *kernel,
                             struct graft_error *error) {
    const struct graft_plugin one = {.kernels = kernel, .n_kernels = 1, .kernel_stride = sizeof *kernel};
    int status = check(&one, error);
    return status == GRAFT_OK ? add(library, GRAFT_IMPLEMENTATION_KERNEL, kernel->name, kernel, error) : status;
}

int graft_library_add_logits_processor(struct graft_library *library, const struct graft_logits_processor *processor,
                                       struct graft_error *error) {
    const struct graft_plugin one = {.struct_size = sizeof one,
                                     .logits_processors = processor,
                                     .n_logits_processors = 1,
                                     .logits_processor_stride = sizeof *processor};
    int status = check(&one, error);
    return status == GRAFT_OK ? add(library, GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR, processor->name, processor, error)
                              : status;
}
