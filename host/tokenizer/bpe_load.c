/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a BPE model. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/bpe.h"

static void destroy(struct graft_token_model *self) {
    struct graft_bpe *bpe = (struct graft_bpe *)self;
    graft_map_free(&bpe->merges);
    graft_free(bpe->file);
    graft_free(bpe);
}

/* What a merge is read into. */
struct halves {
    struct graft_text text; /* both, one after another */
    size_t middle;          /* where the second begins */
    int is_array;           /* how this one is written; all are as the first is */
};

/* "a b", as older files have it. */
static int cut_at_space(struct halves *halves) {
    char *space = memchr(halves->text.bytes, ' ', halves->text.length);
    if (space == NULL) {
        return -1;
    }
    char *end = halves->text.bytes + halves->text.length;
    if (memchr(space + 1, ' ', (size_t)(end - space - 1)) != NULL) {
        return -1;
    }
    halves->middle = (size_t)(space - halves->text.bytes);
    memmove(space, space + 1, (size_t)(end - space)); /* the NUL too */
    halves->text.length--;
    return 0;
}

/* ["a", "b"] or "a b" */
static int read_halves(struct graft_json_cursor *cursor, struct halves *halves) {
    halves->text.length = 0;
    halves->is_array = graft_json_cursor_take(cursor, '[');
    if (!halves->is_array) {
        return graft_json_cursor_string(cursor, &halves->text) != 0 || halves->text.failed ? -1 : cut_at_space(halves);
    }
    if (graft_json_cursor_string(cursor, &halves->text) != 0 || !graft_json_cursor_take(cursor, ',')) {
        return -1;
    }
    halves->middle = halves->text.length;
    return graft_json_cursor_string(cursor, &halves->text) != 0 || !graft_json_cursor_take(cursor, ']') ? -1 : 0;
}

static int require(const struct graft_bpe *bpe, const struct graft_spec *spec, const char *text, size_t length,
                   int32_t *id, struct graft_error *error) {
    const struct graft_token *token = graft_vocab_find(bpe->vocab, text, length);
    if (token == NULL) {
        return graft_spec_error(spec, error, "\"%.*s\" is not in the vocabulary", (int)(length < 200 ? length : 200),
                                text);
    }
    *id = token->id;
    return GRAFT_OK;
}

/* Reads one merge. Of equal pairs the last one counts, as in the reference. */
static int read_merge(struct graft_bpe *bpe, const struct graft_spec *spec, struct graft_json_cursor *cursor,
                      struct halves *halves, struct graft_error *error) {
    int32_t left = -1, right = -1, merged = -1;
    int was_array = halves->is_array;
    int malformed = read_halves(cursor, halves) != 0;
    const struct graft_text *text = &halves->text;
    if (text->failed) {
        return graft_fail_memory(error, spec->file);
    }
    if (malformed) {
        return graft_spec_error(spec, error, "expected two tokens, [\"a\", \"b\"] or \"a b\"");
    }
    if (spec->index > 0 && halves->is_array != was_array) {
        return graft_spec_error(spec, error,
                                "expected %s, like the merges before it: a file may have only one of the two forms",
                                was_array ? "[\"a\", \"b\"]" : "\"a b\"");
    }
    int status = require(bpe, spec, text->bytes, halves->middle, &left, error);
    if (status == GRAFT_OK) {
        status = require(bpe, spec, text->bytes + halves->middle, text->length - halves->middle, &right, error);
    }
    if (status == GRAFT_OK) {
        status = require(bpe, spec, text->bytes, text->length, &merged, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    uint64_t value = graft_merge_value((uint32_t)spec->index, merged);
    return graft_map_set(&bpe->merges, graft_merge_key(left, right), value) == 0 ? GRAFT_OK
                                                                                 : graft_fail_memory(error, spec->file);
}

/* A guess at a merge's length, for the table's first size; indented files have more. */
enum { BYTES_A_MERGE = 20 };

static int read_merges(struct graft_bpe *bpe, const struct graft_spec *spec, struct graft_json_cursor cursor,
                       struct graft_error *error) {
    struct halves halves = {0};
    int status = GRAFT_OK;
    if (!graft_json_cursor_take(&cursor, '[')) {
        return graft_spec_error(spec, error, "expected an array");
    }
    if (graft_map_reserve(&bpe->merges, cursor.length / BYTES_A_MERGE) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    struct graft_spec merge = {NULL, spec->file, spec, NULL, 0};
    int more = 0;
    while (status == GRAFT_OK && (more = graft_json_cursor_more(&cursor, ']', (size_t)merge.index)) > 0) {
        status = read_merge(bpe, &merge, &cursor, &halves, error);
        merge.index++;
    }
    if (status == GRAFT_OK && more < 0) {
        status = graft_spec_error(spec, error, "expected a comma or the end, %zu bytes in", cursor.at);
    }
    graft_text_free(&halves.text);
    return status;
}

/* Settings that change ids and that no supported family uses. */
static int refuse_others(const struct graft_spec *spec, struct graft_error *error) {
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    struct graft_spec dropout = graft_spec_get(spec, "dropout");
    if (!graft_spec_is_none(&dropout)) {
        return graft_spec_error(&dropout, error, "only null is supported");
    }
    for (size_t i = 0; i < sizeof affixes / sizeof affixes[0]; i++) {
        struct graft_spec field = graft_spec_get(spec, affixes[i]);
        const char *affix;
        int status = graft_spec_optional_string(spec, affixes[i], &affix, NULL, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (affix != NULL && affix[0] != '\0') {
            return graft_spec_error(&field, error, "\"%s\" is not supported, only null or \"\"", affix);
        }
    }
    return GRAFT_OK;
}

/* GPT-2's file has an unknown token of no letters, which means none. */
static int read_unk(struct graft_bpe *bpe, const struct graft_spec *spec, struct graft_error *error) {
    const char *unk;
    size_t length = 0;
    int status = graft_spec_optional_string(spec, "unk_token", &unk, &length, error);
    if (status == GRAFT_OK && unk != NULL && length > 0) {
        const struct graft_token *token = graft_vocab_find(bpe->vocab, unk, length);
        bpe->has_unk = 1;
        bpe->unk = token != NULL ? token->id : -1;
    }
    return status;
}

static void find_byte_tokens(struct graft_bpe *bpe) {
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        int length = snprintf(name, sizeof name, "<0x%02X>", byte);
        const struct graft_token *token = graft_vocab_find(bpe->vocab, name, (size_t)length);
        bpe->byte_tokens[byte] = token != NULL ? token->id : -1;
    }
}

static int read_settings(struct graft_bpe *bpe, const struct graft_spec *spec, struct graft_error *error) {
    int status = refuse_others(spec, error);
    if (status == GRAFT_OK) {
        status = read_unk(bpe, spec, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "fuse_unk", 0, &bpe->fuse_unk, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "byte_fallback", 0, &bpe->byte_fallback, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "ignore_merges", 0, &bpe->ignore_merges, error);
    }
    return status;
}

int graft_token_model_create_bpe(const struct graft_spec *spec, const struct graft_document *document,
                                 const struct graft_vocab *vocab, struct graft_token_model **made,
                                 struct graft_error *error) {
    static const char *const keys[] = {"type",          "dropout",       "unk_token", "continuing_subword_prefix",
                                       "fuse_unk",      "byte_fallback", "merges",    "end_of_word_suffix",
                                       "ignore_merges", "vocab",         NULL};
    struct graft_spec merges = graft_spec_get(spec, "merges");
    struct graft_bpe *bpe = graft_alloc(1, sizeof *bpe);
    if (bpe == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    bpe->base.encode = graft_bpe_encode;
    bpe->base.destroy = destroy;
    bpe->vocab = vocab;
    bpe->unk = -1;
    bpe->file = graft_strdup(spec->file);
    int status = bpe->file == NULL ? graft_fail_memory(error, spec->file) : graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_settings(bpe, spec, error);
    }
    if (status == GRAFT_OK) {
        status = read_merges(bpe, &merges, document->merges, error);
    }
    if (status != GRAFT_OK) {
        destroy(&bpe->base);
        return status;
    }
    find_byte_tokens(bpe);
    *made = &bpe->base;
    return GRAFT_OK;
}
