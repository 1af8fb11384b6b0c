/* SPDX-License-Identifier: Apache-2.0 */
/* A Linear and, beside its product, what each adapter adds to it; or a Linear that an adapter stores whole. With the
 * option `merge` the pair of a single adapter is added to the weights, and there is one product as before. */
#include <stdlib.h>

#include "adapters.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "lora.h"
#include "merge.h"

struct lora_linear {
    const struct graft_module *linear; /* the original, or the adapter's */
    const struct graft_module **pairs; /* [n_pairs] */
    int32_t n_pairs;
    int64_t out_features;
    struct lora_merged merged; /* takes the place of both, unless it is empty */
};

static int32_t merging;
static const struct graft_threads *threads;

void lora_set_merging(int32_t merges, const struct graft_threads *given) {
    merging = merges;
    threads = given;
}

static int describe_part(const struct graft_sink *sink, const struct lora_adapter *adapter,
                         const struct graft_args *given, struct graft_error *error) {
    const struct graft_arg args[] = {
        graft_int_arg("in_features", graft_args_int(given, "in_features", 0)),
        graft_int_arg("out_features", graft_args_int(given, "out_features", 0)),
        graft_int_arg("bias", adapter->kind == LORA_WHOLE ? graft_args_int(given, "bias", 1) : 0),
        graft_int_arg("rank", adapter->rank),
        graft_real_arg("factor", adapter->factor),
    };
    return adapter->kind == LORA_WHOLE
               ? graft_describe_child(sink, adapter->child, "Linear", GRAFT_INTERFACE_LINEAR, args, 3, error)
               : graft_describe_child(sink, adapter->child, lora_pair_class.name, GRAFT_INTERFACE_LINEAR, args, 5,
                                      error);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int status = GRAFT_OK;
    int32_t n_whole = 0;
    (void)cls;
    for (int64_t i = 0; i < lora_count(config) && status == GRAFT_OK; i++) {
        struct lora_adapter adapter;
        status = lora_read(config, sink, i, &adapter, error);
        if (status == GRAFT_OK && (adapter.kind == LORA_PAIR || adapter.kind == LORA_WHOLE)) {
            status = describe_part(sink, &adapter, args, error);
        }
        n_whole += adapter.kind == LORA_WHOLE;
        if (status == GRAFT_OK && n_whole > 1) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                                     "two adapters store this module whole (modules_to_save): load one of them");
        }
    }
    return status;
}

static int merge(struct lora_linear *self, const char *path, struct graft_error *error) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    struct graft_product original, a, b;
    float factor;
    return graft_linear_as_product(self->linear, &none, &original) &&
                   lora_pair_products(self->pairs[0], &a, &b, &factor)
               ? lora_merge(&original, &a, &b, factor, threads, path, &self->merged, error)
               : GRAFT_OK;
}

static void destroy(void *instance) {
    struct lora_linear *self = instance;
    free(self->merged.data);
    free(self->pairs);
    free(self);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int64_t n = lora_count(build->config);
    struct lora_linear *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL || (self->pairs = calloc((size_t)n, sizeof *self->pairs)) == NULL) {
        free(self);
        return graft_fail_memory(error, build->path);
    }
    self->linear = build->super;
    self->out_features = graft_args_int(build->args, "out_features", 0);
    for (int64_t i = 0; i < n; i++) {
        char name[LORA_CHILD_NAME];
        lora_child_name(build->config, i, name);
        const struct graft_module *part = build->child(build->data, name);
        if (part != NULL && strcmp(part->class_name, lora_pair_class.name) == 0) {
            self->pairs[self->n_pairs++] = part;
        } else if (part != NULL) {
            self->linear = part;
        }
    }
    int status = merging && n == 1 && self->n_pairs == 1 ? merge(self, build->path, error) : GRAFT_OK;
    if (status != GRAFT_OK) {
        destroy(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct lora_linear *self = instance;
    const struct graft_weight *weight = &self->merged.weight;
    if (weight->rows == 0) {
        return self->n_pairs == 0 ? graft_linear_as_product(self->linear, args, product) : 0;
    }
    const struct graft_product value = {
        .struct_size = sizeof value,
        .weight = weight,
        .bias = self->merged.bias,
        .rows = weight->rows,
        .x = args->x,
        .x_stride = weight->columns,
        .tokens = args->tokens,
        .y = args->y,
        .y_stride = weight->rows,
    };
    graft_struct_copy(product, product->struct_size, &value);
    return 1;
}

/* The product of the original and, added to it, those of the pairs. */
static int add_pairs(const struct lora_linear *self, const struct graft_call *call,
                     const struct graft_linear_args *args, struct graft_error *error) {
    struct graft_linear_args added = *args;
    int status = graft_linear_forward(self->linear, call, args, error);
    if (status != GRAFT_OK || self->n_pairs == 0) {
        return status;
    }
    added.y = graft_scratch_floats(call, args->tokens, self->out_features, error);
    status = added.y != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (int32_t i = 0; i < self->n_pairs && status == GRAFT_OK; i++) {
        status = graft_linear_forward(self->pairs[i], call, &added, error);
        if (status == GRAFT_OK) {
            status = call->kernels->add(call, args->y, added.y, args->tokens * self->out_features, error);
        }
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    struct graft_product product = {.struct_size = sizeof product};
    return as_product(instance, args, &product) ? call->kernels->linear(call, &product, 1, sizeof product, error)
                                                : add_pairs(instance, call, args, error);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward, .as_product = as_product};

const struct graft_class lora_linear_class = {
    .struct_size = sizeof lora_linear_class,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "LoraLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};
