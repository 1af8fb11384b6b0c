/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens become text by a chain of decoders. Each is given the text of one token at a time, and passes on what can no
 * longer change. What it has to hold back is in the state of the run, so the chain itself never changes. */
#ifndef GRAFT_TOKENIZER_DECODER_H
#define GRAFT_TOKENIZER_DECODER_H

#include <stddef.h>

#include "base/json_field.h"
#include "base/text.h"

struct graft_decoder_state {
    struct graft_text pending; /* held back */
    struct graft_text whole;   /* collects the parts of a fused token */
    size_t count;
    int started;
};

/* The decoding of one sequence. */
struct graft_decoder_run {
    struct graft_decoder_state *states; /* one for each decoder of the chain */
    struct graft_text out;              /* output of the chain's last decoder */
};

/* A decoder. Each kind has a struct whose first member is this one. */
struct graft_decoder {
    /* [any] Processes a token (or, if `fused` is set and `collects` is not, a part of the only token), and passes
     * results on with graft_decoder_emit. */
    int (*token)(const struct graft_decoder *self, struct graft_decoder_run *run, const char *bytes, size_t length,
                 struct graft_error *error);
    /* [any] Passes on what is held back, at the end of the sequence; NULL if the kind never holds anything back. */
    int (*end)(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error);
    void (*destroy)(struct graft_decoder *self);
    struct graft_decoder *next;
    size_t index;    /* index of its state in the run */
    int takes_parts; /* accepts a token in parts */
    int fuses;       /* joins its tokens: what it passes on are parts of one token */
    int fused;       /* a decoder before it has joined the tokens: its input is parts of one token */
    int collects;    /* is given that token as a whole at the end, because it does not accept parts */
};

/* [load] Reads the field `decoder`; without one, tokens are joined by spaces. */
int graft_decoder_load(const struct graft_field *spec, struct graft_decoder **chain, struct graft_error *error);

/* [load] Appends a decoder that removes spaces before English punctuation. `file` is named in errors. */
int graft_decoder_add_clean_up(struct graft_decoder **chain, const char *file, struct graft_error *error);

/* [load] Appends a decoder that removes white space from both ends of the text. */
int graft_decoder_add_trim(struct graft_decoder **chain, const char *file, struct graft_error *error);

/* [load] Appends a decoder that works on the whole text. The chain owns it from then on. */
void graft_decoder_append(struct graft_decoder **chain, struct graft_decoder *decoder);

/* [load] Appends decoders that replace `suffix` by a space and remove white space from both ends. `suffix` must outlive
 * the call only. */
int graft_decoder_add_suffix(struct graft_decoder **chain, const char *suffix, const char *file,
                             struct graft_error *error);

void graft_decoder_destroy(struct graft_decoder *chain);

/* [any] Start and end a run over `chain`. graft_decoder_start returns 0, or -1 if memory ran out. */
int graft_decoder_start(const struct graft_decoder *chain, struct graft_decoder_run *run);
void graft_decoder_finish(const struct graft_decoder *chain, struct graft_decoder_run *run);

/* [any] Prepares a run that has ended for another sequence. */
void graft_decoder_restart(const struct graft_decoder *chain, struct graft_decoder_run *run);

/* [any] Passes a token to `decoder`; with NULL, to the run's output. */
int graft_decoder_emit(const struct graft_decoder *decoder, struct graft_decoder_run *run, const char *bytes,
                       size_t length, struct graft_error *error);

/* [any] Makes every decoder pass on what it holds back. */
int graft_decoder_end(const struct graft_decoder *chain, struct graft_decoder_run *run, struct graft_error *error);

/* [load] Creates a decoder of one kind. */
typedef int graft_decoder_create(const struct graft_field *spec, struct graft_decoder **made,
                                 struct graft_error *error);
graft_decoder_create graft_decoder_create_join; /* used where the file has no decoder */
graft_decoder_create graft_decoder_create_byte_level;
graft_decoder_create graft_decoder_create_byte_fallback;
graft_decoder_create graft_decoder_create_replace;
graft_decoder_create graft_decoder_create_strip;
graft_decoder_create graft_decoder_create_metaspace;
graft_decoder_create graft_decoder_create_wordpiece;
graft_decoder_create graft_decoder_create_fuse;
graft_decoder_create graft_decoder_create_bpe;
graft_decoder_create graft_decoder_create_ctc;

#endif
