/* SPDX-License-Identifier: Apache-2.0 */
/* The two decoders that leave tokens unchanged: Fuse, and the one that is used where a file has no decoder. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"

static int pass_on(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                   struct graft_error *error) {
    return graft_decoder_emit(self->next, run, token, length, error);
}

static int pass_on_spaced(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token,
                          size_t length, struct graft_error *error) {
    struct graft_decoder_state *state = &run->states[self->index];
    int status = state->started ? graft_decoder_emit(self->next, run, " ", 1, error) : GRAFT_OK;
    state->started = 1;
    return status != GRAFT_OK ? status : graft_decoder_emit(self->next, run, token, length, error);
}

static void destroy(struct graft_decoder *self) {
    graft_free(self);
}

static int create(const struct graft_spec *spec, struct graft_decoder **made, struct graft_error *error) {
    struct graft_decoder *decoder = graft_alloc(1, sizeof *decoder);
    if (decoder == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    decoder->destroy = destroy;
    decoder->fuses = 1;
    decoder->takes_parts = 1;
    *made = decoder;
    return GRAFT_OK;
}

int graft_decoder_create_join(const struct graft_spec *spec, struct graft_decoder **made, struct graft_error *error) {
    int status = create(spec, made, error);
    if (status == GRAFT_OK) {
        (*made)->token = pass_on_spaced;
    }
    return status;
}

int graft_decoder_create_fuse(const struct graft_spec *spec, struct graft_decoder **made, struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = create(spec, made, error);
    }
    if (status == GRAFT_OK) {
        (*made)->token = pass_on;
    }
    return status;
}
