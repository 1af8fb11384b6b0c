/* SPDX-License-Identifier: Apache-2.0 */
/* ByteLevel: maps the characters of the byte alphabet back to bytes; a character of the text may be spread over several
 * tokens. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/decoder.h"

/* Passes on complete characters, and at the end of the sequence everything. */
static int flush(const struct graft_decoder *self, struct graft_decoder_run *run, int at_end,
                 struct graft_error *error) {
    struct graft_text *pending = &run->states[self->index].pending;
    struct graft_text whole = {0};
    size_t n = pending->length;
    if (graft_utf8_valid_prefix(pending->bytes, n) == n) {
        pending->length = 0;
        return n == 0 ? GRAFT_OK : graft_decoder_emit(self->next, run, pending->bytes, n, error);
    }
    size_t done = graft_utf8_lossy(pending->bytes, pending->length, at_end, &whole);
    memmove(pending->bytes, pending->bytes + done, pending->length - done);
    pending->length -= done;
    int status = whole.failed ? graft_fail_memory(error, "ByteLevel") : GRAFT_OK;
    if (status == GRAFT_OK && whole.length > 0) {
        status = graft_decoder_emit(self->next, run, whole.bytes, whole.length, error);
    }
    graft_text_free(&whole);
    return status;
}

/* Whether all characters of a token are in the byte alphabet. A token for which this is not so, such as an added one
 * with a space, is passed on unchanged. */
static int is_in_alphabet(const char *token, size_t length) {
    for (size_t at = 0; at < length;) {
        uint32_t code;
        at += graft_utf8_read(token + at, &code);
        if (graft_byte_from_character(code) < 0) {
            return 0;
        }
    }
    return 1;
}

static int take(const struct graft_decoder *self, struct graft_decoder_run *run, const char *token, size_t length,
                struct graft_error *error) {
    struct graft_text *pending = &run->states[self->index].pending;
    if (!is_in_alphabet(token, length)) {
        graft_text_add(pending, token, length);
    } else {
        for (size_t at = 0; at < length;) {
            uint32_t code;
            at += graft_utf8_read(token + at, &code);
            char byte = (char)graft_byte_from_character(code);
            graft_text_add(pending, &byte, 1);
        }
    }
    return pending->failed ? graft_fail_memory(error, "ByteLevel") : flush(self, run, 0, error);
}

static int end(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error) {
    return flush(self, run, 1, error);
}

static void destroy(struct graft_decoder *self) {
    graft_free(self);
}

int graft_decoder_create_byte_level(const struct graft_field *spec, struct graft_decoder **made,
                                    struct graft_error *error) {
    /* The pre-tokenizer's settings are accepted; none of them affects decoding. */
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
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
    decoder->fuses = 1;
    *made = decoder;
    return GRAFT_OK;
}
