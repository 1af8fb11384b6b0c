/* SPDX-License-Identifier: Apache-2.0 */
/* Digits and Punctuation: separate characters of that class from the text around them. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"

struct classes {
    struct graft_pretokenizer base;
    int (*is_separator)(uint32_t code);
    enum graft_split_behavior behavior;
};

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct classes *classes = (const struct classes *)self;
    (void)error;
    graft_segments_by_character(scratch, text, length, classes->is_separator);
    graft_segments_split(scratch, classes->behavior, text, first, out);
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_free(self);
}

static int create(const struct graft_spec *spec, int (*is_separator)(uint32_t code), enum graft_split_behavior behavior,
                  struct graft_pretokenizer **made, struct graft_error *error) {
    struct classes *classes = graft_alloc(1, sizeof *classes);
    if (classes == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    classes->base.run = run;
    classes->base.destroy = destroy;
    classes->is_separator = is_separator;
    classes->behavior = behavior;
    *made = &classes->base;
    return GRAFT_OK;
}

int graft_pretokenizer_create_digits(const struct graft_spec *spec, const char *type, struct graft_pretokenizer **made,
                                     struct graft_error *error) {
    static const char *const keys[] = {"type", "individual_digits", NULL};
    int individual = 0;
    (void)type;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "individual_digits", 0, &individual, error);
    }
    return status != GRAFT_OK ? status
                              : create(spec, graft_unicode_is_number,
                                       individual ? GRAFT_SPLIT_ISOLATED : GRAFT_SPLIT_CONTIGUOUS, made, error);
}

int graft_pretokenizer_create_punctuation(const struct graft_spec *spec, const char *type,
                                          struct graft_pretokenizer **made, struct graft_error *error) {
    static const char *const keys[] = {"type", "behavior", NULL};
    struct graft_spec field = graft_spec_get(spec, "behavior");
    enum graft_split_behavior behavior = GRAFT_SPLIT_ISOLATED;
    (void)type;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK && !graft_spec_is_none(&field)) {
        status = graft_pretokenizer_read_behavior(spec, &behavior, error);
    }
    return status != GRAFT_OK ? status : create(spec, graft_unicode_is_bert_punctuation, behavior, made, error);
}
