/* SPDX-License-Identifier: Apache-2.0 */
/* The way to attention: checks, appends to the cache, and runs the implementation that the call names. */
#include "kernels/attention.h"

#include "kernels/cache.h"
#include "kernels/table.h"

static int check_args(const struct graft_attention_args *args, struct graft_error *error) {
    const struct graft_mask *mask = args->mask;
    if (args->required_features != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "",
                               "attention requires features 0x%x, but this host supports none",
                               (unsigned)args->required_features);
    }
    if (args->heads <= 0 || args->kv_heads <= 0 || args->heads % args->kv_heads != 0 || args->head_dim <= 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "attention with %lld heads of %lld numbers and %lld key/value heads",
                               (long long)args->heads, (long long)args->head_dim, (long long)args->kv_heads);
    }
    if (mask->kind < GRAFT_MASK_NONE || mask->kind > GRAFT_MASK_DENSE ||
        (mask->kind == GRAFT_MASK_SLIDING && mask->window <= 0) ||
        (mask->kind == GRAFT_MASK_DENSE && mask->bias == NULL)) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "attention with a mask of kind %d and window %lld",
                               (int)mask->kind, (long long)mask->window);
    }
    return GRAFT_OK;
}

/* An implementation that does not obey this kind of mask would show tokens what they must not see. */
static int check_mask(const struct graft_attention_implementation *chosen, const struct graft_mask *mask,
                      struct graft_error *error) {
    static const char *const kinds[] = {"none", "causal", "sliding window", "dense"};
    if ((chosen->masks & 1u << mask->kind) != 0) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, chosen->name,
                          "this attention implementation does not support the mask \"%s\", which the model needs",
                          kinds[mask->kind]);
    graft_error_hint(error, "choose another attention implementation");
    return GRAFT_ERROR_PLUGIN;
}

/* Finds the keys and values of one sequence: in the cache, where its new ones are appended, or in the arguments. */
static int find_keys(const struct graft_attention_args *args, int32_t index, struct graft_attention_sequence *sequence,
                     struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    int64_t first = batch->cu_seqlens[index];
    int64_t tokens = batch->cu_seqlens[index + 1] - first;
    const float *k = args->k + first * args->k_stride;
    const float *v = args->v + first * args->v_stride;
    struct graft_kv_view view = {{k, args->head_dim, args->k_stride}, {v, args->head_dim, args->v_stride}, tokens};
    int status = GRAFT_OK;
    if (batch->cache != NULL && tokens > 0) {
        struct graft_kv_new added = {
            k, v, args->k_stride, args->v_stride, tokens, args->kv_heads, args->head_dim, batch->positions[first]};
        status = graft_kv_cache_append(batch->cache->kv, args->layer, batch->slots[index], &added, &view, error);
    }
    *sequence = (struct graft_attention_sequence){
        .struct_size = sizeof *sequence,
        .first_token = first,
        .tokens = tokens,
        .past = view.length - tokens,
        .length = view.length,
        .keys = view.keys.data,
        .key_head_stride = view.keys.head_stride,
        .key_row_stride = view.keys.row_stride,
        .values = view.values.data,
        .value_head_stride = view.values.head_stride,
        .value_row_stride = view.values.row_stride,
    };
    return status;
}

static struct graft_attention_input input_of(const struct graft_attention_args *args,
                                             const struct graft_attention_sequence *sequences) {
    return (struct graft_attention_input){
        .struct_size = sizeof(struct graft_attention_input),
        .layer = args->layer,
        .mask = args->mask,
        .heads = args->heads,
        .kv_heads = args->kv_heads,
        .head_dim = args->head_dim,
        .scaling = args->scaling,
        .n_sequences = args->batch->sequences,
        .q = args->q,
        .q_stride = args->q_stride,
        .output = args->output,
        .output_stride = args->output_stride,
        .sequences = sequences,
        .sequence_stride = sizeof *sequences,
        .required_features = args->required_features,
    };
}

static int run(const struct graft_call *call, const struct graft_attention_implementation *chosen,
               const struct graft_attention_args *args, struct graft_error *error) {
    int32_t n = args->batch->sequences;
    struct graft_attention_sequence *sequences =
        (struct graft_attention_sequence *)call->scratch_alloc(call->scratch, n * (int64_t)sizeof *sequences);
    int status = GRAFT_OK;
    if (sequences == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t s = 0; s < n && status == GRAFT_OK; s++) {
        status = find_keys(args, s, &sequences[s], error);
    }
    const struct graft_attention_input input = input_of(args, sequences);
    if (status == GRAFT_OK && (status = chosen->forward(chosen, call, &input, error)) != GRAFT_OK) {
        status = graft_error_complete(error, status, NULL,
                                      "the attention implementation %s failed with status %d and recorded no error",
                                      chosen->name, status);
    }
    return status;
}

int graft_attention(const struct graft_call *call, const struct graft_attention_args *args, struct graft_error *error) {
    const struct graft_attention_implementation *chosen =
        call->attention != NULL ? call->attention : &graft_attention_sdpa;
    int status = check_args(args, error);
    if (status == GRAFT_OK) {
        status = check_mask(chosen, args->mask, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t mark = call->scratch_mark(call->scratch);
    status = run(call, chosen, args, error);
    call->scratch_release(call->scratch, mark);
    return status;
}

int64_t graft_attention_work(const struct graft_attention_input *input) {
    int64_t multiplications = 0;
    for (int32_t s = 0; s < input->n_sequences; s++) {
        const struct graft_attention_sequence *sequence = graft_attention_sequence_at(input, s);
        multiplications += sequence->tokens * sequence->length * input->heads * input->head_dim;
    }
    return multiplications;
}
