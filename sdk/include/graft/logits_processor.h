/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A logits processor chosen by name (`--logits-processor NAME`): what changes the scores of the next token before one
 * is chosen. To bias or forbid tokens, to keep a text within a grammar, to mark it. A plugin lists its own in its
 * descriptor (plugin.h), and takes settings by its options (option.h).
 *
 * Where it runs: behind the processors of generation_config.json (penalties, forbidden tokens, lengths), which is where
 * transformers runs those that a caller gives, and before what leaves fewer tokens to draw from (temperature, top_k,
 * top_p, ...); several run in the order in which they are named. With beams scores are logarithms of probabilities,
 * else logits.
 *
 * What a processor keeps of a sequence is a state of that sequence. The host makes one for each, tells it each token
 * that the sequence gets, whoever chose it, and makes copies where one sequence becomes several (beams). Only tokens
 * that are part of the sequence are told and only their scores asked for: a guess that turns out to be wrong is never
 * seen. A processor that keeps nothing has no functions but `process`, which is given all ids each time. States are
 * freed when their sequence ends.
 *
 * A program may choose processors for one sequence, with what is asked of each there (struct graft_generation,
 * `processors`): a grammar, a schema. Those run behind the ones that are named for all.
 *
 * Where several processes run a model, the first one chooses, and only there do processors run.
 */
#ifndef GRAFT_LOGITS_PROCESSOR_H
#define GRAFT_LOGITS_PROCESSOR_H

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_LOGITS_PROCESSOR "graft.logits_processor/1"

/* A sequence that begins. The host's, valid until `create` returns. */
struct graft_logits_sequence {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids;     /* [count] the prompt; with guidance and beams, too, it is the whole prompt */
    int64_t count;          /* > 0 */
    int64_t vocab_size;     /* > 0: how many scores there will be */
    const int32_t *eos_ids; /* [n_eos_ids] that end the sequence */
    int64_t n_eos_ids;      /* >= 0 */
    const char *directory;  /* of the model, where its tokenizer.json is */
    /* What is asked of the processor for this sequence (struct graft_processor_choice in graft/host/generate.h), such
     * as a JSON schema: text, "" where nothing is; as long as the state. */
    const char *setting;
    void *data; /* what the program gave with it, or NULL; as long as the state */
};

/* Nothing is looked at but which score is the largest: no token is drawn, no beam is kept, no processor follows. One
 * that leaves the largest score as it is need not forbid others. */
#define GRAFT_LOGITS_ONLY_LARGEST UINT64_C(1)

/* The next token of a sequence. The host's, valid until `process` returns. */
struct graft_logits_args {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids; /* [count] so far, prompt included; each below vocab_size */
    int64_t count;      /* > 0 */
    int64_t prompt;     /* how many of them are the prompt */
    /* [vocab_size] to be changed in place. -INFINITY forbids a token; if none is left, token 0 is chosen. NaN counts as
     * smallest. */
    float *scores;
    int64_t vocab_size; /* > 0 */
    uint64_t flags;     /* GRAFT_LOGITS_..., of what follows */
};

/* Const, as the descriptor is. Functions are called on one thread at a time for each state, and may be called for
 * several sequences in turn. An error ends the step and is reported with the plugin's name; the sequence stays as it
 * was. */
struct graft_logits_processor {
    uint32_t struct_size;
    uint32_t flags;           /* 0 */
    const char *interface_id; /* GRAFT_INTERFACE_LOGITS_PROCESSOR */
    const char *name;         /* by which it is chosen: letters, digits, '_', '.', '-' */
    const char *description;  /* one line; optional */
    /* [forward] Makes the state of a sequence. Optional: states are then NULL. */
    int (*create)(const struct graft_logits_sequence *sequence, void **state, struct graft_error *error);
    /* [forward] Changes the scores of the next token. The same ids in the same state give the same scores: a step that
     * failed is tried again. */
    int (*process)(void *state, const struct graft_logits_args *args, struct graft_error *error);
    /* [forward] The sequence has got this token, not told to it before. Optional. */
    int (*accept)(void *state, int32_t id, struct graft_error *error);
    /* [forward] Makes a copy that goes on by itself. Optional: with `create` but without this, the host makes a new
     * state and tells it the tokens behind the prompt. */
    int (*fork)(const void *state, void **copy, struct graft_error *error);
    /* [forward] Frees a state. Required with `create`. */
    void (*destroy)(void *state);
};

#define GRAFT_LOGITS_SEQUENCE_SIZE_1_0 GRAFT_END_OF(struct graft_logits_sequence, directory)
#define GRAFT_LOGITS_ARGS_SIZE_1_0 GRAFT_END_OF(struct graft_logits_args, vocab_size)
#define GRAFT_LOGITS_PROCESSOR_SIZE_1_0 GRAFT_END_OF(struct graft_logits_processor, destroy)

GRAFT_ASSERT_SIZE(struct graft_logits_sequence, 72);
GRAFT_ASSERT_SIZE(struct graft_logits_args, 56);
GRAFT_ASSERT_SIZE(struct graft_logits_processor, 72);

#ifdef __cplusplus
}
#endif

#endif
