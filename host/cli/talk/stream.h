/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an answer as it arrives, and separates its thoughts, shown dimmed on a terminal, from the rest. */
#ifndef GRAFT_CLI_TALK_STREAM_H
#define GRAFT_CLI_TALK_STREAM_H

#include <stddef.h>

#include "base/text.h"

/* Starts as {.in_color = ..., .in_thought = ...}. */
struct graft_talk_stream {
    int in_color;
    int in_thought;            /* whether the text is within a thought; starts as 1 if the template has opened one */
    struct graft_text held;    /* text that may be the beginning of a mark, such as "</think>" */
    struct graft_text thought; /* the whole text so far, without marks; so is the next */
    struct graft_text said;
};

/* Adds bytes, which are whole characters, and prints all text that cannot be part of a mark. */
void graft_talk_stream_add(struct graft_talk_stream *stream, const char *bytes, size_t length);
/* Prints the rest. */
void graft_talk_stream_end(struct graft_talk_stream *stream);
void graft_talk_stream_free(struct graft_talk_stream *stream);

#endif
