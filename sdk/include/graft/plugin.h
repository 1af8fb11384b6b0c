/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptor of a plugin: a shared object that exports the one function `graft_plugin_entry`.
 */
#ifndef GRAFT_PLUGIN_H
#define GRAFT_PLUGIN_H

#include "abi.h"
#include "class.h"
#include "condition.h"
#include "error.h"
#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_PLUGIN_MAGIC \
    { 'G', 'R', 'A', 'F', 'T', 'P', 'L', '\n' }

/* The day on which ABI 1.0 was released, as in 20270131: one number in the headers of all 1.x. It is 0 in those from
 * before the release, when structs could still change; what was built with these is refused from then on. */
#define GRAFT_ABI_RELEASED 20261130

/* The first initialisers of every descriptor. A plugin that needs something newer than minor version 0 sets
 * `abi_minor_needed` after them. */
#define GRAFT_PLUGIN_HEADER                                                                                \
    .magic = GRAFT_PLUGIN_MAGIC, .struct_size = sizeof(struct graft_plugin), .abi_major = GRAFT_ABI_MAJOR, \
    .abi_minor_built = GRAFT_ABI_MINOR, .pointer_size = sizeof(void *), .abi_released = GRAFT_ABI_RELEASED

enum {
    GRAFT_KEY_NAME = 1, /* `target` is the name of a class */
    /* `target` is a regular expression (PCRE2), searched for anywhere in the names of classes: those of the host and
       those that plugins bring as children, but not replacements. Names take precedence over patterns. */
    GRAFT_KEY_PATTERN = 2
};

enum {
    /* With GRAFT_KEY_PATTERN: classes of another interface than the replacement's are left unchanged, and the user is
       told. Without this flag a pattern that matches one is an error. */
    GRAFT_REPLACEMENT_WHERE_IT_FITS = 1,
    /* If another plugin replaces the module as well, and the user gave no order, that plugin's class is built. For a
       class that is a fallback, for example in case no other plugin splits the module. */
    GRAFT_REPLACEMENT_GIVES_WAY = 2,
    /* It takes effect only if the user names the plugin (`--plugins`), not merely because the plugin is present: for
       replacements that not everybody wants. A lossy class (GRAFT_CUSTOM_LOSSY) behaves like this without the flag. */
    GRAFT_REPLACEMENT_ON_REQUEST = 1 << 16
};

/* "Build this class where that one is asked for." If several plugins replace the same module, those whose classes call
 * super (GRAFT_CLASS_CALLS_SUPER) wrap each other, in the user's order or else in the order of their ids, around the
 * one that does not call super; a second one that does not is an error, unless the user gave an order or one gives way.
 * Of one plugin's replacements only one is built in a module: one by name before one by pattern, then the first in the
 * list. */
struct graft_replacement {
    uint32_t struct_size;
    int32_t key;                           /* GRAFT_KEY_... */
    const char *target;                    /* the classes to replace, as `key` says */
    const struct graft_class *replacement; /* the class that is built instead; has the same interface */
    const char *module_path;        /* a regular expression that must be found in the module's path; NULL: any path */
    const char *const *model_types; /* NULL-terminated list of `model_type`s of config.json; NULL: all */
    /* Replacements of one plugin that have the same group work only together: in a model all of them take effect, or
     * none if one of them matches no module or loses a module to another plugin. Those that `model_types` or a
     * condition on the config excludes from the model do not count. NULL: none. */
    const char *group;
    uint32_t flags; /* GRAFT_REPLACEMENT_... */
    uint32_t reserved;
    const struct graft_condition *conditions; /* [n_conditions] conditions, all of which must hold */
    int32_t n_conditions;
    uint32_t condition_stride;
};

struct graft_attention_implementation; /* attention_implementation.h */
struct graft_experts_implementation;   /* experts_implementation.h */
struct graft_kernel_override;          /* kernel_override.h */
struct graft_logits_processor;         /* logits_processor.h */
struct graft_chain;                    /* chain.h */
struct graft_fusion_family;            /* fusion.h */
struct graft_family;                   /* family.h */
struct graft_option;                   /* option.h */
struct graft_parallel_provider;        /* parallel.h */
struct graft_field_rule;               /* field_rule.h */
struct graft_quantization;             /* quantization.h */

enum {
    /* Whatever it writes to static variables between `init` and `deinit` is atomic or guarded by locks, and no result
     * depends on it: counters, locks, values that are computed once. Without this flag `validate` makes static
     * variables read-only while models are built and run, and names a variable that is written. */
    GRAFT_PLUGIN_GUARDS_STATICS = 1 << 0
};

/* Must not change, like everything that it points to, from the entry function's return until `deinit` has returned.
 * Limits: 64 bytes for an id and for a name that users choose by, 255 for other names, 1023 for a line or a regular
 * expression; 4096 elements in `replacements` and `classes`, 256 in other lists unless stated otherwise. A plugin that
 * exceeds them is refused. */
struct graft_plugin {
    char magic[8]; /* GRAFT_PLUGIN_MAGIC */
    uint32_t struct_size;
    uint32_t abi_major;        /* GRAFT_ABI_MAJOR of the headers it was built with */
    uint32_t abi_minor_needed; /* the minor version whose fields this plugin needs */
    uint32_t abi_minor_built;  /* the minor version of the headers it was built with */
    uint32_t pointer_size;     /* sizeof(void *) */
    uint32_t abi_released;     /* GRAFT_ABI_RELEASED of the headers it was built with */
    const char *id;            /* [a-z0-9_.-]+, unique: "fused_qkv" */
    const char *version;       /* "1.0.0" */
    const char *license;       /* SPDX identifier */
    const char *description;   /* one line */

    /* [load] Called when the first library that uses the plugin has accepted its descriptor, before anything else of
     * the plugin is used, and after the `init` of the plugins whose extensions it requires or uses. If it fails, the
     * plugin is refused and `deinit` is not called. Optional. */
    int (*init)(struct graft_error *error);
    /* [load] Called when the last library that uses the plugin is freed, after every instance is destroyed, and before
     * the `deinit` of the plugins whose extensions it requires or uses. The object stays mapped and keeps its
     * variables; if a library loads it later, the entry function and `init` are called again. Optional. */
    void (*deinit)(void);

    /* NULL-terminated lists of ids of extensions ("graft.log/1", "acme.gates/1"); NULL: none. Ids that begin with
     * "graft." are the host's, all others are plugins'. */
    const char *const *requires_extensions; /* extensions without which this plugin is refused */
    const char *const *uses_extensions;     /* other plugins' extensions that it uses if they exist */
    const char *const *offers_extensions;   /* extensions that it offers to other plugins */
    /* [any] The extension of an id in `offers_extensions`, valid as long as the plugin is in use; required if there are
     * any. The host calls this after `init`, and passes the result on (struct graft_host). */
    const void *(*get_extension)(const char *id);

    const struct graft_replacement *replacements; /* [n_replacements] */
    int32_t n_replacements;
    uint32_t replacement_stride;
    /* [n_classes] Classes that only this plugin's classes may describe as children; not replacements. */
    const struct graft_class *classes;
    int32_t n_classes;
    uint32_t class_stride;

    const struct graft_family *families; /* model types that it adds */
    int32_t n_families;
    uint32_t family_stride;
    const struct graft_fusion_family *fusion_families; /* used if fusion_config names them */
    int32_t n_fusion_families;
    uint32_t fusion_family_stride;
    const struct graft_chain *chains; /* used if modules of their classes are fused */
    int32_t n_chains;
    uint32_t chain_stride;
    /* Operations that patch files may use by name (docs/patch.md): "NAME", or "ID.NAME" if two plugins have one of that
     * name. Conversions may use these and others. */
    const struct graft_custom_operation *custom_operations;
    int32_t n_custom_operations;
    uint32_t custom_operation_stride;

    const struct graft_attention_implementation *attention_implementations; /* users choose them by name */
    int32_t n_attention_implementations;
    uint32_t attention_implementation_stride;
    const struct graft_experts_implementation *experts_implementations; /* likewise */
    int32_t n_experts_implementations;
    uint32_t experts_implementation_stride;
    const struct graft_kernel_override *kernels; /* likewise */
    int32_t n_kernels;
    uint32_t kernel_stride;

    const struct graft_option *options; /* options that users can set; struct graft_host has the values */
    int32_t n_options;                  /* at most 32 */
    uint32_t option_stride;
    /* NULL-terminated list of `quantization_config.quant_method`s whose checkpoints it can read ("gptq"); NULL: none. A
     * model whose method no plugin handles is refused. */
    const char *const *quant_methods;
    const struct graft_parallel_provider *parallel;         /* used when `--parallel` names the plugin; optional */
    const struct graft_logits_processor *logits_processors; /* users choose them by name */
    int32_t n_logits_processors;
    uint32_t logits_processor_stride;
    /* Rules for fields of config.json that its classes do not ask for. They apply to models in which it builds a class,
     * or whose quant_method it reads. Its families have their own rules. */
    const struct graft_field_rule *field_rules; /* [n_field_rules] */
    int32_t n_field_rules;
    uint32_t field_rule_stride;
    /* Formats of its `quant_methods` into which it can quantize float weights while a model is loaded; users choose
     * them by name. */
    const struct graft_quantization *quantizations;
    int32_t n_quantizations;
    uint32_t quantization_stride;
    uint32_t flags; /* later than 1.0: GRAFT_PLUGIN_... */
    uint32_t reserved_later;
};

#define GRAFT_REPLACEMENT_SIZE_1_0 GRAFT_END_OF(struct graft_replacement, condition_stride)
#define GRAFT_PLUGIN_SIZE_1_0 GRAFT_END_OF(struct graft_plugin, parallel)

GRAFT_ASSERT_SIZE(struct graft_replacement, 72);
GRAFT_ASSERT_SIZE(struct graft_plugin, 344);
GRAFT_ASSERT_OFFSET(struct graft_plugin, struct_size, 8);
GRAFT_ASSERT_OFFSET(struct graft_plugin, id, 32);
GRAFT_ASSERT_OFFSET(struct graft_plugin, init, 64);

/* [any] Class `i` of `classes`. */
GRAFT_INLINE const struct graft_class *graft_plugin_class(const struct graft_plugin *plugin, int32_t i) {
    return (const struct graft_class *)(const void *)((const char *)plugin->classes + (size_t)i * plugin->class_stride);
}

/* [any] A descriptor whose first members are initialised and whose others are 0: GRAFT_PLUGIN_HEADER for languages
 * without designated initialisers, such as C++ before C++20. */
GRAFT_INLINE struct graft_plugin graft_plugin_header(void) {
    static const char magic[] = GRAFT_PLUGIN_MAGIC;
    struct graft_plugin plugin;
    memset(&plugin, 0, sizeof plugin);
    memcpy(plugin.magic, magic, sizeof plugin.magic);
    plugin.struct_size = (uint32_t)sizeof plugin;
    plugin.abi_major = GRAFT_ABI_MAJOR;
    plugin.abi_minor_built = GRAFT_ABI_MINOR;
    plugin.pointer_size = (uint32_t)sizeof(void *);
    plugin.abi_released = GRAFT_ABI_RELEASED;
    return plugin;
}

/* [any] How many field rules it has; none if it was built before there were rules. */
GRAFT_INLINE int32_t graft_plugin_n_field_rules(const struct graft_plugin *plugin) {
    return GRAFT_HAS(plugin, struct graft_plugin, field_rule_stride) ? plugin->n_field_rules : 0;
}

/* [any] GRAFT_PLUGIN_...; 0 if the plugin was built before there were flags. */
GRAFT_INLINE uint32_t graft_plugin_flags(const struct graft_plugin *plugin) {
    return GRAFT_HAS(plugin, struct graft_plugin, reserved_later) ? plugin->flags : 0;
}

/* [any] Replacement `i`. */
GRAFT_INLINE const struct graft_replacement *graft_plugin_replacement(const struct graft_plugin *plugin, int32_t i) {
    const char *at = (const char *)plugin->replacements + (size_t)i * plugin->replacement_stride;
    return (const struct graft_replacement *)(const void *)at;
}

/* [any] Condition `i` (condition.h). */
GRAFT_INLINE const struct graft_condition *graft_replacement_condition(const struct graft_replacement *replacement,
                                                                       int32_t i) {
    const char *at = (const char *)replacement->conditions + (size_t)i * replacement->condition_stride;
    return (const struct graft_condition *)(const void *)at;
}

/* [any] Attention implementation `i`. */
GRAFT_INLINE const struct graft_attention_implementation *graft_plugin_attention(const struct graft_plugin *plugin,
                                                                                 int32_t i) {
    const char *at =
        (const char *)plugin->attention_implementations + (size_t)i * plugin->attention_implementation_stride;
    return (const struct graft_attention_implementation *)(const void *)at;
}

/* [any] Experts implementation `i`. */
GRAFT_INLINE const struct graft_experts_implementation *graft_plugin_experts(const struct graft_plugin *plugin,
                                                                             int32_t i) {
    const char *at = (const char *)plugin->experts_implementations + (size_t)i * plugin->experts_implementation_stride;
    return (const struct graft_experts_implementation *)(const void *)at;
}

/* [any] Kernel override `i`. */
GRAFT_INLINE const struct graft_kernel_override *graft_plugin_kernel(const struct graft_plugin *plugin, int32_t i) {
    const char *at = (const char *)plugin->kernels + (size_t)i * plugin->kernel_stride;
    return (const struct graft_kernel_override *)(const void *)at;
}

/* [any] How many logits processors there are (logits_processor.h). */
GRAFT_INLINE int32_t graft_plugin_n_logits_processors(const struct graft_plugin *plugin) {
    return GRAFT_HAS(plugin, struct graft_plugin, logits_processor_stride) ? plugin->n_logits_processors : 0;
}

/* [any] Logits processor `i`. */
GRAFT_INLINE const struct graft_logits_processor *graft_plugin_logits_processor(const struct graft_plugin *plugin,
                                                                                int32_t i) {
    const char *at = (const char *)plugin->logits_processors + (size_t)i * plugin->logits_processor_stride;
    return (const struct graft_logits_processor *)(const void *)at;
}

/* [any] Fusion family `i` (fusion.h). */
GRAFT_INLINE const struct graft_fusion_family *graft_plugin_fusion_family(const struct graft_plugin *plugin,
                                                                          int32_t i) {
    const char *at = (const char *)plugin->fusion_families + (size_t)i * plugin->fusion_family_stride;
    return (const struct graft_fusion_family *)(const void *)at;
}

/* [any] How many formats it can quantize to (quantization.h). */
GRAFT_INLINE int32_t graft_plugin_n_quantizations(const struct graft_plugin *plugin) {
    return GRAFT_HAS(plugin, struct graft_plugin, quantization_stride) ? plugin->n_quantizations : 0;
}

/* [any] Quantization `i`. */
GRAFT_INLINE const struct graft_quantization *graft_plugin_quantization(const struct graft_plugin *plugin, int32_t i) {
    const char *at = (const char *)plugin->quantizations + (size_t)i * plugin->quantization_stride;
    return (const struct graft_quantization *)(const void *)at;
}

/* [any] Model family `i` (family.h). */
GRAFT_INLINE const struct graft_family *graft_plugin_family(const struct graft_plugin *plugin, int32_t i) {
    const char *at = (const char *)plugin->families + (size_t)i * plugin->family_stride;
    return (const struct graft_family *)(const void *)at;
}

/* [any] Option `i` (option.h). */
GRAFT_INLINE const struct graft_option *graft_plugin_option(const struct graft_plugin *plugin, int32_t i) {
    const char *at = (const char *)plugin->options + (size_t)i * plugin->option_stride;
    return (const struct graft_option *)(const void *)at;
}

/* [any] Custom operation `i` (custom_operation.h). */
GRAFT_INLINE const struct graft_custom_operation *graft_plugin_custom_operation(const struct graft_plugin *plugin,
                                                                                int32_t i) {
    const char *at = (const char *)plugin->custom_operations + (size_t)i * plugin->custom_operation_stride;
    return (const struct graft_custom_operation *)(const void *)at;
}

/* [load] The function that a plugin exports. Returns the descriptor, or NULL with the reason in `error`. It is called
 * when a library examines the object and no library uses it yet, so possibly several times. The host never calls it, or
 * `init` or `deinit`, of two plugins at the same time. `host` stays valid. */
typedef const struct graft_plugin *(*graft_plugin_entry_function)(const struct graft_host *host,
                                                                  struct graft_error *error);

/* [load] To be defined by the plugin. */
GRAFT_EXPORT const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
