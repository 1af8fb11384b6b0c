/* SPDX-License-Identifier: Apache-2.0 */
/* The Unicode normalization forms. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode.h"

struct form {
    struct graft_normalizer base;
    enum graft_unicode_form form;
};

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    (void)error;
    graft_unicode_normalize(((const struct form *)self)->form, text, length, out);
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_free(self);
}

int graft_normalizer_create_form(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
                                 struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_spec_expect_object(spec, keys, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct form *form = graft_alloc(1, sizeof *form);
    if (form == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    form->base.run = run;
    form->base.destroy = destroy;
    form->form = strcmp(type, "NFC") == 0    ? GRAFT_UNICODE_NFC
                 : strcmp(type, "NFD") == 0  ? GRAFT_UNICODE_NFD
                 : strcmp(type, "NFKC") == 0 ? GRAFT_UNICODE_NFKC
                                             : GRAFT_UNICODE_NFKD;
    *made = &form->base;
    return GRAFT_OK;
}
