/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sample_ids.h"

#include "base/alloc.h"
#include "graft/host/image.h"

int32_t *graft_sample_ids(size_t n, const struct graft_model *model) {
    int64_t vocab_size = graft_model_vocab_size(model);
    int32_t image = graft_model_image_token_id(model);
    int32_t video = graft_model_video_token_id(model);
    int32_t *ids = graft_alloc(n, sizeof *ids);
    uint64_t state = 0;
    for (size_t i = 0; ids != NULL && i < n; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U; /* Knuth's MMIX */
        ids[i] = (int32_t)((state >> 33) % (uint64_t)vocab_size);
        while (ids[i] > 0 && (ids[i] == image || ids[i] == video)) {
            ids[i]--;
        }
    }
    return ids;
}
