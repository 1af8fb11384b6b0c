/* SPDX-License-Identifier: Apache-2.0 */
/* Removes white space from both ends of the text, and holds back what may be at its end. */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/decoder.h"
#include "tokenizer/unicode.h"

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *bytes, size_t length,
                struct graft_error *error) {
    struct graft_decoder_state *state = &run->states[self->index];
    struct graft_text *pending = &state->pending;
    size_t keep = 0; /* end of the last character that is not white space */
    for (size_t at = 0; at < length;) {
        uint32_t code;
        at += graft_utf8_read(bytes + at, &code);
        keep = graft_unicode_is_space(code) ? keep : at;
    }
    if (keep > 0) {
        size_t start = 0;
        for (uint32_t code; !state->started && start < keep;) {
            size_t n = graft_utf8_read(bytes + start, &code);
            if (!graft_unicode_is_space(code)) {
                break;
            }
            start += n;
        }
        state->started = 1;
        graft_text_add(pending, bytes + start, keep - start);
        int status = pending->failed ? graft_fail_memory(error, "decoder")
                                     : graft_decoder_emit(self->next, run, pending->bytes, pending->length, error);
        if (status != GRAFT_OK) {
            return status;
        }
        pending->length = 0;
    }
    if (state->started) {
        graft_text_add(pending, bytes + keep, length - keep);
    }
    return pending->failed ? graft_fail_memory(error, "decoder") : GRAFT_OK;
}

static int end(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error) {
    (void)error;
    run->states[self->index].pending.length = 0;
    return GRAFT_OK;
}

static void destroy(struct graft_decoder *self) {
    graft_free(self);
}

int graft_decoder_add_trim(struct graft_decoder **chain, const char *file, struct graft_error *error) {
    struct graft_decoder *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, file);
    }
    made->token = take;
    made->end = end;
    made->destroy = destroy;
    graft_decoder_append(chain, made);
    return GRAFT_OK;
}
