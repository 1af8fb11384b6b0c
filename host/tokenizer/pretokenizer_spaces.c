/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting at white space, without settings: WhitespaceSplit, and BertPreTokenizer, where punctuation stands alone too.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"

struct spaces {
    struct graft_pretokenizer base;
    int isolates_punctuation;
};

/* In ASCII, BERT takes all that is neither letter, digit, space nor control for punctuation. */
static int is_punctuation(uint32_t code) {
    return (code >= 0x21 && code <= 0x2F) || (code >= 0x3A && code <= 0x40) || (code >= 0x5B && code <= 0x60) ||
           (code >= 0x7B && code <= 0x7E) || graft_unicode_is_punctuation(code);
}

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct spaces *spaces = (const struct spaces *)self;
    struct graft_segments within = {0};
    (void)error;
    graft_segments_by_character(scratch, text, length, graft_unicode_is_space);
    for (size_t i = 0; i < scratch->n; i++) {
        const struct graft_segment *word = &scratch->items[i];
        int word_first = first && word->start == 0;
        if (word->match) {
            continue;
        }
        if (!spaces->isolates_punctuation) {
            graft_pieces_add(out, text + word->start, word->end - word->start, word_first);
            continue;
        }
        graft_segments_by_character(&within, text + word->start, word->end - word->start, is_punctuation);
        graft_segments_split(&within, GRAFT_SPLIT_ISOLATED, text + word->start, word_first, out);
    }
    graft_segments_free(&within);
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_free(self);
}

int graft_pretokenizer_create_spaces(const struct graft_spec *spec, const char *type, struct graft_pretokenizer **made,
                                     struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_spec_expect_object(spec, keys, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct spaces *spaces = graft_alloc(1, sizeof *spaces);
    if (spaces == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    spaces->base.run = run;
    spaces->base.destroy = destroy;
    spaces->isolates_punctuation = strcmp(type, "BertPreTokenizer") == 0;
    *made = &spaces->base;
    return GRAFT_OK;
}
