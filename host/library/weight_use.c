/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's weights take: in all, and for a token. */
#include "graft/host/profile.h"
#include "hooks/bytes.h"
#include "hooks/profile.h"
#include "library/library.h"

static int ignore(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)data;
    (void)sequence;
    (void)id;
    (void)last;
    (void)error;
    return GRAFT_OK;
}

/* A prompt of one token reads what any token does. */
static int run_token(struct graft_model *model, struct graft_error *error) {
    static const int32_t id = 0;
    const struct graft_prompt prompt = {.ids = &id, .count = 1};
    struct graft_generation generation = {.struct_size = sizeof generation};
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 1;
    return graft_model_generate(model, &prompt, 1, &generation, ignore, NULL, error);
}

int graft_model_weight_use(struct graft_model *model, struct graft_weight_use *use, struct graft_error *error) {
    struct graft_tree_profile profile = {.which = GRAFT_PROFILE_ALL};
    int status = graft_model_check_ready(model, error);
    if (status == GRAFT_OK) {
        status = graft_tree_profile_begin(&profile, model->tree, error);
    }
    if (status == GRAFT_OK) {
        status = run_token(model, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_weight_count count = graft_tree_weights(model->tree);
        const struct graft_weight_use found = {.struct_size = sizeof found,
                                               .weights = count.weights,
                                               .bytes = count.bytes,
                                               .bytes_per_token = profile.bytes[GRAFT_PHASE_PROMPT]};
        graft_struct_copy(use, use->struct_size, &found);
    }
    graft_tree_profile_finish(&profile);
    return status;
}
