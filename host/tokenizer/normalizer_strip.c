/* SPDX-License-Identifier: Apache-2.0 */
/* Strip: removes white space from the ends of the text. */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode.h"

struct strip {
    struct graft_normalizer base;
    int left;
    int right;
};

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    const struct strip *strip = (const struct strip *)self;
    size_t start = 0;
    uint32_t code;
    (void)error;
    while (strip->left && start < length) {
        size_t n = graft_utf8_read(text + start, &code);
        if (!graft_unicode_is_space(code)) {
            break;
        }
        start += n;
    }
    while (strip->right && length > start) {
        size_t last = graft_utf8_previous(text, length);
        (void)graft_utf8_read(text + last, &code);
        if (!graft_unicode_is_space(code)) {
            break;
        }
        length = last;
    }
    graft_text_add(out, text + start, length - start);
    return GRAFT_OK;
}

static void destroy(struct graft_normalizer *self) {
    graft_free(self);
}

int graft_normalizer_create_strip(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                  struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"strip_left", GRAFT_MEMBER_FLAG, .offset = offsetof(struct strip, left), .is_optional = 1},
        {"strip_right", GRAFT_MEMBER_FLAG, .offset = offsetof(struct strip, right), .is_optional = 1},
        {0},
    };
    struct strip *strip = graft_alloc(1, sizeof *strip);
    (void)type;
    if (strip == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    strip->base.run = run;
    strip->base.destroy = destroy;
    strip->left = strip->right = 1;
    int status = graft_field_read(spec, members, strip, error);
    if (status != GRAFT_OK) {
        destroy(&strip->base);
        return status;
    }
    *made = &strip->base;
    return GRAFT_OK;
}
