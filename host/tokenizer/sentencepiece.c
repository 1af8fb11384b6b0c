/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of protocol buffers' wire format, for the fields of this one message. */
#include "tokenizer/sentencepiece.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

/* Published models have up to 5 MB, and pieces of up to 50 bytes. */
enum { MAX_FILE_BYTES = 64 << 20, MAX_PIECE_BYTES = 1024 };

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* The bytes of one message in the file. */
struct message {
    const char *at;
    const char *end;
};

/* One field of a message in wire format. */
struct field {
    uint64_t number;
    int wire;
    uint64_t value;                /* of VARINT, FIXED64 and FIXED32 */
    struct graft_piece_text bytes; /* of BYTES; for others of length 0, but not NULL */
};

static int read_varint(struct message *message, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && message->at < message->end; shift += 7) {
        unsigned char byte = (unsigned char)*message->at++;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return 0;
        }
    }
    return -1;
}

static int read_fixed(struct message *message, size_t n, uint64_t *value) {
    *value = 0;
    if ((size_t)(message->end - message->at) < n) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        *value |= (uint64_t)(unsigned char)message->at[i] << (8 * i);
    }
    message->at += n;
    return 0;
}

/* Reads the next field. Returns 1, or 0 at the message's end, or -1 if the bytes are malformed. */
static int next_field(struct message *message, struct field *field) {
    uint64_t key, length;
    if (message->at == message->end) {
        return 0;
    }
    if (read_varint(message, &key) != 0 || key >> 3 == 0) {
        return -1;
    }
    *field = (struct field){.number = key >> 3, .wire = (int)(key & 7), .bytes = {"", 0}};
    switch (field->wire) {
    case VARINT:
        return read_varint(message, &field->value) == 0 ? 1 : -1;
    case FIXED64:
        return read_fixed(message, 8, &field->value) == 0 ? 1 : -1;
    case FIXED32:
        return read_fixed(message, 4, &field->value) == 0 ? 1 : -1;
    case BYTES:
        if (read_varint(message, &length) != 0 || length > (uint64_t)(message->end - message->at)) {
            return -1;
        }
        field->bytes = (struct graft_piece_text){message->at, (size_t)length};
        message->at += length;
        return 1;
    default:
        return -1;
    }
}

struct reading {
    struct graft_sentencepiece *model;
    const char *path;
    struct graft_error *error;
};

static int fault(const struct reading *reading, const char *at, const char *what) {
    return graft_error_set(reading->error, GRAFT_ERROR_MODEL, reading->path,
                           "not a SentencePiece model: %s, %zu bytes in", what, (size_t)(at - reading->model->bytes));
}

/* Refuses a field whose wire type is not the expected one. */
static int expect(const struct reading *reading, const struct field *field, int wire, const char *at) {
    return field->wire == wire ? GRAFT_OK : fault(reading, at, "a field has another type than it should");
}

static int read_text(const struct reading *reading, const struct field *field, const char *at,
                     struct graft_piece_text *text) {
    int status = expect(reading, field, BYTES, at);
    if (status == GRAFT_OK && (graft_utf8_valid_prefix(field->bytes.text, field->bytes.length) < field->bytes.length ||
                               memchr(field->bytes.text, '\0', field->bytes.length) != NULL)) {
        status = fault(reading, at, "a text is not UTF-8 or has a NUL byte");
    }
    *text = field->bytes;
    return status;
}

/* Handles a field that starts at `at`. */
typedef int handle_field(const struct reading *reading, const struct field *field, const char *at, void *data);

/* Calls `handle` for each field of a message; `fault_text` is the error of a malformed field. */
static int read_fields(const struct reading *reading, struct message message, handle_field *handle, void *data,
                       const char *fault_text) {
    struct field field;
    const char *at = message.at;
    int status = GRAFT_OK, more = 0;
    while (status == GRAFT_OK && (more = next_field(&message, &field)) > 0) {
        status = handle(reading, &field, at, data);
        at = message.at;
    }
    return status == GRAFT_OK && more < 0 ? fault(reading, at, fault_text) : status;
}

static int take_piece_field(const struct reading *reading, const struct field *field, const char *at, void *data) {
    struct graft_sentence_piece *piece = data;
    uint32_t bits = (uint32_t)field->value;
    int status;
    switch (field->number) {
    case 1:
        return read_text(reading, field, at, &piece->text);
    case 2:
        status = expect(reading, field, FIXED32, at);
        memcpy(&piece->score, &bits, sizeof piece->score);
        return status;
    case 3:
        piece->type = (int32_t)field->value;
        return expect(reading, field, VARINT, at);
    default:
        return GRAFT_OK;
    }
}

static int read_piece(const struct reading *reading, struct message message) {
    struct graft_sentencepiece *model = reading->model;
    struct graft_sentence_piece piece = {.text = {"", 0}, .type = GRAFT_PIECE_NORMAL};
    int status = read_fields(reading, message, take_piece_field, &piece, "a piece makes no sense");
    if (status == GRAFT_OK && piece.text.length > MAX_PIECE_BYTES) {
        status = fault(reading, message.at, "a piece has more than 1024 bytes");
    }
    if (status == GRAFT_OK && graft_grow(&model->pieces, &model->capacity, model->n, sizeof *model->pieces) != 0) {
        status = graft_fail_memory(reading->error, reading->path);
    }
    if (status == GRAFT_OK) {
        model->pieces[model->n++] = piece;
    }
    return status;
}

static int take_trainer_field(const struct reading *reading, const struct field *field, const char *at, void *data) {
    struct graft_sentencepiece *model = data;
    struct graft_piece_text *text = field->number == 45   ? &model->unk_piece
                                    : field->number == 46 ? &model->bos_piece
                                    : field->number == 47 ? &model->eos_piece
                                                          : NULL;
    int32_t *number = field->number == 3    ? &model->model_type
                      : field->number == 35 ? &model->byte_fallback
                      : field->number == 40 ? &model->unk_id
                      : field->number == 41 ? &model->bos_id
                      : field->number == 42 ? &model->eos_id
                                            : NULL;
    if (text != NULL) {
        return read_text(reading, field, at, text);
    }
    if (number != NULL) {
        *number = (int32_t)field->value;
        return expect(reading, field, VARINT, at);
    }
    return GRAFT_OK;
}

static int take_normalizer_field(const struct reading *reading, const struct field *field, const char *at, void *data) {
    struct graft_piece_text *charsmap = data;
    if (field->number != 2) {
        return GRAFT_OK;
    }
    *charsmap = field->bytes;
    return expect(reading, field, BYTES, at);
}

static int take_model_field(const struct reading *reading, const struct field *field, const char *at, void *data) {
    struct graft_sentencepiece *model = data;
    struct message inner = {field->bytes.text, field->bytes.text + field->bytes.length};
    if (field->number > 3) {
        return GRAFT_OK;
    }
    int status = expect(reading, field, BYTES, at);
    if (status != GRAFT_OK) {
        return status;
    }
    return field->number == 1 ? read_piece(reading, inner)
           : field->number == 2
               ? read_fields(reading, inner, take_trainer_field, model, "trainer_spec makes no sense")
               : read_fields(reading, inner, take_normalizer_field, &model->charsmap, "normalizer_spec makes no sense");
}

int graft_sentencepiece_read(struct graft_sentencepiece *model, const char *path, struct graft_error *error) {
    const struct reading reading = {model, path, error};
    size_t length = 0;
    *model = (struct graft_sentencepiece){
        .model_type = GRAFT_SENTENCEPIECE_UNIGRAM,
        .bos_id = 1,
        .eos_id = 2,
        .unk_piece = {"<unk>", 5},
        .bos_piece = {"<s>", 3},
        .eos_piece = {"</s>", 4},
    };
    int status = graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_MODEL, &model->bytes, &length, error);
    if (status == GRAFT_OK) {
        const struct message whole = {model->bytes, model->bytes + length};
        status = read_fields(&reading, whole, take_model_field, model, "a field makes no sense");
    }
    return status == GRAFT_OK && model->n == 0 ? fault(&reading, model->bytes + length, "it has no pieces") : status;
}

void graft_sentencepiece_finish(struct graft_sentencepiece *model) {
    graft_free(model->pieces);
    graft_free(model->bytes);
    *model = (struct graft_sentencepiece){0};
}
