/* SPDX-License-Identifier: Apache-2.0 */
/* BertNormalizer: removes control characters, turns white space into spaces, puts spaces around ideographs, and removes
 * accents and case. */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode.h"

struct bert {
    struct graft_normalizer base;
    int clean_text;
    int handle_chinese_chars;
    int strip_accents;
    int lowercase;
};

/* Whether BERT treats a character as Chinese. The last block starts later than Unicode's, as in the reference, so that
 * ids agree. */
static int is_ideograph(uint32_t code) {
    return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
           (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B81F) ||
           (code >= 0x2B920 && code <= 0x2CEAF) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0x2F800 && code <= 0x2FA1F);
}

static int is_white(uint32_t code) {
    return code == '\t' || code == '\n' || code == '\r';
}

/* Applies clean_text and handle_chinese_chars to one character. */
static void add_cleaned(const struct bert *bert, struct graft_text *out, uint32_t code) {
    if (bert->clean_text) {
        if (code == 0 || code == 0xFFFD || (graft_unicode_is_control(code) && !is_white(code))) {
            return;
        }
        code = graft_unicode_is_space(code) ? ' ' : code;
    }
    if (bert->handle_chinese_chars && is_ideograph(code)) {
        graft_text_add(out, " ", 1);
        graft_utf8_add(out, code);
        graft_text_add(out, " ", 1);
    } else {
        graft_utf8_add(out, code);
    }
}

/* Appends the text without accents and in lower case, as far as the settings ask for it. */
static void add_folded(const struct bert *bert, const struct graft_text *cleaned, struct graft_text *out) {
    struct graft_text decomposed = {0};
    if (bert->strip_accents) {
        graft_unicode_normalize(GRAFT_UNICODE_NFD, cleaned->bytes, cleaned->length, &decomposed);
        out->failed |= decomposed.failed;
        cleaned = &decomposed;
    }
    for (size_t at = 0; at < cleaned->length;) {
        uint32_t code;
        at += graft_utf8_read(cleaned->bytes + at, &code);
        if (bert->strip_accents && graft_unicode_is_nonspacing(code)) {
            continue;
        }
        if (bert->lowercase) {
            graft_unicode_add_lower(out, code);
        } else {
            graft_utf8_add(out, code);
        }
    }
    graft_text_free(&decomposed);
}

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    const struct bert *bert = (const struct bert *)self;
    struct graft_text cleaned = {0};
    (void)error;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        at += graft_utf8_read(text + at, &code);
        add_cleaned(bert, &cleaned, code);
    }
    out->failed |= cleaned.failed;
    if (cleaned.length > 0) {
        add_folded(bert, &cleaned, out);
    }
    graft_text_free(&cleaned);
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_free(self);
}

int graft_normalizer_create_bert(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                 struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"clean_text", GRAFT_MEMBER_FLAG, .offset = offsetof(struct bert, clean_text), .is_optional = 1},
        {"handle_chinese_chars", GRAFT_MEMBER_FLAG, .offset = offsetof(struct bert, handle_chinese_chars),
         .is_optional = 1},
        {"lowercase", GRAFT_MEMBER_FLAG, .offset = offsetof(struct bert, lowercase), .is_optional = 1},
        {"strip_accents", GRAFT_MEMBER_FLAG, .offset = offsetof(struct bert, strip_accents), .is_optional = 1},
        {0},
    };
    struct bert *bert = graft_alloc(1, sizeof *bert);
    (void)type;
    if (bert == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    bert->base.run = run;
    bert->base.destroy = destroy;
    bert->clean_text = bert->handle_chinese_chars = bert->lowercase = 1;
    bert->strip_accents = -1; /* as lowercase, unless the file says */
    int status = graft_field_read(spec, members, bert, error);
    bert->strip_accents = bert->strip_accents < 0 ? bert->lowercase : bert->strip_accents;
    if (status != GRAFT_OK) {
        destroy(&bert->base);
        return status;
    }
    *made = &bert->base;
    return GRAFT_OK;
}
