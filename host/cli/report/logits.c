/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/logits.h"

#include <stdio.h>

#include "base/alloc.h"
#include "weights/safetensors_write.h"

enum { NAME_BYTES = 32 };

/* One view per prompt onto its rows of `logits`; `names` holds NAME_BYTES for each. */
static void fill_views(const struct graft_prompt *prompts, size_t n, int64_t vocab_size, const float *logits,
                       char *names, struct graft_tensor_view *views) {
    for (size_t i = 0; i < n; i++) {
        char *name = names + i * NAME_BYTES;
        int64_t tokens = (int64_t)prompts[i].count;
        (void)snprintf(name, NAME_BYTES, n == 1 ? "logits" : "logits.%zu", i);
        views[i] = (struct graft_tensor_view){
            .name = name,
            .dtype = GRAFT_DTYPE_F32,
            .rank = 2,
            .shape = {tokens, vocab_size, 1, 1, 1, 1, 1, 1},
            .data = logits,
            .bytes = tokens * vocab_size * (int64_t)sizeof *logits,
        };
        logits += tokens * vocab_size;
    }
}

int graft_logits_write(struct graft_model *model, const struct graft_prompt *prompts, size_t n, const char *path,
                       struct graft_error *error) {
    int64_t vocab_size = graft_model_vocab_size(model);
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        tokens += prompts[i].count;
    }
    float *logits = graft_alloc(tokens, (size_t)vocab_size * sizeof *logits);
    char *names = graft_alloc(n, NAME_BYTES);
    struct graft_tensor_view *views = graft_alloc(n, sizeof *views);
    int status = logits == NULL || names == NULL || views == NULL
                     ? graft_error_set(error, GRAFT_ERROR_INTERNAL, path, "out of memory")
                     : graft_model_logits(model, prompts, n, logits, error);
    if (status == GRAFT_OK) {
        fill_views(prompts, n, vocab_size, logits, names, views);
        status = graft_safetensors_write(path, views, n, NULL, error);
    }
    graft_free(views);
    graft_free(names);
    graft_free(logits);
    return status;
}
