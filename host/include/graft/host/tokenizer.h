/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to token ids and back, as a model directory's tokenizer.json says, or what is in its place: added tokens,
 * normalizer, pre-tokenizer, model and post-processor in one direction, the decoder in the other. Anything unsupported
 * in the files is an error at loading. `padding` and the length in `truncation` play no part: the caller decides on
 * them, as in transformers.
 *
 *     struct graft_tokenizer *tokenizer;
 *     struct graft_ids ids = {0};
 *     graft_tokenizer_load("model", &tokenizer, &error);
 *     graft_tokenizer_encode(tokenizer, "Once upon a time", 16, 1, &ids, &error);
 *     ...
 *     graft_ids_free(&ids);
 *     graft_tokenizer_free(tokenizer);
 *
 * A loaded tokenizer never changes: every function that takes it as const is [any].
 */
#ifndef GRAFT_HOST_TOKENIZER_H
#define GRAFT_HOST_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "graft/abi.h"
#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_decode_stream;
struct graft_tokenizer;

/* Starts as {0}; once something was added, a NUL follows the `length` bytes. After a failed allocation `failed` is set
 * and later calls do nothing, so one check at the end is enough. Never grows. */
struct graft_text {
    char *bytes;     /* [length], then a NUL; NULL: nothing was added yet */
    size_t length;   /* bytes of text */
    size_t capacity; /* bytes there is room for */
    int failed;      /* 1: memory ran out */
};

/* [any] Frees the bytes; the struct is {0} again. */
void graft_text_free(struct graft_text *text);

/* A growing list of token ids. Starts as {0}. After a failed allocation `failed` is set and later calls do nothing, so
 * one check at the end is enough. Never grows. */
struct graft_ids {
    int32_t *ids;    /* [n] */
    size_t n;        /* ids there are */
    size_t capacity; /* ids there is room for */
    int failed;      /* 1: memory ran out */
};

/* [any] Adds an id. */
void graft_ids_add(struct graft_ids *list, int32_t id);

/* [any] Adds `n` ids. */
void graft_ids_append(struct graft_ids *list, const int32_t *ids, size_t n);

/* [any] Frees the ids; the struct is {0} again. */
void graft_ids_free(struct graft_ids *list);

/* [load] Reads `directory`/tokenizer.json, or what is in its place: a SentencePiece model, vocab.json and merges.txt,
 * or vocab.txt. tokenizer_config.json, special_tokens_map.json and added_tokens.json add tokens, as in transformers,
 * and config.json helps to tell the tokenizer's class. A fault in any of them is GRAFT_ERROR_MODEL and names file and
 * field. The caller frees the result, which is NULL on failure. */
int graft_tokenizer_load(const char *directory, struct graft_tokenizer **tokenizer, struct graft_error *error);

struct graft_tokenizer_options {
    uint32_t struct_size;
    int32_t n_ignored_fields;
    /* As those of struct graft_model_options: paths of fields that are ignored wherever tokenizer_config.json,
     * special_tokens_map.json and config.json have them. One that none of them has is no error: a model with the same
     * options tells. */
    const char *const *ignored_fields; /* [n_ignored_fields] borrowed until the call returns */
};

#define GRAFT_TOKENIZER_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_tokenizer_options, ignored_fields)

/* [load] The same; `options` may be NULL. */
int graft_tokenizer_load_with(const char *directory, const struct graft_tokenizer_options *options,
                              struct graft_tokenizer **tokenizer, struct graft_error *error);

/* [load] Accepts NULL. */
void graft_tokenizer_free(struct graft_tokenizer *tokenizer);

/* [any] Notes about how the files were read, from 0 on, such as ids that a file gives and that are not taken; valid as
 * long as the tokenizer. NULL behind the last. */
const char *graft_tokenizer_note(const struct graft_tokenizer *tokenizer, size_t i);

/* [any] Adds the ids of a text to `ids`. Bytes that are not UTF-8 are read as U+FFFD, one for each maximal part of a
 * sequence. On failure `ids` may hold some ids. If one of the file's expressions takes too long on the text, that is
 * GRAFT_ERROR_MODEL. */
int graft_tokenizer_encode(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                           int add_special_tokens, struct graft_ids *ids, struct graft_error *error);

/* [any] The same with special tokens, for models that read at most `limit` tokens: a longer text loses its last tokens
 * (its first, where the files' truncation side is left), but not the special ones around it. `*cut` is then 1, else 0.
 */
int graft_tokenizer_encode_within(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                                  size_t limit, struct graft_ids *ids, int *cut, struct graft_error *error);

/* A text of the caller's. Never grows. */
struct graft_text_view {
    const char *text; /* [length], with or without a NUL */
    size_t length;    /* bytes */
};

/* [any] The same for a pair of texts, for encoders. `types` gets a type id for each id and may be NULL. `second` may be
 * NULL too, for the type ids of a single text. */
int graft_tokenizer_encode_pair(const struct graft_tokenizer *tokenizer, const struct graft_text_view *first,
                                const struct graft_text_view *second, int add_special_tokens, struct graft_ids *ids,
                                struct graft_ids *types, struct graft_error *error);

/* [any] Adds the text of `n` ids to `text`, which stays valid UTF-8. Ids without a token are skipped: models have more
 * rows than tokens. */
int graft_tokenizer_decode(const struct graft_tokenizer *tokenizer, const int32_t *ids, size_t n,
                           int skip_special_tokens, struct graft_text *text, struct graft_error *error);

/* [any] Id of a token, spelled as in the file; -1 if there is none. */
int32_t graft_tokenizer_id(const struct graft_tokenizer *tokenizer, const char *token);

/* [any] Id of a special token by its role, such as "eos_token" or "mask_token", as tokenizer_config.json,
 * special_tokens_map.json or the tokenizer's class name it; -1 if there is none. */
int32_t graft_tokenizer_named_id(const struct graft_tokenizer *tokenizer, const char *name);

/* [any] Spelling of an id, NUL-terminated, valid as long as the tokenizer; NULL if there is no such token. `length` may
 * be NULL. */
const char *graft_tokenizer_token(const struct graft_tokenizer *tokenizer, int32_t id, size_t *length);

/* [any] 1 for an added token that the file calls special; else 0. */
int graft_tokenizer_is_special(const struct graft_tokenizer *tokenizer, int32_t id);

/* [any] Number of tokens, added ones included. */
size_t graft_tokenizer_size(const struct graft_tokenizer *tokenizer);

/* [any] The largest id; -1 if there are no tokens. */
int32_t graft_tokenizer_max_id(const struct graft_tokenizer *tokenizer);

/* Decoding as ids arrive. Together the calls return exactly what graft_tokenizer_decode gives for the whole sequence;
 * each call returns whole characters that no later id can change. A stream belongs to one thread at a time, and the
 * tokenizer must outlive it. */

/* [any] The caller destroys the stream, which is NULL on failure. */
int graft_decode_stream_create(const struct graft_tokenizer *tokenizer, int skip_special_tokens,
                               struct graft_decode_stream **stream, struct graft_error *error);

/* [any] Accepts NULL. */
void graft_decode_stream_destroy(struct graft_decode_stream *stream);

/* [any] Takes the next id. `*bytes` is never NULL and valid until the next call. */
int graft_decode_stream_push(struct graft_decode_stream *stream, int32_t id, const char **bytes, size_t *length,
                             struct graft_error *error);

/* [any] Returns what was held back, and makes the stream ready for another sequence. */
int graft_decode_stream_end(struct graft_decode_stream *stream, const char **bytes, size_t *length,
                            struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
