/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all conversions mean by a name: those of classes, which look tensors up under names, and model-wide lists, which
 * look through the names of a checkpoint. All functions are [any].
 */
#ifndef GRAFT_NAMES_NAME_H
#define GRAFT_NAMES_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { GRAFT_NAME_BYTES = 1024 };

/* The index that these bytes are, or -1: leading zeros and signs are no indices. */
int64_t graft_name_index(const char *digits, size_t length);

/* A name with its `*`, if it has one, replaced by an index. Returns 0 where that takes GRAFT_NAME_BYTES or more. */
int graft_name_indexed(const char *name, int64_t index, char indexed[GRAFT_NAME_BYTES]);

/* A name below a module's path, which is empty for the model. Returns 0 where that takes GRAFT_NAME_BYTES or more. */
int graft_name_below(const char *path, const char *name, char full[GRAFT_NAME_BYTES]);

/* How a name may stand in a checkpoint, or in a model, beside the other's: published checkpoints have or lack the base
 * model's prefix. */
enum graft_spelling {
    GRAFT_SPELLED_AS_IS,
    GRAFT_SPELLED_WITHOUT_PREFIX,
    GRAFT_SPELLED_WITH_PREFIX,
};

/* `name` in a spelling. Returns 0 where it has none, or none of less than GRAFT_NAME_BYTES. */
int graft_name_spell(const char *prefix, const char *name, enum graft_spelling spelling,
                     char spelled[GRAFT_NAME_BYTES]);

/* Whether a model has a name. */
typedef int (*graft_name_known)(void *data, const char *name);

/* A checkpoint's name as the model has it: as it is, or else without the prefix, or else with it. Returns 0 when the
 * model knows none of them; then, and where nothing changes, `spelled` is the name. */
int graft_name_in_model(const char *prefix, const char *name, graft_name_known known, void *data,
                        char spelled[GRAFT_NAME_BYTES]);

#endif
