/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: which classes exist, and which replace which.
 *
 * A registry is filled, and each model load takes a snapshot of it and works on the snapshot alone. A snapshot is
 * immutable and shared. Registering makes a new snapshot, so that it affects later loads only, and nothing has to be
 * restored afterwards.
 */
#ifndef GRAFT_REGISTRY_REGISTRY_H
#define GRAFT_REGISTRY_REGISTRY_H

#include "graft/class.h"
#include "graft/plugin.h"
#include "registry/condition.h"

/* Where a class comes from. All zero for built-in classes. */
struct graft_origin {
    const char *plugin; /* the plugin's id */
    const char *file;   /* its shared object */
    int32_t rank;       /* the plugin's place in the order that the user gave, from 1; 0 if it was not named */
};

/* A class and where it comes from. */
struct graft_known_class {
    const struct graft_class *cls;
    struct graft_origin origin;
    int32_t private_to_plugin;     /* 1: found only when the plugin's own classes are described */
    const struct graft_args *args; /* for a fused class: arguments that follow the parent's; else NULL */
    uint64_t name_hash; /* hash of cls->name in a snapshot's classes, as a tree may look up a million names */
    uint32_t next;      /* likewise: index plus 1 of the next class in the same bucket; 0: none */
};

/* The maximum number of classes that can be stacked at one module. */
enum { GRAFT_MAX_STACK = 32 };

struct graft_stacked_class {
    const struct graft_known_class *known;
    const struct graft_known_class *kernel; /* kernel that runs the class; NULL: none */
};

/* What a class name resolves to at one place of a model: a stack of replacements, outermost first, each of which calls
 * the next one as super. The last class does not call super: it is a replacement or the class of that name. */
struct graft_resolution {
    const struct graft_known_class *original; /* the class that has the name */
    struct graft_stacked_class stack[GRAFT_MAX_STACK];
    size_t n;            /* at least 1 */
    int32_t is_by_place; /* 1: replacements looked at the path or at tensors, so it may be another one elsewhere */
};

struct graft_built_in; /* registry/built_in.h */
struct graft_registry;
struct graft_snapshot;
struct graft_candidate;

/* [any] Creates a registry with the host's families, which outlive it and its snapshots; NULL: an empty registry. The
 * caller frees it; snapshots may outlive it. */
struct graft_registry *graft_registry_create(struct graft_built_in *built_in);
void graft_registry_free(struct graft_registry *registry);

/* [any] Adds a class under its name. If another class has that name and no order decides between them, it is an error.
 * `private_to_plugin` is as in graft_known_class. */
int graft_registry_add_class(struct graft_registry *registry, const struct graft_class *cls,
                             const struct graft_origin *origin, int32_t private_to_plugin, struct graft_error *error);

/* [any] Adds a replacement after the existing ones. */
int graft_registry_add_replacement(struct graft_registry *registry, const struct graft_replacement *replacement,
                                   const struct graft_origin *origin, struct graft_error *error);

/* A plugin whose content is in a registry. */
struct graft_known_plugin {
    const struct graft_plugin *descriptor; /* validated; const as long as the registry and its snapshots exist */
    struct graft_origin origin;
    const char *const *options; /* [descriptor->n_options] values of its options as text; valid as long */
};

/* [any] Adds everything that `n` plugins bring, or nothing. An id that exists already is an error. */
int graft_registry_add_plugins(struct graft_registry *registry, const struct graft_known_plugin *plugins, size_t n,
                               struct graft_error *error);

/* [any] The registry's current state. The caller releases it with graft_snapshot_release. */
struct graft_snapshot *graft_registry_snapshot(struct graft_registry *registry);

/* [any] Makes `snapshot` the registry's current state again. */
void graft_registry_restore(struct graft_registry *registry, struct graft_snapshot *snapshot);
struct graft_snapshot *graft_snapshot_retain(struct graft_snapshot *snapshot);
void graft_snapshot_release(struct graft_snapshot *snapshot);

/* [any] Finds a class by name, as seen by the plugin `asking` (NULL: the host): its own classes first, then the host's,
 * then public classes of other plugins in their order. `*known` is NULL if there is none. Errors are those of reading a
 * family file. */
int graft_snapshot_find_class(const struct graft_snapshot *snapshot, const char *name, const char *asking,
                              const struct graft_known_class **known, struct graft_error *error);

/* [any] The same, NULL also where it could not be read. */
const struct graft_known_class *graft_snapshot_class(const struct graft_snapshot *snapshot, const char *name,
                                                     const char *asking);

/* [any] Reads all families of the host. */
int graft_snapshot_read_all(const struct graft_snapshot *snapshot, struct graft_error *error);

/* [any] The class whose `describe`, or whose `create`, `destroy` and `forward`, apply to modules of a class: the class
 * itself or its nearest base that has them; NULL if none has. An unknown base, a base of another interface, and a
 * circle of bases are errors. */
int graft_snapshot_describing_class(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                                    const struct graft_known_class **describing, struct graft_error *error);
int graft_snapshot_creating_class(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                                  const struct graft_known_class **creating, struct graft_error *error);

/* [any] The class from which a class is derived, or NULL. */
const struct graft_known_class *graft_snapshot_base(const struct graft_snapshot *snapshot,
                                                    const struct graft_known_class *known);

/* [any] Whether a class is derived from one of that name, directly or not. Bases may form a circle. */
int graft_snapshot_is_derived(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                              const char *name);

/* The place in a model where a class name is resolved. */
struct graft_module_place {
    const char *class_name;
    const char *path;                      /* path of the module */
    const char *model_type;                /* type of the model */
    const char *asking;                    /* id of the plugin whose class describes this module, or NULL */
    const struct graft_candidate *fused;   /* the candidate of a fusion family at this path, or NULL */
    const struct graft_model_facts *facts; /* facts for conditions; NULL: no condition holds */
    const struct graft_joined *joined;     /* the modules that are joined here; NULL: this is a single module */
    const char *alias; /* the module's path in checkpoints, by conversions of classes above; or NULL */
};

/* Modules that a class joins: it describes one module in their place, whose outputs are theirs side by side. */
struct graft_joined {
    const struct graft_known_class *by; /* the class that joins them */
    const char *by_path;                /* path of that class's module */
    const char *const *parts;           /* [n_parts] paths of the joined modules, in the order of their outputs */
    size_t n_parts;
    const int64_t *outputs; /* [n_parts] output sizes of the modules; NULL: unknown */
};

/* What replacements do in one model: registry/assignment.h. */
struct graft_assignment;

/* [any] Resolves the class to build at `place`. Replacements of library calls take precedence over those of plugins.
 * Within one source, exact names come before patterns, then the order of registration decides. Of several sources,
 * classes that call super wrap each other in that order, plugins without ranks in the order of their ids. Of the other
 * classes the first one gets the module; two plugins that the user did not order are an error. A fusion, which is asked
 * for by name, comes before all of them if the class is the one in which it was found. Unknown classes and replacements
 * with another interface are errors. Kernels are looked up by the name of each resulting class, so that they can run
 * replacements. `assignment` (or NULL) counts modules and says which groups are left out. */
int graft_snapshot_resolve(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                           struct graft_assignment *assignment, struct graft_resolution *resolution,
                           struct graft_error *error);

/* [any] Resolves to the class of that name, without replacements. */
int graft_snapshot_original(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                            struct graft_resolution *resolution, struct graft_error *error);

/* [any] Whether any replacement that can take part in a model with these facts has conditions on tensors. The facts
 * then have to know the tensors. */
int graft_snapshot_asks_for_tensors(const struct graft_snapshot *snapshot, const char *model_type,
                                    const struct graft_model_facts *facts);

/* [any] Checks the interface rule for the patterns over the modules of a model before replacements. A pattern that
 * matches a class of another interface is an error, which lists the matched classes, those that fit, and a narrower
 * pattern. For a pattern that may match misfits it is a note of the assignment (which may be NULL) instead. If the
 * assignment skips bad plugins, the plugin is left out with a note, and `*changed` becomes 1: then groups have to be
 * decided and patterns checked again. */
int graft_snapshot_check_patterns(const struct graft_snapshot *snapshot, const struct graft_module_place *places,
                                  size_t n, struct graft_assignment *assignment, int *changed,
                                  struct graft_error *error);

/* [any] The plugin from which a class comes, in any way; NULL if it comes from the host or a program. */
const struct graft_origin *graft_snapshot_origin_of(const struct graft_snapshot *snapshot,
                                                    const struct graft_class *cls);

/* [any] Replacement number `i` of plugins, in the order of registration; NULL after the last. */
const struct graft_replacement *graft_snapshot_replacement(const struct graft_snapshot *snapshot, size_t i,
                                                           struct graft_origin *origin);

/* [any] Plugin number `i`, in the order of registration; NULL after the last. */
const struct graft_known_plugin *graft_snapshot_plugin_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Whether the plugin of that id (NULL: any plugin) reads weights of a quant_method. */
int graft_snapshot_reads(const struct graft_snapshot *snapshot, const char *id, const char *quant_method);

/* [any] Fails if plugins read a method, but conditions keep all their replacements from this config. The error names
 * the field, such as that of the layout. */
int graft_snapshot_check_layout(const struct graft_snapshot *snapshot, const struct graft_config *config,
                                const char *quant_method, struct graft_error *error);

/* [any] Whether any plugin's replacement has conditions on tensors of adapters. */
int graft_snapshot_applies_adapters(const struct graft_snapshot *snapshot);

/* [any] Class number `i`: the host's own, those of its families, which must have been read (graft_snapshot_read_all),
 * then those of plugins, in the order of registration; NULL after the last. */
const struct graft_known_class *graft_snapshot_class_at(const struct graft_snapshot *snapshot, size_t i);

#endif
