/* SPDX-License-Identifier: Apache-2.0 */
/* BPEDecoder: replaces the suffix of a word's last token by a space, and removes it from the sequence's last token. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/decoder_text.h"

struct bpe {
    struct graft_decoder base;
    struct graft_text suffix;
};

/* Passes on the token that was held back, with `by` in place of its suffix. */
static int release(const struct graft_decoder *self, struct graft_decoder_run *run, const char *by,
                   struct graft_error *error) {
    struct graft_decoder_state *state = &run->states[self->index];
    struct graft_text result = {0};
    graft_decoder_replace(state->pending.bytes, state->pending.length, &((const struct bpe *)self)->suffix, by,
                          &result);
    int status = result.failed ? graft_fail_memory(error, "BPEDecoder")
                               : graft_decoder_emit(self->next, run, result.bytes, result.length, error);
    graft_text_free(&result);
    return status;
}

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    struct graft_decoder_state *state = &run->states[self->index];
    int status = state->started ? release(self, run, " ", error) : GRAFT_OK;
    state->started = 1;
    state->pending.length = 0;
    graft_text_add(&state->pending, token, length);
    return status == GRAFT_OK && state->pending.failed ? graft_fail_memory(error, "BPEDecoder") : status;
}

static int end(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error) {
    return run->states[self->index].started ? release(self, run, "", error) : GRAFT_OK;
}

static void destroy(struct graft_decoder *self) {
    graft_text_free(&((struct bpe *)self)->suffix);
    graft_free(self);
}

int graft_decoder_create_bpe(const struct graft_field *spec, struct graft_decoder **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"suffix", GRAFT_MEMBER_COPY, .offset = offsetof(struct bpe, suffix)},
        {0},
    };
    struct bpe *bpe = graft_alloc(1, sizeof *bpe);
    if (bpe == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    bpe->base.token = take;
    bpe->base.end = end;
    bpe->base.destroy = destroy;
    int status = graft_field_read(spec, members, bpe, error);
    if (status != GRAFT_OK) {
        destroy(&bpe->base);
        return status;
    }
    *made = &bpe->base;
    return GRAFT_OK;
}
