/* SPDX-License-Identifier: Apache-2.0 */
/* Replace: in every token, matches of a pattern give way to a fixed text. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/matcher.h"

struct replace {
    struct graft_decoder base;
    struct graft_matcher matcher;
    struct graft_text content;
};

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    const struct replace *replace = (const struct replace *)self;
    struct graft_segments segments = {0};
    struct graft_text result = {0};
    int status = graft_matcher_find(&replace->matcher, token, length, &segments, error);
    for (size_t i = 0; status == GRAFT_OK && i < segments.n; i++) {
        const struct graft_segment *segment = &segments.items[i];
        if (segment->match) {
            graft_text_add(&result, replace->content.bytes, replace->content.length);
        } else {
            graft_text_add(&result, token + segment->start, segment->end - segment->start);
        }
    }
    if (status == GRAFT_OK) {
        status = result.failed ? graft_fail_memory(error, "Replace")
                               : graft_decoder_emit(self->next, run, result.bytes, result.length, error);
    }
    graft_text_free(&result);
    graft_segments_free(&segments);
    return status;
}

static void destroy(struct graft_decoder *self) {
    struct replace *replace = (struct replace *)self;
    graft_matcher_finish(&replace->matcher);
    graft_text_free(&replace->content);
    graft_free(replace);
}

int graft_decoder_create_replace(const struct graft_spec *spec, struct graft_decoder **made,
                                 struct graft_error *error) {
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    struct graft_spec pattern = graft_spec_get(spec, "pattern");
    struct replace *replace = graft_alloc(1, sizeof *replace);
    const char *content;
    size_t length = 0;
    if (replace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    replace->base.token = take;
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
