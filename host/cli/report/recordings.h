/* SPDX-License-Identifier: Apache-2.0 */
/* --hidden-states, --attentions, --router-logits: writes inner values of a model as safetensors. */
#ifndef GRAFT_CLI_REPORT_RECORDINGS_H
#define GRAFT_CLI_REPORT_RECORDINGS_H

#include "cli/options.h"
#include "graft/host/graft.h"

/* The kinds of values that the options ask for: GRAFT_RECORD_... bits; 0: none. */
uint32_t graft_recordings_wanted(const struct graft_options *options);

/* Runs the prompts and writes each file that the options name. */
int graft_recordings_write(const struct graft_options *options, const struct graft_recording *recording,
                           struct graft_error *error);

#endif
