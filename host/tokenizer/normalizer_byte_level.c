/* SPDX-License-Identifier: Apache-2.0 */
/* ByteLevel: writes every byte of the text as its character of the byte alphabet. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normalizer.h"

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    (void)self;
    (void)error;
    graft_byte_alphabet_add(out, text, length);
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_free(self);
}

int graft_normalizer_create_byte_level(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
                                       struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_spec_expect_object(spec, keys, error);
    (void)type;
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_normalizer *normalizer = graft_alloc(1, sizeof *normalizer);
    if (normalizer == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    normalizer->run = run;
    normalizer->destroy = destroy;
    *made = normalizer;
    return GRAFT_OK;
}
