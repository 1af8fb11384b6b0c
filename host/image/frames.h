/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a video as files of a directory. */
#ifndef GRAFT_IMAGE_FRAMES_H
#define GRAFT_IMAGE_FRAMES_H

#include "image/processor.h"

struct graft_frame_files {
    char **paths; /* [count], in order of name, numbers by value: frame2 before frame10 */
    size_t count;
    size_t capacity;
};

/* [any] Lists all files of `directory` that are not hidden. Errors are GRAFT_ERROR_IO; the caller must finish `files`
 * even after an error. */
int graft_frame_files_find(const char *directory, struct graft_frame_files *files, struct graft_error *error);
void graft_frame_files_finish(struct graft_frame_files *files);

/* [any] Compares two names in that order. Returns like strcmp. */
int graft_frame_names_compare(const char *one, const char *other);

#endif
