/* SPDX-License-Identifier: Apache-2.0 */
/* CTC, for models that output a token for each time step: merges equal neighbours, and removes the padding token. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/decoder_text.h"

struct ctc {
    struct graft_decoder base;
    struct graft_text pad_token;
    struct graft_text word_delimiter_token;
    int cleanup;
};

static void decode(const struct ctc *ctc, const char *token, size_t length, struct graft_text *result) {
    struct graft_text text = {0};
    if (!ctc->cleanup) {
        graft_decoder_replace(token, length, &ctc->pad_token, "", result);
        return;
    }
    graft_decoder_replace(token, length, &ctc->pad_token, "", &text);
    graft_decoder_clean_up(&text);
    graft_decoder_replace(text.bytes, text.length, &ctc->word_delimiter_token, " ", result);
    result->failed |= text.failed;
    graft_text_free(&text);
}

/* `pending` is the previous token. */
static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    struct graft_decoder_state *state = &run->states[self->index];
    struct graft_text *last = &state->pending, result = {0};
    if (state->started && last->length == length && memcmp(last->bytes, token, length) == 0) {
        return GRAFT_OK;
    }
    state->started = 1;
    last->length = 0;
    graft_text_add(last, token, length);
    decode((const struct ctc *)self, token, length, &result);
    int status = last->failed || result.failed ? graft_fail_memory(error, "CTC") : GRAFT_OK;
    if (status == GRAFT_OK && result.length > 0) {
        status = graft_decoder_emit(self->next, run, result.bytes, result.length, error);
    }
    graft_text_free(&result);
    return status;
}

static void destroy(struct graft_decoder *self) {
    struct ctc *ctc = (struct ctc *)self;
    graft_text_free(&ctc->pad_token);
    graft_text_free(&ctc->word_delimiter_token);
    graft_free(ctc);
}

int graft_decoder_create_ctc(const struct graft_field *spec, struct graft_decoder **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"pad_token", GRAFT_MEMBER_COPY, .offset = offsetof(struct ctc, pad_token)},
        {"word_delimiter_token", GRAFT_MEMBER_COPY, .offset = offsetof(struct ctc, word_delimiter_token)},
        {"cleanup", GRAFT_MEMBER_FLAG, .offset = offsetof(struct ctc, cleanup), .is_optional = 1},
        {0},
    };
    struct ctc *ctc = graft_alloc(1, sizeof *ctc);
    if (ctc == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    ctc->base.token = take;
    ctc->base.destroy = destroy;
    ctc->cleanup = 1;
    int status = graft_field_read(spec, members, ctc, error);
    if (status != GRAFT_OK) {
        destroy(&ctc->base);
        return status;
    }
    *made = &ctc->base;
    return GRAFT_OK;
}
