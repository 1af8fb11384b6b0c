/* SPDX-License-Identifier: Apache-2.0 */
/* What a save writes: tensors, and where the elements of each tensor come from. Used in this folder only; all functions
 * are [load]. */
#ifndef GRAFT_SAVE_CONTENT_H
#define GRAFT_SAVE_CONTENT_H

#include "plan/plan.h"
#include "save/journal.h"

struct save_made;

/* Where elements come from: a bound parameter or, where `weight` is NULL, a mapped tensor or the result of undoing a
 * custom operation. */
struct save_source {
    const struct graft_weight *weight;
    const struct graft_tensor_view *view;
    size_t order; /* the parameter's place in the tree, which orders the tensors written; SIZE_MAX for mapped tensors */
    struct save_made *made; /* the custom operation to undo, which makes the view's data; or NULL */
};

/* A box of elements: `at` is its place in the tensor written, `begin` its place in the source. */
struct save_part {
    const struct save_source *source;
    struct graft_box box;
};

struct save_tensor {
    struct journal_tensor form; /* name, type, shape */
    int64_t bytes;
    struct save_part *parts; /* they cover all elements; an element that two parts have is taken from the first */
    size_t n_parts;
    size_t capacity;
};

/* A custom operation to undo. Its inputs become sources, whose data exist while tensors that need them are written. */
struct save_made {
    const struct journal_use *use;
    struct save_tensor *outputs;      /* [use->n_outputs] the operation's outputs, gathered from the parameters */
    struct graft_tensor_view *inputs; /* [use->n_inputs] */
    struct save_source *sources;      /* [use->n_inputs] the same inputs as sources */
    int wanted;
};

struct save_content {
    struct save_made *made; /* [n_made]; each one reads parameters or results of those before it */
    size_t n_made;
    struct save_source *parameters;        /* [n_parameters]: the tree's parameters that have a weight of their own */
    const struct graft_binding **bindings; /* [n_parameters]: the bindings of those parameters */
    size_t n_parameters;
    struct save_source *stored;   /* [graft_checkpoint_count]: the mapped tensors */
    struct save_source *computed; /* the outputs of the plan's custom operations, one operation after another */
    struct save_tensor *tensors;  /* in the order of the tree; tensors that no parameter holds come last */
    size_t n_tensors;
    size_t capacity;
    int64_t bytes;    /* of all tensors */
    int64_t elements; /* of all parameters, each counted once */
};

/* The original layout: the original tensors that `stored`, the checkpoint's journal, describes. They are filled from
 * the bound parameters; elements that no parameter holds come from the mapped files. */
int graft_save_content_original(const struct graft_plan *plan, const struct journal *stored,
                                struct save_content *content, struct graft_error *error);

/* The runtime layout: one tensor for each parameter, and every tensor that no parameter uses. `journal` becomes the
 * journal to store with them, and takes ownership of the uses of `stored`. */
int graft_save_content_runtime(const struct graft_plan *plan, struct journal *stored, struct save_content *content,
                               struct journal *journal, struct graft_error *error);

void graft_save_content_finish(struct save_content *content);

/* Used by the files that fill a content. graft_content_init sets the sources; graft_content_source returns the source
 * of a mapped or computed tensor. The other functions return 0, or -1 if memory ran out. */
int graft_content_init(const struct graft_plan *plan, struct save_content *content, struct graft_error *error);
const struct save_source *graft_content_source(const struct save_content *content, const struct graft_plan *plan,
                                               const struct graft_tensor_view *tensor);
int graft_content_add_tensor(struct save_content *content, const struct journal_tensor *form);
int graft_content_add_part(struct save_tensor *tensor, const struct save_part *part);

#endif
