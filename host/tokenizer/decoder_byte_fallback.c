/* SPDX-License-Identifier: Apache-2.0 */
/* ByteFallback: a run of tokens such as "<0xE6>" becomes the text that its bytes encode; if they are not valid UTF-8,
 * each becomes U+FFFD. */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/hex.h"
#include "tokenizer/decoder.h"

/* The byte that a token stands for, or -1. */
static int byte_of(const char *token, size_t length) {
    if (length != 6 || token[0] != '<' || token[1] != '0' || token[2] != 'x' || token[5] != '>') {
        return -1;
    }
    int high = token[3] == '+' ? 0 : graft_hex_digit(token[3]),
        low = graft_hex_digit(token[4]); /* "+", which Rust's number parser accepts */
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Ends a run of byte tokens: only now is it known whether its first bytes are text. */
static int end(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error) {
    struct graft_text *pending = &run->states[self->index].pending;
    size_t n = pending->length;
    int status = GRAFT_OK;
    pending->length = 0;
    if (n == 0 || graft_utf8_valid_prefix(pending->bytes, n) == n) {
        return n == 0 ? GRAFT_OK : graft_decoder_emit(self->next, run, pending->bytes, n, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < n; i++) {
        status = graft_decoder_emit(self->next, run, "\xEF\xBF\xBD", 3, error);
    }
    return status;
}

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    struct graft_text *pending = &run->states[self->index].pending;
    int byte = byte_of(token, length);
    if (byte >= 0) {
        char c = (char)byte;
        graft_text_add(pending, &c, 1);
        return pending->failed ? graft_fail_memory(error, "ByteFallback") : GRAFT_OK;
    }
    int status = end(self, run, error);
    return status != GRAFT_OK ? status : graft_decoder_emit(self->next, run, token, length, error);
}

static void destroy(struct graft_decoder *self) {
    graft_free(self);
}

int graft_decoder_create_byte_fallback(const struct graft_field *spec, struct graft_decoder **made,
                                       struct graft_error *error) {
    static const char *const keys[] = {"type", NULL};
    int status = graft_field_object(spec, keys, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_decoder *decoder = graft_alloc(1, sizeof *decoder);
    if (decoder == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    decoder->token = take;
    decoder->end = end;
    decoder->destroy = destroy;
    *made = decoder;
    return GRAFT_OK;
}
