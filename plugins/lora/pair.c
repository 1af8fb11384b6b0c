/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factor * B (A x), the product of low rank (Hu et al. 2021): lora_A [rank, in], lora_B [out, rank]. For a few tokens
 * the second product is so small that waiting for other threads would take longer: it is done at once, from a copy of
 * lora_B whose rows are as long as the result.
 */
#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "lora.h"
#include "merge.h"

struct pair {
    const struct graft_module *a;
    const struct graft_module *b;
    int64_t rank;
    int64_t out_features;
    float factor;
    float *columns; /* [rank, out_features]: factor * lora_B, transposed; NULL: its numbers are not known */
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t rank = graft_args_int(args, "rank", 0);
    (void)cls;
    (void)config;
    int status = graft_describe_linear(sink, "lora_A", graft_args_int(args, "in_features", 0), rank, 0, error);
    return status == GRAFT_OK
               ? graft_describe_linear(sink, "lora_B", rank, graft_args_int(args, "out_features", 0), 0, error)
               : status;
}

static int read_columns(struct pair *self) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    struct graft_product b;
    if (!graft_linear_as_product(self->b, &none, &b) || !lora_are_floats(b.weight)) {
        return 0;
    }
    float *row = malloc((size_t)self->rank * sizeof *row);
    self->columns = malloc((size_t)(self->rank * self->out_features) * sizeof *self->columns);
    for (int64_t o = 0; row != NULL && self->columns != NULL && o < self->out_features; o++) {
        lora_read_row(b.weight, b.first_row + o, row);
        for (int64_t r = 0; r < self->rank; r++) {
            self->columns[r * self->out_features + o] = self->factor * row[r];
        }
    }
    int failed = row == NULL || self->columns == NULL;
    free(row);
    return failed ? -1 : 0;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int status = GRAFT_OK;
    (void)cls;
    const struct graft_module *a = graft_build_child(build, "lora_A", &status, error);
    const struct graft_module *b = graft_build_child(build, "lora_B", &status, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct pair *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct pair){.a = a,
                          .b = b,
                          .rank = graft_args_int(build->args, "rank", 0),
                          .out_features = graft_args_int(build->args, "out_features", 0),
                          .factor = (float)graft_args_real(build->args, "factor", 1.0)};
    if (read_columns(self) != 0) {
        free(self);
        return graft_fail_memory(error, build->path);
    }
    *instance = self;
    return GRAFT_OK;
}

static void destroy(void *instance) {
    struct pair *self = instance;
    free(self->columns);
    free(self);
}

int64_t lora_pair_rank(const struct graft_module *module) {
    return ((const struct pair *)module->instance)->rank;
}

int32_t lora_pair_first(const struct graft_module *module, const struct graft_linear_args *args,
                        struct graft_product *product) {
    const struct pair *self = module->instance;
    return args->tokens <= GRAFT_FEW_TOKENS && self->columns != NULL && graft_linear_as_product(self->a, args, product);
}

/* y [out] += B narrow [rank], summed up before it is added, as where the sum stands alone. */
static void add_row(const struct pair *self, const float *narrow, float *y) {
    enum { TOGETHER = 256 };
    for (int64_t first = 0; first < self->out_features; first += TOGETHER) {
        int64_t n = self->out_features - first < TOGETHER ? self->out_features - first : TOGETHER;
        float sums[TOGETHER] = {0};
        for (int64_t r = 0; r < self->rank; r++) {
            const float *column = self->columns + r * self->out_features + first;
            for (int64_t o = 0; o < n; o++) {
                sums[o] += narrow[r] * column[o];
            }
        }
        for (int64_t o = 0; o < n; o++) {
            y[first + o] += sums[o];
        }
    }
}

void lora_pair_add(const struct graft_module *module, const float *narrow, int64_t tokens, float *y) {
    const struct pair *self = module->instance;
    for (int64_t t = 0; t < tokens; t++) {
        add_row(self, narrow + t * self->rank, y + t * self->out_features);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct pair *self = instance;
    float *narrow = graft_scratch_floats(call, args->tokens, self->rank, error); /* [tokens, rank] */
    if (narrow == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_linear_args first = {.struct_size = sizeof first, .tokens = args->tokens, .x = args->x, .y = narrow};
    struct graft_linear_args second = {.struct_size = sizeof second, .tokens = args->tokens, .x = narrow, .y = args->y};
    struct graft_product unwatched; /* lora_B is one unless somebody counts its calls */
    int status = graft_linear_forward(self->a, call, &first, error);
    if (status == GRAFT_OK && args->tokens <= GRAFT_FEW_TOKENS && self->columns != NULL &&
        graft_linear_as_product(self->b, &second, &unwatched)) {
        const struct graft_module module = {.instance = instance};
        memset(args->y, 0, (size_t)(args->tokens * self->out_features) * sizeof(float));
        lora_pair_add(&module, narrow, args->tokens, args->y);
        return GRAFT_OK;
    }
    for (int64_t i = 0; status == GRAFT_OK && i < args->tokens * self->rank; i++) {
        narrow[i] *= self->factor;
    }
    return status == GRAFT_OK ? graft_linear_forward(self->b, call, &second, error) : status;
}

int lora_pair_products(const struct graft_module *module, struct graft_product *a, struct graft_product *b,
                       float *factor) {
    const struct pair *self = module->instance;
    const struct graft_linear_args none = {.struct_size = sizeof none};
    *factor = self->factor;
    return graft_linear_as_product(self->a, &none, a) && graft_linear_as_product(self->b, &none, b);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_pair_class = {
    .struct_size = sizeof lora_pair_class,
    .name = "LoraPair",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};
