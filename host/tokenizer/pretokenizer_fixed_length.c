/* SPDX-License-Identifier: Apache-2.0 */
/* FixedLength: splits text into words of `length` characters; the last one may be shorter. */
#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/pretokenizer.h"

enum { DEFAULT_LENGTH = 5 };

struct fixed_length {
    struct graft_pretokenizer base;
    int64_t length; /* characters */
};

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct fixed_length *fixed = (const struct fixed_length *)self;
    (void)scratch;
    (void)error;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        for (int64_t n = 0; n < fixed->length && end < length; n++) {
            uint32_t code;
            end += graft_utf8_read(text + end, &code);
        }
        graft_pieces_add(out, text + at, end - at, first && at == 0);
        at = end;
    }
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_free(self);
}

int graft_pretokenizer_create_fixed_length(const struct graft_field *spec, const char *type,
                                           struct graft_pretokenizer **made, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"length", GRAFT_MEMBER_INT, .offset = offsetof(struct fixed_length, length), .is_optional = 1, .least = 1,
         .most = INFINITY},
        {0},
    };
    struct fixed_length *fixed = graft_alloc(1, sizeof *fixed);
    (void)type;
    if (fixed == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    fixed->base.run = run;
    fixed->base.destroy = destroy;
    fixed->length = DEFAULT_LENGTH;
    int status = graft_field_read(spec, members, fixed, error);
    if (status != GRAFT_OK) {
        destroy(&fixed->base);
        return status;
    }
    *made = &fixed->base;
    return GRAFT_OK;
}
