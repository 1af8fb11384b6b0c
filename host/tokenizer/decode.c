/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes ids to text. A whole sequence goes through the same steps as ids that arrive one by one. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/pipeline.h"

struct graft_decode_stream {
    const struct graft_tokenizer *tokenizer;
    int skip_special_tokens;
    struct graft_decoder_run run;
};

static int push(const struct graft_tokenizer *tokenizer, struct graft_decoder_run *run, int32_t id,
                int skip_special_tokens, struct graft_error *error) {
    size_t length;
    const char *token = graft_added_decoded(&tokenizer->added, id, &length);
    if (token == NULL) {
        token = graft_tokenizer_token(tokenizer, id, &length);
    }
    if (token == NULL || (skip_special_tokens && graft_added_is_skipped(&tokenizer->added, id))) {
        return GRAFT_OK;
    }
    return graft_decoder_emit(tokenizer->decoder, run, token, length, error);
}

int graft_tokenizer_decode(const struct graft_tokenizer *tokenizer, const int32_t *ids, size_t n,
                           int skip_special_tokens, struct graft_text *text, struct graft_error *error) {
    struct graft_decoder_run run;
    int status = graft_decoder_start(tokenizer->decoder, &run) != 0 ? graft_fail_memory(error, "decoder") : GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < n; i++) {
        status = push(tokenizer, &run, ids[i], skip_special_tokens, error);
    }
    if (status == GRAFT_OK) {
        status = graft_decoder_end(tokenizer->decoder, &run, error);
    }
    if (status == GRAFT_OK) {
        graft_text_add(text, run.out.bytes, run.out.length);
        status = text->failed ? graft_fail_memory(error, "decoder") : GRAFT_OK;
    }
    graft_decoder_finish(tokenizer->decoder, &run);
    return status;
}

int graft_decode_stream_create(const struct graft_tokenizer *tokenizer, int skip_special_tokens,
                               struct graft_decode_stream **stream, struct graft_error *error) {
    struct graft_decode_stream *made = graft_alloc(1, sizeof *made);
    *stream = NULL;
    if (made == NULL || graft_decoder_start(tokenizer->decoder, &made->run) != 0) {
        graft_free(made);
        return graft_fail_memory(error, "decoder");
    }
    made->tokenizer = tokenizer;
    made->skip_special_tokens = skip_special_tokens;
    *stream = made;
    return GRAFT_OK;
}

void graft_decode_stream_destroy(struct graft_decode_stream *stream) {
    if (stream != NULL) {
        graft_decoder_finish(stream->tokenizer->decoder, &stream->run);
        graft_free(stream);
    }
}

static void give(struct graft_decode_stream *stream, const char **bytes, size_t *length) {
    *bytes = stream->run.out.bytes != NULL ? stream->run.out.bytes : "";
    *length = stream->run.out.length;
}

int graft_decode_stream_push(struct graft_decode_stream *stream, int32_t id, const char **bytes, size_t *length,
                             struct graft_error *error) {
    stream->run.out.length = 0;
    int status = push(stream->tokenizer, &stream->run, id, stream->skip_special_tokens, error);
    give(stream, bytes, length);
    return status;
}

int graft_decode_stream_end(struct graft_decode_stream *stream, const char **bytes, size_t *length,
                            struct graft_error *error) {
    stream->run.out.length = 0;
    int status = graft_decoder_end(stream->tokenizer->decoder, &stream->run, error);
    graft_decoder_restart(stream->tokenizer->decoder, &stream->run);
    give(stream, bytes, length);
    return status;
}
