/* SPDX-License-Identifier: Apache-2.0 */
/* Digits: numbers stand apart from what surrounds them, whole or digit by digit. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"

struct digits {
    struct graft_pretokenizer base;
    int individual_digits;
};

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct digits *digits = (const struct digits *)self;
    (void)error;
    graft_segments_by_character(scratch, text, length, graft_unicode_is_number);
    graft_segments_split(scratch, digits->individual_digits ? GRAFT_SPLIT_ISOLATED : GRAFT_SPLIT_CONTIGUOUS, text,
                         first, out);
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_free(self);
}

int graft_pretokenizer_create_digits(const struct graft_spec *spec, const char *type, struct graft_pretokenizer **made,
                                     struct graft_error *error) {
    static const char *const keys[] = {"type", "individual_digits", NULL};
    struct digits *digits = graft_alloc(1, sizeof *digits);
    (void)type;
    if (digits == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    digits->base.run = run;
    digits->base.destroy = destroy;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "individual_digits", 0, &digits->individual_digits, error);
    }
    if (status != GRAFT_OK) {
        destroy(&digits->base);
        return status;
    }
    *made = &digits->base;
    return GRAFT_OK;
}
