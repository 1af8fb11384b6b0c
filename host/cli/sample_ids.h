/* SPDX-License-Identifier: Apache-2.0 */
/* Token ids to run a model with when it does not matter which. */
#ifndef GRAFT_CLI_SAMPLE_IDS_H
#define GRAFT_CLI_SAMPLE_IDS_H

#include <stddef.h>
#include <stdint.h>

/* `n` pseudo-random ids below `vocab_size`, the same in every run. The caller frees them; NULL when memory ran out. */
int32_t *graft_sample_ids(size_t n, int64_t vocab_size);

#endif
