/* SPDX-License-Identifier: Apache-2.0 */
/* The embedding of a token, normed. Layers learn positions from angles, and there are no types. */
#include "graft/describe.h"
#include "modernbert.h"

struct embeddings {
    struct graft_instance base;
    const struct graft_module *tok_embeddings;
    const struct graft_module *norm;
    int64_t hidden_size;
};

int modernbert_embeddings_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    struct modernbert_config *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)self;
    (void)args;
    int status = kept != NULL ? modernbert_read(config, kept, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg table_args[] = {graft_int_arg("num_embeddings", kept->sizes.vocab_size),
                                           graft_int_arg("embedding_dim", kept->sizes.hidden_size)};
    status = graft_describe_child(sink, "tok_embeddings", "Embedding", GRAFT_INTERFACE_EMBEDDING, table_args, 2, error);
    return status == GRAFT_OK ? modernbert_describe_norm(kept, "norm", sink, error) : status;
}

int modernbert_embeddings_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct modernbert_config *kept = build->kept;
    (void)cls;
    struct embeddings *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->sizes.hidden_size;
    self->tok_embeddings = graft_build_child(build, "tok_embeddings", error);
    self->norm = graft_build_child(build, "norm", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_input_embeddings_args *args,
                   struct graft_error *error) {
    const struct embeddings *self = instance;
    int64_t tokens = args->batch->tokens;
    float *embedded = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_embedding_args table_args = {sizeof table_args, 0, tokens, args->input_ids, embedded};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, embedded, NULL, args->output};
    if (embedded == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_embedding_forward(self->tok_embeddings, call, &table_args, error);
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_input_embeddings modernbert_embeddings_vtable = {
    .struct_size = sizeof modernbert_embeddings_vtable,
    .forward = forward,
};
