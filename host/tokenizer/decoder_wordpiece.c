/* SPDX-License-Identifier: Apache-2.0 */
/* WordPiece: joins tokens with the prefix to the word before them, puts spaces before the others, then cleans up
 * English spacing. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/decoder_text.h"

struct wordpiece {
    struct graft_decoder base;
    struct graft_text prefix;
    int cleanup;
};

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    const struct wordpiece *wordpiece = (const struct wordpiece *)self;
    struct graft_decoder_state *state = &run->states[self->index];
    const struct graft_text *prefix = &wordpiece->prefix;
    struct graft_text text = {0};
    if (state->started && length >= prefix->length && memcmp(token, prefix->bytes, prefix->length) == 0) {
        graft_text_add(&text, token + prefix->length, length - prefix->length);
    } else {
        graft_text_add(&text, " ", state->started ? 1 : 0);
        graft_text_add(&text, token, length);
    }
    state->started = 1;
    if (wordpiece->cleanup) {
        graft_decoder_clean_up(&text);
    }
    int status = text.failed ? graft_fail_memory(error, "WordPiece")
                             : graft_decoder_emit(self->next, run, text.bytes, text.length, error);
    graft_text_free(&text);
    return status;
}

static void destroy(struct graft_decoder *self) {
    graft_text_free(&((struct wordpiece *)self)->prefix);
    graft_free(self);
}

int graft_decoder_create_wordpiece(const struct graft_field *spec, struct graft_decoder **made,
                                   struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"prefix", GRAFT_MEMBER_COPY, .offset = offsetof(struct wordpiece, prefix)},
        {"cleanup", GRAFT_MEMBER_FLAG, .offset = offsetof(struct wordpiece, cleanup), .is_optional = 1},
        {0},
    };
    struct wordpiece *wordpiece = graft_alloc(1, sizeof *wordpiece);
    if (wordpiece == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    wordpiece->base.token = take;
    wordpiece->base.destroy = destroy;
    wordpiece->cleanup = 1;
    int status = graft_field_read(spec, members, wordpiece, error);
    if (status != GRAFT_OK) {
        destroy(&wordpiece->base);
        return status;
    }
    *made = &wordpiece->base;
    return GRAFT_OK;
}
