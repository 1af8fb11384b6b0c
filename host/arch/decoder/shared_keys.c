/* SPDX-License-Identifier: Apache-2.0 */
/* Attention that shares keys and values: those of an earlier layer, which stored them for later ones; and keys that are
 * values as well. */
#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"

void graft_attention_read_sharing(struct graft_reader *reader, struct graft_attention *self) {
    const struct graft_description *description = reader->description;
    const int is_plain = !self->qkv_joined && graft_description_name(description, D_QKV) == NULL &&
                         self->gate_kind != D_GATE_QUERY && !self->differential &&
                         graft_description_name(description, D_KEY_WEIGHTS) == NULL;
    self->value_is_key = graft_read_bool(reader, D_VALUE_IS_KEY);
    if (reader->status == GRAFT_OK && self->value_is_key && self->value_dim != self->sizes.head_dim) {
        graft_reader_fail(reader, D_VALUE_DIM, "expected attention.head_dim (%lld), as values are keys, got %lld",
                          (long long)self->sizes.head_dim, (long long)self->value_dim);
    }
    if (reader->status == GRAFT_OK && !is_plain && (self->value_is_key || self->kv_layer >= 0)) {
        graft_reader_fail(reader, self->value_is_key ? D_VALUE_IS_KEY : D_SHARED_LAYERS,
                          "not supported with joined projections, key weights or differential attention");
    }
}

void graft_attention_borrow(const struct graft_attention *self, const struct graft_pass *pass,
                            const struct graft_self_attention_args *args, struct graft_projected *out) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    if (!GRAFT_HAS(args, struct graft_self_attention_args, shared_keys) || args->shared_keys == NULL) {
        (void)graft_error_set(pass->error, GRAFT_ERROR_INTERNAL, self->base.path, "layer %d has left no keys",
                              (int)self->kv_layer);
        return;
    }
    out->k = graft_heads_packed(args->shared_keys->keys, sizes->kv_heads, sizes->head_dim);
    out->v = graft_heads_packed(args->shared_keys->values, sizes->kv_heads, self->value_dim);
}

void graft_attention_leave(const struct graft_attention *self, const struct graft_pass *pass,
                           const struct graft_self_attention_args *args, const struct graft_projected *x) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int is_asked = GRAFT_HAS(args, struct graft_self_attention_args, shared_keys) && args->shared_keys != NULL;
    if (is_asked && self->kv_layer == sizes->layer) {
        (void)graft_heads_copy(pass, &x->k, sizes->kv_heads, sizes->head_dim, args->shared_keys->keys);
        (void)graft_heads_copy(pass, &x->v, sizes->kv_heads, self->value_dim, args->shared_keys->values);
    }
}
