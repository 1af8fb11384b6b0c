/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: which tensors of a checkpoint become which parameters of a tree, by which operations. It is made from names
 * and shapes alone and accounts for everything: each parameter is filled once or reported, and each tensor is used or
 * reported.
 */
#ifndef GRAFT_PLAN_PLAN_H
#define GRAFT_PLAN_PLAN_H

#include "model/tree.h"
#include "value/computed.h"
#include "value/value.h"
#include "weights/checkpoint.h"

struct graft_weight_transform;

enum graft_binding_status {
    GRAFT_BINDING_MISSING,    /* the checkpoint has no tensor for it */
    GRAFT_BINDING_FOUND,      /* `value` is what was found */
    GRAFT_BINDING_TIED,       /* takes the weight of `tied_to` */
    GRAFT_BINDING_INITIAL,    /* no tensor; filled with zeros or ones, as declared */
    GRAFT_BINDING_ABSENT,     /* no tensor; optional, as declared */
    GRAFT_BINDING_MISMATCHED, /* `value` has another shape */
    GRAFT_BINDING_FAILED      /* a conversion failed; `problem` says why */
};

/* A parameter and where its weight comes from. */
struct graft_binding {
    struct graft_parameter *parameter;
    enum graft_binding_status status;
    struct graft_value value;
    /* the conversion that made it; NULL: it is the tensor of the parameter's own name */
    const struct graft_conversion *conversion;
    const struct graft_weight_transform *transform; /* the list's transform that made the tensor bound, or the
                                                       conversion's first source; NULL: it is the checkpoint's own */
    int32_t by_patch;                               /* 1: that list is the load patch */
    const struct graft_node *site;   /* the module whose class has the conversion; NULL without a conversion */
    const struct graft_node *cut_by; /* the topmost module whose conversion made a source of `conversion`; or NULL */
    struct graft_binding *tied_to;
    /* an earlier binding of the same name, of an original and its replacement; or NULL */
    struct graft_binding *shared_with;
    char *problem;
    int32_t from_tied;    /* 1: converted from the weight of a tied parameter, which keeps that weight */
    int32_t from_adapter; /* 1: made of an adapter's tensors, instead of the model's own or to change them */
    /* the model's tensor that an adapter replaced; NULL: none, or not a whole tensor */
    const struct graft_tensor_view *replaced;
    int32_t contiguous; /* 1: the parameter, or one tied to it, needs a single row block */
    graft_dtype dtype;  /* type of the bound weight */
    int32_t copied;     /* 1: bound as one contiguous copy; 0: as row blocks in the mapped files */
    int64_t bytes;      /* bytes of the bound weight; 0 if it shares another's */
};

struct graft_plan {
    struct graft_binding *bindings; /* in the order of the tree */
    size_t n_bindings;
    struct graft_tree *tree;
    const struct graft_checkpoint *checkpoint;
    const char *base_model_prefix;               /* as requested */
    struct graft_sources *sources;               /* the checkpoint's tensors as classes see them */
    const struct graft_tensor_view **unexpected; /* the sources that nothing uses */
    size_t n_unexpected;
    /* tensors of modules that another process has, and fully dropped ones; sorted by name */
    const struct graft_tensor_view **elsewhere;
    size_t n_elsewhere;
    int64_t elsewhere_bytes;           /* bytes of those that are present, and bytes dropped of other tensors */
    struct graft_tensor_view **absent; /* absent tensors, of missing files (plan/absent.h) */
    size_t n_absent;
    size_t absent_capacity;
    unsigned char *sliced;                 /* [tensors of the checkpoint]: whether a Slice dropped a part; or NULL */
    int32_t layout_patched;                /* as requested */
    int32_t runtime_layout;                /* likewise */
    const struct graft_adapters *adapters; /* as requested; or NULL */
    const char *patch_file;                /* likewise */
    int64_t mapped_bytes;
    int64_t copied_bytes;
    struct graft_computed **computed; /* the custom operations, in the order in which they have to run */
    size_t n_computed;
    size_t computed_capacity;
    int64_t computed_bytes; /* bytes of their outputs, and of the checkpoint's tensors in memory */
    /* the most memory that binding takes besides mapped files: copies, outputs, scratch */
    int64_t peak_anonymous_bytes;
};

struct key_list;
struct conversion_filter;
struct graft_plan_options {
    const char *base_model_prefix; /* a prefix such as "model" that the checkpoint's names may have or lack; outlives
                                      the plan */
    const struct key_list *transforms; /* transforms of all names, applied before classes see the tensors; NULL: none */
    size_t n_forced;                   /* the first `n_forced` transforms also apply to names that the model knows */
    int32_t *used;                     /* [n_forced]: set to whether a name of the checkpoint matched; or NULL */
    const struct conversion_filter *without; /* conversions of classes to leave out; NULL: none */
    int32_t layout_patched; /* 1: a patch changes the layout, so that the tree may lack the resulting parameters */
    const char *const *ignored_tensors; /* patterns of tensor names that may stay unused; NULL-terminated, or NULL */
    int32_t (*ignores)(const struct graft_config *config,
                       const char *tensor); /* whether another tensor may stay unused; or NULL */
    const char *ignores_plugin;             /* id of the plugin that has `ignores`; NULL: the host */
    int32_t runtime_layout; /* 1: the checkpoint is in the runtime layout, so that its tensors are parameters */
    const struct graft_adapters *adapters; /* adapters, which outlive the plan; NULL: none */
    const char *patch_file;                /* the file of the forced transforms, which outlives the plan; NULL: none */
};

/* [load] Makes a plan; the tree and the checkpoint outlive it. Missing tensors are recorded in the plan; the call fails
 * only if no plan can be made. */
int graft_plan_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint,
                    const struct graft_plan_options *options, struct graft_plan **plan, struct graft_error *error);
void graft_plan_free(struct graft_plan *plan);

/* [any] Checks that the model can run with this plan. Otherwise sets an error that names the directory or file, the
 * first parameter at fault, and unused tensors near it. */
int graft_plan_check(const struct graft_plan *plan, struct graft_error *error);

/* [any] The same, except that parameters that `may_lack` accepts may be missing. */
int graft_plan_check_but(const struct graft_plan *plan, int (*may_lack)(void *data, const char *name), void *data,
                         struct graft_error *error);

/* [any] The first binding that keeps the model from running, as it is missing or wrong; NULL if there is none. */
const struct graft_binding *graft_plan_fault(const struct graft_plan *plan,
                                             int (*may_lack)(void *data, const char *name), void *data);

/* [any] Checks that all conversions of lists succeeded, including those whose results no parameter takes. */
int graft_plan_check_sources(const struct graft_plan *plan, struct graft_error *error);

/* [any] The file of the first tensor of a module or parameter; NULL if it is unknown. */
const char *graft_plan_file_of(const struct graft_plan *plan, const char *name);

/* [any] Sets the error of a binding at fault. */
int graft_plan_fail(const struct graft_plan *plan, const struct graft_binding *binding, struct graft_error *error);

/* [any] A binding whose class ties it to another, although the checkpoint has different tensors for the two; NULL if
 * there is none. Reads those tensors. Each parameter keeps its own tensor, which is reported; it is an error only under
 * graft_model_check_strict. */
const struct graft_binding *graft_plan_tied_apart(const struct graft_plan *plan);

/* [any] Checks that every tensor of every adapter is used; an adapter that is applied in part only is an error. */
int graft_plan_check_adapters(const struct graft_plan *plan, struct graft_error *error);

/* [any] Describes the operations of a binding, those of lists first: "MergeModulelist(dim=0), Concatenate(dim=1)";
 * "renamed" if only the name differs; "" for a tensor taken unchanged. */
struct graft_text;
void graft_binding_operations(const struct graft_binding *binding, struct graft_text *text);

#endif
