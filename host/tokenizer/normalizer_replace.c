/* SPDX-License-Identifier: Apache-2.0 */
/* Replace: matches of a pattern give way to a fixed text. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/matcher.h"
#include "tokenizer/normalizer.h"

struct replace {
    struct graft_normalizer base;
    struct graft_matcher matcher;
    struct graft_text content;
};

static int run(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error) {
    const struct replace *replace = (const struct replace *)self;
    struct graft_segments segments = {0};
    int status = graft_matcher_find(&replace->matcher, text, length, &segments, error);
    for (size_t i = 0; status == GRAFT_OK && i < segments.n; i++) {
        const struct graft_segment *segment = &segments.items[i];
        if (segment->match) {
            graft_text_add(out, replace->content.bytes, replace->content.length);
        } else {
            graft_text_add(out, text + segment->start, segment->end - segment->start);
        }
    }
    graft_segments_free(&segments);
    return status;
}

static void destroy(struct graft_normalizer *self) {
    struct replace *replace = (struct replace *)self;
    graft_matcher_finish(&replace->matcher);
    graft_text_free(&replace->content);
    graft_free(replace);
}

int graft_normalizer_create_replace(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
                                    struct graft_error *error) {
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    struct graft_spec pattern = graft_spec_get(spec, "pattern");
    struct replace *replace = graft_alloc(1, sizeof *replace);
    const char *content;
    size_t length = 0;
    (void)type;
    if (replace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    replace->base.run = run;
    replace->base.destroy = destroy;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "content", &content, &length, error);
    }
    if (status == GRAFT_OK) {
        graft_text_add(&replace->content, content, length);
        status = replace->content.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = graft_matcher_init(&replace->matcher, &pattern, error);
    }
    if (status != GRAFT_OK) {
        destroy(&replace->base);
        return status;
    }
    *made = &replace->base;
    return GRAFT_OK;
}
