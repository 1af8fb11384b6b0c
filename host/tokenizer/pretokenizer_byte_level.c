/* SPDX-License-Identifier: Apache-2.0 */
/* ByteLevel: splits words by GPT-2's expression, unless an earlier step has done so, and writes their bytes in the byte
 * alphabet. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/matcher.h"
#include "tokenizer/pretokenizer.h"

static const char words[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

struct byte_level {
    struct graft_pretokenizer base;
    int add_prefix_space;
    int use_regex;
    struct graft_matcher matcher; /* with use_regex */
};

static void add_word(struct graft_pieces *out, const char *text, size_t length, int first) {
    size_t start = out->text.length;
    graft_byte_alphabet_add(&out->text, text, length);
    graft_pieces_close(out, start, first);
}

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct byte_level *level = (const struct byte_level *)self;
    struct graft_text prefixed = {0};
    int status = GRAFT_OK;
    if (level->add_prefix_space && text[0] != ' ') {
        graft_text_add(&prefixed, " ", 1);
        graft_text_add(&prefixed, text, length);
        if (prefixed.failed) {
            graft_text_free(&prefixed);
            return graft_fail_memory(error, "ByteLevel");
        }
        text = prefixed.bytes;
        length = prefixed.length;
    }
    if (level->use_regex) {
        status = graft_matcher_find(&level->matcher, text, length, scratch, error);
        for (size_t i = 0; status == GRAFT_OK && i < scratch->n; i++) {
            const struct graft_segment *word = &scratch->items[i];
            add_word(out, text + word->start, word->end - word->start, first && word->start == 0);
        }
    } else {
        add_word(out, text, length, first);
    }
    graft_text_free(&prefixed);
    return status;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_matcher_finish(&((struct byte_level *)self)->matcher);
    graft_free(self);
}

int graft_pretokenizer_create_byte_level(const struct graft_field *spec, const char *type,
                                         struct graft_pretokenizer **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"trim_offsets", .kind = GRAFT_MEMBER_SKIPPED}, /* concerns positions in the text, which are not reported */
        {"add_prefix_space", GRAFT_MEMBER_FLAG, .offset = offsetof(struct byte_level, add_prefix_space),
         .is_optional = 1},
        {"use_regex", GRAFT_MEMBER_FLAG, .offset = offsetof(struct byte_level, use_regex), .is_optional = 1},
        {0},
    };
    struct byte_level *level = graft_alloc(1, sizeof *level);
    (void)type;
    if (level == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    level->base.run = run;
    level->base.destroy = destroy;
    level->add_prefix_space = level->use_regex = 1;
    int status = graft_field_read(spec, members, level, error);
    if (status == GRAFT_OK && level->use_regex) {
        status = graft_matcher_init_regex(&level->matcher, words, spec, error);
    }
    if (status != GRAFT_OK) {
        destroy(&level->base);
        return status;
    }
    *made = &level->base;
    return GRAFT_OK;
}
