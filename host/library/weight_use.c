/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a model's weights: their size, how much of them a token reads, what is kept for a token, and what a token
 * reads of that. */
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/host/observe.h"
#include "hooks/bytes.h"
#include "hooks/forward_hooks.h"
#include "kernels/cache.h"
#include "kernels/states.h"
#include "library/library.h"

/* Bytes that the module calls of a forward read. */
struct use {
    int64_t bytes; /* read by all calls except an encoder's, which runs once per prompt */
    /* Bytes of weights read for tokens without logits: those of the encoder, or in models without one those of the base
     * model. */
    int64_t weights;
    int32_t depth; /* calls of base models that have not returned */
    int32_t has_encoder;
    int32_t encodes; /* 1: one of these calls is the encoder's */
};

/* Whether a call is the encoder's: a base model that is called without a cache. */
static int is_encoder(const struct graft_hooked_call *hooked) {
    const struct graft_base_model_args *args = hooked->args;
    return graft_node_has_interface(hooked->node, GRAFT_INTERFACE_BASE_MODEL) && args->batch->cache == NULL;
}

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct use *use = data;
    const int64_t bytes = graft_hooked_call_bytes(hooked);
    (void)error;
    use->encodes |= is_encoder(hooked);
    use->bytes += use->encodes ? 0 : bytes;
    use->depth += graft_node_has_interface(hooked->node, GRAFT_INTERFACE_BASE_MODEL);
    use->weights += use->depth > 0 && use->encodes == use->has_encoder ? graft_node_weights_of(hooked->node, bytes) : 0;
    return GRAFT_OK;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct use *use = data;
    (void)error;
    use->depth -= graft_node_has_interface(hooked->node, GRAFT_INTERFACE_BASE_MODEL);
    use->encodes = use->encodes && !is_encoder(hooked);
    return GRAFT_OK;
}

/* Runs a prompt of one token, which reads the same weights, and keeps as much, as any other token. */
static int run_token(const struct graft_model *model, int64_t *kept, struct graft_error *error) {
    const int32_t slot = 0;
    struct graft_session *session = NULL;
    int status = graft_model_session(model, 1, &session, error);
    if (status == GRAFT_OK) {
        status = graft_model_feed_token(model, session, slot, GRAFT_LOGITS_LAST, error);
    }
    *kept = status == GRAFT_OK ? graft_session_token_bytes(session, slot) : 0;
    graft_session_free(session);
    return status;
}

static int run_hooked(struct graft_model *model, const struct graft_forward_hooks *hooks, int64_t *kept,
                      struct graft_error *error) {
    struct graft_hook_handle *handle = NULL;
    int status = graft_model_check_ready(model, error);
    if (status == GRAFT_OK) {
        status = graft_forward_hooks_register(model->tree, hooks, &handle, error);
    }
    if (status == GRAFT_OK) {
        status = run_token(model, kept, error);
    }
    graft_forward_hooks_remove(handle);
    return status;
}

static int measure_weights(struct graft_model *model, struct graft_weight_use *use, struct graft_error *error) {
    struct use token = {.has_encoder = graft_model_has_encoder(model)};
    const struct graft_forward_hooks hooks = {NULL, before, after, &token};
    int64_t kept = 0;
    int status = run_hooked(model, &hooks, &kept, error);
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
    return status;
}

int graft_model_weight_use(struct graft_model *model, struct graft_weight_use *use, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = measure_weights(model, use, error);
    (void)graft_context_enter(before);
    return status;
}

/* --- Reading the cache --- */

/* A range of tokens, and how much the layers that have run read of the cache for them. */
struct reading {
    int64_t first;
    int64_t last;
    int64_t kept;
    double bytes;
};

/* How many earlier tokens a token of the step sees on average through a window, which grows until it is full. */
static double mean_seen(const struct reading *reading, int64_t window) {
    const int64_t n = reading->last - reading->first + 1;
    int64_t growing = window < reading->last ? window - reading->first + 1 : n;
    growing = growing > 0 ? growing : 0;
    const double grown = (double)growing * ((double)reading->first + (double)(growing - 1) / 2.0);
    return (grown + (double)(n - growing) * (double)window) / (double)n;
}

static int attends(void *data, const struct graft_node *node) {
    (void)data;
    return graft_node_has_interface(node, GRAFT_INTERFACE_SELF_ATTENTION);
}

/* Adds what one layer reads of the cache. The growth of the cache since the last call is this layer's; an attention
 * that wraps another sees no growth, so the layer is not counted twice. */
static int read_cache(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    const struct graft_self_attention_args *args = hooked->args;
    const struct graft_batch *batch = args->batch;
    struct reading *reading = data;
    (void)error;
    if (batch->cache == NULL) { /* an encoder has no cache to read */
        return GRAFT_OK;
    }
    const int64_t kept = graft_kv_cache_token_bytes(batch->cache->kv, batch->slots[0]);
    reading->bytes += (double)(kept - reading->kept) * mean_seen(reading, graft_mask_before(args->mask) + 1);
    reading->kept = kept;
    return GRAFT_OK;
}

static int measure_cache(struct graft_model *model, int64_t first, int64_t last, double *bytes,
                         struct graft_error *error) {
    struct reading reading = {.first = first, .last = last};
    const struct graft_forward_hooks hooks = {attends, NULL, read_cache, &reading};
    int64_t kept = 0;
    if (first < 1 || last < first) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "tokens %lld to %lld of a sequence",
                               (long long)first, (long long)last);
    }
    int status = run_hooked(model, &hooks, &kept, error);
    *bytes = reading.bytes + (double)(kept - reading.kept) * mean_seen(&reading, GRAFT_MASK_UNLIMITED);
    return status;
}

int graft_model_cache_use(struct graft_model *model, int64_t first, int64_t last, double *bytes,
                          struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = measure_cache(model, first, last, bytes, error);
    (void)graft_context_enter(before);
    return status;
}
