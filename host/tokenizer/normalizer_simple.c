/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizers of a few lines each: ByteLevel, the Unicode normalization forms, Prepend and Replace. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/substitution.h"
#include "tokenizer/unicode.h"

struct simple {
    struct graft_normalizer base;
    enum graft_unicode_form form;
    struct graft_text beginning; /* Prepend */
    struct graft_substitution substitution;
};

typedef int run_function(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
                         struct graft_error *error);

static void destroy(struct graft_normalizer *self) {
    struct simple *simple = (struct simple *)self;
    graft_text_free(&simple->beginning);
    graft_substitution_finish(&simple->substitution);
    graft_free(simple);
}

static struct simple *create(const struct graft_field *spec, run_function *run, struct graft_error *error) {
    struct simple *simple = graft_alloc(1, sizeof *simple);
    if (simple == NULL) {
        (void)graft_fail_memory(error, spec->file);
        return NULL;
    }
    simple->base.run = run;
    simple->base.destroy = destroy;
    return simple;
}

/* Returns the normalizer, or frees it after an error. */
static int finish(struct simple *simple, int status, struct graft_normalizer **made) {
    if (status != GRAFT_OK) {
        destroy(&simple->base);
        return status;
    }
    *made = &simple->base;
    return GRAFT_OK;
}

/* Writes every byte of the text as its character of the byte alphabet. */
static int run_byte_level(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
                          struct graft_error *error) {
    (void)self;
    (void)error;
    graft_byte_alphabet_add(out, text, length);
    return GRAFT_OK;
}

static int run_form(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
                    struct graft_error *error) {
    (void)error;
    graft_unicode_normalize(((const struct simple *)self)->form, text, length, out);
    return GRAFT_OK;
}

/* Puts a text, such as SentencePiece's "▁", before every stretch of text that is not empty. */
static int run_prepend(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
                       struct graft_error *error) {
    const struct graft_text *beginning = &((const struct simple *)self)->beginning;
    (void)error;
    graft_text_add(out, beginning->bytes, beginning->length);
    graft_text_add(out, text, length);
    return GRAFT_OK;
}

/* Replaces a pattern's matches by a fixed text. */
static int run_replace(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
                       struct graft_error *error) {
    return graft_substitution_run(&((const struct simple *)self)->substitution, text, length, out, error);
}

int graft_normalizer_create_byte_level(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                       struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    struct simple *simple = create(spec, run_byte_level, error);
    (void)type;
    return simple != NULL ? finish(simple, graft_field_object(spec, keys, error), made) : GRAFT_ERROR_INTERNAL;
}

int graft_normalizer_create_form(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                 struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    struct simple *simple = create(spec, run_form, error);
    if (simple == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    simple->form = strcmp(type, "NFC") == 0    ? GRAFT_UNICODE_NFC
                   : strcmp(type, "NFD") == 0  ? GRAFT_UNICODE_NFD
                   : strcmp(type, "NFKC") == 0 ? GRAFT_UNICODE_NFKC
                                               : GRAFT_UNICODE_NFKD;
    return finish(simple, graft_field_object(spec, keys, error), made);
}

int graft_normalizer_create_prepend(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                    struct graft_error *error) {
    static const char *const keys[] = {"type", "prepend", NULL};
    struct simple *simple = create(spec, run_prepend, error);
    const char *beginning;
    size_t length = 0;
    (void)type;
    if (simple == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_field_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_field_string(spec, "prepend", &beginning, &length, error);
    }
    if (status == GRAFT_OK) {
        graft_text_add(&simple->beginning, beginning, length);
        status = simple->beginning.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    return finish(simple, status, made);
}

int graft_normalizer_create_replace(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                    struct graft_error *error) {
    struct simple *simple = create(spec, run_replace, error);
    (void)type;
    return simple != NULL ? finish(simple, graft_substitution_init(&simple->substitution, spec, error), made)
                          : GRAFT_ERROR_INTERNAL;
}
