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
    int64_t start;             /* how many at most at the start */
    int64_t stop;              /* how many at most at the end */
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
    if (length == 0) {
        return graft_decoder_emit(self->next, run, token, length, error); /* `token` may be NULL */
    }
    while (state->count < (size_t)strip->start && has_content(strip, token + at, length - at)) {
        at += n;
        state->count++;
    }
    if (at < length) {
        state->count = (size_t)strip->start; /* another character: nothing more is removed from the start */
    }
    for (int64_t i = 0; i < strip->stop && length - at >= n && has_content(strip, token + length - n, n); i++) {
        length -= n;
    }
    return graft_decoder_emit(self->next, run, token + at, length - at, error);
}

static void destroy(struct graft_decoder *self) {
    graft_text_free(&((struct strip *)self)->content);
    graft_free(self);
}

int graft_decoder_create_strip(const struct graft_field *spec, struct graft_decoder **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"content", GRAFT_MEMBER_CHARACTER, .offset = offsetof(struct strip, content)},
        {"start", GRAFT_MEMBER_INT, .offset = offsetof(struct strip, start), .most = INT32_MAX},
        {"stop", GRAFT_MEMBER_INT, .offset = offsetof(struct strip, stop), .most = INT32_MAX},
        {0},
    };
    struct strip *strip = graft_alloc(1, sizeof *strip);
    if (strip == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    strip->base.token = take;
    strip->base.destroy = destroy;
    int status = graft_field_read(spec, members, strip, error);
    if (status != GRAFT_OK) {
        destroy(&strip->base);
        return status;
    }
    strip->base.takes_parts = strip->stop == 0; /* the end of a part may not be the end of the token */
    *made = &strip->base;
    return GRAFT_OK;
}
