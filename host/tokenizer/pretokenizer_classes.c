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

static int create(const struct graft_field *spec, int (*is_separator)(uint32_t code),
                  enum graft_split_behavior behavior, struct graft_pretokenizer **made, struct graft_error *error) {
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

int graft_pretokenizer_create_digits(const struct graft_field *spec, const char *type, struct graft_pretokenizer **made,
                                     struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"individual_digits", .kind = GRAFT_MEMBER_FLAG, .is_optional = 1},
        {0},
    };
    int individual = 0;
    (void)type;
    int status = graft_field_read(spec, members, &individual, error);
    return status != GRAFT_OK ? status
                              : create(spec, graft_unicode_is_number,
                                       individual ? GRAFT_SPLIT_ISOLATED : GRAFT_SPLIT_CONTIGUOUS, made, error);
}

int graft_pretokenizer_create_punctuation(const struct graft_field *spec, const char *type,
                                          struct graft_pretokenizer **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"behavior", .kind = GRAFT_MEMBER_CHOICE, .is_optional = 1, .names = graft_split_behavior_names},
        {0},
    };
    int behavior = GRAFT_SPLIT_ISOLATED;
    (void)type;
    int status = graft_field_read(spec, members, &behavior, error);
    return status != GRAFT_OK
               ? status
               : create(spec, graft_unicode_is_bert_punctuation, (enum graft_split_behavior)behavior, made, error);
}
