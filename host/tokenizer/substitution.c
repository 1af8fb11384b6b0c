/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/substitution.h"

#include "base/fail.h"

int graft_substitution_init(struct graft_substitution *substitution, const struct graft_spec *spec,
                            struct graft_error *error) {
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    struct graft_spec pattern = graft_spec_get(spec, "pattern");
    const char *content;
    size_t length = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "content", &content, &length, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    graft_text_add(&substitution->content, content, length);
    return substitution->content.failed ? graft_fail_memory(error, spec->file)
                                        : graft_matcher_init(&substitution->matcher, &pattern, error);
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
