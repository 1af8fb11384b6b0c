/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tensors of a checkpoint become which parameters of a tree, by which operations. Made from names and shapes
 * alone. Everything is accounted for: a parameter is filled once or reported, a tensor is used or reported.
 */
#ifndef GRAFT_PLAN_PLAN_H
#define GRAFT_PLAN_PLAN_H

#include "model/tree.h"
#include "value/computed.h"
#include "value/value.h"
#include "weights/checkpoint.h"

struct graft_weight_transform;

enum graft_binding_status {
    GRAFT_BINDING_MISSING,    /* nothing in the checkpoint */
    GRAFT_BINDING_FOUND,      /* `value` holds it */
    GRAFT_BINDING_TIED,       /* takes the weight of `tied_to` */
    GRAFT_BINDING_INITIAL,    /* nothing in the checkpoint; zeros or ones, as declared */
    GRAFT_BINDING_ABSENT,     /* nothing in the checkpoint; it has no weight, as declared */
    GRAFT_BINDING_MISMATCHED, /* `value` has another shape */
    GRAFT_BINDING_FAILED      /* a conversion could not be done: `problem` says why */
};

/* One parameter and where its weight comes from. */
struct graft_binding {
    struct graft_parameter *parameter;
    enum graft_binding_status status;
    struct graft_value value;
    const struct graft_conversion *conversion;      /* NULL: the tensor of the parameter's own name */
    const struct graft_weight_transform *transform; /* of a list, that made what is bound, or the conversion's first
                                                       source; NULL: the checkpoint's own */
    int32_t by_patch;                               /* that list is the load patch */
    const struct graft_node *site;                  /* the module that the conversion belongs to; NULL without one */
    const struct graft_node *cut_by; /* the topmost module whose conversion made what `conversion` takes; or NULL */
    struct graft_binding *tied_to;
    struct graft_binding *shared_with; /* a binding of the same name, of an original beside its replacement; or NULL */
    char *problem;
    int32_t from_tied;    /* 1: converted from what a parameter that its name is tied to has, and keeps */
    int32_t from_adapter; /* 1: made of what an adapter has in the place of the model's own, or to change that with */
    const struct graft_tensor_view *replaced; /* that of the model; NULL: none, or not a whole tensor */
    int32_t contiguous;                       /* 1: it, or one tied to it, wants one row block */
    graft_dtype dtype;                        /* of the weight once bound */
    int32_t copied;                           /* 1: one contiguous copy is made; 0: row blocks in the mapped files */
    int64_t bytes;                            /* of the weight once bound; 0 when it shares another's */
};

struct graft_plan {
    struct graft_binding *bindings; /* in the tree's order */
    size_t n_bindings;
    struct graft_tree *tree;
    const struct graft_checkpoint *checkpoint;
    const char *base_model_prefix;               /* as asked for */
    struct graft_sources *sources;               /* the checkpoint as classes see it */
    const struct graft_tensor_view **unexpected; /* of those, the ones used by nobody */
    size_t n_unexpected;
    const struct graft_tensor_view **elsewhere; /* those of modules that another process has, or all dropped; by name */
    size_t n_elsewhere;
    int64_t elsewhere_bytes;           /* of those, as far as they are here, and what is dropped of others */
    struct graft_tensor_view **absent; /* in files that are not there (plan/absent.h) */
    size_t n_absent;
    size_t absent_capacity;
    unsigned char *sliced;  /* [tensors of the checkpoint]: whether a Slice has dropped some of it; or NULL */
    int32_t layout_patched; /* as asked for */
    int32_t runtime_layout; /* likewise */
    const struct graft_adapters *adapters; /* likewise; or NULL */
    const char *patch_file;                /* likewise */
    int64_t mapped_bytes;
    int64_t copied_bytes;
    struct graft_computed **computed; /* the custom operations, in the order they have to run in */
    size_t n_computed;
    size_t computed_capacity;
    int64_t computed_bytes;       /* of their outputs, and of tensors of the checkpoint that are in no file */
    int64_t peak_anonymous_bytes; /* that binding takes at most beside the mapped files: copies, outputs, scratch */
};

struct key_list;
struct conversion_filter;
struct graft_plan_options {
    const char *base_model_prefix;           /* "model": what a checkpoint may have or lack in front of its names;
                                              * outlives the plan */
    const struct key_list *transforms;       /* what a checkpoint goes through before classes see it; NULL: nothing */
    size_t n_forced;                         /* the first so many of them change layouts that the model knows, too */
    int32_t *used;                           /* [n_forced]: becomes whether a name of the checkpoint matched; or NULL */
    const struct conversion_filter *without; /* conversions of classes to leave out; NULL: none */
    int32_t layout_patched;                  /* the layout is changed on purpose: the tree may not have what results */
    const char *const *ignored_tensors;      /* patterns of names that nobody need take; NULL-terminated, or NULL */
    int32_t (*ignores)(const struct graft_config *config, const char *tensor); /* of other such names; or NULL */
    const char *ignores_plugin;                                                /* whose it is; NULL: the host's */
    int32_t runtime_layout;                /* tensors are parameters as they were when a model was saved */
    const struct graft_adapters *adapters; /* outlive the plan; NULL: none */
    const char *patch_file;                /* that the forced transforms are from; outlives the plan; NULL: none */
};

/* [load] Plans; the tree and the checkpoint outlive the plan. Fails only where no plan can be made; what is missing is
 * in the plan. */
int graft_plan_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint,
                    const struct graft_plan_options *options, struct graft_plan **plan, struct graft_error *error);
void graft_plan_free(struct graft_plan *plan);

/* [any] Whether the model can run with what the plan gives it: else an error that names the directory or file, the
 * first parameter at fault, and tensors beside it that nothing took. */
int graft_plan_check(const struct graft_plan *plan, struct graft_error *error);

/* [any] The same, but that parameters may be missing which `may_lack` says yes to. */
int graft_plan_check_but(const struct graft_plan *plan, int (*may_lack)(void *data, const char *name), void *data,
                         struct graft_error *error);

/* [any] The first parameter that the model cannot run without, or with; NULL if there is none. */
const struct graft_binding *graft_plan_fault(const struct graft_plan *plan,
                                             int (*may_lack)(void *data, const char *name), void *data);

/* [any] Whether all that lists convert could be converted, also what no parameter waits for. */
int graft_plan_check_sources(const struct graft_plan *plan, struct graft_error *error);

/* [any] The file that the tensors of a module or parameter are in, the first of them; NULL: not known. */
const char *graft_plan_file_of(const struct graft_plan *plan, const char *name);

/* [any] Records what is wrong with a parameter at fault. */
int graft_plan_fail(const struct graft_plan *plan, const struct graft_binding *binding, struct graft_error *error);

/* [any] A binding that is tied to another by its class, while the checkpoint has a tensor for each and they differ;
 * NULL when there is none. Reads those tensors. Each keeps its own, which is reported; it is an error only under
 * graft_model_check_strict. */
const struct graft_binding *graft_plan_tied_apart(const struct graft_plan *plan);

/* [any] Whether each tensor of each adapter is taken: an error otherwise, since what is not applied is not meant. */
int graft_plan_check_adapters(const struct graft_plan *plan, struct graft_error *error);

/* [any] The operations of a binding as text, "MergeModulelist(dim=0), Concatenate(dim=1)", those of lists first;
 * "renamed" where there are none but another name; "" for a plain one. */
struct graft_text;
void graft_binding_operations(const struct graft_binding *binding, struct graft_text *text);

#endif
