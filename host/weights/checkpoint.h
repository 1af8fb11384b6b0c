/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weights of a model directory: model.safetensors, or the shards that model.safetensors.index.json lists.
 *
 * If both exist, the single file is read, like in transformers. An index must be accurate: each tensor must be in the
 * file listed for it and in no other, and files must be in the directory. A file may be a link to a regular file
 * elsewhere, as all files of a hub cache are. A tensor that the index does not list is kept, with a note. A listed file
 * that is missing is an error only when one of its tensors is needed: a process that runs a part of a model has the
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
    size_t tensors;             /* number of tensors */
    const graft_json *metadata; /* `__metadata__`, an object of strings, or NULL */
};

/* A file that the index lists and that is missing. */
struct graft_absent_file {
    char *name;     /* file name, as listed */
    char **tensors; /* [n_tensors] names of the tensors listed for it, sorted */
    size_t n_tensors;
};

/* [load] Opens the weights of a directory; the caller closes `*checkpoint` with graft_checkpoint_close. All errors
 * except a lack of memory are GRAFT_ERROR_MODEL. No tensor's bytes are read. */
int graft_checkpoint_open(const char *directory, struct graft_checkpoint **checkpoint, struct graft_error *error);

/* [load] Adds a hint to the error of a directory without weights or without a config: the file that has to be converted
 * first, if there is one in a format that is not supported (PyTorch's, GGUF). */
void graft_checkpoint_hint_unread(const char *directory, struct graft_error *error);

/* [load] A checkpoint without tensors, for a model that is built from its config alone. No file is opened. */
int graft_checkpoint_open_none(const char *directory, struct graft_checkpoint **checkpoint, struct graft_error *error);

/* [load] A checkpoint of `n` tensors in memory, for a model without files. Names, types and shapes are copied; the data
 * belong to the caller and must outlive the checkpoint. Two tensors of the same name are GRAFT_ERROR_MODEL. */
int graft_checkpoint_open_memory(const char *directory, const struct graft_tensor_view *tensors, size_t n,
                                 struct graft_checkpoint **checkpoint, struct graft_error *error);

/* [load] Closes the files; everything borrowed from the checkpoint becomes invalid. Accepts NULL. */
void graft_checkpoint_close(struct graft_checkpoint *checkpoint);

/* [any] The directory, as given to graft_checkpoint_open. */
const char *graft_checkpoint_directory(const struct graft_checkpoint *checkpoint);

/* [any] The tensors of all files, sorted by name (strcmp); names are unique. */
size_t graft_checkpoint_count(const struct graft_checkpoint *checkpoint);
const struct graft_tensor_view *graft_checkpoint_at(const struct graft_checkpoint *checkpoint, size_t index);

/* [any] The tensor of that name; NULL if there is none. */
const struct graft_tensor_view *graft_checkpoint_find(const struct graft_checkpoint *checkpoint, const char *name);

/* [any] The index of the first tensor whose name is not before `name`, which is where names with the prefix `name`
 * begin. */
size_t graft_checkpoint_lower_bound(const struct graft_checkpoint *checkpoint, const char *name);

/* [any] The index of a tensor of the checkpoint; SIZE_MAX for any other tensor. */
size_t graft_checkpoint_number(const struct graft_checkpoint *checkpoint, const struct graft_tensor_view *tensor);

/* [load] Replaces tensors: removes those that `removed` [graft_checkpoint_count] marks and adds copies of `made` [n],
 * of which only name, type, shape and file are read. The new tensors have no data yet. Two tensors of the same name are
 * GRAFT_ERROR_MODEL. Call this at most once, before anything is borrowed from the checkpoint. */
int graft_checkpoint_exchange(struct graft_checkpoint *checkpoint, const unsigned char *removed,
                              const struct graft_tensor_view *made, size_t n, struct graft_error *error);

/* [load] Allocates the data of the tensors that graft_checkpoint_exchange added; the caller fills it. It is freed when
 * the checkpoint is closed. */
int graft_checkpoint_make_room(struct graft_checkpoint *checkpoint, struct graft_error *error);

/* [any] Tensor `i` of those that graft_checkpoint_exchange added, in the order of `made`. */
const struct graft_tensor_view *graft_checkpoint_made_at(const struct graft_checkpoint *checkpoint, size_t i);

/* [any] The bytes of the tensors that graft_checkpoint_exchange added. */
int64_t graft_checkpoint_made_bytes(const struct graft_checkpoint *checkpoint);

/* [any] Drops the pages that hold only this tensor from the process's memory. Reading them again loads them from the
 * file. */
void graft_checkpoint_drop_pages(const struct graft_tensor_view *tensor);

/* [any] The files that hold tensors, sorted by name, without the index. */
size_t graft_checkpoint_file_count(const struct graft_checkpoint *checkpoint);
const struct graft_checkpoint_file *graft_checkpoint_file_at(const struct graft_checkpoint *checkpoint, size_t index);

/* [any] The listed files that are missing, sorted by name. */
size_t graft_checkpoint_absent_count(const struct graft_checkpoint *checkpoint);
const struct graft_absent_file *graft_checkpoint_absent_at(const struct graft_checkpoint *checkpoint, size_t index);

/* [any] Sets the error of a missing file one of whose tensors is needed (GRAFT_ERROR_MODEL). */
int graft_checkpoint_fail_absent(const struct graft_checkpoint *checkpoint, const struct graft_absent_file *absent,
                                 const char *tensor, struct graft_error *error);

/* [any] Notes for the user that are not errors, one line each. */
size_t graft_checkpoint_note_count(const struct graft_checkpoint *checkpoint);
const char *graft_checkpoint_note_at(const struct graft_checkpoint *checkpoint, size_t index);

#endif
