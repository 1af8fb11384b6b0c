/* SPDX-License-Identifier: Apache-2.0 */
/* What a model uses of what can be chosen by name. */
#include "library/library.h"

#include "kernels/attention.h"

int graft_model_choose_implementations(struct graft_model *model, const struct graft_model_options *options,
                                       struct graft_snapshot **snapshot, struct graft_error *error) {
    static const struct graft_model_options none = {.struct_size = sizeof none};
    const struct graft_model_options *chosen =
        options != NULL && GRAFT_HAS(options, struct graft_model_options, n_kernels) ? options : &none;
    const char *attention =
        chosen->attn_implementation != NULL ? chosen->attn_implementation : graft_attention_sdpa.name;
    const char *experts = chosen->experts_implementation != NULL ? chosen->experts_implementation
                                                                 : graft_experts_implementations()[0]->name;
    struct graft_snapshot *made = NULL;
    int status = graft_snapshot_implementation(*snapshot, GRAFT_IMPLEMENTATION_ATTENTION, attention,
                                               "attn_implementation", &model->attention, error);
    if (status == GRAFT_OK) {
        status = graft_snapshot_implementation(*snapshot, GRAFT_IMPLEMENTATION_EXPERTS, experts,
                                               "experts_implementation", &model->experts, error);
    }
    model->attention_now = status == GRAFT_OK ? model->attention->declared : NULL;
    if (status == GRAFT_OK && chosen->n_kernels > 0) {
        status = graft_snapshot_with_kernels(*snapshot, chosen->kernels, (size_t)chosen->n_kernels, &made, error);
    }
    if (status == GRAFT_OK && made != NULL) {
        graft_snapshot_release(*snapshot);
        *snapshot = made;
    }
    return status;
}

int graft_model_session(const struct graft_model *model, int32_t slots, struct graft_session **session,
                        struct graft_error *error) {
    int status = graft_session_create(model->head, model->vocab_size, model->precision, slots, session, error);
    if (status == GRAFT_OK) {
        graft_session_use(*session, model->attention_now, model->experts->declared);
    }
    return status;
}
