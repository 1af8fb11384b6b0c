/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which classes there are, and which replace which.
 *
 * A registry is filled, then a snapshot of it is taken; a model load works on the snapshot alone. A snapshot is
 * immutable and shared: registering makes a new one, so what is registered after a load affects the next load only, and
 * nothing has to be restored afterwards.
 */
#ifndef GRAFT_REGISTRY_REGISTRY_H
#define GRAFT_REGISTRY_REGISTRY_H

#include "graft/class.h"
#include "graft/plugin.h"
#include "registry/condition.h"

/* Who brought a class. All zero for the built-in ones. */
struct graft_origin {
    const char *plugin; /* the plugin's id */
    const char *file;   /* its shared object */
    int32_t rank;       /* its place in the order the user gave, from 1; 0 when nobody named it; calls have others */
};

/* A class and where it comes from. */
struct graft_known_class {
    const struct graft_class *cls;
    struct graft_origin origin;
    int32_t private_to_plugin;     /* found only while describing the plugin's own classes */
    const struct graft_args *args; /* of a fused class: those that go behind the parent's; else NULL */
    uint64_t name_hash;            /* in a snapshot's list of classes, of cls->name: a tree may ask for a million */
    uint32_t next;                 /* likewise: number plus 1 of the next class in the same bucket; 0: none */
};

/* So many classes may stand behind each other at one module. */
enum { GRAFT_MAX_STACK = 32 };

struct graft_stacked_class {
    const struct graft_known_class *known;
    const struct graft_known_class *kernel; /* runs the class; NULL: no kernel */
};

/* What a class name stands for at one place of a model: replacements that call super, each the next one, the outermost
 * first, and behind them the class that does not: a replacement, or the class of that name. */
struct graft_resolution {
    const struct graft_known_class *original; /* the class of that name */
    struct graft_stacked_class stack[GRAFT_MAX_STACK];
    size_t n; /* 1 at least */
};

struct graft_built_in; /* registry/built_in.h */
struct graft_registry;
struct graft_snapshot;
struct graft_candidate;

/* [any] A registry of the host's families, which outlive it and its snapshots; NULL: an empty one. The caller frees it;
 * snapshots outlive it. */
struct graft_registry *graft_registry_create(struct graft_built_in *built_in);
void graft_registry_free(struct graft_registry *registry);

/* [any] Adds a class under its name. A name that is taken by one that nothing could tell it from is an error.
 * `private_to_plugin`: as in graft_known_class. */
int graft_registry_add_class(struct graft_registry *registry, const struct graft_class *cls,
                             const struct graft_origin *origin, int32_t private_to_plugin, struct graft_error *error);

/* [any] Adds a replacement behind those already there. */
int graft_registry_add_replacement(struct graft_registry *registry, const struct graft_replacement *replacement,
                                   const struct graft_origin *origin, struct graft_error *error);

/* A plugin whose classes, replacements and so on are in a registry. */
struct graft_known_plugin {
    const struct graft_plugin *descriptor; /* validated; const until the registry and its snapshots are gone */
    struct graft_origin origin;
    const char *const *options; /* [descriptor->n_options] values of its options, as text; as long */
};

/* [any] Adds all that `n` plugins bring, or nothing. An id that is there already is an error. */
int graft_registry_add_plugins(struct graft_registry *registry, const struct graft_known_plugin *plugins, size_t n,
                               struct graft_error *error);

/* [any] The registry's present state; given back with graft_snapshot_release. */
struct graft_snapshot *graft_registry_snapshot(struct graft_registry *registry);

/* [any] Makes `snapshot` the registry's present state again. */
void graft_registry_restore(struct graft_registry *registry, struct graft_snapshot *snapshot);
struct graft_snapshot *graft_snapshot_retain(struct graft_snapshot *snapshot);
void graft_snapshot_release(struct graft_snapshot *snapshot);

/* [any] A class by its name, as the plugin `asking` (NULL: the host) sees it: its own classes first, then the host's,
 * then the public ones of other plugins in their order. `*known` is NULL where there is none. Errors are those of
 * reading a family of the host. */
int graft_snapshot_find_class(const struct graft_snapshot *snapshot, const char *name, const char *asking,
                              const struct graft_known_class **known, struct graft_error *error);

/* [any] The same, NULL also where it could not be read. */
const struct graft_known_class *graft_snapshot_class(const struct graft_snapshot *snapshot, const char *name,
                                                     const char *asking);

/* [any] Reads all families of the host. */
int graft_snapshot_read_all(const struct graft_snapshot *snapshot, struct graft_error *error);

/* [any] Whose `describe`, and whose `create`, `destroy` and `forward`, hold for modules of a class: its own, or those
 * of the nearest of its bases that has some; NULL where none has. A base that there is not, or of another interface,
 * and bases that go round in a circle are errors. */
int graft_snapshot_describer(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                             const struct graft_known_class **describer, struct graft_error *error);
int graft_snapshot_maker(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                         const struct graft_known_class **maker, struct graft_error *error);

/* [any] The class that a class is derived from, or NULL. */
const struct graft_known_class *graft_snapshot_base(const struct graft_snapshot *snapshot,
                                                    const struct graft_known_class *known);

/* Where a class name is asked for. */
struct graft_module_place {
    const char *class_name;
    const char *path;                      /* of the module */
    const char *model_type;                /* of the model */
    const char *asking;                    /* id of the plugin whose class describes this child, or NULL */
    const struct graft_candidate *fused;   /* what a fusion family found at this path, or NULL */
    const struct graft_model_facts *facts; /* what conditions look at; NULL: none holds */
    const struct graft_joined *joined;     /* what it is made of; NULL: it is a module of its own */
    const char *alias;                     /* what checkpoints may call it by conversions of classes above; or NULL */
};

/* Modules whose outputs the class of a module above joins in one that it describes instead. */
struct graft_joined {
    const struct graft_known_class *by; /* that class */
    const char *by_path;                /* and its module */
    const char *const *parts;           /* [n_parts] paths of the modules, in the order of their outputs */
    size_t n_parts;
    const int64_t *outputs; /* [n_parts] of the modules; NULL: not known */
};

/* What replacements do in one model: registry/assignment.h. */
struct graft_assignment;

/* [any] What to build at `place`. What library calls registered goes before what plugins bring; of one source exact
 * names go before patterns, then the order of registration decides. Of several sources, those whose class calls super
 * wrap each other in that order, plugins without ranks in that of their ids; of the others the first gets the module,
 * and two plugins that the user did not order are an error. A fusion, which was asked for by name, goes before them
 * all, if the class is the one it was found in. An unknown class and a replacement with another interface are errors.
 * Kernels are looked for by the name of each class that results, so they may stand on replacements. `assignment` (or
 * NULL) counts, and says which groups are left out. */
int graft_snapshot_resolve(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                           struct graft_assignment *assignment, struct graft_resolution *resolution,
                           struct graft_error *error);

/* [any] The class of that name, whatever would replace it. */
int graft_snapshot_original(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                            struct graft_resolution *resolution, struct graft_error *error);

/* [any] Whether replacements that can take part in such a model have conditions on tensors, which the facts need for
 * them. */
int graft_snapshot_asks_for_tensors(const struct graft_snapshot *snapshot, const char *model_type,
                                    const struct graft_model_facts *facts);

/* [any] The interface rule over the modules of a model before anything is replaced: a pattern that hits one with
 * another interface is an error that lists the classes hit, those that fit, and a narrower pattern that would do. Of a
 * pattern that takes what fits it becomes a note of the assignment's (which may be NULL), and so it does where the
 * assignment leaves out what is bad: then `*changed` is 1, groups have to be decided on and patterns checked again. */
int graft_snapshot_check_patterns(const struct graft_snapshot *snapshot, const struct graft_module_place *places,
                                  size_t n, struct graft_assignment *assignment, int *changed,
                                  struct graft_error *error);

/* [any] Who brought a class: a plugin, by whatever it hands the class over; NULL: the host or a program. */
const struct graft_origin *graft_snapshot_origin_of(const struct graft_snapshot *snapshot,
                                                    const struct graft_class *cls);

/* [any] The replacements brought by plugins, in order of registration; NULL after the last. */
const struct graft_replacement *graft_snapshot_replacement(const struct graft_snapshot *snapshot, size_t i,
                                                           struct graft_origin *origin);

/* [any] The plugins, in order of registration; NULL after the last. */
const struct graft_known_plugin *graft_snapshot_plugin_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Whether the plugin of that id (NULL: any) reads weights of a quant_method. */
int graft_snapshot_reads(const struct graft_snapshot *snapshot, const char *id, const char *quant_method);

/* [any] Where plugins read a method, but the conditions of all their replacements keep them from this config: an error
 * that names the field, such as the layout's. */
int graft_snapshot_check_layout(const struct graft_snapshot *snapshot, const struct graft_config *config,
                                const char *quant_method, struct graft_error *error);

/* [any] Whether the conditions of a plugin's replacement ask for an adapter's tensors. */
int graft_snapshot_applies_adapters(const struct graft_snapshot *snapshot);

/* [any] The classes, in order of registration, with those of the host's families, which have to be read
 * (graft_snapshot_read_all), between the host's others and those of plugins; NULL after the last. */
const struct graft_known_class *graft_snapshot_class_at(const struct graft_snapshot *snapshot, size_t i);

#endif
