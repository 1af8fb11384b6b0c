/* SPDX-License-Identifier: Apache-2.0 */
/* graft_attention: checks the arguments, appends to the cache, and calls the implementation that the call names. */
#include "kernels/attention.h"

#include <math.h>

#include "base/crash_context.h"
#include "kernels/attention_block.h"
#include "kernels/cache.h"
#include "kernels/loops.h"
#include "kernels/table.h"

enum { GRAFT_MAX_REACH = 1 << 20 };

static int64_t value_dim(const struct graft_attention_args *args) {
    return args->v_head_dim != 0 ? args->v_head_dim : args->head_dim;
}

static int is_mask(const struct graft_mask *mask) {
    switch (mask->kind) {
    case GRAFT_MASK_SLIDING:
    case GRAFT_MASK_CHUNKED:
        return mask->window > 0 && mask->window <= GRAFT_MASK_UNLIMITED;
    case GRAFT_MASK_DENSE:
    case GRAFT_MASK_BY_HEAD:
        return mask->bias != NULL;
    case GRAFT_MASK_WINDOW:
        return mask->left >= 0 && mask->left <= GRAFT_MASK_UNLIMITED && mask->right >= 0 &&
               mask->right <= GRAFT_MASK_UNLIMITED;
    default:
        return mask->kind == GRAFT_MASK_NONE || mask->kind == GRAFT_MASK_CAUSAL;
    }
}

/* Whether the mask has biases by distance. Callers built with older headers pass a shorter struct. */
static int has_relative(const struct graft_mask *mask) {
    return GRAFT_HAS(mask, struct graft_mask, reach) && mask->relative != NULL;
}

/* Whether this is cross-attention: keys and values are those of a source, and every query sees all of them. */
static int is_cross(const struct graft_attention_args *args) {
    return GRAFT_HAS(args, struct graft_attention_args, cross) && args->cross != 0;
}

/* Whether keys and values are in the cache already. */
static int is_shared(const struct graft_attention_args *args) {
    return GRAFT_HAS(args, struct graft_attention_args, shared) && args->shared != 0;
}

static int check_args(const struct graft_attention_args *args, struct graft_error *error) {
    const struct graft_mask *mask = args->mask;
    int64_t v_head_dim = value_dim(args);
    const struct graft_attention_latents *latents = args->latents;
    if (args->required_features != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "",
                               "attention requires features 0x%x, but this host supports none",
                               (unsigned)args->required_features);
    }
    if (args->heads <= 0 || args->kv_heads <= 0 || args->heads % args->kv_heads != 0 || args->head_dim <= 0 ||
        v_head_dim <= 0 || (args->v == NULL && latents == NULL && v_head_dim > args->head_dim) ||
        (latents != NULL && latents->width <= 0)) {
        return graft_error_set(
            error, GRAFT_ERROR_INTERNAL, "",
            "attention cannot be computed with %lld heads of %lld numbers and %lld key/value heads, values of %lld",
            (long long)args->heads, (long long)args->head_dim, (long long)args->kv_heads, (long long)v_head_dim);
    }
    if (!(args->softcap >= 0.0f && args->softcap < INFINITY)) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "attention: expected a softcap that is finite and at least 0, got %g",
                               (double)args->softcap);
    }
    if (!is_mask(mask)) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "attention cannot be computed with a mask of kind %d and window %lld, or %lld and %lld",
                               (int)mask->kind, (long long)mask->window, (long long)mask->left, (long long)mask->right);
    }
    if ((has_relative(mask) && (mask->reach < 0 || mask->reach > GRAFT_MAX_REACH)) ||
        (is_cross(args) && (mask->kind != GRAFT_MASK_NONE || latents != NULL))) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "attention cannot be computed with biases of %lld distances, or to a source with a mask "
                               "of kind %d",
                               (long long)mask->reach, (int)mask->kind);
    }
    return GRAFT_OK;
}

static int has_alibi(const struct graft_attention_args *args) {
    return GRAFT_HAS(args, struct graft_attention_args, alibi_rounded) && args->alibi != NULL;
}

/* The GRAFT_ATTENTION_... features that the arguments need. */
static uint32_t features_of(const struct graft_attention_args *args) {
    return (args->softcap != 0.0f ? (uint32_t)GRAFT_ATTENTION_SOFTCAP : 0) |
           (args->sinks != NULL ? (uint32_t)GRAFT_ATTENTION_SINKS : 0) |
           (value_dim(args) != args->head_dim ? (uint32_t)GRAFT_ATTENTION_V_HEAD_DIM : 0) |
           (has_alibi(args) ? (uint32_t)GRAFT_ATTENTION_ALIBI : 0) |
           (is_cross(args) ? (uint32_t)GRAFT_ATTENTION_CROSS : 0) |
           (has_relative(args->mask) ? (uint32_t)GRAFT_ATTENTION_RELATIVE : 0);
}

/* Checks that the implementation supports the mask and the features. Without the mask, tokens would see what they must
 * not; without a feature, the result would be wrong. */
static int check_chosen(const struct graft_attention_implementation *chosen, const struct graft_attention_args *args,
                        struct graft_error *error) {
    static const char *const masks[] = {"none", "causal", "sliding window", "dense", "window", "chunked", "by head"};
    static const char *const features[] = {
        "softcap", "sinks", "v_head_dim", "ALiBi", "attention to another text", "biases by distance"};
    uint32_t unknown = features_of(args) & ~chosen->features;
    const char *lacking = (chosen->masks & 1u << args->mask->kind) == 0 ? masks[args->mask->kind] : NULL;
    const char *what = "the mask";
    for (size_t i = 0; i < sizeof features / sizeof features[0] && lacking == NULL; i++) {
        what = "the feature";
        lacking = (unknown & 1u << i) != 0 ? features[i] : NULL;
    }
    if (lacking == NULL) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, chosen->name,
                          "this attention implementation does not support %s \"%s\", which the model needs", what,
                          lacking);
    graft_error_hint(error, "choose another attention implementation");
    return GRAFT_ERROR_PLUGIN;
}

static int64_t or_packed(int64_t head_stride, int64_t dim) {
    return head_stride != 0 ? head_stride : dim;
}

/* The keys and values, or latents, that the cache keeps for the batch's tokens from `first` on. */
static struct graft_kv_new kept_of(const struct graft_attention_args *args, int64_t first, int64_t tokens) {
    const struct graft_attention_latents *latents = args->latents;
    int64_t v_head_dim = value_dim(args);
    struct graft_kv_new kept = {.tokens = tokens, .kv_heads = args->kv_heads};
    if (latents != NULL) {
        kept.kv_heads = 1;
        kept.keys = (struct graft_kv_rows){latents->rows + first * latents->width, latents->width, 0, latents->width};
        kept.values = (struct graft_kv_rows){NULL, latents->width, 0, latents->width};
        return kept;
    }
    kept.keys = (struct graft_kv_rows){args->k + first * args->k_stride, args->head_dim,
                                       or_packed(args->k_head_stride, args->head_dim), args->k_stride};
    kept.values = (struct graft_kv_rows){args->v != NULL ? args->v + first * args->v_stride : NULL, v_head_dim,
                                         or_packed(args->v_head_stride, v_head_dim), args->v_stride};
    return kept;
}

/* Widens one array of a view to f32 in scratch memory; an f32 array is left as it is. */
static int widen_rows(const struct graft_call *call, const struct graft_kv_view *view, int64_t kv_heads,
                      struct graft_kv_rows *rows, struct graft_error *error) {
    int64_t head = view->length * rows->dim;
    float *wide = graft_scratch_floats(call, kv_heads, head, error);
    if (wide == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t h = 0; h < kv_heads; h++) {
        const struct graft_attention_rows stored = {(const uint16_t *)(const void *)rows->data + h * rows->head_stride,
                                                    rows->row_stride};
        (void)graft_attention_rows_as_f32(graft_loops_get(), &stored, view->dtype, view->length, rows->dim,
                                          wide + h * head);
    }
    *rows = (struct graft_kv_rows){wide, rows->dim, head, rows->dim};
    return GRAFT_OK;
}

static int widen_view(const struct graft_call *call, struct graft_kv_view *view, int64_t kv_heads,
                      struct graft_error *error) {
    int status = view->dtype != GRAFT_DTYPE_F32 ? widen_rows(call, view, kv_heads, &view->keys, error) : GRAFT_OK;
    if (status == GRAFT_OK && view->dtype != GRAFT_DTYPE_F32) {
        status = widen_rows(call, view, kv_heads, &view->values, error);
    }
    view->dtype = GRAFT_DTYPE_F32;
    return status;
}

/* Replaces a view of latents by one of keys and values, in scratch memory. */
static int expand(const struct graft_call *call, const struct graft_attention_args *args, struct graft_kv_view *view,
                  struct graft_error *error) {
    const struct graft_attention_latents *latents = args->latents;
    int64_t length = view->length;
    int64_t v_head_dim = value_dim(args);
    float *keys = graft_scratch_floats(call, args->kv_heads * length, args->head_dim, error);
    float *values = graft_scratch_floats(call, args->kv_heads * length, v_head_dim, error);
    if (keys == NULL || values == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int64_t mark = call->scratch_mark(call->scratch);
    int status = latents->expand(latents->instance, call, view->keys.data, length, keys, values, error);
    call->scratch_release(call->scratch, mark);
    view->keys = (struct graft_kv_rows){keys, args->head_dim, length * args->head_dim, args->head_dim};
    view->values = (struct graft_kv_rows){values, v_head_dim, length * v_head_dim, v_head_dim};
    return status;
}

/* Describes sequence `index` of the batch, with the keys and values in `view`. `past`, the number of earlier tokens, is
 * left 0 for the caller to set. */
static struct graft_attention_sequence sequence_of(const struct graft_batch *batch, int32_t index,
                                                   const struct graft_kv_view *view) {
    return (struct graft_attention_sequence){
        .struct_size = sizeof(struct graft_attention_sequence),
        .dtype = view->dtype,
        .first_token = batch->cu_seqlens[index],
        .tokens = batch->cu_seqlens[index + 1] - batch->cu_seqlens[index],
        .length = view->length,
        .keys = view->keys.data,
        .key_head_stride = view->keys.head_stride,
        .key_row_stride = view->keys.row_stride,
        .values = view->values.data,
        .value_head_stride = view->values.head_stride,
        .value_row_stride = view->values.row_stride,
    };
}

/* Finds the keys and values of a sequence's source, for cross-attention: those in the arguments, which the cache then
 * keeps, or those that it kept earlier. */
static int find_source(const struct graft_call *call, const struct graft_attention_args *args, int reads_bf16,
                       int32_t index, struct graft_attention_sequence *sequence, struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    const int64_t *ends = graft_batch_source_tokens(batch) > 0 ? batch->source_cu_seqlens : NULL;
    int64_t first = ends != NULL ? ends[index] : 0;
    int64_t tokens = ends != NULL ? ends[index + 1] - first : 0;
    struct graft_kv_new kept = kept_of(args, first, tokens);
    struct graft_kv_view view = {kept.keys, kept.values.data != NULL ? kept.values : kept.keys, tokens,
                                 GRAFT_DTYPE_F32};
    int status = GRAFT_OK;
    if (batch->cache != NULL) {
        status = graft_kv_cache_fix(batch->cache->kv, args->layer, batch->slots[index], &kept, &view, error);
    }
    if (status == GRAFT_OK && view.length == 0) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "attention: sequence %d has brought no source along",
                                 (int)index);
    }
    if (status == GRAFT_OK && !reads_bf16) {
        status = widen_view(call, &view, kept.kv_heads, error);
    }
    *sequence = sequence_of(batch, index, &view);
    return status;
}

/* The cache that holds the keys and values which a slot's layer shares. */
static struct graft_kv_cache *shared_cache(const struct graft_cache *cache, int32_t layer, int32_t slot) {
    const int is_held =
        layer < graft_kv_cache_layers(cache->kv) && graft_kv_cache_layer(cache->kv, layer, slot).kv_heads > 0;
    return !is_held && cache->lender != NULL ? cache->lender->kv : cache->kv;
}

/* Finds the keys and values of one sequence: in the cache, where its new ones are appended, or in the arguments. */
static int find_keys(const struct graft_call *call, const struct graft_attention_args *args, int reads_bf16,
                     int32_t index, struct graft_attention_sequence *sequence, struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    int64_t first = batch->cu_seqlens[index];
    int64_t tokens = batch->cu_seqlens[index + 1] - first;
    struct graft_kv_new kept = kept_of(args, first, tokens);
    struct graft_kv_view view = {kept.keys, kept.values.data != NULL ? kept.values : kept.keys, tokens,
                                 GRAFT_DTYPE_F32};
    int status = GRAFT_OK;
    if (batch->cache != NULL && tokens > 0) {
        struct graft_kv_cache *cache = batch->cache->kv;
        kept.position = batch->positions[first];
        if (is_shared(args)) {
            kept.position += tokens;
            kept.tokens = 0;
            cache = shared_cache(batch->cache, args->layer, batch->slots[index]);
        }
        status = graft_kv_cache_append(cache, args->layer, batch->slots[index], &kept, &view, error);
    }
    if (status == GRAFT_OK && (args->latents != NULL || !reads_bf16)) {
        status = widen_view(call, &view, kept.kv_heads, error);
    }
    if (status == GRAFT_OK && args->latents != NULL && tokens > 0) {
        status = expand(call, args, &view, error);
    }
    *sequence = sequence_of(batch, index, &view);
    sequence->past = view.length - tokens;
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
        .v_head_dim = value_dim(args),
        .scaling = args->scaling,
        .softcap = args->softcap,
        .sinks = args->sinks,
        .alibi = has_alibi(args) ? args->alibi : NULL,
        .alibi_rounded = has_alibi(args) && args->alibi_rounded,
        .cross = is_cross(args),
        .q = args->q,
        .q_stride = args->q_stride,
        .q_head_stride = or_packed(args->q_head_stride, args->head_dim),
        .output = args->output,
        .output_stride = args->output_stride,
        .n_sequences = args->batch->sequences,
        .sequence_stride = sizeof *sequences,
        .sequences = sequences,
        .required_features = features_of(args),
    };
}

static int run(const struct graft_call *call, const struct graft_attention_implementation *chosen,
               const struct graft_attention_args *args, struct graft_error *error) {
    int32_t n = args->batch->sequences;
    struct graft_attention_sequence *sequences =
        (struct graft_attention_sequence *)call->scratch_alloc(call->scratch, n * (int64_t)sizeof *sequences);
    int reads_bf16 = (chosen->flags & GRAFT_ATTENTION_READS_BF16) != 0;
    int status = GRAFT_OK;
    if (sequences == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t s = 0; s < n && status == GRAFT_OK; s++) {
        status = is_cross(args) ? find_source(call, args, reads_bf16, s, &sequences[s], error)
                                : find_keys(call, args, reads_bf16, s, &sequences[s], error);
    }
    const struct graft_attention_input input = input_of(args, sequences);
    if (status == GRAFT_OK) {
        const struct graft_module *module = graft_crash_context()->module;
        const struct graft_plugin_call task = {"forward", module != NULL ? module->path : NULL, chosen->name, NULL,
                                               NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        status = chosen->forward(chosen, call, &input, error);
        graft_crash_context_end(before);
        status = status == GRAFT_OK ? status
                                    : graft_error_complete(error, status, NULL,
                                                           "the attention implementation %s failed with status %d and "
                                                           "recorded no error",
                                                           chosen->name, status);
    }
    return status;
}

/* Refuses an implementation that a class chose instead of the one asked for, which would silently not run, or whose
 * attention weights would be missing from a recording. */
static int check_asked(const struct graft_call *call, const struct graft_attention_implementation *chosen,
                       struct graft_error *error) {
    const struct graft_attention_implementation *asked = call->asked_attention;
    if (asked == NULL || asked == chosen) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, chosen->name,
                          "a class runs this attention implementation in the place of %s, which was asked for",
                          asked->name);
    graft_error_hint(error, "run without the plugin that brings the class");
    return GRAFT_ERROR_PLUGIN;
}

int graft_attention(const struct graft_call *call, const struct graft_attention_args *args, struct graft_error *error) {
    const struct graft_attention_implementation *chosen =
        call->attention != NULL ? call->attention : &graft_attention_sdpa;
    int status = check_args(args, error);
    if (status == GRAFT_OK) {
        status = check_asked(call, chosen, error);
    }
    if (status == GRAFT_OK) {
        status = check_chosen(chosen, args, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t mark = call->scratch_mark(call->scratch);
    status = run(call, chosen, args, error);
    call->scratch_release(call->scratch, mark);
    return status;
}

void graft_attention_cap(const struct graft_loops *loops, const struct graft_attention_input *input, float *scores,
                         int64_t count) {
    if (input->softcap != 0.0f) {
        loops->scale(scores, 1.0f / input->softcap, count);
        loops->activate(GRAFT_ACTIVATION_TANH, scores, count, scores);
        loops->scale(scores, input->softcap, count);
    }
}

void graft_attention_add_alibi(const struct graft_attention_input *input, int64_t head, int64_t first_key, int64_t keys,
                               float *scores) {
    for (int64_t j = 0; j < keys && input->alibi != NULL; j++) {
        scores[j] += graft_attention_alibi(input, head, first_key + j);
    }
}

/* Keys `reach` or more positions before the query share one bias, and so do those that far after it. */
void graft_attention_add_relative(const struct graft_loops *loops, const struct graft_attention_input *input,
                                  int64_t head, int64_t position, int64_t first_key, int64_t keys, float *scores) {
    const struct graft_mask *mask = input->mask;
    if (!has_relative(mask)) {
        return;
    }
    const float *row = mask->relative + head * (2 * mask->reach + 1);
    int64_t near = position - mask->reach - first_key; /* the first key less than `reach` before the query */
    int64_t far = position + mask->reach + 1 - first_key;
    near = near < 0 ? 0 : near > keys ? keys : near;
    far = far < near ? near : far > keys ? keys : far;
    for (int64_t j = 0; j < near; j++) {
        scores[j] += row[0];
    }
    if (far > near) {
        loops->add_scaled(scores + near, 1.0f, row + mask->reach + first_key + near - position, far - near);
    }
    for (int64_t j = far; j < keys; j++) {
        scores[j] += row[2 * mask->reach];
    }
}

float graft_attention_factor(const struct graft_attention_input *input, int64_t head, float largest, float sum) {
    if (sum == 0.0f) {
        return 0.0f;
    }
    return 1.0f / (input->sinks != NULL ? sum + expf(input->sinks[head] - largest) : sum);
}

int64_t graft_attention_work(const struct graft_attention_input *input) {
    int64_t multiplications = 0;
    for (int32_t s = 0; s < input->n_sequences; s++) {
        const struct graft_attention_sequence *sequence = graft_attention_sequence_at(input, s);
        multiplications +=
            sequence->tokens * sequence->length * input->heads * (input->head_dim + input->v_head_dim) / 2;
    }
    return multiplications;
}
