/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/logits.h"

#include <stdio.h>

#include "base/alloc.h"
#include "graft/host/process.h"

enum { NAME_BYTES = 32 };

/* Describes a tensor for each prompt, with its rows of `logits`. `names` has NAME_BYTES for each name. */
static void fill(const struct graft_prompt *prompts, size_t n, int64_t vocab_size, const float *logits, char *names,
                 struct graft_recorded *tensors) {
    for (size_t i = 0; i < n; i++) {
        char *name = names + i * NAME_BYTES;
        int64_t tokens = (int64_t)prompts[i].count;
        (void)snprintf(name, NAME_BYTES, n == 1 ? "logits" : "logits.%zu", i);
        tensors[i] = (struct graft_recorded){
            .struct_size = sizeof tensors[i],
            .rank = 2,
            .name = name,
            .shape = {tokens, vocab_size},
            .data = logits,
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
    struct graft_recorded *tensors = graft_alloc(n, sizeof *tensors);
    int status = logits == NULL || names == NULL || tensors == NULL
                     ? graft_fail_memory(error, path)
                     : graft_model_logits(model, prompts, n, logits, error);
    if (status == GRAFT_OK && graft_parallel_get()->rank == 0) {
        fill(prompts, n, vocab_size, logits, names, tensors);
        status = graft_recorded_write(path, tensors, n, error);
    }
    graft_free(tensors);
    graft_free(names);
    graft_free(logits);
    return status;
}
