/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way back: tokens become text, by a chain of decoders, each of which is given one token's text at a time and hands
 * on what is final. What it must hold back lies in a state of the run, so the chain itself never changes.
 */
#ifndef GRAFT_TOKENIZER_DECODER_H
#define GRAFT_TOKENIZER_DECODER_H

#include <stddef.h>

#include "base/text.h"
#include "tokenizer/spec.h"

struct graft_decoder_state {
    struct graft_text pending; /* held back */
    struct graft_text whole;   /* the parts of the only token, of a decoder that collects them */
    size_t count;
    int started;
};

/* One decoding of one sequence. */
struct graft_decoder_run {
    struct graft_decoder_state *states; /* one for each decoder of the chain */
    struct graft_text out;              /* where the chain's results arrive */
};

/* One kind is one file, which embeds this as the first member of what it needs. */
struct graft_decoder {
    /* [any] Takes a token, or, where `fused` is set and `collects` is not, a part of the only one, and hands results
     * to graft_decoder_emit. */
    int (*token)(const struct graft_decoder *self, struct graft_decoder_run *run, const char *bytes, size_t length,
                 struct graft_error *error);
    /* [any] The sequence has ended; NULL where nothing is held back. */
    int (*end)(const struct graft_decoder *self, struct graft_decoder_run *run, struct graft_error *error);
    void (*destroy)(struct graft_decoder *self);
    struct graft_decoder *next;
    size_t index;    /* of its state */
    int takes_parts; /* may be given a token in parts */
    int fuses;       /* what it hands on are parts of one token */
    int fused;       /* what it is given are parts of one token */
    int collects;    /* is given that token as a whole, at the end, because it takes no parts */
};

/* [load] Reads the field `decoder`; without one, tokens are joined by spaces. */
int graft_decoder_load(const struct graft_spec *spec, struct graft_decoder **chain, struct graft_error *error);

/* [load] Adds the removal of spaces before English punctuation to the end of a chain. `file` is named in errors. */
int graft_decoder_add_clean_up(struct graft_decoder **chain, const char *file, struct graft_error *error);

/* [load] Adds the removal of white space at both ends of the text. */
int graft_decoder_add_trim(struct graft_decoder **chain, const char *file, struct graft_error *error);

/* [load] Puts a decoder that works on the whole text at the end of a chain, which owns it from then on. */
void graft_decoder_append(struct graft_decoder **chain, struct graft_decoder *decoder);

/* [load] Adds to the end of a chain that `suffix` becomes a space, and white space at both ends is removed. The suffix
 * outlives the chain's making only. */
int graft_decoder_add_suffix(struct graft_decoder **chain, const char *suffix, const char *file,
                             struct graft_error *error);

void graft_decoder_destroy(struct graft_decoder *chain);

/* [any] Starts and ends a run over `chain`. graft_decoder_start returns 0, or -1 out of memory. */
int graft_decoder_start(const struct graft_decoder *chain, struct graft_decoder_run *run);
void graft_decoder_finish(const struct graft_decoder *chain, struct graft_decoder_run *run);

/* [any] Makes a run that was ended ready for another sequence. */
void graft_decoder_restart(const struct graft_decoder *chain, struct graft_decoder_run *run);

/* [any] Gives a token to the chain that starts at `decoder`; NULL is the run's end. */
int graft_decoder_emit(const struct graft_decoder *decoder, struct graft_decoder_run *run, const char *bytes,
                       size_t length, struct graft_error *error);

/* [any] Makes every decoder hand on what it holds back. */
int graft_decoder_end(const struct graft_decoder *chain, struct graft_decoder_run *run, struct graft_error *error);

/* [load] What makes each kind. */
typedef int graft_decoder_create(const struct graft_spec *spec, struct graft_decoder **made, struct graft_error *error);
graft_decoder_create graft_decoder_create_join; /* no decoder at all */
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
