/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a registry and its snapshots. Used in this folder only. */
#ifndef GRAFT_REGISTRY_SNAPSHOT_H
#define GRAFT_REGISTRY_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/regex.h"
#include "base/text.h"
#include "registry/built_in.h"
#include "registry/conversions.h"
#include "registry/families.h"
#include "registry/fusion.h"
#include "registry/mapping.h"
#include "registry/registry.h"

/* The kind of key that library calls register: a name, else a pattern. Plugins say which of the two it is. */
enum { KEY_BOTH = 3 };

/* The source of a rule, in order of precedence. */
enum source {
    SOURCE_PATCH, /* the load's own patch */
    SOURCE_CALL,
    SOURCE_PLUGIN
};

/* A rule: a replacement with its compiled patterns. Immutable, and shared by the snapshots that have it. */
struct rule {
    atomic_long references;
    const struct graft_replacement *declared; /* the plugin's replacement, or `own` */
    struct graft_replacement own;             /* KEY_BOTH: the copied element */
    enum source source;
    struct graft_origin origin;
    size_t group_size; /* number of the plugin's replacements in its group; 0: unknown */
    struct graft_known_class replacement;
    struct graft_regex *target;      /* the compiled pattern; NULL for a name, and for an invalid pattern */
    struct graft_regex *module_path; /* the compiled module path; NULL: any path */
    char *invalid; /* KEY_BOTH: why the key is not a valid regular expression and so only a name; or NULL */
    /* for a fusion: the modules to which it applies, each with its own class */
    const struct graft_fused_modules *fused;
    int is_name;         /* KEY_BOTH: the key is a class's name, so that classes of other interfaces are not meant */
    int is_kernel;       /* 1: a kernel, which the user chose by name; it may also run a replacement of its class */
    int is_unasked;      /* lossy or on request, and its plugin was not named: it has no effect */
    atomic_int reported; /* whether a look-up has noted `invalid` */
};

/* All rules, of plugins and library calls, in the order of registration. Immutable, and shared by snapshots and
 * scopes. */
struct mapping_version {
    atomic_long references;
    struct rule **rules;
    size_t n;
};

/* All implementations, in order. Immutable, and shared by snapshots. */
struct implementations {
    atomic_long references;
    struct graft_implementation *items;
    size_t n;
};

enum { GRAFT_CLASS_BUCKETS = 128 };

struct graft_snapshot {
    atomic_long references;
    struct graft_built_in *built_in; /* the host's family files, read on demand; NULL: none */
    struct graft_known_plugin *plugins;
    size_t n_plugins;
    struct graft_known_class *classes;
    size_t n_classes;
    uint32_t first_in[GRAFT_CLASS_BUCKETS]; /* index plus 1 of the first class of each bucket, by the hash of its name;
                                               0: none */
    struct graft_known_family *families;
    size_t n_families;
    struct mapping_version *mapping;
    struct graft_known_fusion **fusions; /* fusion families; shared by snapshots */
    size_t n_fusions;
    struct conversion_list **conversions; /* model-wide lists; shared by snapshots */
    size_t n_conversions;
    struct implementations *implementations; /* implementations; NULL: none */
};

/* A scope: holds the mapping that is restored when the scope is left. */
struct graft_scope {
    struct mapping_version *version;
    struct graft_scope *outer;
};

struct graft_registry {
    pthread_mutex_t lock; /* guards the members, not what they point to */
    struct graft_snapshot *current;
    struct graft_scope *innermost;
    char **notes;
    size_t n_notes;
    size_t note_capacity;
};

/* The precedence of an origin, if several classes or families have the same name: 0 for plugins that the user named and
 * for library calls, 1 for the host, 2 for plugins that were only found. */
int graft_origin_place(const struct graft_origin *origin);

/* Adds a family and its classes to a new snapshot, which has room for them. */
int graft_family_append(struct graft_snapshot *snapshot, const struct graft_family *family,
                        const struct graft_origin *origin, struct graft_error *error);
/* Adds a class; a name in use is an error. */
int graft_class_append(struct graft_snapshot *snapshot, const struct graft_known_class *added,
                       struct graft_error *error);

/* Adds all implementations of a plugin to a new snapshot. */
int graft_implementations_append_all(struct graft_snapshot *snapshot, const struct graft_plugin *plugin,
                                     const struct graft_origin *origin, struct graft_error *error);
struct implementations *graft_implementations_retain(struct implementations *implementations);
void graft_implementations_release(struct implementations *implementations);

struct graft_known_fusion *graft_fusion_retain(struct graft_known_fusion *known);
void graft_fusion_release(struct graft_known_fusion *known);

/* Adds a fusion family to a new snapshot, which has room for it. */
int graft_fusion_append(struct graft_snapshot *snapshot, const struct graft_fusion_family *family,
                        const struct graft_origin *origin, struct graft_error *error);

/* Creates a rule for `replacement`, with one reference. */
int graft_rule_create(const struct graft_replacement *replacement, const struct graft_origin *origin,
                      struct rule **rule, struct graft_error *error);

/* Creates a rule for an element of a library call or a load patch, which is checked and copied. A class from a plugin
 * of `snapshot` still belongs to that plugin, so that it finds the plugin's private classes. */
int graft_rule_create_mapped(const struct graft_patch *element, enum source source,
                             const struct graft_snapshot *snapshot, struct rule **rule, struct graft_error *error);
struct rule *graft_rule_retain(struct rule *rule);
void graft_rule_release(struct rule *rule);

/* Creates a rule for the class that a fusion family makes for a class, in models of a type, as if a library call had
 * registered it for the class's name. */
int graft_rule_create_fused(const struct graft_fused_modules *fused, const struct graft_candidate *candidate,
                            const struct graft_snapshot *snapshot, const char *model_type, struct rule **rule,
                            struct graft_error *error);

/* The rule's source for messages: its file, or else the id of its plugin. */
const char *graft_rule_source(const struct rule *rule);

/* Whether the rule is for models of that type. */
int graft_rule_is_for_model(const struct rule *rule, const char *model_type);

/* Whether the key is the class's exact name; otherwise a rule that wants it matches by a pattern. */
int graft_rule_names(const struct rule *rule, const struct graft_known_class *original);

/* Adds "PLUGIN: " (nothing for library calls) and the key, which is a class's name for kernels. */
void graft_rule_add_key(const struct rule *rule, struct graft_text *text);

/* Whether key, path, model type and conditions of the rule match the module at `place`, of any interface. Returns like
 * graft_rule_hits. */
int graft_rule_finds(const struct rule *rule, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error);

/* Whether the rule's key matches the class: 1, 0, or -1 with an error set if a search costs too much. Basic classes,
 * and private classes of other plugins, match by their exact name only, and private classes never match library calls.
 * A class that the rule leaves alone does not match. */
int graft_rule_hits(const struct rule *rule, const struct graft_known_class *original, struct graft_error *error);

/* Whether what the rule says of modules of a class depends on where they are: it has a path or conditions on tensors.
 */
int graft_rule_asks_for_place(const struct rule *rule, const struct graft_known_class *original);

/* Whether the rule wants the module at `place`, of the class `original`. Returns like graft_rule_hits. */
int graft_rule_wants(const struct rule *rule, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error);

/* The condition on tensors for which alone the rule does not want the module at `place`; or NULL. */
const struct graft_condition *graft_rule_declines(const struct rule *rule, const struct graft_known_class *original,
                                                  const struct graft_module_place *place);

/* For a module that a rule declines as it lacks a tensor: whether some of the module's parts have the tensor. If so,
 * adds a text that says which. */
int graft_rule_divides(const struct rule *rule, const struct graft_module_place *place, struct graft_text *text);

/* The class to build at a place that the rule wants. */
const struct graft_known_class *graft_rule_replacement(const struct rule *rule, const struct graft_module_place *place);

/* Whether both rules belong to the same plugin, to library calls, or to the load patch. */
int graft_rule_same_source(const struct rule *a, const struct rule *b);

/* Which of two rules that want a module gets it: the load patch comes before library calls, calls before plugins, and
 * plugins are ordered by rank. Within one source, and between plugins without an order, a name comes before a pattern;
 * within one source then the rule registered first, which is `a`. NULL if two plugins without an order match both by
 * name or both by pattern. */
const struct rule *graft_rule_prefer(const struct rule *a, const struct rule *b,
                                     const struct graft_known_class *original);

/* The interface rule: whether the rule's replacement may replace the class. */
int graft_rule_fits(const struct rule *rule, const struct graft_known_class *original);

/* Rule number `i` in the order of registration; NULL after the last. */
struct rule *graft_snapshot_rule(const struct graft_snapshot *snapshot, size_t i);

/* Copies a snapshot, with room for one more element of each kind. */
struct graft_snapshot *graft_snapshot_copy(const struct graft_snapshot *old);

/* [any] Make versions: an empty one; one with `n` elements more than the snapshot's, or with new values of existing
 * keys; one with a fusion's elements; one without `n` keys. On failure `*next` is not set. */
struct mapping_version *graft_mapping_version_create(size_t capacity);
int graft_mapping_version_with(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               int overwrite, struct mapping_version **next, struct graft_error *error);
int graft_mapping_version_with_fused(const struct graft_snapshot *snapshot, const struct graft_fused_modules *fused,
                                     const char *model_type, struct mapping_version **next, struct graft_error *error);
/* Makes a version with the `n` elements of a load patch, followed by the snapshot's rules. */
int graft_mapping_version_over(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               struct mapping_version **next, struct graft_error *error);
/* Makes a version with the rules of `old`, followed by `n` replacements of a plugin, `stride` bytes apart. */
int graft_mapping_version_with_replacements(const struct mapping_version *old,
                                            const struct graft_replacement *replacements, size_t n, size_t stride,
                                            const struct graft_origin *origin, struct mapping_version **next,
                                            struct graft_error *error);
int graft_mapping_version_without(const struct mapping_version *old, const char *const *keys, size_t n,
                                  struct mapping_version **next, struct graft_error *error);
struct mapping_version *graft_mapping_version_retain(struct mapping_version *version);
void graft_mapping_version_release(struct mapping_version *version);

/* Called for each rule met whose key is not a valid regular expression. */
typedef int (*mapping_invalid_function)(void *data, struct rule *rule, struct graft_error *error);

struct stack;

/* [any] Looks up the stack for a class without a module; the stack is empty if no rule matches. Rules with a module
 * path or conditions are left out, and so are rules for other model types than `model_type` (which may be NULL).
 * `invalid` may be NULL. */
int graft_mapping_version_look_up(const struct mapping_version *version, const struct graft_known_class *original,
                                  const char *model_type, mapping_invalid_function invalid, void *data,
                                  struct stack *found, struct graft_error *error);

#endif
