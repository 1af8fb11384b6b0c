/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a registry and its snapshots: shared by the units of this folder only. */
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

/* The key of what a library call registers: a name, and then a pattern. Plugins say which of the two they mean. */
enum { KEY_BOTH = 3 };

/* Who brought a replacement, in the order that they get modules in. */
enum source {
    SOURCE_PATCH, /* of this load */
    SOURCE_CALL,
    SOURCE_PLUGIN
};

/* One replacement with its patterns compiled. Immutable and shared by the snapshots that hold it. */
struct rule {
    atomic_long references;
    const struct graft_replacement *declared; /* the plugin's, or `own` */
    struct graft_replacement own;             /* KEY_BOTH: copied */
    enum source source;
    struct graft_origin origin;
    size_t group_size; /* how many replacements of its plugin have its group; 0: not known */
    struct graft_known_class replacement;
    struct graft_regex *target;      /* of a pattern; NULL for a name, and for what `invalid` tells of */
    struct graft_regex *module_path; /* NULL: everywhere */
    char *invalid;                   /* KEY_BOTH: why the key is no regular expression, and so a name only; or NULL */
    const struct graft_fused_modules *fused; /* of a fusion: it is for the modules that fit, each with its own class */
    int is_name;         /* KEY_BOTH: there is a class of that name, so other interfaces are not what it is meant for */
    int is_kernel;       /* asked for by name: it runs a class, whatever that class replaces */
    int is_unasked;      /* lossy, of a plugin that nobody named: it takes nothing */
    atomic_int reported; /* whether a look-up that came across it made a note of `invalid` */
};

/* All replacements, of plugins and calls, in the order of registration. Immutable and shared by snapshots and scopes.
 */
struct mapping_version {
    atomic_long references;
    struct rule **rules;
    size_t n;
};

/* What can be chosen by name, in order. Immutable and shared by snapshots. */
struct implementations {
    atomic_long references;
    struct graft_implementation *items;
    size_t n;
};

enum { GRAFT_CLASS_BUCKETS = 128 };

struct graft_snapshot {
    atomic_long references;
    struct graft_built_in *built_in; /* the host's families, read when asked for; NULL: none */
    struct graft_known_plugin *plugins;
    size_t n_plugins;
    struct graft_known_class *classes;
    size_t n_classes;
    uint32_t first_in[GRAFT_CLASS_BUCKETS]; /* number plus 1 of the first class, by the hash of its name; 0: none */
    struct graft_known_family *families;
    size_t n_families;
    struct mapping_version *mapping;
    struct graft_known_fusion **fusions; /* families; shared by snapshots */
    size_t n_fusions;
    struct conversion_list **conversions; /* model-wide lists; shared by snapshots */
    size_t n_conversions;
    struct implementations *implementations; /* what can be chosen by name; NULL: nothing */
};

/* The mapping as it was when the scope was entered. */
struct graft_scope {
    struct mapping_version *version;
    struct graft_scope *outer;
};

struct graft_registry {
    pthread_mutex_t lock; /* guards the fields, not what they point to */
    struct graft_snapshot *current;
    struct graft_scope *innermost;
    char **notes;
    size_t n_notes;
    size_t note_capacity;
};

/* Whose classes and families go first where several have one name: 0 for plugins that the user put in an order and
 * those that a call registered, 1 for the host, 2 for plugins that were merely found. */
int graft_origin_place(const struct graft_origin *origin);

/* Adds a family with its classes to a snapshot that is not yet the registry's, and has room for them. */
int graft_family_append(struct graft_snapshot *snapshot, const struct graft_family *family,
                        const struct graft_origin *origin, struct graft_error *error);
/* Adds one class; a name that is taken is an error. */
int graft_class_append(struct graft_snapshot *snapshot, const struct graft_known_class *added,
                       struct graft_error *error);

/* All implementations that a plugin brings, into a snapshot that is not yet the registry's. */
int graft_implementations_append_all(struct graft_snapshot *snapshot, const struct graft_plugin *plugin,
                                     const struct graft_origin *origin, struct graft_error *error);
struct implementations *graft_implementations_retain(struct implementations *implementations);
void graft_implementations_release(struct implementations *implementations);

/* A family whose patterns compile, with one reference. */
int graft_fusion_create(const struct graft_fusion_family *family, const struct graft_origin *origin,
                        struct graft_known_fusion **known, struct graft_error *error);
struct graft_known_fusion *graft_fusion_retain(struct graft_known_fusion *known);
void graft_fusion_release(struct graft_known_fusion *known);

/* Adds a family to a snapshot that is not yet the registry's, and has room for it. */
int graft_fusion_append(struct graft_snapshot *snapshot, const struct graft_fusion_family *family,
                        const struct graft_origin *origin, struct graft_error *error);

/* A rule for `replacement`, with one reference. */
int graft_rule_create(const struct graft_replacement *replacement, const struct graft_origin *origin,
                      struct rule **rule, struct graft_error *error);

/* A rule for an element of a mapping, of a call or a load @rule@, which is checked and copied. A class that a plugin
 * of `snapshot` brought stays that plugin's, so it finds its private classes. */
int graft_rule_create_mapped(const struct graft_patch *element, enum source source,
                             const struct graft_snapshot *snapshot, struct rule **rule, struct graft_error *error);
struct rule *graft_rule_retain(struct rule *rule);
void graft_rule_release(struct rule *rule);

/* A rule for what a family makes of a class, in models of a type. It reads as one that a call registered for the
 * class's name. */
int graft_rule_create_fused(const struct graft_fused_modules *fused, const struct graft_candidate *candidate,
                            const struct graft_snapshot *snapshot, const char *model_type, struct rule **rule,
                            struct graft_error *error);

/* Who brought it, for messages: its file, else the id of its plugin. */
const char *graft_rule_source(const struct rule *rule);

/* Whether the rule may be for a model of that type at all. */
int graft_rule_is_for_model(const struct rule *rule, const char *model_type);

/* Whether the key is this class's very name; otherwise a rule that wants it does so by a pattern. */
int graft_rule_names(const struct rule *rule, const struct graft_known_class *original);

/* Whether the rule would leave a class that its pattern hits alone, as its interface is another. */
int graft_rule_leaves(const struct rule *rule, const struct graft_known_class *original);

/* "PLUGIN: " or, of library calls, nothing; then the key, which is a class's name for kernels. */
void graft_rule_add_key(const struct rule *rule, struct graft_text *text);

/* Whether key, path, model type and conditions of the rule are those of the module at `place`, whatever its interface:
 * as graft_rule_hits. */
int graft_rule_finds(const struct rule *rule, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error);

/* Whether the rule's key hits the class: 1, 0, or -1 after an error, when a search cost too much. Basic classes, and
 * those that another plugin keeps for children of its own, are reached by their exact name only, and private ones not
 * by library calls. What it leaves alone it does not hit. */
int graft_rule_hits(const struct rule *rule, const struct graft_known_class *original, struct graft_error *error);

/* Whether the rule wants the module at `place`, of the class `original`: as graft_rule_hits. */
int graft_rule_wants(const struct rule *rule, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error);

/* The condition for which alone the rule does not want the module at `place`, since that lacks a tensor; or NULL. */
const struct graft_condition *graft_rule_declines(const struct rule *rule, const struct graft_known_class *original,
                                                  const struct graft_module_place *place);

/* Of one that it declines to replace for lack of a tensor: whether parts of that module have it; then adds which. */
int graft_rule_divides(const struct rule *rule, const struct graft_module_place *place, struct graft_text *text);

/* What is built at a place that the rule wants. */
const struct graft_known_class *graft_rule_replacement(const struct rule *rule, const struct graft_module_place *place);

/* Whether both are one plugin's, or both from library calls, or from the load @rule@. */
int graft_rule_same_source(const struct rule *a, const struct rule *b);

/* Which of two that want a module gets it: the load @rule@ before calls, calls before plugins, plugins by rank; of one
 * source, and of plugins without an order, a name before a pattern; of one source the one registered first, which is
 * `a`. NULL: two plugins without an order, both by a name or both by a pattern. */
const struct rule *graft_rule_prefer(const struct rule *a, const struct rule *b,
                                     const struct graft_known_class *original);

/* The interface rule for one rule and one class. */
int graft_rule_fits(const struct rule *rule, const struct graft_known_class *original);

/* Number `i` in the order of registration; NULL after the last. */
struct rule *graft_snapshot_rule(const struct graft_snapshot *snapshot, size_t i);

/* A copy with room for one more of each. */
struct graft_snapshot *graft_snapshot_copy(const struct graft_snapshot *old);

/* [any] An empty version; what the snapshot's holds and `n` elements more, or new values for keys that are there; what
 * it holds but for `n` keys. On failure `*next` is left alone. */
struct mapping_version *graft_mapping_version_create(size_t capacity);
int graft_mapping_version_with(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               int overwrite, struct mapping_version **next, struct graft_error *error);
int graft_mapping_version_with_fused(const struct graft_snapshot *snapshot, const struct graft_fused_modules *fused,
                                     const char *model_type, struct mapping_version **next, struct graft_error *error);
/* The `n` elements of a load @rule@, and behind them what the snapshot's holds. */
int graft_mapping_version_over(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               struct mapping_version **next, struct graft_error *error);
/* What `old` holds, and behind it what a plugin brings: `n` replacements, `stride` bytes apart. */
int graft_mapping_version_with_replacements(const struct mapping_version *old,
                                            const struct graft_replacement *replacements, size_t n, size_t stride,
                                            const struct graft_origin *origin, struct mapping_version **next,
                                            struct graft_error *error);
int graft_mapping_version_without(const struct mapping_version *old, const char *const *keys, size_t n,
                                  struct mapping_version **next, struct graft_error *error);
struct mapping_version *graft_mapping_version_retain(struct mapping_version *version);
void graft_mapping_version_release(struct mapping_version *version);

/* A rule met on the way whose key is no regular expression. */
typedef int (*mapping_invalid_function)(void *data, struct rule *rule, struct graft_error *error);

struct stack;

/* [any] What the version makes of the class where no module is known; nothing hits: an empty stack. Elements with a
 * module path or conditions are left out, and those with model types that do not list `model_type` (which may be NULL).
 * `invalid` may be NULL. */
int graft_mapping_version_look_up(const struct mapping_version *version, const struct graft_known_class *original,
                                  const char *model_type, mapping_invalid_function invalid, void *data,
                                  struct stack *found, struct graft_error *error);

#endif
