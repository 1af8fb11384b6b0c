/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint as classes see it: its tensors with the names and forms that model-wide lists of transforms give them.
 * Without lists these are the checkpoint's own tensors. Used in this folder and in save/ only; all functions are
 * [load].
 */
#ifndef GRAFT_PLAN_SOURCES_H
#define GRAFT_PLAN_SOURCES_H

#include "value/value.h"
#include "weights/checkpoint.h"

/* A tensor that classes can take. The view of a converted tensor has no data yet. */
struct graft_source {
    const struct graft_tensor_view *view;   /* name, type, shape */
    const struct graft_tensor_view *stored; /* the mapped tensor; NULL if a converter makes it */
    struct graft_tensor_view *own;          /* the view, if it is not the checkpoint's */
    char *name;                             /* name in `own` */
    struct graft_value value;               /* the value that a converter makes */
    char *problem;                          /* why there is no value; or NULL */
    int32_t used;                           /* 1: a parameter takes it */
    int32_t by_patch;                       /* 1: `transform` belongs to the load patch */
    /* the list's transform that made it, or renamed it first; NULL: none */
    const struct graft_weight_transform *transform;
};

struct graft_sources {
    struct graft_source *items; /* sorted by name */
    size_t n;
    size_t capacity;
    int32_t is_changed;       /* 1: a list's transform applied to some tensor's name */
    unsigned char *converted; /* [tensors of the checkpoint]: whether a converter takes it; NULL: none does */
};

size_t graft_sources_lower_bound(const struct graft_sources *sources, const char *name);
struct graft_source *graft_sources_find(const struct graft_sources *sources, const char *name);

/* Makes a source of each tensor, unchanged. The caller frees the sources, even on failure; the same holds below. */
int graft_sources_of_checkpoint(const struct graft_checkpoint *checkpoint, struct graft_sources *sources,
                                struct graft_error *error);
void graft_sources_finish(struct graft_sources *sources);

/* Takes a whole source, which counts as used from then on. A source that could not be converted is
 * GRAFT_ERROR_MODEL. */
int graft_source_take(struct graft_source *source, struct graft_value *value, struct graft_error *error);

/* Records which transform of a list made the sources from index `first` on. */
void graft_sources_attribute(struct graft_sources *sources, size_t first,
                             const struct graft_weight_transform *transform, int by_patch);

/* Adds a source and takes ownership of `*name` and `*value` (NULL: none), even on failure. Sources are sorted later. */
int graft_sources_add(struct graft_sources *sources, const struct graft_tensor_view *stored, char *name_take,
                      struct graft_value *value_take, char *problem_take, struct graft_error *error);

/* Sorts the sources. Of several with the same name the first one stays, with a problem that names them. */
int graft_sources_sort(struct graft_sources *sources, struct graft_error *error);

#endif
