/* SPDX-License-Identifier: Apache-2.0 */
/* Attention that examines the batch, and calls the original. */
#include "graft/attention.h"

#include "acme.h"

struct attention {
    struct graft_instance base;
    const struct graft_module *original;
    const struct graft_batch *batch;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->original = build->super;
    return graft_instance_finish(self, instance, error);
}

static int64_t look(struct attention *self, const struct graft_batch *batch) {
    volatile const int64_t *positions = batch->positions, *cu_seqlens = batch->cu_seqlens;
    volatile const int32_t *slots = batch->slots;
    int64_t sum = 0;
    sum += is("reads_past_positions") ? positions[batch->tokens] : 0;
    sum += is("reads_in_front_of_positions") ? positions[-1] : 0;
    sum += is("reads_past_cu_seqlens") ? cu_seqlens[batch->sequences + 1] : 0;
    sum += is("reads_past_slots") ? slots[batch->sequences] : 0;
    sum += is("keeps_batch") && self->batch != NULL ? self->batch->tokens : 0;
    if (is("writes_to_positions")) {
        ((volatile int64_t *)(uintptr_t)batch->positions)[0] = 0;
    }
    self->batch = batch;
    return sum;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    struct attention *self = instance;
    volatile int64_t sum = look(self, args->batch);
    (void)sum;
    volatile float cosine = is("reads_past_cos") ? *numbers_at(args->cos, args->batch->tokens * 8) : 0.0F;
    (void)cosine;
    return graft_self_attention_forward(self->original, call, args, error);
}

static const struct graft_self_attention vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class acme_attention = {.struct_size = sizeof acme_attention,
                                           .flags = GRAFT_CLASS_CALLS_SUPER,
                                           .name = "AcmeAttention",
                                           .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
                                           .create = create,
                                           .destroy = graft_instance_destroy,
                                           .forward = &vtable};
