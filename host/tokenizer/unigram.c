/* SPDX-License-Identifier: Apache-2.0 */
/* Unigram: of all segmentations of a word into tokens, finds the one with the largest sum of scores. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/model_make.h"

/* How much lower than the worst token an unknown character scores. */
static const double UNK_PENALTY = 10.0;

struct unigram {
    struct graft_token_model base;
    const struct graft_vocab *vocab;
    struct graft_lexicon lexicon;
    double *scores; /* [vocab->count] by id */
    double unk_score;
    int32_t unk; /* id of the unknown token; -1: none */
    int byte_fallback;
    int32_t byte_tokens[256];
    char *file;
};

/* Replaces the path to `end` by one whose last token starts at `start`, if that scores higher. The first of equal paths
 * stays. */
static void offer(struct graft_path_node *path, size_t start, size_t end, double score, int32_t id) {
    score += path[start].score;
    if (path[end].id < 0 || score > path[end].score) {
        path[end] = (struct graft_path_node){score, (uint32_t)start, id};
    }
}

/* Offers paths through all tokens that begin at `start`, shortest first. Returns whether one of them has `character`
 * bytes. */
static int offer_tokens(const struct unigram *model, const char *word, size_t length, size_t start, size_t character,
                        struct graft_path_node *path) {
    const struct graft_lexicon *lexicon = &model->lexicon;
    uint32_t node = 0;
    int single = 0;
    for (size_t at = start; at < length; at++) {
        node = graft_lexicon_step(lexicon, node, word[at]);
        if (node == 0) {
            break;
        }
        int32_t id = lexicon->nodes[node].value;
        if (id >= 0) {
            offer(path, start, at + 1, model->scores[id], id);
            single |= at + 1 == start + character;
        }
    }
    return single;
}

static int unk_needed(const struct unigram *model, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, model->file, "model.unk_id: missing, but needed for this text");
}

static int find_path(const struct unigram *model, const char *word, size_t length, struct graft_path_node *path,
                     struct graft_error *error) {
    for (size_t i = 0; i <= length; i++) {
        path[i].id = -1;
    }
    path[0].score = 0.0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = graft_utf8_read(word + at, &code);
        if (!offer_tokens(model, word, length, at, n, path)) {
            offer(path, at, at + n, model->unk_score, model->unk);
            if (path[at + n].id < 0) {
                return unk_needed(model, error);
            }
        }
        at += n;
    }
    return GRAFT_OK;
}

/* Reverses the links of the best path: afterwards the node at a token's first byte has the token's end and id. */
static void turn_around(struct graft_path_node *path, size_t length) {
    size_t end = length;
    uint32_t next_end = (uint32_t)length;
    int32_t next_id = -1;
    while (end > 0) {
        size_t start = path[end].start;
        int32_t id = path[end].id;
        path[end].start = next_end;
        path[end].id = next_id;
        next_end = (uint32_t)end;
        next_id = id;
        end = start;
    }
    path[0].start = next_end;
    path[0].id = next_id;
}

/* Adds a run of unknown characters, which as a whole may be a token, or else becomes bytes or the unknown token. */
static int add_unknown(const struct unigram *model, const char *text, size_t length, struct graft_ids *out,
                       struct graft_error *error) {
    const struct graft_token *token = graft_vocab_find(model->vocab, text, length);
    int has_bytes = model->byte_fallback;
    if (token != NULL) {
        graft_ids_add(out, token->id);
        return GRAFT_OK;
    }
    for (size_t i = 0; has_bytes && i < length; i++) {
        has_bytes = model->byte_tokens[(unsigned char)text[i]] >= 0;
    }
    for (size_t i = 0; has_bytes && i < length; i++) {
        graft_ids_add(out, model->byte_tokens[(unsigned char)text[i]]);
    }
    if (!has_bytes && model->unk < 0) {
        return unk_needed(model, error);
    }
    if (!has_bytes) {
        graft_ids_add(out, model->unk);
    }
    return GRAFT_OK;
}

static int add_path(const struct unigram *model, const char *word, size_t length, const struct graft_path_node *path,
                    struct graft_ids *out, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t at = 0; status == GRAFT_OK && at < length;) {
        size_t start = at;
        int32_t id = path[at].id;
        at = path[at].start;
        if (id != model->unk) {
            graft_ids_add(out, id);
            continue;
        }
        while (at < length && path[at].id == model->unk) {
            at = path[at].start;
        }
        status = add_unknown(model, word + start, at - start, out, error);
    }
    return status;
}

static int encode(const struct graft_token_model *self, const char *word, size_t length, struct graft_model_work *work,
                  struct graft_ids *out, struct graft_error *error) {
    const struct unigram *model = (const struct unigram *)self;
    if (length >= UINT32_MAX) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, model->file,
                               "the text has a word of %zu bytes, expected fewer than %lu", length,
                               (unsigned long)UINT32_MAX);
    }
    if (length >= work->path_capacity) {
        struct graft_path_node *path = graft_realloc(work->path, length + 1, sizeof *path);
        if (path == NULL) {
            return graft_fail_memory(error, "Unigram");
        }
        work->path = path;
        work->path_capacity = length + 1;
    }
    int status = find_path(model, word, length, work->path, error);
    if (status != GRAFT_OK) {
        return status;
    }
    turn_around(work->path, length);
    return add_path(model, word, length, work->path, out, error);
}

static void destroy(struct graft_token_model *self) {
    struct unigram *model = (struct unigram *)self;
    graft_lexicon_free(&model->lexicon);
    graft_free(model->scores);
    graft_free(model->file);
    graft_free(model);
}

static int copy_scores(struct unigram *model, const double *scores, const char *file, struct graft_error *error) {
    size_t n = model->vocab->count;
    double worst = 0.0;
    model->scores = graft_alloc(n, sizeof *model->scores);
    if (model->scores == NULL) {
        return graft_fail_memory(error, file);
    }
    for (size_t i = 0; i < n; i++) {
        model->scores[i] = scores[i];
        worst = i == 0 || scores[i] < worst ? scores[i] : worst;
    }
    model->unk_score = worst - UNK_PENALTY;
    return GRAFT_OK;
}

int graft_unigram_create(const char *file, const struct graft_vocab *vocab,
                         const struct graft_unigram_settings *settings, struct graft_token_model **made,
                         struct graft_error *error) {
    struct unigram *model = graft_alloc(1, sizeof *model);
    if (model == NULL) {
        return graft_fail_memory(error, file);
    }
    model->base.encode = encode;
    model->base.destroy = destroy;
    model->vocab = vocab;
    model->unk = settings->unk_id;
    model->byte_fallback = settings->byte_fallback;
    graft_vocab_byte_tokens(vocab, model->byte_tokens);
    model->file = graft_strdup(file);
    int status = model->file == NULL ? graft_fail_memory(error, file) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = copy_scores(model, settings->scores, file, error);
    }
    if (status == GRAFT_OK) {
        status = graft_vocab_lexicon(vocab, file, &model->lexicon, error);
    }
    if (status != GRAFT_OK) {
        destroy(&model->base);
        return status;
    }
    *made = &model->base;
    return GRAFT_OK;
}
