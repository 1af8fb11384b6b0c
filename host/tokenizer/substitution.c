/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/substitution.h"

#include "base/fail.h"

int graft_substitution_init(struct graft_substitution *substitution, const struct graft_field *spec,
                            struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"pattern", .kind = GRAFT_MEMBER_SKIPPED},
        {"content", GRAFT_MEMBER_COPY, .offset = offsetof(struct graft_substitution, content)},
        {0},
    };
    struct graft_field pattern = graft_field_get(spec, "pattern");
    int status = graft_field_read(spec, members, substitution, error);
    return status == GRAFT_OK ? graft_matcher_init(&substitution->matcher, &pattern, error) : status;
}

void graft_substitution_finish(struct graft_substitution *substitution) {
    graft_matcher_finish(&substitution->matcher);
    graft_text_free(&substitution->content);
}

int graft_substitution_run(const struct graft_substitution *substitution, const char *text, size_t length,
                           struct graft_text *out, struct graft_error *error) {
    struct graft_segments segments = {0};
    int status = graft_matcher_find(&substitution->matcher, text, length, &segments, error);
    for (size_t i = 0; status == GRAFT_OK && i < segments.n; i++) {
        const struct graft_segment *segment = &segments.items[i];
        if (segment->match) {
            graft_text_add(out, substitution->content.bytes, substitution->content.length);
        } else {
            graft_text_add(out, text + segment->start, segment->end - segment->start);
        }
    }
    graft_segments_free(&segments);
    return status;
}
