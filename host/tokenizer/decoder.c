/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/decoder.h"

#include "base/alloc.h"
#include "base/fail.h"

void graft_decoder_destroy(struct graft_decoder *chain) {
    while (chain != NULL) {
        struct graft_decoder *next = chain->next;
        chain->destroy(chain);
        chain = next;
    }
}

void graft_decoder_append(struct graft_decoder **chain, struct graft_decoder *decoder) {
    size_t index = 0;
    for (; *chain != NULL; chain = &(*chain)->next) {
        index++;
    }
    decoder->index = index;
    decoder->fused = 1;
    decoder->takes_parts = 1;
    *chain = decoder;
}

static size_t chain_length(const struct graft_decoder *chain) {
    size_t n = 0;
    for (; chain != NULL; chain = chain->next) {
        n++;
    }
    return n;
}

int graft_decoder_start(const struct graft_decoder *chain, struct graft_decoder_run *run) {
    *run = (struct graft_decoder_run){0};
    run->states = graft_alloc(chain_length(chain), sizeof *run->states);
    return run->states != NULL ? 0 : -1;
}

void graft_decoder_finish(const struct graft_decoder *chain, struct graft_decoder_run *run) {
    for (; chain != NULL && run->states != NULL; chain = chain->next) {
        graft_text_free(&run->states[chain->index].pending);
        graft_text_free(&run->states[chain->index].whole);
    }
    graft_free(run->states);
    graft_text_free(&run->out);
    run->states = NULL;
}

int graft_decoder_emit(const struct graft_decoder *decoder, struct graft_decoder_run *run, const char *bytes,
                       size_t length, struct graft_error *error) {
    if (decoder != NULL && !decoder->collects) {
        return decoder->token(decoder, run, bytes, length, error);
    }
    struct graft_text *out = decoder != NULL ? &run->states[decoder->index].whole : &run->out;
    graft_text_add(out, bytes, length);
    return out->failed ? graft_fail_memory(error, "decoder") : GRAFT_OK;
}

void graft_decoder_restart(const struct graft_decoder *chain, struct graft_decoder_run *run) {
    for (; chain != NULL; chain = chain->next) {
        struct graft_decoder_state *state = &run->states[chain->index];
        state->pending.length = 0;
        state->whole.length = 0;
        state->count = 0;
        state->started = 0;
    }
}

int graft_decoder_end(const struct graft_decoder *chain, struct graft_decoder_run *run, struct graft_error *error) {
    int status = GRAFT_OK;
    for (; status == GRAFT_OK && chain != NULL; chain = chain->next) {
        const struct graft_text *whole = &run->states[chain->index].whole;
        if (chain->collects) {
            status = chain->token(chain, run, whole->length > 0 ? whole->bytes : "", whole->length, error);
        }
        if (status == GRAFT_OK && chain->end != NULL) {
            status = chain->end(chain, run, error);
        }
    }
    return status;
}
