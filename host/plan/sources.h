/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint as classes see it: its tensors under the names, and in the forms, that model-wide lists of transforms
 * give them. Without any it is the checkpoint itself. Shared by the units of this folder and of save/ only; all
 * functions are [load].
 */
#ifndef GRAFT_PLAN_SOURCES_H
#define GRAFT_PLAN_SOURCES_H

#include "value/value.h"
#include "weights/checkpoint.h"

/* One tensor. A converted one is not there yet: its view has no bytes in memory. */
struct graft_source {
    const struct graft_tensor_view *view;           /* name, type, shape */
    const struct graft_tensor_view *stored;         /* the mapped tensor that it is; NULL: a converter's */
    struct graft_tensor_view *own;                  /* `view`, where it is not the checkpoint's */
    char *name;                                     /* of `own` */
    struct graft_value value;                       /* of a converter's */
    char *problem;                                  /* why there is no value; or NULL */
    int32_t used;                                   /* a parameter takes it */
    int32_t by_patch;                               /* `transform` is the load patch's */
    const struct graft_weight_transform *transform; /* of a list: what made it, or renamed it first; NULL: nothing */
};

struct graft_sources {
    struct graft_source *items; /* sorted by name */
    size_t n;
    size_t capacity;
    int32_t is_changed;       /* 1: a transform of a list was for some tensor's name */
    unsigned char *converted; /* per tensor of the checkpoint: whether a converter takes it; NULL: none does */
};

size_t graft_sources_lower_bound(const struct graft_sources *sources, const char *name);
struct graft_source *graft_sources_find(const struct graft_sources *sources, const char *name);

/* Each tensor as it is. Also on failure the caller frees them; likewise below. */
int graft_sources_of_checkpoint(const struct graft_checkpoint *checkpoint, struct graft_sources *sources,
                                struct graft_error *error);
void graft_sources_finish(struct graft_sources *sources);

/* All of a source, which is used from then on. One that could not be converted is
 * GRAFT_ERROR_MODEL. */
int graft_source_take(struct graft_source *source, struct graft_value *value, struct graft_error *error);

/* Says of the sources from number `first` on which transform of a list made them. */
void graft_sources_attribute(struct graft_sources *sources, size_t first,
                             const struct graft_weight_transform *transform, int by_patch);

/* Adds a source; `*name` and `*value` (NULL: none) are taken, also on failure. Sources are sorted later. */
int graft_sources_add(struct graft_sources *sources, const struct graft_tensor_view *stored, char *name_take,
                      struct graft_value *value_take, char *problem_take, struct graft_error *error);

/* Sorts; of several sources of one name the first stays, with a problem that names them. */
int graft_sources_sort(struct graft_sources *sources, struct graft_error *error);

#endif
