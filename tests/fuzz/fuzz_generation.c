/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of generation_config.json, and their effect on the scores of the next token. */
#include <math.h>
#include <stdlib.h>

#include "fuzz/target.h"
#include "generate/fields.h"
#include "generate/sampler.h"

enum { VOCAB = 48, COUNT = 7, PROMPT = 3 };

/* Chooses the next token from scores with NaN and infinities among them. */
static void choose(const struct graft_generation *generation, struct graft_sampler *sampler) {
    static const int32_t ids[COUNT] = {1, 5, 9, 5, 9, 1, 5}, eos[] = {2, 3};
    const struct graft_choice choice = {
        .generation = generation, .ids = ids, .count = COUNT, .prompt = PROMPT, .longest = COUNT + 1, .eos = {eos, 2}};
    struct graft_sampler_state state;
    float scores[VOCAB];
    int32_t id = -1;
    for (int i = 0; i < VOCAB; i++) {
        scores[i] = i % 13 == 4 ? NAN : i % 11 == 7 ? -INFINITY : (float)(i * 7 % VOCAB) / 4.0F - 5.0F;
    }
    graft_sampler_state_init(&state, 7, 0);
    if (graft_sampler_pick(sampler, &choice, scores, &state, &id, NULL) != GRAFT_OK || id < 0 || id >= VOCAB) {
        abort();
    }
    if (graft_sampler_score(sampler, &choice, 3, scores, NULL) != GRAFT_OK) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_generation generation = graft_generation_default();
    struct graft_generation_fields *fields = NULL, *copy = graft_generation_fields_create();
    struct graft_sampler *sampler = NULL;
    int status = graft_generation_read((const char *)bytes, size, "text", &generation, &fields, &error);
    if (status != GRAFT_OK && error.message[0] == '\0') {
        abort();
    }
    if (status == GRAFT_OK && copy != NULL && graft_sampler_create(VOCAB, &sampler, NULL) == GRAFT_OK) {
        if (graft_generation_own(&generation, copy, &error) == GRAFT_OK) {
            graft_generation_fields_free(fields); /* the copy uses no memory of the original */
            fields = NULL;
            choose(&generation, sampler);
        }
    }
    graft_sampler_free(sampler);
    graft_generation_fields_free(fields);
    graft_generation_fields_free(copy);
    return 0;
}
