/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizers without settings that look at one character at a time: Lowercase, StripAccents, Nmt. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode.h"

struct mapped {
    struct graft_normalizer base;
    void (*add)(struct graft_text *out, uint32_t code);
};

static void add_unless_mark(struct graft_text *out, uint32_t code) {
    if (!graft_unicode_is_mark(code)) {
        graft_utf8_add(out, code);
    }
}

/* Appends a character as SentencePiece's rule `nmt` does: some control characters are removed, and white space of all
 * kinds becomes a space. */
static void add_for_translation(struct graft_text *out, uint32_t code) {
    if ((code >= 0x01 && code <= 0x08) || code == 0x0B || (code >= 0x0E && code <= 0x1F) || code == 0x7F ||
        code == 0x8F || code == 0x9F) {
        return;
    }
    if (code == 0x09 || code == 0x0A || code == 0x0C || code == 0x0D || code == 0x1680 ||
        (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 || code == 0x2581 || code == 0xFEFF ||
        code == 0xFFFD) {
        code = ' ';
    }
    graft_utf8_add(out, code);
}

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    (void)error;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        at += graft_utf8_read(text + at, &code);
        ((const struct mapped *)self)->add(out, code);
    }
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_free(self);
}

int graft_normalizer_create_mapped(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                   struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_field_object(spec, keys, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct mapped *mapped = graft_alloc(1, sizeof *mapped);
    if (mapped == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    mapped->base.run = run;
    mapped->base.destroy = destroy;
    mapped->add = strcmp(type, "Lowercase") == 0 ? graft_unicode_add_lower
                  : strcmp(type, "Nmt") == 0     ? add_for_translation
                                                 : add_unless_mark;
    *made = &mapped->base;
    return GRAFT_OK;
}
