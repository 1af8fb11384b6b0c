/* SPDX-License-Identifier: Apache-2.0 */
/* --logits FILE: the f32 logits of every prompt position as safetensors. */
#ifndef GRAFT_CLI_REPORT_LOGITS_H
#define GRAFT_CLI_REPORT_LOGITS_H

#include "graft/host/graft.h"

/* Runs the prompts as one ragged batch and writes tensor `logits` [tokens, vocab_size], or of several prompts
 * `logits.0`, `logits.1`, ... */
int graft_logits_write(struct graft_model *model, const struct graft_prompt *prompts, size_t n, const char *path,
                       struct graft_error *error);

#endif
