/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes text as token ids and decodes ids, as tokenizer.json of a model directory says, or the files of older
 * tokenizers. Encoding uses added tokens, normalizer, pre-tokenizer, model and post-processor; decoding uses the
 * decoder. Anything unsupported in the files is an error when they are loaded. `padding` and the length in `truncation`
 * are ignored: the caller decides on them, as in transformers.
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

/* A growing text. Starts as {0}; a NUL follows the `length` bytes once something was added. After a failed allocation
 * `failed` is set and later calls do nothing, so one check at the end is enough. Never grows. */
struct graft_text {
    char *bytes;     /* [length], followed by a NUL; NULL if nothing was added */
    size_t length;   /* number of bytes */
    size_t capacity; /* bytes allocated */
    int failed;      /* 1: memory ran out */
};

/* [any] Frees the bytes; the struct is {0} again. */
void graft_text_free(struct graft_text *text);

/* A growing list of token ids. Starts as {0}. After a failed allocation `failed` is set and later calls do nothing, so
 * one check at the end is enough. Never grows. */
struct graft_ids {
    int32_t *ids;    /* [n] */
    size_t n;        /* number of ids */
    size_t capacity; /* ids allocated */
    int failed;      /* 1: memory ran out */
};

/* [any] Adds an id. */
void graft_ids_add(struct graft_ids *list, int32_t id);

/* [any] Adds `n` ids. */
void graft_ids_append(struct graft_ids *list, const int32_t *ids, size_t n);

/* [any] Frees the ids; the struct is {0} again. */
void graft_ids_free(struct graft_ids *list);

/* [load] Loads the tokenizer of a directory: tokenizer.json or, without it, a SentencePiece model, vocab.json and
 * merges.txt, or vocab.txt. As in transformers, tokenizer_config.json, special_tokens_map.json and added_tokens.json
 * add tokens, and config.json helps to find the tokenizer's class. An error in any of these files is GRAFT_ERROR_MODEL
 * and names file and field. The caller frees the result, which is NULL on failure. */
int graft_tokenizer_load(const char *directory, struct graft_tokenizer **tokenizer, struct graft_error *error);

struct graft_tokenizer_options {
    uint32_t struct_size;
    int32_t n_ignored_fields;
    /* Paths of fields that are ignored in tokenizer_config.json, special_tokens_map.json and config.json, as in struct
     * graft_model_options. A field that none of the files has is not an error here; opening a model with the same
     * options reports it. */
    const char *const *ignored_fields; /* [n_ignored_fields] borrowed until the call returns */
};

#define GRAFT_TOKENIZER_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_tokenizer_options, ignored_fields)

/* [load] Like graft_tokenizer_load; `options` may be NULL. */
int graft_tokenizer_load_with(const char *directory, const struct graft_tokenizer_options *options,
                              struct graft_tokenizer **tokenizer, struct graft_error *error);

/* [load] Accepts NULL. */
void graft_tokenizer_free(struct graft_tokenizer *tokenizer);

/* [any] Note `i` about the files, such as an id that is ignored; valid as long as the tokenizer. NULL after the
 * last. */
const char *graft_tokenizer_note(const struct graft_tokenizer *tokenizer, size_t i);

/* [any] Appends the ids of a text to `ids`. Invalid UTF-8 is read as U+FFFD, one for each maximal subpart of a
 * sequence. On failure `ids` may contain some of the ids. GRAFT_ERROR_MODEL: one of the tokenizer's regular expressions
 * takes too long on the text. */
int graft_tokenizer_encode(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                           int add_special_tokens, struct graft_ids *ids, struct graft_error *error);

/* [any] Appends the ids of a text with special tokens, truncated to `limit` tokens: it loses its last tokens (its
 * first, if the files say to truncate on the left), but not the special tokens around it. `*cut` becomes 1 if it was
 * truncated, else 0. */
int graft_tokenizer_encode_within(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                                  size_t limit, struct graft_ids *ids, int *cut, struct graft_error *error);

/* A borrowed text. Never grows. */
struct graft_text_view {
    const char *text; /* [length], need not be followed by a NUL */
    size_t length;    /* bytes */
};

/* [any] Appends the ids of a pair of texts, for encoders. `types` gets a type id for each id and may be NULL. `second`
 * may be NULL, to get type ids for a single text. */
int graft_tokenizer_encode_pair(const struct graft_tokenizer *tokenizer, const struct graft_text_view *first,
                                const struct graft_text_view *second, int add_special_tokens, struct graft_ids *ids,
                                struct graft_ids *types, struct graft_error *error);

/* [any] Appends the text of `n` ids to `text`, which stays valid UTF-8. Ids without a token are skipped: models may
 * have more rows than tokens. */
int graft_tokenizer_decode(const struct graft_tokenizer *tokenizer, const int32_t *ids, size_t n,
                           int skip_special_tokens, struct graft_text *text, struct graft_error *error);

/* [any] The id of a token with this spelling; -1 if there is none. */
int32_t graft_tokenizer_id(const struct graft_tokenizer *tokenizer, const char *token);

/* [any] The id of the special token with a role such as "eos_token" or "mask_token", according to
 * tokenizer_config.json, special_tokens_map.json or the tokenizer's class; -1 if there is none. */
int32_t graft_tokenizer_named_id(const struct graft_tokenizer *tokenizer, const char *name);

/* [any] The spelling of an id, NUL-terminated, valid as long as the tokenizer; NULL if there is no such token. `length`
 * may be NULL. */
const char *graft_tokenizer_token(const struct graft_tokenizer *tokenizer, int32_t id, size_t *length);

/* [any] 1 for an added token that the file marks as special, else 0. */
int graft_tokenizer_is_special(const struct graft_tokenizer *tokenizer, int32_t id);

/* [any] The number of tokens, including added ones. */
size_t graft_tokenizer_size(const struct graft_tokenizer *tokenizer);

/* [any] The largest id; -1 if there are no tokens. */
int32_t graft_tokenizer_max_id(const struct graft_tokenizer *tokenizer);

/* Decoding ids one by one. The calls together return exactly what graft_tokenizer_decode returns for the whole
 * sequence; each call returns complete characters that no later id can change. A stream belongs to one thread at a
 * time, and the tokenizer must outlive it. */

/* [any] Creates a stream, which the caller destroys; NULL on failure. */
int graft_decode_stream_create(const struct graft_tokenizer *tokenizer, int skip_special_tokens,
                               struct graft_decode_stream **stream, struct graft_error *error);

/* [any] Accepts NULL. */
void graft_decode_stream_destroy(struct graft_decode_stream *stream);

/* [any] Adds the next id, and returns the bytes that are final now. `*bytes` is never NULL and valid until the next
 * call. */
int graft_decode_stream_push(struct graft_decode_stream *stream, int32_t id, const char **bytes, size_t *length,
                             struct graft_error *error);

/* [any] Returns the remaining bytes, and resets the stream for another sequence. */
int graft_decode_stream_end(struct graft_decode_stream *stream, const char **bytes, size_t *length,
                            struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
