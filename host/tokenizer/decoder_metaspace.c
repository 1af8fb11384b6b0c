/* SPDX-License-Identifier: Apache-2.0 */
/* Metaspace: replaces marks by spaces, and removes the mark that the encoder put before the text. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/metaspace.h"

struct metaspace {
    struct graft_decoder base;
    struct graft_metaspace settings;
};

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    const struct graft_metaspace *metaspace = &((const struct metaspace *)self)->settings;
    struct graft_decoder_state *state = &run->states[self->index];
    const struct graft_text *mark = &metaspace->mark;
    struct graft_text result = {0};
    for (size_t at = 0; at < length;) {
        if (length - at < mark->length || memcmp(token + at, mark->bytes, mark->length) != 0) {
            graft_text_add(&result, token + at++, 1);
            continue;
        }
        if (state->started || metaspace->scheme == GRAFT_METASPACE_NEVER) {
            graft_text_add(&result, " ", 1);
        }
        at += mark->length;
    }
    state->started = !self->fused; /* a fused text is one token, the first */
    int status = result.failed ? graft_fail_memory(error, "Metaspace")
                               : graft_decoder_emit(self->next, run, result.bytes, result.length, error);
    graft_text_free(&result);
    return status;
}

static void destroy(struct graft_decoder *self) {
    graft_text_free(&((struct metaspace *)self)->settings.mark);
    graft_free(self);
}

int graft_decoder_create_metaspace(const struct graft_field *spec, struct graft_decoder **made,
                                   struct graft_error *error) {
    struct metaspace *metaspace = graft_alloc(1, sizeof *metaspace);
    if (metaspace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    metaspace->base.token = take;
    metaspace->base.destroy = destroy;
    metaspace->base.takes_parts = 1;
    int status = graft_metaspace_read(&metaspace->settings, spec, error);
    if (status != GRAFT_OK) {
        destroy(&metaspace->base);
        return status;
    }
    *made = &metaspace->base;
    return GRAFT_OK;
}
