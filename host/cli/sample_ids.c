/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sample_ids.h"

#include "base/alloc.h"

int32_t *graft_sample_ids(size_t n, int64_t vocab_size) {
    int32_t *ids = graft_alloc(n, sizeof *ids);
    uint64_t state = 0;
    for (size_t i = 0; ids != NULL && i < n; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U; /* Knuth's MMIX */
        ids[i] = (int32_t)((state >> 33) % (uint64_t)vocab_size);
    }
    return ids;
}
