/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/normalizer.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/sequence.h"

static const struct {
    const char *type;
    graft_normalizer_create *create;
} kinds[] = {
    {"NFC", graft_normalizer_create_form},         {"NFD", graft_normalizer_create_form},
    {"NFKC", graft_normalizer_create_form},        {"NFKD", graft_normalizer_create_form},
    {"Lowercase", graft_normalizer_create_mapped}, {"StripAccents", graft_normalizer_create_mapped},
    {"Strip", graft_normalizer_create_strip},      {"Prepend", graft_normalizer_create_prepend},
    {"Replace", graft_normalizer_create_replace},  {"BertNormalizer", graft_normalizer_create_bert},
};

/* Appends a normalizer to the chain whose end `data` points to, and moves that end. */
static int load_one(void *data, const struct graft_spec *spec, const char *type, struct graft_error *error) {
    struct graft_normalizer ***tail = data;
    size_t i;
    int status = graft_sequence_kind(spec, type, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &i, error);
    if (status == GRAFT_OK) {
        status = kinds[i].create(spec, type, *tail, error);
        *tail = **tail != NULL ? &(**tail)->next : *tail;
    }
    return status;
}

int graft_normalizer_load(const struct graft_spec *spec, struct graft_normalizer **chain, struct graft_error *error) {
    struct graft_normalizer **tail = chain;
    *chain = NULL;
    if (graft_spec_is_none(spec)) {
        return GRAFT_OK;
    }
    int status = graft_sequence_walk(spec, "normalizers", load_one, &tail, error);
    if (status != GRAFT_OK) {
        graft_normalizer_destroy(*chain);
        *chain = NULL;
    }
    return status;
}

int graft_normalizer_run(const struct graft_normalizer *chain, struct graft_text *text, struct graft_error *error) {
    int status = GRAFT_OK;
    for (; status == GRAFT_OK && chain != NULL && text->length > 0; chain = chain->next) {
        struct graft_text out = {0};
        status = chain->run(chain, text->bytes, text->length, &out, error);
        if (status == GRAFT_OK && out.failed) {
            status = graft_fail_memory(error, "normalizer");
        }
        graft_text_free(text);
        *text = out;
    }
    return status;
}

void graft_normalizer_destroy(struct graft_normalizer *chain) {
    while (chain != NULL) {
        struct graft_normalizer *next = chain->next;
        chain->destroy(chain);
        chain = next;
    }
}
