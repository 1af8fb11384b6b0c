/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a BPE model. */
#include <string.h>

#include "base/fail.h"
#include "tokenizer/model_make.h"

/* One merge of the file. */
struct halves {
    struct graft_text text; /* both, one after another */
    size_t middle;          /* offset of the second in `text` */
    int is_array;           /* whether this merge is an array; all have to be written as the first one is */
};

enum merge_form { MERGE_PAIR, MERGE_VERSION, MERGE_MALFORMED };

/* Splits "a b", the form of older files. A line "#version: 0.2" is not a merge. */
static enum merge_form cut_at_space(struct halves *halves) {
    static const char version[] = "#version";
    struct graft_text *text = &halves->text;
    if (text->length >= sizeof version - 1 && memcmp(text->bytes, version, sizeof version - 1) == 0) {
        return MERGE_VERSION;
    }
    char *space = text->length > 0 ? memchr(text->bytes, ' ', text->length) : NULL;
    if (space == NULL) {
        return MERGE_MALFORMED;
    }
    char *end = text->bytes + text->length;
    if (memchr(space + 1, ' ', (size_t)(end - space - 1)) != NULL) {
        return MERGE_MALFORMED;
    }
    halves->middle = (size_t)(space - text->bytes);
    memmove(space, space + 1, (size_t)(end - space)); /* including the NUL */
    text->length--;
    return MERGE_PAIR;
}

/* ["a", "b"] or "a b" */
static enum merge_form read_halves(struct graft_json_cursor *cursor, struct halves *halves) {
    struct graft_text *text = &halves->text;
    text->length = 0;
    halves->is_array = graft_json_cursor_take(cursor, '[');
    if (!halves->is_array) {
        return graft_json_cursor_string(cursor, text) != 0 || text->failed ? MERGE_MALFORMED : cut_at_space(halves);
    }
    if (graft_json_cursor_string(cursor, text) != 0 || !graft_json_cursor_take(cursor, ',')) {
        return MERGE_MALFORMED;
    }
    halves->middle = text->length;
    return graft_json_cursor_string(cursor, text) != 0 || !graft_json_cursor_take(cursor, ']') ? MERGE_MALFORMED
                                                                                               : MERGE_PAIR;
}

static int add_merge(struct graft_token_model *bpe, const struct graft_field *spec, const struct halves *halves,
                     struct graft_error *error) {
    const struct graft_text *text = &halves->text;
    struct graft_text_view left = {text->bytes, halves->middle};
    struct graft_text_view right = {text->bytes + halves->middle, text->length - halves->middle};
    struct graft_text missing = {0};
    int result = graft_bpe_add_merge(bpe, left, right, &missing);
    int status = result < 0 ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    if (result > 0) {
        status = graft_field_error(spec, error, "\"%.200s\" is not in the vocabulary", missing.bytes);
    }
    graft_text_free(&missing);
    return status;
}

static int read_merge(struct graft_token_model *bpe, const struct graft_field *spec, struct graft_json_cursor *cursor,
                      struct halves *halves, struct graft_error *error) {
    int was_array = halves->is_array;
    enum merge_form form = read_halves(cursor, halves);
    if (halves->text.failed) {
        return graft_fail_memory(error, spec->file);
    }
    if (form == MERGE_MALFORMED) {
        return graft_field_error(spec, error, "expected two tokens, [\"a\", \"b\"] or \"a b\"");
    }
    if (spec->index > 0 && halves->is_array != was_array) {
        return graft_field_error(spec, error,
                                 "expected %s, like the merges before it: a file may have only one of the two forms",
                                 was_array ? "[\"a\", \"b\"]" : "\"a b\"");
    }
    return form == MERGE_VERSION ? GRAFT_OK : add_merge(bpe, spec, halves, error);
}

/* Estimated bytes of a merge in the file, for the table's initial size; indented files have more. */
enum { BYTES_A_MERGE = 20 };

static int read_merges(struct graft_token_model *bpe, const struct graft_field *spec, struct graft_json_cursor cursor,
                       struct graft_error *error) {
    struct halves halves = {0};
    int status = GRAFT_OK;
    if (!graft_json_cursor_take(&cursor, '[')) {
        return graft_field_error(spec, error, "expected an array");
    }
    if (graft_bpe_reserve_merges(bpe, cursor.length / BYTES_A_MERGE) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    struct graft_field merge = {NULL, spec->file, spec, NULL, 0};
    int more = 0;
    while (status == GRAFT_OK && (more = graft_json_cursor_more(&cursor, ']', (size_t)merge.index)) > 0) {
        status = read_merge(bpe, &merge, &cursor, &halves, error);
        merge.index++;
    }
    if (status == GRAFT_OK && more < 0) {
        status = graft_field_error(spec, error, "expected a comma or the end, %zu bytes in", cursor.at);
    }
    graft_text_free(&halves.text);
    return status;
}

/* Refuses dropout, which skips merges at random: ids would differ from run to run. */
static int refuse_dropout(const struct graft_field *spec, struct graft_error *error) {
    static const struct graft_member member[] = {{"dropout", .kind = GRAFT_MEMBER_REAL, .is_optional = 1}, {0}};
    const struct graft_field dropout = graft_field_get(spec, "dropout");
    double chance = 0.0;
    int status = graft_field_read_some(spec, member, &chance, error);
    return status != GRAFT_OK || chance == 0.0
               ? status
               : graft_field_error(&dropout, error,
                                   "expected null or 0, got %g: leaving merges out at random is not supported", chance);
}

int graft_token_model_read_bpe(const struct graft_field *spec, const struct graft_document *document,
                               struct graft_vocab *vocab, struct graft_token_model **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"vocab", .kind = GRAFT_MEMBER_SKIPPED},
        {"merges", .kind = GRAFT_MEMBER_SKIPPED},
        {"dropout", .kind = GRAFT_MEMBER_SKIPPED},
        {"unk_token", GRAFT_MEMBER_VIEW, .offset = offsetof(struct graft_bpe_settings, unk_token), .is_optional = 1},
        {"continuing_subword_prefix", GRAFT_MEMBER_VIEW,
         .offset = offsetof(struct graft_bpe_settings, continuing_subword_prefix), .is_optional = 1},
        {"end_of_word_suffix", GRAFT_MEMBER_VIEW, .offset = offsetof(struct graft_bpe_settings, end_of_word_suffix),
         .is_optional = 1},
        {"fuse_unk", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_bpe_settings, fuse_unk), .is_optional = 1},
        {"byte_fallback", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_bpe_settings, byte_fallback),
         .is_optional = 1},
        {"ignore_merges", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_bpe_settings, ignore_merges),
         .is_optional = 1},
        {0},
    };
    struct graft_field merges = graft_field_get(spec, "merges");
    struct graft_field vocab_field = graft_field_get(spec, "vocab");
    struct graft_bpe_settings settings = {0};
    int status = graft_field_read(spec, members, &settings, error);
    if (status == GRAFT_OK) {
        status = refuse_dropout(spec, error);
    }
    if (settings.unk_token.length == 0) {
        settings.unk_token.text = NULL; /* GPT-2's file has "" as unknown token, which means none */
    }
    if (status == GRAFT_OK) {
        status = graft_vocab_read(&vocab_field, document->vocab, vocab, error);
    }
    if (status == GRAFT_OK) {
        status = graft_bpe_create(spec->file, vocab, &settings, made, error);
    }
    if (status == GRAFT_OK) {
        status = read_merges(*made, &merges, document->merges, error);
    }
    if (status != GRAFT_OK) {
        graft_token_model_destroy(*made);
        *made = NULL;
    }
    return status;
}
