/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/normalizer.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/sequence.h"

static const struct {
    const char *type;
    const char *own; /* a field by which a value without `type` is recognised */
    graft_normalizer_create *create;
} kinds[] = {
    {"NFC", NULL, graft_normalizer_create_form},
    {"NFD", NULL, graft_normalizer_create_form},
    {"NFKC", NULL, graft_normalizer_create_form},
    {"NFKD", NULL, graft_normalizer_create_form},
    {"Lowercase", NULL, graft_normalizer_create_mapped},
    {"StripAccents", NULL, graft_normalizer_create_mapped},
    {"Strip", "strip_left", graft_normalizer_create_strip},
    {"Prepend", "prepend", graft_normalizer_create_prepend},
    {"Replace", "pattern", graft_normalizer_create_replace},
    {"Precompiled", "precompiled_charsmap", graft_normalizer_create_precompiled},
    {"ByteLevel", NULL, graft_normalizer_create_byte_level},
    {"Nmt", NULL, graft_normalizer_create_mapped},
    {"Bert", NULL, graft_normalizer_create_bert},
    {"BertNormalizer", "clean_text", graft_normalizer_create_bert},
};

/* Appends a normalizer to the chain whose end `data` points to, and moves that end. */
static int load_one(void *data, const struct graft_field *spec, struct graft_error *error) {
    struct graft_normalizer ***tail = data;
    size_t i;
    int status = graft_sequence_kind(spec, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &i, error);
    if (status == GRAFT_OK) {
        status = kinds[i].create(spec, kinds[i].type, *tail, error);
        *tail = **tail != NULL ? &(**tail)->next : *tail;
    }
    return status;
}

int graft_normalizer_load(const struct graft_field *spec, struct graft_normalizer **chain, struct graft_error *error) {
    struct graft_normalizer **tail = chain;
    *chain = NULL;
    if (graft_field_is_none(spec)) {
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
