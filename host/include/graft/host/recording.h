/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes on inside a model while it reads prompts: hidden states, attention weights, router logits. Recording
 * follows the interfaces of modules, so replaced classes are recorded like the originals.
 *
 *     hidden_states.embeddings    [tokens, hidden]         what goes into the first layer
 *     hidden_states.layer.N       [tokens, hidden]         behind layer N, before the final norm
 *     hidden_states.final_norm    [tokens, hidden]         of decoders
 *     attentions.N                [heads, tokens, tokens]  probabilities; hidden keys 0
 *     router.N.logits             [tokens, experts]        of layers with experts
 *     outputs.PATH                [tokens, columns]        of a module that gives rows for all tokens; those of its
 *                                                          heads are joined
 *
 * With several prompts each name ends in the prompt's number: "attentions.0.0", "attentions.0.1".
 */
#ifndef GRAFT_HOST_RECORDING_H
#define GRAFT_HOST_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_encoder_prompt;
struct graft_model;
struct graft_prompt;

enum {
    GRAFT_RECORD_HIDDEN_STATES = 1,
    GRAFT_RECORD_ATTENTIONS = 2,
    GRAFT_RECORD_ROUTER_LOGITS = 4,
    GRAFT_RECORD_OUTPUTS = 8 /* of modules */
};

/* The maximum number of dimensions of a recorded tensor. */
enum { GRAFT_RECORDED_RANK = 3 };

/* One tensor, f32. */
struct graft_recorded {
    uint32_t struct_size;
    int32_t rank;                       /* 1 to GRAFT_RECORDED_RANK */
    const char *name;                   /* "attentions.0" */
    int64_t shape[GRAFT_RECORDED_RANK]; /* [rank] */
    const float *data;                  /* row-major */
};

#define GRAFT_RECORDED_SIZE_1_0 GRAFT_END_OF(struct graft_recorded, data)

struct graft_recording;

/* [any, one thread per model] Runs `n` prompts as one ragged batch and records `what` (GRAFT_RECORD_..., several joined
 * by |). Attention weights need an implementation that provides them: "eager" runs instead of "sdpa". It is an error if
 * another implementation has none, if an attention uses no implementation, or if router logits are asked for and the
 * model has no routers. The caller frees the recording. */
int graft_model_record(struct graft_model *model, const struct graft_prompt *prompts, size_t n, uint32_t what,
                       struct graft_recording **recording, struct graft_error *error);

/* [any, one thread per model] The same for an encoder (graft/host/encode.h). */
int graft_model_record_encoder(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                               uint32_t what, struct graft_recording **recording, struct graft_error *error);

/* [any] Tensor number `i`, owned by the recording, or NULL after the last. */
const struct graft_recorded *graft_recording_at(const struct graft_recording *recording, size_t i);

/* [any] Frees the recording and its tensors. Accepts NULL. */
void graft_recording_free(struct graft_recording *recording);

/* [any] Writes `n` tensors, in any order, as a safetensors file: recorded ones or the caller's own. `path` holds either
 * the old or the new content, never a part. Errors are GRAFT_ERROR_IO; a rank, shape, name or array that no tensor has
 * is GRAFT_ERROR_USAGE, and then no file is touched. */
int graft_recorded_write(const char *path, const struct graft_recorded *tensors, size_t n, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
