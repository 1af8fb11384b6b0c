/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saving a model in the layout of the checkpoint it was read from, or in its runtime layout.
 *
 * The original layout is written by running this load's conversions backwards from the bound parameters: the same
 * tensors, bit for bit, whatever replacements are active. The runtime layout has one tensor for each parameter and a
 * journal that leads back; docs/save.md has the details.
 */
#ifndef GRAFT_HOST_SAVE_H
#define GRAFT_HOST_SAVE_H

#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;

struct graft_save_options {
    uint32_t struct_size;
    int32_t runtime_layout;  /* 1: write the runtime layout */
    int64_t max_shard_bytes; /* of a file's tensors; 0: 50 GB, as transformers has it */
    /* [load] Called on the calling thread with the number of bytes written and of all bytes; may be NULL. Any status
     * but GRAFT_OK stops the save, and nothing is left. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    /* [load] Called on the calling thread with each note for the user, one line that is not an error; may be NULL. */
    void (*on_note)(void *data, const char *text);
    void *data; /* the caller's own, for both */
};

#define GRAFT_SAVE_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_save_options, data)

/* [load] Writes an open model, loaded or not, to a directory that is empty or does not exist. The directory is filled
 * under a temporary name and then renamed, so it is complete or absent. A missing or mismatched parameter is an error
 * before anything is written, unless it is missing because a load patch (graft/host/patch.h) asked for another layout.
 * `options` may be NULL. */
int graft_model_save(struct graft_model *model, const char *directory, const struct graft_save_options *options,
                     struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
