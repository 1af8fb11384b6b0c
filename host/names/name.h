/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for tensor names that all conversions share: conversions of classes, which look up tensors by name, and model-
 * wide lists, which go through the names of a checkpoint. All functions are [any].
 */
#ifndef GRAFT_NAMES_NAME_H
#define GRAFT_NAMES_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { GRAFT_NAME_BYTES = 1024 };

/* Parses an index of `length` digits; -1 if it is not one. Leading zeros and signs are not allowed. */
int64_t graft_name_index(const char *digits, size_t length);

/* Replaces the `*` of a name, if it has one, by an index. Returns 0 if the result takes GRAFT_NAME_BYTES or more. */
int graft_name_indexed(const char *name, int64_t index, char indexed[GRAFT_NAME_BYTES]);

/* Joins a module's path, which is empty for the model, and a name. Returns 0 if the result takes GRAFT_NAME_BYTES or
 * more. */
int graft_name_below(const char *path, const char *name, char full[GRAFT_NAME_BYTES]);

/* How a checkpoint may spell a name of the model: published checkpoints have the base model's prefix or lack it. */
enum graft_spelling {
    GRAFT_SPELLED_AS_IS,
    GRAFT_SPELLED_WITHOUT_PREFIX,
    GRAFT_SPELLED_WITH_PREFIX,
};

/* Writes `name` in a spelling. Returns 0 if it has no such spelling, or one of GRAFT_NAME_BYTES or more. */
int graft_name_spell(const char *prefix, const char *name, enum graft_spelling spelling,
                     char spelled[GRAFT_NAME_BYTES]);

/* Whether a model has a parameter of that name. */
typedef int (*graft_name_known)(void *data, const char *name);

/* The model's name for a checkpoint's name: the name itself, or the name without the prefix, or the name with it.
 * Returns 0 if the model knows none of the three; then `spelled` is the name itself. */
int graft_name_in_model(const char *prefix, const char *name, graft_name_known known, void *data,
                        char spelled[GRAFT_NAME_BYTES]);

#endif
