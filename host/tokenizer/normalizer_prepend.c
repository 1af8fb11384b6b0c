/* SPDX-License-Identifier: Apache-2.0 */
/* Prepend: puts a text, such as SentencePiece's "▁", before every stretch of text that is not empty. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/normalizer.h"

struct prepend {
    struct graft_normalizer base;
    struct graft_text beginning;
};

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    const struct prepend *prepend = (const struct prepend *)self;
    (void)error;
    graft_text_add(out, prepend->beginning.bytes, prepend->beginning.length);
    graft_text_add(out, text, length);
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_text_free(&((struct prepend *)self)->beginning);
    graft_free(self);
}

int graft_normalizer_create_prepend(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
                                    struct graft_error *error) {
    static const char *const keys[] = {"type", "prepend", NULL};
    struct prepend *prepend = graft_alloc(1, sizeof *prepend);
    const char *beginning;
    size_t length = 0;
    (void)type;
    if (prepend == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    prepend->base.run = run;
    prepend->base.destroy = destroy;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "prepend", &beginning, &length, error);
    }
    if (status == GRAFT_OK) {
        graft_text_add(&prepend->beginning, beginning, length);
        status = prepend->beginning.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    if (status != GRAFT_OK) {
        destroy(&prepend->base);
        return status;
    }
    *made = &prepend->base;
    return GRAFT_OK;
}
