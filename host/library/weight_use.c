/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's weights take, in all and for a token, and what is kept of a token. */
#include "graft/base_model.h"
#include "graft/host/profile.h"
#include "hooks/bytes.h"
#include "hooks/forward_hooks.h"
#include "kernels/states.h"
#include "library/library.h"

/* What the calls of a forward read. */
struct use {
    int64_t bytes;   /* by all of them */
    int64_t weights; /* within base models: what tokens that have no logits take */
    int32_t depth;   /* base models that are being called */
};

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct use *use = data;
    const int64_t bytes = graft_hooked_call_bytes(hooked);
    (void)error;
    use->bytes += bytes;
    use->depth += graft_node_has_interface(hooked->node, GRAFT_INTERFACE_BASE_MODEL);
    use->weights += use->depth > 0 ? graft_node_weights_of(hooked->node, bytes) : 0;
    return GRAFT_OK;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct use *use = data;
    (void)error;
    use->depth -= graft_node_has_interface(hooked->node, GRAFT_INTERFACE_BASE_MODEL);
    return GRAFT_OK;
}

/* A prompt of one token reads what any token does, and is kept as any is. */
static int run_token(const struct graft_model *model, int64_t *kept, struct graft_error *error) {
    static const int32_t id = 0;
    static const int32_t slot = 0;
    const struct graft_ids_view news = {.ids = &id, .count = 1};
    struct graft_session *session = NULL;
    const float *logits;
    int status = graft_model_session(model, 1, &session, error);
    if (status == GRAFT_OK) {
        status = graft_session_step(session, &slot, &news, 1, GRAFT_LOGITS_LAST, &logits, error);
    }
    *kept = status == GRAFT_OK ? graft_session_token_bytes(session, slot) : 0;
    graft_session_free(session);
    return status;
}

int graft_model_weight_use(struct graft_model *model, struct graft_weight_use *use, struct graft_error *error) {
    struct use token = {0};
    const struct graft_forward_hooks hooks = {NULL, before, after, &token};
    struct graft_hook_handle *handle = NULL;
    int64_t kept = 0;
    int status = graft_model_check_ready(model, error);
    if (status == GRAFT_OK) {
        status = graft_forward_hooks_register(model->tree, &hooks, &handle, error);
    }
    if (status == GRAFT_OK) {
        status = run_token(model, &kept, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_weight_count count = graft_tree_weights(model->tree);
        const struct graft_weight_use found = {.struct_size = sizeof found,
                                               .weights = count.weights,
                                               .bytes = count.bytes,
                                               .bytes_per_token = token.bytes,
                                               .cache_bytes_per_token = kept,
                                               .state_bytes_per_token =
                                                   model->published.plan.state_bytes / GRAFT_STATE_ARRAYS,
                                               .weights_per_token = token.weights};
        graft_struct_copy(use, use->struct_size, &found);
    }
    graft_forward_hooks_remove(handle);
    return status;
}
