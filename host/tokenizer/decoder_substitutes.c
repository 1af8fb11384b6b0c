/* SPDX-License-Identifier: Apache-2.0 */
/* What transformers does to decoded text: removes the space before English punctuation (`clean_up_tokenization_spaces`
 * of tokenizer_config.json), and replaces CLIP's end of a word. Each replacement is a decoder of its own, which works
 * on the whole text and holds back what may be the start of a match. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/decoder.h"

struct replacement {
    struct graft_decoder base;
    char *from;
    const char *to;
};

/* Length of the match at the text's start, or 0; then `*undecided` says whether more text could make one. */
static size_t match(const char *from, const char *text, size_t length, int *undecided) {
    size_t n = strlen(from), seen = length < n ? length : n;
    int starts = memcmp(from, text, seen) == 0;
    *undecided = starts && length < n;
    return starts && length >= n ? n : 0;
}

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *bytes, size_t length,
                struct graft_error *error) {
    const struct replacement *replacement = (const struct replacement *)self;
    struct graft_text *pending = &run->states[self->index].pending;
    struct graft_text out = {0};
    size_t at = 0;
    int undecided = 0;
    graft_text_add(pending, bytes, length);
    while (at < pending->length) {
        size_t n = match(replacement->from, pending->bytes + at, pending->length - at, &undecided);
        if (undecided) {
            break;
        }
        if (n > 0) {
            graft_text_add_string(&out, replacement->to);
        } else {
            graft_text_add(&out, pending->bytes + at, 1);
        }
        at += n > 0 ? n : 1;
    }
    int status = pending->failed || out.failed ? graft_fail_memory(error, "decoder") : GRAFT_OK;
    if (status == GRAFT_OK && at > 0) {
        memmove(pending->bytes, pending->bytes + at, pending->length - at);
        pending->length -= at;
        status = graft_decoder_emit(self->next, run, out.bytes, out.length, error);
    }
    graft_text_free(&out);
    return status;
}

static int end(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error) {
    struct graft_text *pending = &run->states[self->index].pending;
    int status =
        pending->length > 0 ? graft_decoder_emit(self->next, run, pending->bytes, pending->length, error) : GRAFT_OK;
    pending->length = 0;
    return status;
}

static void destroy(struct graft_decoder *self) {
    graft_free(((struct replacement *)self)->from);
    graft_free(self);
}

static int append(struct graft_decoder **chain, const char *from, const char *to, const char *file,
                  struct graft_error *error) {
    struct replacement *made = graft_alloc(1, sizeof *made);
    char *copy = graft_strdup(from);
    if (made == NULL || copy == NULL) {
        graft_free(copy);
        graft_free(made);
        return graft_fail_memory(error, file);
    }
    made->base.token = take;
    made->base.end = end;
    made->base.destroy = destroy;
    made->from = copy;
    made->to = to;
    graft_decoder_append(chain, &made->base);
    return GRAFT_OK;
}

int graft_decoder_add_clean_up(struct graft_decoder **chain, const char *file, struct graft_error *error) {
    /* The order matters: each replacement works on the result of those before it. */
    static const char *const pairs[][2] = {{" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
                                           {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < sizeof pairs / sizeof pairs[0]; i++) {
        status = append(chain, pairs[i][0], pairs[i][1], file, error);
    }
    return status;
}

int graft_decoder_add_suffix(struct graft_decoder **chain, const char *suffix, const char *file,
                             struct graft_error *error) {
    int status = append(chain, suffix, " ", file, error);
    return status == GRAFT_OK ? graft_decoder_add_trim(chain, file, error) : status;
}
