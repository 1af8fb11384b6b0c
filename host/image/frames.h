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

/* [any] Everything in `directory` that is not hidden. An error is GRAFT_ERROR_IO; the caller finishes `files` also
 * after one. */
int graft_frame_files_find(const char *directory, struct graft_frame_files *files, struct graft_error *error);
void graft_frame_files_finish(struct graft_frame_files *files);

/* [any] Below 0, 0 or above it, as the one name comes before the other, is it, or comes after it. */
int graft_frame_names_compare(const char *one, const char *other);

#endif
