/* SPDX-License-Identifier: Apache-2.0 */
/* Strip: removes up to `start` and `stop` of one character from the two ends of each token or, once it is fused, of the
 * text. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"

struct strip {
    struct graft_decoder base;
    struct graft_text content; /* one character */
    size_t start;              /* how many at most at the start */
    size_t stop;               /* how many at most at the end */
};

static int has_content(const struct strip *strip, const char *text, size_t length) {
    return length >= strip->content.length && memcmp(text, strip->content.bytes, strip->content.length) == 0;
}

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    const struct strip *strip = (const struct strip *)self;
    struct graft_decoder_state *state = &run->states[self->index];
    size_t n = strip->content.length, at = 0;
    if (!self->fused) {
        state->count = 0;
    }
    while (state->count < strip->start && has_content(strip, token + at, length - at)) {
        at += n;
        state->count++;
    }
    if (at < length) {
        state->count = strip->start; /* another character: nothing more is removed from the start */
    }
    for (size_t i = 0; i < strip->stop && length - at >= n && has_content(strip, token + length - n, n); i++) {
        length -= n;
    }
    return graft_decoder_emit(self->next, run, token + at, length - at, error);
}

static void destroy(struct graft_decoder *self) {
    graft_text_free(&((struct strip *)self)->content);
    graft_free(self);
}

static int read_settings(struct strip *strip, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "content", "start", "stop", NULL};
    const char *content;
    size_t length = 0;
    int64_t start = 0, stop = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_character(spec, "content", &content, &length, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_count(spec, "start", INT32_MAX, &start, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_count(spec, "stop", INT32_MAX, &stop, error);
    }
    if (status == GRAFT_OK) {
        strip->start = (size_t)start;
        strip->stop = (size_t)stop;
        strip->base.takes_parts = stop == 0; /* the end of a part may not be the end of the token */
        graft_text_add(&strip->content, content, length);
        status = strip->content.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    return status;
}

int graft_decoder_create_strip(const struct graft_spec *spec, struct graft_decoder **made, struct graft_error *error) {
    struct strip *strip = graft_alloc(1, sizeof *strip);
    if (strip == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    strip->base.token = take;
    strip->base.destroy = destroy;
    int status = read_settings(strip, spec, error);
    if (status != GRAFT_OK) {
        destroy(&strip->base);
        return status;
    }
    *made = &strip->base;
    return GRAFT_OK;
}
