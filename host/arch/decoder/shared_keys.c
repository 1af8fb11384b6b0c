/* SPDX-License-Identifier: Apache-2.0 */
/* Attention that shares keys and values: those of an earlier layer, which stored them for later ones; and keys that are
 * values as well. */
#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"

void graft_attention_read_sharing(struct graft_reader *reader, struct graft_attention_kept *kept) {
    const struct graft_description *description = reader->description;
    const int is_plain = !kept->qkv_joined && graft_description_name(description, D_QKV) == NULL &&
                         kept->gate != D_GATE_QUERY && !kept->differential &&
                         graft_description_name(description, D_KEY_WEIGHTS) == NULL;
    kept->value_is_key = graft_read_bool(reader, D_VALUE_IS_KEY);
    if (reader->status == GRAFT_OK && kept->value_is_key && kept->value_dim != kept->sizes.head_dim) {
        graft_reader_fail(reader, D_VALUE_DIM, "expected attention.head_dim (%lld), as values are keys, got %lld",
                          (long long)kept->sizes.head_dim, (long long)kept->value_dim);
    }
    if (reader->status == GRAFT_OK && !is_plain && (kept->value_is_key || kept->kv_layer >= 0)) {
        graft_reader_fail(reader, kept->value_is_key ? D_VALUE_IS_KEY : D_SHARED_LAYERS,
                          "not supported with joined projections, key weights or differential attention");
    }
}

int graft_attention_borrow(const struct graft_attention *self, const struct graft_self_attention_args *args,
                           struct graft_projected *out, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    if (!GRAFT_HAS(args, struct graft_self_attention_args, shared_keys) || args->shared_keys == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, self->base.path, "layer %d has left no keys",
                               (int)self->kept.kv_layer);
    }
    out->k = (struct graft_heads){args->shared_keys->keys, sizes->kv_heads * sizes->head_dim, sizes->head_dim};
    out->v =
        (struct graft_heads){args->shared_keys->values, sizes->kv_heads * self->kept.value_dim, self->kept.value_dim};
    return GRAFT_OK;
}

void graft_attention_leave(const struct graft_attention *self, const struct graft_self_attention_args *args,
                           const struct graft_projected *x) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    const int is_asked = GRAFT_HAS(args, struct graft_self_attention_args, shared_keys) && args->shared_keys != NULL;
    if (is_asked && self->kept.kv_layer == sizes->layer) {
        const int64_t tokens = args->batch->tokens;
        graft_attention_copy(&x->k, tokens, sizes->kv_heads, sizes->head_dim, args->shared_keys->keys);
        graft_attention_copy(&x->v, tokens, sizes->kv_heads, self->kept.value_dim, args->shared_keys->values);
    }
}
