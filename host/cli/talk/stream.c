/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/talk/stream.h"

#include <stdio.h>
#include <string.h>

static const char opening[] = "<think>";
static const char closing[] = "</think>";
static const char dim[] = "\033[2m";
static const char plain[] = "\033[0m";

/* Drops control characters on a terminal, as a model's output must not control it. */
static void write_clean(const struct graft_talk_stream *stream, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        const int is_c1 = c == 0xC2 && i + 1 < length && (unsigned char)bytes[i + 1] < 0xA0;
        if (stream->in_color && ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || is_c1)) {
            i += (size_t)is_c1;
            continue;
        }
        (void)fputc(c, stdout);
    }
}

static void pass(struct graft_talk_stream *stream, const char *bytes, size_t length) {
    struct graft_text *text = stream->in_thought ? &stream->thought : &stream->said;
    /* Empty lines between thoughts and answer are part of neither. */
    while (length > 0 && text->length == 0 && (*bytes == '\n' || *bytes == '\r')) {
        bytes++;
        length--;
    }
    if (length == 0) {
        return;
    }
    if (stream->in_color && stream->in_thought && text->length == 0) {
        (void)fputs(dim, stdout);
    }
    graft_text_add(text, bytes, length);
    write_clean(stream, bytes, length);
}

static void turn(struct graft_talk_stream *stream) {
    if (stream->in_thought && stream->thought.length > 0) {
        (void)fputs(stream->in_color ? plain : "", stdout);
        (void)fputs("\n\n", stdout);
    }
    stream->in_thought = !stream->in_thought;
}

/* The number of bytes at the end of the held text that may be the beginning of a mark. */
static size_t may_begin(const struct graft_text *held, const char *mark) {
    size_t n = strlen(mark) - 1;
    n = n < held->length ? n : held->length;
    while (n > 0 && memcmp(held->bytes + held->length - n, mark, n) != 0) {
        n--;
    }
    return n;
}

void graft_talk_stream_add(struct graft_talk_stream *stream, const char *bytes, size_t length) {
    struct graft_text *held = &stream->held;
    graft_text_add(held, bytes, length);
    /* Only at its beginning can an answer have thoughts; a later mark is ordinary text. */
    while (!held->failed && held->bytes != NULL && (stream->in_thought || stream->said.length == 0)) {
        const char *mark = stream->in_thought ? closing : opening;
        const char *found = strstr(held->bytes, mark);
        if (found == NULL || (!stream->in_thought && strspn(held->bytes, " \n\r\t") < (size_t)(found - held->bytes))) {
            break;
        }
        const size_t before = (size_t)(found - held->bytes), after = before + strlen(mark);
        if (stream->in_thought) {
            pass(stream, held->bytes, before);
        }
        turn(stream);
        memmove(held->bytes, held->bytes + after, held->length - after + 1);
        held->length -= after;
    }
    if (held->failed || held->bytes == NULL) {
        return;
    }
    const char *mark = stream->in_thought ? closing : opening;
    const int may = stream->in_thought || stream->said.length == 0;
    const size_t kept = may ? may_begin(held, mark) : 0;
    const size_t known = held->length - kept;
    /* Holds back leading white space until it is known whether an answer or a thought follows. */
    if (!stream->in_thought && stream->said.length == 0 && strspn(held->bytes, " \n\r\t") >= known) {
        return;
    }
    pass(stream, held->bytes, known);
    memmove(held->bytes, held->bytes + known, kept + 1);
    held->length = kept;
}

void graft_talk_stream_end(struct graft_talk_stream *stream) {
    if (stream->held.length > 0) {
        pass(stream, stream->held.bytes, stream->held.length);
        stream->held.length = 0;
    }
    if (stream->in_thought && stream->thought.length > 0 && stream->in_color) {
        (void)fputs(plain, stdout);
    }
}

void graft_talk_stream_free(struct graft_talk_stream *stream) {
    graft_text_free(&stream->held);
    graft_text_free(&stream->thought);
    graft_text_free(&stream->said);
}
