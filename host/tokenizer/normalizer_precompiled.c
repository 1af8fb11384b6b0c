/* SPDX-License-Identifier: Apache-2.0 */
/* Precompiled: SentencePiece's normalization by a table of strings. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode.h"

/* A grapheme cluster that is shorter than this is looked up as a whole, a longer one character by character. */
enum { WHOLE_BYTES = 6 };

struct precompiled {
    struct graft_normalizer base;
    struct graft_charsmap map;
};

static void add_characters(const struct graft_charsmap *map, const char *text, size_t length, struct graft_text *out) {
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = graft_utf8_read(text + at, &code);
        struct graft_text_view mapped = graft_charsmap_find(map, text + at, n);
        if (mapped.text != NULL) {
            graft_text_add(out, mapped.text, mapped.length);
        } else {
            graft_text_add(out, text + at, n);
        }
        at += n;
    }
}

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    const struct graft_charsmap *map = &((const struct precompiled *)self)->map;
    (void)error;
    for (size_t at = 0; at < length;) {
        size_t n = graft_unicode_cluster(text + at, length - at);
        struct graft_text_view mapped = {NULL, 0};
        if (n < WHOLE_BYTES) {
            mapped = graft_charsmap_find(map, text + at, n);
        }
        if (mapped.text != NULL) {
            graft_text_add(out, mapped.text, mapped.length);
        } else {
            add_characters(map, text + at, n, out);
        }
        at += n;
    }
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_charsmap_finish(&((struct precompiled *)self)->map);
    graft_free(self);
}

/* Creates a Precompiled normalizer from the bytes of a `precompiled_charsmap` (charsmap.h), which are copied. Errors
 * name `file` and the field `what`. The caller destroys the normalizer. */
static int make_precompiled(const char *bytes, size_t size, const char *file, const char *what,
                            struct graft_normalizer **made, struct graft_error *error) {
    struct precompiled *precompiled = graft_alloc(1, sizeof *precompiled);
    if (precompiled == NULL) {
        return graft_fail_memory(error, file);
    }
    precompiled->base.run = run;
    precompiled->base.destroy = destroy;
    int status = graft_charsmap_init(&precompiled->map, bytes, size, file, what, error);
    if (status != GRAFT_OK) {
        destroy(&precompiled->base);
        return status;
    }
    *made = &precompiled->base;
    return GRAFT_OK;
}

int graft_normalizer_create_precompiled(const struct graft_field *spec, const char *type,
                                        struct graft_normalizer **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED}, {"precompiled_charsmap", .kind = GRAFT_MEMBER_VIEW}, {0}};
    struct graft_field field = graft_field_get(spec, "precompiled_charsmap");
    struct graft_text bytes = {0};
    struct graft_text_view text = {0};
    char what[256];
    (void)type;
    int status = graft_field_read(spec, members, &text, error);
    if (status == GRAFT_OK && graft_base64_decode(text.text, text.length, &bytes) != 0) {
        status = graft_field_error(&field, error, "expected base64");
    }
    if (status == GRAFT_OK && bytes.failed) {
        status = graft_fail_memory(error, spec->file);
    }
    if (status == GRAFT_OK) {
        graft_field_path(&field, what, sizeof what);
        status = make_precompiled(bytes.bytes, bytes.length, spec->file, what, made, error);
    }
    graft_text_free(&bytes);
    return status;
}
