/* SPDX-License-Identifier: Apache-2.0 */
/* LoraEmbedding: adds what adapters have for the rows of an Embedding, or uses an Embedding that an adapter stores
 * whole. */
#include <stdlib.h>

#include "adapters.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "lora.h"
#include "model_weight.h"
#include "rows.h"
#include "stored.h"

/* What an adapter has for the module. */
struct part {
    const struct graft_module *module;
    int32_t adapter;
    int32_t is_whole; /* it replaces the original, for the adapter's rows */
};

/* What `describe` keeps for `create`. */
struct description {
    int64_t whole;    /* index of the adapter that stores the module whole; -1: none */
    int64_t weight[]; /* of lora_describe_weight */
};

struct lora_embedding {
    const struct graft_module *original;
    struct part *parts; /* [n_parts]; parts that replace the original come first */
    int32_t n_parts;
    int64_t embedding_dim;
};

static int describe_part(const struct graft_sink *sink, const struct lora_adapter *adapter,
                         const struct graft_args *given, struct graft_error *error) {
    const struct graft_arg args[] = {
        graft_int_arg("num_embeddings", graft_args_int(given, "num_embeddings", 0)),
        graft_int_arg("embedding_dim", graft_args_int(given, "embedding_dim", 0)),
        graft_int_arg("rank", adapter->rank),
        graft_real_arg("factor", adapter->factor),
    };
    if (adapter->kind == LORA_EMBEDDING) {
        return graft_describe_child(sink, adapter->child, lora_embedding_pair_class.name, GRAFT_INTERFACE_EMBEDDING,
                                    args, 4, error);
    }
    graft_describe_child(sink, adapter->child, "Embedding", GRAFT_INTERFACE_EMBEDDING, args, 2, error);
    return lora_describe_whole(sink, adapter->child, error);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct lora_place itself = {.below = "", .path = sink->path};
    struct description *found = sink->keep(sink->data, (int64_t)sizeof *found + lora_weight_bytes(config, sink), error);
    (void)cls;
    if (found == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    found->whole = -1;
    for (int64_t i = 0; i < lora_count(config); i++) {
        struct lora_adapter adapter;
        lora_read(config, sink, i, &itself, &adapter, error);
        if (error->code != GRAFT_OK || (adapter.kind != LORA_EMBEDDING && adapter.kind != LORA_WHOLE)) {
            continue;
        }
        describe_part(sink, &adapter, args, error);
        if (adapter.kind == LORA_WHOLE && found->whole >= 0) {
            graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                            "two adapters store this module whole (modules_to_save): load one of them");
        }
        found->whole = adapter.kind == LORA_WHOLE ? i : found->whole;
    }
    lora_describe_weight(config, sink, found->weight, error);
    lora_describe_by_row(sink, error);
    return error->code;
}

static void add_part(struct lora_embedding *self, const struct graft_module *module, int32_t adapter, int is_whole) {
    struct part *part = &self->parts[self->n_parts++];
    *part = (struct part){module, adapter, is_whole};
    if (is_whole) {
        struct part first = self->parts[0];
        self->parts[0] = *part;
        *part = first;
    }
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int64_t n = lora_count(build->config);
    const struct description *found = build->kept;
    struct lora_embedding *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL || (self->parts = calloc((size_t)n + 1, sizeof *self->parts)) == NULL) {
        free(self);
        return graft_fail_memory(error, build->path);
    }
    self->original = build->super;
    self->embedding_dim = graft_args_int(build->args, "embedding_dim", 0);
    for (int64_t i = 0; i < n; i++) {
        char name[LORA_CHILD_NAME];
        lora_child_name(build->config, i, "", name);
        const struct graft_module *module = build->child(build->data, name);
        if (module != NULL) {
            add_part(self, module, (int32_t)i, i == found->whole);
        }
    }
    *instance = self;
    return GRAFT_OK;
}

static void destroy(void *instance) {
    struct lora_embedding *self = instance;
    free(self->parts);
    free(self);
}

/* Runs a part for the ids of its adapter: replaces their vectors, or adds to them. */
static int run_part(const struct lora_embedding *self, const struct graft_call *call, const struct part *part,
                    const struct lora_rows *rows, const struct graft_embedding_args *args, struct graft_error *error) {
    float *output = graft_scratch_floats(call, rows->n, self->embedding_dim, error);
    int32_t *ids = graft_scratch_ints(call, rows->n, error);
    if (output == NULL || ids == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < rows->n; i++) {
        ids[i] = args->ids[rows->index != NULL ? rows->index[i] : i];
    }
    const struct graft_embedding_args own = {
        .struct_size = sizeof own, .tokens = rows->n, .ids = ids, .output = output};
    int status = graft_embedding_forward(part->module, call, &own, error);
    if (status == GRAFT_OK) {
        lora_rows_put(rows, call, output, self->embedding_dim, self->embedding_dim, !part->is_whole, args->output);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                   struct graft_error *error) {
    const struct lora_embedding *self = instance;
    int status = graft_embedding_forward(self->original, call, args, error);
    for (int32_t i = 0; i < self->n_parts && status == GRAFT_OK; i++) {
        struct lora_rows rows;
        status = lora_rows_of(call, args->tokens, self->parts[i].adapter, &rows, error);
        if (status == GRAFT_OK && rows.n > 0) {
            status = run_part(self, call, &self->parts[i], &rows, args, error);
        }
    }
    return status;
}

static const struct graft_embedding vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_embedding_class = {
    .struct_size = sizeof lora_embedding_class,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "LoraEmbedding",
    .interface_id = GRAFT_INTERFACE_EMBEDDING,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};
