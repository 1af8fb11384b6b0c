/* SPDX-License-Identifier: Apache-2.0 */
/* Logits processors, chosen by name (`--logits-processor NAME`), change the scores of the next token before a token is
 * chosen: to bias or forbid tokens, to follow a grammar, to watermark. A plugin lists its own in its descriptor
 * (plugin.h); their settings are plugin options (option.h).
 *
 * A processor runs after those of generation_config.json (penalties, forbidden tokens, lengths), where transformers
 * runs the processors that a caller passes, and before the warpers that reduce the choice of tokens (temperature,
 * top_k, top_p, ...). Several processors run in the order in which they are named. With beams, scores are log
 * probabilities, else logits.
 *
 * A processor's memory of a sequence is a state. The host creates a state for each sequence, passes it every token that
 * the sequence gets, whoever chose the token, and copies it where a sequence becomes several (beams). Only tokens that
 * are part of the sequence are passed, and only their scores are asked for; the processor never sees a wrong
 * speculative token. A processor without states has only the function `process`, which gets all ids each time. A state
 * is freed when its sequence ends.
 *
 * A program may choose processors for a single sequence, each with a setting (struct graft_generation, `processors`): a
 * grammar, a schema. They run after those that are named for all sequences. If several processes run a model, the first
 * one chooses tokens, and processors run only there. */
#ifndef GRAFT_LOGITS_PROCESSOR_H
#define GRAFT_LOGITS_PROCESSOR_H

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_LOGITS_PROCESSOR "graft.logits_processor/1"

/* The sequence that a processor is created for. Owned by the host; valid until `create` returns. */
struct graft_logits_sequence {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids;     /* [count] the whole prompt, also with guidance and beams */
    int64_t count;          /* > 0 */
    int64_t vocab_size;     /* > 0: number of scores */
    const int32_t *eos_ids; /* [n_eos_ids] ids that end the sequence */
    int64_t n_eos_ids;      /* >= 0 */
    const char *directory;  /* directory of the model, which has its tokenizer.json */
    /* The processor's setting for this sequence (struct graft_processor_choice in graft/host/generate.h), such as a
     * JSON schema; "" if there is none. Valid as long as the state. */
    const char *setting;
    void *data; /* what the program passed with the setting, or NULL; valid as long as the state */
};

/* Only the largest score matters: no token is drawn, no beam is kept, and no processor follows. A processor that leaves
 * the largest score unchanged need not forbid other tokens. */
#define GRAFT_LOGITS_ONLY_LARGEST UINT64_C(1)

/* The next token of a sequence. Belongs to the host; valid until `process` returns. */
struct graft_logits_args {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids; /* [count] ids so far, including the prompt; each is below vocab_size */
    int64_t count;      /* > 0 */
    int64_t prompt;     /* how many of the ids are the prompt */
    /* [vocab_size] scores, to be changed in place. -INFINITY forbids a token; if none is left, token 0 is chosen. NaN
     * counts as smallest. */
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
    /* [forward] Changes the scores of the next token. The same ids in the same state must give the same scores, because
     * a failed step is tried again. */
    int (*process)(void *state, const struct graft_logits_args *args, struct graft_error *error);
    /* [forward] Called once for each token that the sequence gets. Optional. */
    int (*accept)(void *state, int32_t id, struct graft_error *error);
    /* [forward] Copies a state; the two then continue independently. Optional: a processor that has `create` but not
     * this gets a new state, and the host passes it the tokens after the prompt. */
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
