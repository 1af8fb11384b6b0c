/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be written: tensors, and where the elements of each are. Shared by the units of this folder only; all
 * functions are [load]. */
#ifndef GRAFT_SAVE_CONTENT_H
#define GRAFT_SAVE_CONTENT_H

#include "plan/plan.h"
#include "save/journal.h"

struct save_made;

/* A bound parameter, or, with `weight` NULL, a mapped tensor or what undoing a custom operation gives. */
struct save_source {
    const struct graft_weight *weight;
    const struct graft_tensor_view *view;
    size_t order;           /* its place in the tree, and so that of what it holds; SIZE_MAX for mapped tensors */
    struct save_made *made; /* what has to be undone before the view has data; or NULL */
};

/* Elements of what is written (`at`) that are elements of a source (`begin`). */
struct save_part {
    const struct save_source *source;
    struct graft_box box;
};

struct save_tensor {
    struct journal_tensor form; /* name, type, shape */
    int64_t bytes;
    struct save_part *parts; /* together all elements; where two have the same element, the first is meant */
    size_t n_parts;
    size_t capacity;
};

/* A custom operation to be undone: the inputs are sources, there while tensors are written that need them. */
struct save_made {
    const struct journal_use *use;
    struct save_tensor *outputs;      /* [use->n_outputs] what it made */
    struct graft_tensor_view *inputs; /* [use->n_inputs] */
    struct save_source *sources;      /* [use->n_inputs] of those views */
    int wanted;
};

struct save_content {
    struct save_made *made; /* [n_made]: what one is made from comes from parameters or from those before it */
    size_t n_made;
    struct save_source *parameters;        /* [n_parameters]: those of the tree that have a weight of their own */
    const struct graft_binding **bindings; /* [n_parameters]: theirs */
    size_t n_parameters;
    struct save_source *stored; /* [graft_checkpoint_count]: the mapped tensors */
    struct save_source
        *computed; /* what the plan's custom operations made: the outputs of one behind those of another */
    struct save_tensor *tensors; /* in the order of the tree; what no parameter holds is last */
    size_t n_tensors;
    size_t capacity;
    int64_t bytes;    /* of all tensors */
    int64_t elements; /* of all parameters, each counted once */
};

/* The original layout: the tensors that `stored`, the checkpoint's journal, goes back to, filled from the bound
 * parameters; elements that no parameter holds come from the mapped files. */
int graft_save_content_original(const struct graft_plan *plan, const struct journal *stored,
                                struct save_content *content, struct graft_error *error);

/* The runtime layout: a tensor for each parameter, and each tensor that no parameter uses. `journal` becomes the one to
 * be stored with it; it takes the uses of `stored`. */
int graft_save_content_runtime(const struct graft_plan *plan, struct journal *stored, struct save_content *content,
                               struct journal *journal, struct graft_error *error);

void graft_save_content_finish(struct save_content *content);

/* For the units that fill a content. The sources are set by the first; the second finds that of a mapped or computed
 * tensor; the others return 0, or -1 if memory ran out. */
int graft_content_init(const struct graft_plan *plan, struct save_content *content, struct graft_error *error);
const struct save_source *graft_content_source(const struct save_content *content, const struct graft_plan *plan,
                                               const struct graft_tensor_view *tensor);
int graft_content_add_tensor(struct save_content *content, const struct journal_tensor *form);
int graft_content_add_part(struct save_tensor *tensor, const struct save_part *part);

#endif
