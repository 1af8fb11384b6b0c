/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weights of a model directory: model.safetensors, or the shards that model.safetensors.index.json lists.
 *
 * Where both are there the single file is read, as transformers does. An index is taken at its word: each tensor must
 * be in the file that it is listed for and in no other, and names must be of files in the directory. Any file may be a
 * link to a regular file elsewhere, as all are in a hub cache. A tensor that no entry lists is kept, and noted. A
 * listed file that is not there is missed only by a model that needs it: a process that runs a part of one has the
 * files of that part.
 */
#ifndef GRAFT_WEIGHTS_CHECKPOINT_H
#define GRAFT_WEIGHTS_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

struct graft_checkpoint;

struct graft_checkpoint_file {
    const char *name; /* relative to the directory */
    const char *path;
    int64_t bytes;              /* mapped */
    size_t tensors;             /* their number */
    const graft_json *metadata; /* `__metadata__`, an object of strings, or NULL */
};

/* A file that an index lists and that is not there. */
struct graft_absent_file {
    char *name;     /* as listed */
    char **tensors; /* [n_tensors] that it is listed for, sorted */
    size_t n_tensors;
};

/* [load] Opens the weights of a directory; `*checkpoint` is the caller's, to be given to graft_checkpoint_close. All
 * errors but a lack of memory are GRAFT_ERROR_MODEL. No tensor's bytes are touched. */
int graft_checkpoint_open(const char *directory, struct graft_checkpoint **checkpoint, struct graft_error *error);

/* [load] Adds to the error of a directory without weights, or without a config, which of its files has to be converted
 * first, if it has one in a format that is not read (PyTorch's, GGUF). */
void graft_checkpoint_hint_unread(const char *directory, struct graft_error *error);

/* [load] A checkpoint without tensors, for a model that is built from its config alone. No file is looked for. */
int graft_checkpoint_open_none(const char *directory, struct graft_checkpoint **checkpoint, struct graft_error *error);

/* [load] A checkpoint of `n` tensors in memory, for a model that has no files: names, types and shapes are copied, the
 * data stays the caller's and outlives the checkpoint. Two of one name are
 * GRAFT_ERROR_MODEL. */
int graft_checkpoint_open_memory(const char *directory, const struct graft_tensor_view *tensors, size_t n,
                                 struct graft_checkpoint **checkpoint, struct graft_error *error);

/* [load] Everything borrowed from the checkpoint ends here. NULL is fine. */
void graft_checkpoint_close(struct graft_checkpoint *checkpoint);

/* [any] The directory, as it was given. */
const char *graft_checkpoint_directory(const struct graft_checkpoint *checkpoint);

/* [any] The tensors of all files, sorted by name (strcmp); names are unique. */
size_t graft_checkpoint_count(const struct graft_checkpoint *checkpoint);
const struct graft_tensor_view *graft_checkpoint_at(const struct graft_checkpoint *checkpoint, size_t index);

/* [any] The tensor of that name; NULL when there is none. */
const struct graft_tensor_view *graft_checkpoint_find(const struct graft_checkpoint *checkpoint, const char *name);

/* [any] The index of the first tensor whose name is not before `name`: where names of that beginning start. */
size_t graft_checkpoint_lower_bound(const struct graft_checkpoint *checkpoint, const char *name);

/* [any] Which of its tensors that is; SIZE_MAX: none of them. */
size_t graft_checkpoint_number(const struct graft_checkpoint *checkpoint, const struct graft_tensor_view *tensor);

/* [load] Puts tensors in the place of others: `removed` [graft_checkpoint_count] says which go, `made` [n] are those
 * that come, of which the name, the type, the shape and the file are read and copied. They have no data yet. Two of one
 * name are GRAFT_ERROR_MODEL. Before anything is borrowed from the checkpoint, and once. */
int graft_checkpoint_exchange(struct graft_checkpoint *checkpoint, const unsigned char *removed,
                              const struct graft_tensor_view *made, size_t n, struct graft_error *error);

/* [load] Gives those that came memory, which is theirs until the checkpoint is closed; who asks fills it. */
int graft_checkpoint_make_room(struct graft_checkpoint *checkpoint, struct graft_error *error);

/* [any] Number `i` of those that came, in the order of `made`. */
const struct graft_tensor_view *graft_checkpoint_made_at(const struct graft_checkpoint *checkpoint, size_t i);

/* [any] The bytes of those that came. */
int64_t graft_checkpoint_made_bytes(const struct graft_checkpoint *checkpoint);

/* [any] Takes the pages that one of its tensors fills out of this process's memory. They come back from the file if
 * somebody reads them again. */
void graft_checkpoint_let_go(const struct graft_tensor_view *tensor);

/* [any] The files that the tensors are in, sorted by name; the index itself is none of them. */
size_t graft_checkpoint_file_count(const struct graft_checkpoint *checkpoint);
const struct graft_checkpoint_file *graft_checkpoint_file_at(const struct graft_checkpoint *checkpoint, size_t index);

/* [any] The files that are not there, sorted by name. */
size_t graft_checkpoint_absent_count(const struct graft_checkpoint *checkpoint);
const struct graft_absent_file *graft_checkpoint_absent_at(const struct graft_checkpoint *checkpoint, size_t index);

/* [any] Records that a tensor of it is needed (GRAFT_ERROR_MODEL). */
int graft_checkpoint_fail_absent(const struct graft_checkpoint *checkpoint, const struct graft_absent_file *absent,
                                 const char *tensor, struct graft_error *error);

/* [any] Notes for the user that are not errors, one line each. */
size_t graft_checkpoint_note_count(const struct graft_checkpoint *checkpoint);
const char *graft_checkpoint_note_at(const struct graft_checkpoint *checkpoint, size_t index);

#endif
