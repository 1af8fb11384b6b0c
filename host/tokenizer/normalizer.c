/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/normalizer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

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

static int load_one(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
                    struct graft_error *error) {
    struct graft_spec field = graft_spec_get(spec, "type");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].type, type) == 0) {
            return kinds[i].create(spec, type, made, error);
        }
    }
    return graft_spec_error(&field, error, "\"%s\" is not supported", type);
}

/* Hangs the normalizers of `spec` behind `*tail` and moves it to the new end. */
static int load_chain(const struct graft_spec *spec, int depth, struct graft_normalizer ***tail,
                      struct graft_error *error) {
    static const char *const keys[] = {"type", "normalizers", NULL};
    struct graft_spec members = graft_spec_get(spec, "normalizers");
    const char *type;
    int status = graft_spec_string(spec, "type", &type, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (strcmp(type, "Sequence") != 0) {
        status = load_one(spec, type, *tail, error);
        *tail = **tail != NULL ? &(**tail)->next : *tail;
        return status;
    }
    if (depth == GRAFT_SPEC_MAX_NESTING) {
        return graft_spec_error(spec, error, "sequences nested deeper than %d", depth);
    }
    status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_expect_array(&members, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(members.value); i++) {
        struct graft_spec member = graft_spec_at(&members, i);
        status = load_chain(&member, depth + 1, tail, error);
    }
    return status;
}

int graft_normalizer_load(const struct graft_spec *spec, struct graft_normalizer **chain, struct graft_error *error) {
    struct graft_normalizer **tail = chain;
    *chain = NULL;
    if (graft_spec_is_none(spec)) {
        return GRAFT_OK;
    }
    int status = load_chain(spec, 0, &tail, error);
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
