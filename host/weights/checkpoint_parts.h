/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a checkpoint, for the files that fill it. All functions are [load]. */
#ifndef GRAFT_WEIGHTS_CHECKPOINT_PARTS_H
#define GRAFT_WEIGHTS_CHECKPOINT_PARTS_H

#include "weights/checkpoint.h"
#include "weights/safetensors.h"

#define GRAFT_CHECKPOINT_INDEX "model.safetensors.index.json"

struct graft_checkpoint_part {
    struct graft_safetensors *safetensors;
    char *name;
    char *path;
    struct graft_checkpoint_file file;
};

struct graft_checkpoint {
    char *directory;
    struct graft_checkpoint_part *parts;
    size_t n_parts;
    size_t part_capacity;
    const struct graft_tensor_view **tensors; /* [count], sorted by name */
    size_t count;
    struct graft_tensor_view *made; /* [n_made] tensors in memory; the checkpoint owns names and data */
    size_t n_made;
    int is_lent; /* 1: the caller of graft_checkpoint_open_memory owns the data of `made` */
    struct graft_absent_file *absent;
    size_t n_absent;
    size_t absent_capacity;
    char **notes;
    size_t n_notes;
    size_t note_capacity;
};

/* Opens another file of the directory, `name`. */
int graft_checkpoint_add_file(struct graft_checkpoint *checkpoint, const char *name, struct graft_error *error);

/* Keeps a note, which is consumed even on failure. NULL, which means that memory ran out, is an error. */
int graft_checkpoint_add_note(struct graft_checkpoint *checkpoint, char *note_take, struct graft_error *error);

/* Sorts the tensors by name. Two tensors of the same name are an error. */
int graft_checkpoint_sort(struct graft_checkpoint *checkpoint, struct graft_error *error);

/* Frees the tensors that graft_checkpoint_exchange added. */
void graft_checkpoint_free_made(struct graft_checkpoint *checkpoint);

/* Opens the files that the index at `path` lists. */
int graft_checkpoint_add_indexed(struct graft_checkpoint *checkpoint, const char *path, struct graft_error *error);

#endif
