/* SPDX-License-Identifier: Apache-2.0 */
/* A Linear and, beside its product, what each adapter adds to it; or a Linear that an adapter stores whole. With the
 * option `merge` the pair of a single adapter is added to the weights, and there is one product as before. */
#include <stdlib.h>

#include "adapters.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "lora.h"
#include "merge.h"
#include "rows.h"

/* What an adapter has for the module. */
struct part {
    const struct graft_module *module;
    int32_t adapter;
    int64_t rank;     /* of a pair */
    int32_t is_whole; /* takes the place of the original, on the rows that the adapter takes effect on */
};

struct lora_linear {
    const struct graft_module *original;
    struct part *parts; /* [n_parts]: one that is whole goes first */
    int32_t n_parts;
    int64_t sizes[2];          /* in_features and out_features */
    struct lora_merged merged; /* takes the place of all, unless it is empty */
};

static int32_t merging;
static const struct graft_threads *threads;

void lora_set_merging(int32_t merges, const struct graft_threads *given) {
    merging = merges;
    threads = given;
}

static int merges(const struct graft_config *config) {
    return merging && lora_count(config) == 1;
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
        status = lora_read(config, sink, i, NULL, &adapter, error);
        if (status == GRAFT_OK && (adapter.kind == LORA_PAIR || adapter.kind == LORA_WHOLE)) {
            status = describe_part(sink, &adapter, args, error);
        }
        n_whole += adapter.kind == LORA_WHOLE;
        if (status == GRAFT_OK && n_whole > 1) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                                     "two adapters store this module whole (modules_to_save): load one of them");
        }
    }
    return status == GRAFT_OK && !merges(config) ? lora_describe_by_row(sink, error) : status;
}

static int merge(struct lora_linear *self, const char *path, struct graft_error *error) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    struct graft_product original, a, b;
    float factor;
    return graft_linear_as_product(self->original, &none, &original) &&
                   lora_pair_products(self->parts[0].module, &a, &b, &factor)
               ? lora_merge(&original, &a, &b, factor, threads, path, &self->merged, error)
               : GRAFT_OK;
}

static void destroy(void *instance) {
    struct lora_linear *self = instance;
    free(self->merged.data);
    free(self->parts);
    free(self);
}

static void add_part(struct lora_linear *self, const struct graft_module *module, int32_t adapter) {
    struct part *part = &self->parts[self->n_parts++];
    *part = (struct part){
        .module = module, .adapter = adapter, .is_whole = strcmp(module->class_name, lora_pair_class.name) != 0};
    part->rank = part->is_whole ? 0 : lora_pair_rank(module);
    if (part->is_whole) {
        struct part first = self->parts[0];
        self->parts[0] = *part;
        *part = first;
    }
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int64_t n = lora_count(build->config);
    struct lora_linear *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL || (self->parts = calloc((size_t)n, sizeof *self->parts)) == NULL) {
        free(self);
        return graft_fail_memory(error, build->path);
    }
    self->original = build->super;
    self->sizes[0] = graft_args_int(build->args, "in_features", 0);
    self->sizes[1] = graft_args_int(build->args, "out_features", 0);
    for (int64_t i = 0; i < n; i++) {
        char name[LORA_CHILD_NAME];
        lora_child_name(build->config, i, NULL, name);
        const struct graft_module *module = build->child(build->data, name);
        if (module != NULL) {
            add_part(self, module, (int32_t)i);
        }
    }
    int status = merges(build->config) && self->n_parts == 1 && !self->parts[0].is_whole
                     ? merge(self, build->path, error)
                     : GRAFT_OK;
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
        return 0;
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

/* The product of the original, unless all rows have another in its place, and what the parts make of it. */
static int run_parts(const struct lora_linear *self, const struct graft_call *call,
                     const struct graft_linear_args *args, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < self->n_parts && status == GRAFT_OK; i++) {
        const struct part *part = &self->parts[i];
        struct lora_rows rows;
        status = lora_rows_of(call, args->tokens, part->adapter, &rows, error);
        if (status == GRAFT_OK && i == 0 && !(part->is_whole && rows.n == args->tokens)) {
            status = graft_linear_forward(self->original, call, args, error);
        }
        if (status == GRAFT_OK && rows.n > 0) {
            status = lora_rows_run(&rows, call, part->module, args, self->sizes, !part->is_whole, error);
        }
    }
    return status;
}

/* The products of the original and of each lora_A in one go, as it is for a few tokens; `*done` tells whether it was.
 */
static int run_together(const struct lora_linear *self, const struct graft_call *call,
                        const struct graft_linear_args *args, int *done, struct graft_error *error) {
    struct graft_product products[GRAFT_LINEAR_ALL];
    struct graft_linear_args first = {.struct_size = sizeof first, .tokens = args->tokens, .x = args->x};
    float *narrow[GRAFT_LINEAR_ALL];
    int32_t n = self->n_parts;
    *done = 0;
    if (lora_chooses_rows(call) || n >= GRAFT_LINEAR_ALL ||
        !graft_linear_as_product(self->original, args, &products[n])) {
        return GRAFT_OK;
    }
    for (int32_t i = 0; i < n; i++) {
        const struct part *part = &self->parts[i];
        narrow[i] = first.y = graft_scratch_floats(call, args->tokens, part->rank, error);
        if (narrow[i] == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        if (part->is_whole || !lora_pair_first(part->module, &first, &products[i])) {
            return GRAFT_OK;
        }
    }
    int status = call->kernels->linear(call, products, n + 1, sizeof products[0], error);
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        lora_pair_add(self->parts[i].module, narrow[i], args->tokens, args->y);
    }
    *done = 1;
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    struct graft_product product = {.struct_size = sizeof product};
    int done = 0;
    if (as_product(instance, args, &product)) {
        return call->kernels->linear(call, &product, 1, sizeof product, error);
    }
    int status = run_together(instance, call, args, &done, error);
    return status == GRAFT_OK && !done ? run_parts(instance, call, args, error) : status;
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
