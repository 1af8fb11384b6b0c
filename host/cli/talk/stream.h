/* SPDX-License-Identifier: Apache-2.0 */
/* An answer as it arrives: what of it are thoughts, which are shown dimmed on a terminal, and what is said. */
#ifndef GRAFT_CLI_TALK_STREAM_H
#define GRAFT_CLI_TALK_STREAM_H

#include <stddef.h>

#include "base/text.h"

/* Starts as {.in_color = ..., .in_thought = ...}. */
struct graft_talk_stream {
    int in_color;
    int in_thought;            /* 1 from the start where the template has opened a thought */
    struct graft_text held;    /* what may be the beginning of a mark */
    struct graft_text thought; /* this and the following: all there was, without marks */
    struct graft_text said;
};

/* Takes bytes, whole characters, and writes to stdout what is known not to be a mark. */
void graft_talk_stream_add(struct graft_talk_stream *stream, const char *bytes, size_t length);
/* Writes what is held. */
void graft_talk_stream_end(struct graft_talk_stream *stream);
void graft_talk_stream_free(struct graft_talk_stream *stream);

#endif
