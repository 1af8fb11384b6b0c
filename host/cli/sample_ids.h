/* SPDX-License-Identifier: Apache-2.0 */
/* Makes token ids for runs in which any will do. */
#ifndef GRAFT_CLI_SAMPLE_IDS_H
#define GRAFT_CLI_SAMPLE_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/host/graft.h"

/* `n` pseudo-random ids of the model's vocabulary, the same in every run, none of which stands for an image or a video.
 * The caller frees them; NULL if memory ran out. */
int32_t *graft_sample_ids(size_t n, const struct graft_model *model);

#endif
