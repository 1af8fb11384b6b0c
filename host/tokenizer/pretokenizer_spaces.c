/* SPDX-License-Identifier: Apache-2.0 */
/* Pre-tokenizers without settings that split at white space: WhitespaceSplit; Whitespace, which also separates letters
 * and digits from other characters; and BertPreTokenizer, which makes every punctuation mark a word. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"

struct spaces {
    struct graft_pretokenizer base;
    /* A word is a run of characters of the same kind; each character of kind 0 is a word of its own. */
    int (*kind)(uint32_t code);
};

static int kind_of_word(uint32_t code) {
    (void)code;
    return 1;
}

static int kind_for_bert(uint32_t code) {
    return !graft_unicode_is_bert_punctuation(code);
}

static int kind_of_whitespace(uint32_t code) {
    return graft_unicode_is_word(code) ? 1 : 2;
}

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct spaces *spaces = (const struct spaces *)self;
    const int none = -1;
    size_t open = 0;
    int last = none;
    (void)scratch;
    (void)error;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = graft_utf8_read(text + at, &code);
        int kind = graft_unicode_is_space(code) ? none : spaces->kind(code);
        if (kind != last || kind == 0) {
            if (last != none) {
                graft_pieces_add(out, text + open, at - open, first && open == 0);
            }
            open = at;
            last = kind;
        }
        at += n;
    }
    if (last != none) {
        graft_pieces_add(out, text + open, length - open, first && open == 0);
    }
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_free(self);
}

int graft_pretokenizer_create_spaces(const struct graft_field *spec, const char *type, struct graft_pretokenizer **made,
                                     struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_field_object(spec, keys, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct spaces *spaces = graft_alloc(1, sizeof *spaces);
    if (spaces == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    spaces->base.run = run;
    spaces->base.destroy = destroy;
    spaces->kind = strcmp(type, "BertPreTokenizer") == 0 ? kind_for_bert
                   : strcmp(type, "Whitespace") == 0     ? kind_of_whitespace
                                                         : kind_of_word;
    *made = &spaces->base;
    return GRAFT_OK;
}
