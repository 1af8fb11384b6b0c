/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of a few lines each: Fuse, the one that is used if a file has no decoder, and Replace. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/substitution.h"

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

static void destroy_plain(struct graft_decoder *self) {
    graft_free(self);
}

static int create_plain(const struct graft_field *spec, struct graft_decoder **made, struct graft_error *error) {
    struct graft_decoder *decoder = graft_alloc(1, sizeof *decoder);
    if (decoder == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    decoder->destroy = destroy_plain;
    decoder->fuses = 1;
    decoder->takes_parts = 1;
    *made = decoder;
    return GRAFT_OK;
}

int graft_decoder_create_join(const struct graft_field *spec, struct graft_decoder **made, struct graft_error *error) {
    int status = create_plain(spec, made, error);
    if (status == GRAFT_OK) {
        (*made)->token = pass_on_spaced;
    }
    return status;
}

int graft_decoder_create_fuse(const struct graft_field *spec, struct graft_decoder **made, struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_field_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = create_plain(spec, made, error);
    }
    if (status == GRAFT_OK) {
        (*made)->token = pass_on;
    }
    return status;
}

struct replace {
    struct graft_decoder base;
    struct graft_substitution substitution;
};

/* Replaces a pattern's matches in every token by a fixed text. */
static int replace_matches(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token,
                           size_t length, struct graft_error *error) {
    const struct replace *replace = (const struct replace *)self;
    struct graft_text result = {0};
    int status = graft_substitution_run(&replace->substitution, token, length, &result, error);
    if (status == GRAFT_OK) {
        status = result.failed ? graft_fail_memory(error, "Replace")
                               : graft_decoder_emit(self->next, run, result.bytes, result.length, error);
    }
    graft_text_free(&result);
    return status;
}

static void destroy_replace(struct graft_decoder *self) {
    struct replace *replace = (struct replace *)self;
    graft_substitution_finish(&replace->substitution);
    graft_free(replace);
}

int graft_decoder_create_replace(const struct graft_field *spec, struct graft_decoder **made,
                                 struct graft_error *error) {
    struct replace *replace = graft_alloc(1, sizeof *replace);
    if (replace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    replace->base.token = replace_matches;
    replace->base.destroy = destroy_replace;
    int status = graft_substitution_init(&replace->substitution, spec, error);
    if (status != GRAFT_OK) {
        destroy_replace(&replace->base);
        return status;
    }
    *made = &replace->base;
    return GRAFT_OK;
}
