/* SPDX-License-Identifier: Apache-2.0 */
/* --hidden-states, --attentions, --router-logits: what goes on inside a model, as safetensors. */
#ifndef GRAFT_CLI_REPORT_RECORDINGS_H
#define GRAFT_CLI_REPORT_RECORDINGS_H

#include "cli/options.h"
#include "graft/host/graft.h"

/* What the options ask to record: GRAFT_RECORD_..., joined; 0: nothing. */
uint32_t graft_recordings_wanted(const struct graft_options *options);

/* Writes each file that the options name. */
int graft_recordings_write(const struct graft_options *options, const struct graft_recording *recording,
                           struct graft_error *error);

#endif
