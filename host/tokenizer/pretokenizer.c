/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/pretokenizer.h"

#include "base/fail.h"
#include "tokenizer/sequence.h"

static const struct {
    const char *type;
    const char *own; /* a field by which a value without `type` is recognised */
    graft_pretokenizer_create *create;
} kinds[] = {
    {"Split", NULL, graft_pretokenizer_create_split},
    {"ByteLevel", NULL, graft_pretokenizer_create_byte_level},
    {"Digits", NULL, graft_pretokenizer_create_digits},
    {"Punctuation", NULL, graft_pretokenizer_create_punctuation},
    {"CharDelimiterSplit", NULL, graft_pretokenizer_create_delimiter},
    {"UnicodeScripts", NULL, graft_pretokenizer_create_scripts},
    {"FixedLength", NULL, graft_pretokenizer_create_fixed_length},
    {"Whitespace", NULL, graft_pretokenizer_create_spaces},
    {"WhitespaceSplit", NULL, graft_pretokenizer_create_spaces},
    {"BertPreTokenizer", NULL, graft_pretokenizer_create_spaces},
    {"Metaspace", NULL, graft_pretokenizer_create_metaspace},
};

/* Appends a pre-tokenizer to the chain whose end `data` points to, and moves that end. */
static int load_one(void *data, const struct graft_field *spec, struct graft_error *error) {
    struct graft_pretokenizer ***tail = data;
    size_t i;
    int status = graft_sequence_kind(spec, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &i, error);
    if (status == GRAFT_OK) {
        status = kinds[i].create(spec, kinds[i].type, *tail, error);
        *tail = **tail != NULL ? &(**tail)->next : *tail;
    }
    return status;
}

int graft_pretokenizer_load(const struct graft_field *spec, struct graft_pretokenizer **chain,
                            struct graft_error *error) {
    struct graft_pretokenizer **tail = chain;
    *chain = NULL;
    if (graft_field_is_none(spec)) {
        return GRAFT_OK;
    }
    int status = graft_sequence_walk(spec, "pretokenizers", load_one, &tail, error);
    if (status != GRAFT_OK) {
        graft_pretokenizer_destroy(*chain);
        *chain = NULL;
    }
    return status;
}

static int run_one(const struct graft_pretokenizer *self, const struct graft_pieces *from,
                   struct graft_segments *scratch, struct graft_pieces *to, struct graft_error *error) {
    for (size_t i = 0; i < from->n; i++) {
        const struct graft_piece *piece = &from->items[i];
        if (piece->id >= 0) {
            graft_pieces_add_token(to, piece->id);
            continue;
        }
        int status = self->run(self, graft_piece_text(from, piece), piece->length, piece->first, scratch, to, error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return to->failed || to->text.failed || scratch->failed ? graft_fail_memory(error, "pre_tokenizer") : GRAFT_OK;
}

int graft_pretokenizer_run(const struct graft_pretokenizer *chain, struct graft_pieces *pieces,
                           struct graft_error *error) {
    struct graft_segments scratch = {0};
    struct graft_pieces other = {0};
    int status = GRAFT_OK;
    for (; status == GRAFT_OK && chain != NULL; chain = chain->next) {
        struct graft_pieces swap;
        graft_pieces_clear(&other);
        status = run_one(chain, pieces, &scratch, &other, error);
        swap = *pieces;
        *pieces = other;
        other = swap;
    }
    graft_pieces_free(&other);
    graft_segments_free(&scratch);
    return status;
}

void graft_pretokenizer_destroy(struct graft_pretokenizer *chain) {
    while (chain != NULL) {
        struct graft_pretokenizer *next = chain->next;
        chain->destroy(chain);
        chain = next;
    }
}
