/* SPDX-License-Identifier: Apache-2.0 */
/* Metaspace: marks become spaces; those of the first token go where the text had been given one to start with. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"
#include "tokenizer/utf8.h"

struct metaspace {
    struct graft_decoder base;
    struct graft_text mark; /* one character */
    int drops_first;
};

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    const struct metaspace *metaspace = (const struct metaspace *)self;
    struct graft_decoder_state *state = &run->states[self->index];
    const struct graft_text *mark = &metaspace->mark;
    struct graft_text result = {0};
    for (size_t at = 0; at < length;) {
        if (length - at < mark->length || memcmp(token + at, mark->bytes, mark->length) != 0) {
            graft_text_add(&result, token + at++, 1);
            continue;
        }
        if (state->started || !metaspace->drops_first) {
            graft_text_add(&result, " ", 1);
        }
        at += mark->length;
    }
    state->started = !self->fused; /* a fused text is all one first token */
    int status = result.failed ? graft_fail_memory(error, "Metaspace")
                               : graft_decoder_emit(self->next, run, result.bytes, result.length, error);
    graft_text_free(&result);
    return status;
}

static void destroy(struct graft_decoder *self) {
    graft_text_free(&((struct metaspace *)self)->mark);
    graft_free(self);
}

static int read_settings(struct metaspace *metaspace, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type",  "replacement", "prepend_scheme", "add_prefix_space", "str_rep",
                                       "split", NULL};
    struct graft_spec field = graft_spec_get(spec, "replacement");
    const char *mark, *scheme;
    size_t length = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "replacement", &mark, &length, error);
    }
    if (status == GRAFT_OK && graft_utf8_count(mark, length) != 1) {
        status = graft_spec_error(&field, error, "expected one character");
    }
    if (status == GRAFT_OK) {
        graft_text_add(&metaspace->mark, mark, length);
        status = metaspace->mark.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "add_prefix_space", 1, &metaspace->drops_first, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_optional_string(spec, "prepend_scheme", &scheme, NULL, error);
    }
    if (status == GRAFT_OK && scheme != NULL) {
        metaspace->drops_first = strcmp(scheme, "never") != 0;
    }
    return status;
}

int graft_decoder_create_metaspace(const struct graft_spec *spec, struct graft_decoder **made,
                                   struct graft_error *error) {
    struct metaspace *metaspace = graft_alloc(1, sizeof *metaspace);
    if (metaspace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    metaspace->base.token = take;
    metaspace->base.destroy = destroy;
    int status = read_settings(metaspace, spec, error);
    if (status != GRAFT_OK) {
        destroy(&metaspace->base);
        return status;
    }
    *made = &metaspace->base;
    return GRAFT_OK;
}
