/* SPDX-License-Identifier: Apache-2.0 */
/* LoraEmbeddingPair: factor * B A[:, id], with lora_embedding_A [rank, num_embeddings] and lora_embedding_B
 * [embedding_dim, rank], which PEFT stores without ".weight". */
#include <stdlib.h>

#include "graft/describe.h"
#include "lora.h"
#include "stored.h"

struct pair {
    const struct graft_module *a; /* an Embedding [num_embeddings, rank] */
    const struct graft_module *b; /* a Linear [embedding_dim, rank] */
    int64_t rank;
    int64_t embedding_dim;
    float factor;
};

static int describe_embedding(const struct graft_sink *sink, const char *name, int64_t num_embeddings,
                              int64_t embedding_dim, struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("num_embeddings", num_embeddings),
                                     graft_int_arg("embedding_dim", embedding_dim)};
    return graft_describe_child(sink, name, "Embedding", GRAFT_INTERFACE_EMBEDDING, args, 2, error);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t num_embeddings = graft_args_int(args, "num_embeddings", 0);
    int64_t embedding_dim = graft_args_int(args, "embedding_dim", 0), rank = graft_args_int(args, "rank", 0);
    (void)cls;
    (void)config;
    describe_embedding(sink, "lora_embedding_A", num_embeddings, rank, error);
    graft_describe_linear(sink, "lora_embedding_B", rank, embedding_dim, 0, error);
    lora_describe_stored(sink, "lora_embedding_A", "lora_embedding_A.weight", 1, error);
    lora_describe_stored(sink, "lora_embedding_B", "lora_embedding_B.weight", 0, error);
    return error->code;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    const struct graft_module *a = graft_build_child(build, "lora_embedding_A", error);
    const struct graft_module *b = graft_build_child(build, "lora_embedding_B", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    struct pair *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct pair){a, b, graft_args_int(build->args, "rank", 0), graft_args_int(build->args, "embedding_dim", 0),
                          (float)graft_args_real(build->args, "factor", 1.0)};
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                   struct graft_error *error) {
    const struct pair *self = instance;
    float *narrow = graft_scratch_floats(call, args->tokens, self->rank, error); /* [tokens, rank] */
    if (narrow == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_embedding_args first = {
        .struct_size = sizeof first, .tokens = args->tokens, .ids = args->ids, .output = narrow};
    struct graft_linear_args second = {
        .struct_size = sizeof second, .tokens = args->tokens, .x = narrow, .y = args->output};
    int status = graft_embedding_forward(self->a, call, &first, error);
    for (int64_t i = 0; status == GRAFT_OK && i < args->tokens * self->rank; i++) {
        narrow[i] *= self->factor;
    }
    return status == GRAFT_OK ? graft_linear_forward(self->b, call, &second, error) : status;
}

static const struct graft_embedding vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_embedding_pair_class = {
    .struct_size = sizeof lora_embedding_pair_class,
    .name = "LoraEmbeddingPair",
    .interface_id = GRAFT_INTERFACE_EMBEDDING,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
};
