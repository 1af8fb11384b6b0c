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

/* The two halves of a merge: ["a", "b"], or "a b" in older files. */
struct halves {
    const char *left, *right;
    size_t left_length, right_length;
};

static int read_halves(const struct graft_spec *spec, struct halves *halves, struct graft_error *error) {
    size_t length = 0;
    const char *text = graft_json_string(spec->value, &length);
    const char *space = text != NULL ? memchr(text, ' ', length) : NULL;
    if (text == NULL) {
        halves->left = graft_json_string(graft_json_at(spec->value, 0), &halves->left_length);
        halves->right = graft_json_string(graft_json_at(spec->value, 1), &halves->right_length);
        if (halves->left == NULL || halves->right == NULL || graft_json_size(spec->value) != 2) {
            return graft_spec_error(spec, error, "expected two tokens");
        }
        return GRAFT_OK;
    }
    if (space == NULL || memchr(space + 1, ' ', length - (size_t)(space + 1 - text)) != NULL) {
        return graft_spec_error(spec, error, "expected two tokens with a space between them, got \"%s\"", text);
    }
    *halves = (struct halves){text, space + 1, (size_t)(space - text), length - (size_t)(space + 1 - text)};
    return GRAFT_OK;
}

static int require(const struct graft_bpe *bpe, const struct graft_spec *spec, const char *text, size_t length,
                   int32_t *id, struct graft_error *error) {
    const struct graft_token *token = graft_vocab_find(bpe->vocab, text, length);
    if (token == NULL) {
        return graft_spec_error(spec, error, "\"%s\" is not in the vocabulary", text);
    }
    *id = token->id;
    return GRAFT_OK;
}

/* Reads one merge. `joined` is memory for its result. Of equal pairs the last one counts, as in the reference. */
static int add_merge(struct graft_bpe *bpe, const struct graft_spec *spec, struct graft_text *joined,
                     struct graft_error *error) {
    struct halves halves;
    int32_t left = -1, right = -1, merged = -1;
    int status = read_halves(spec, &halves, error);
    if (status != GRAFT_OK) {
        return status;
    }
    joined->length = 0;
    graft_text_add(joined, halves.left, halves.left_length);
    status = joined->failed ? GRAFT_OK : require(bpe, spec, joined->bytes, joined->length, &left, error);
    graft_text_add(joined, halves.right, halves.right_length);
    if (joined->failed) {
        return graft_fail_memory(error, spec->file);
    }
    if (status == GRAFT_OK) {
        status = require(bpe, spec, halves.right, halves.right_length, &right, error);
    }
    if (status == GRAFT_OK) {
        status = require(bpe, spec, joined->bytes, joined->length, &merged, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    uint64_t value = graft_merge_value((uint32_t)spec->index, merged);
    return graft_map_set(&bpe->merges, graft_merge_key(left, right), value) == 0 ? GRAFT_OK
                                                                                 : graft_fail_memory(error, spec->file);
}

static int read_merges(struct graft_bpe *bpe, const struct graft_spec *spec, struct graft_error *error) {
    struct graft_text joined = {0};
    size_t n = graft_json_size(spec->value);
    int status = graft_spec_expect_array(spec, error);
    if (status == GRAFT_OK && graft_map_reserve(&bpe->merges, n) != 0) {
        status = graft_fail_memory(error, spec->file);
    }
    for (size_t i = 0; status == GRAFT_OK && i < n; i++) {
        struct graft_spec merge = graft_spec_at(spec, i);
        status = add_merge(bpe, &merge, &joined, error);
    }
    graft_text_free(&joined);
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

int graft_token_model_create_bpe(const struct graft_spec *spec, const struct graft_vocab *vocab,
                                 struct graft_token_model **made, struct graft_error *error) {
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
        status = read_merges(bpe, &merges, error);
    }
    if (status != GRAFT_OK) {
        destroy(&bpe->base);
        return status;
    }
    find_byte_tokens(bpe);
    *made = &bpe->base;
    return GRAFT_OK;
}
