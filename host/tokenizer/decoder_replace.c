/* SPDX-License-Identifier: Apache-2.0 */
/* Replace: replaces a pattern's matches in every token by a fixed text. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/substitution.h"

struct replace {
    struct graft_decoder base;
    struct graft_substitution substitution;
};

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
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

static void destroy(struct graft_decoder *self) {
    struct replace *replace = (struct replace *)self;
    graft_substitution_finish(&replace->substitution);
    graft_free(replace);
}

int graft_decoder_create_replace(const struct graft_spec *spec, struct graft_decoder **made,
                                 struct graft_error *error) {
    struct replace *replace = graft_alloc(1, sizeof *replace);
    if (replace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    replace->base.token = take;
    replace->base.destroy = destroy;
    int status = graft_substitution_init(&replace->substitution, spec, error);
    if (status != GRAFT_OK) {
        destroy(&replace->base);
        return status;
    }
    *made = &replace->base;
    return GRAFT_OK;
}
