/* SPDX-License-Identifier: Apache-2.0 */
/* --embed: one JSON array per text. */
#include <stdio.h>

#include "cli/commands/encode.h"

/* Prints a vector as JSON. Nine digits read back as the same f32. */
static void print_vector(const float *vector, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        (void)printf("%s%.9g", i == 0 ? "[" : ",", (double)vector[i]);
    }
    (void)puts("]");
}

static int check_finite(const float *vector, int64_t size, size_t text, struct graft_error *error) {
    for (int64_t i = 0; i < size; i++) {
        if (!(vector[i] - vector[i] == 0.0f)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, "embed",
                                   "text %zu: the vector has numbers that are not finite", text + 1);
        }
    }
    return GRAFT_OK;
}

int graft_print_vectors(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error) {
    struct graft_embedding_info embedding = {.struct_size = sizeof embedding};
    int status = graft_model_embedding(run->model, &embedding, error);
    if (status == GRAFT_OK) {
        status = graft_encode_reserve(run, batch->count, (size_t)embedding.size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_embed(run->model, batch->prompts, batch->count, run->results, error);
    }
    for (size_t i = 0; i < batch->count && status == GRAFT_OK; i++) {
        const float *vector = run->results + i * (size_t)embedding.size;
        status = check_finite(vector, embedding.size, batch->first + i, error);
        if (status == GRAFT_OK) {
            print_vector(vector, embedding.size);
        }
    }
    return status;
}
