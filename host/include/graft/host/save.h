/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saving a model: in the layout of the checkpoint it was read from, or in the one it has at run time.
 *
 * The original layout is written by running this load's conversions backwards from the bound parameters: the same
 * tensors, bit for bit, whatever replacements are active. The runtime layout is one tensor for each parameter, and a
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
    int32_t runtime_layout;  /* 1: parameters as they are at run time */
    int64_t max_shard_bytes; /* of a file's tensors; 0: 50 GB, as transformers has it */
    /* [load] Told, on the calling thread, how many of all bytes are written; may be NULL. Another status than GRAFT_OK
     * stops, and nothing is left. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    /* [load] Told, on the calling thread, what a user may want to know and is no error, a line each; may be NULL. */
    void (*on_note)(void *data, const char *text);
    void *data; /* the caller's own, for both */
};

/* [load] Writes a model that was opened, loaded or not, to a directory that is empty or not there yet. It is filled
 * aside and renamed: under its name there is nothing, or all of it. A missing or mismatched parameter is an error
 * before anything is written; one that is missing because a patch (graft/patch.h) asked for another layout is not.
 * `options` may be NULL. */
int graft_model_save(struct graft_model *model, const char *directory, const struct graft_save_options *options,
                     struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
