/* SPDX-License-Identifier: Apache-2.0 */
/* Computes queries, keys, values, gates and decays with the projections that a family has. */
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/mixers/delta_net.h"
#include "graft/linear.h"

enum { MAX_PROJECTIONS = 6 };

/* Products of the same hidden states, which run together. */
struct products {
    const struct graft_module *modules[MAX_PROJECTIONS];
    struct graft_linear_args args[MAX_PROJECTIONS];
    int32_t n;
};

static void add_product(struct products *products, const struct graft_module *module, int64_t tokens, const float *x,
                        float *y) {
    products->modules[products->n] = module;
    products->args[products->n++] = (struct graft_linear_args){sizeof products->args[0], 0, tokens, x, y};
}

/* Separates one token's q, k, v and z, which are stored by heads of keys, into contiguous arrays. */
static void ungroup(const struct graft_delta_sizes *sizes, const float *qkvz, float *qkv, float *z) {
    const int64_t dim = sizes->key_dim;
    const int64_t shared = graft_delta_values(sizes) / sizes->key_heads; /* width of the values that share a key */
    for (int64_t h = 0; h < sizes->key_heads; h++, qkvz += 2 * (dim + shared)) {
        const float *v = qkvz + 2 * dim;
        memcpy(qkv + h * dim, qkvz, (size_t)dim * sizeof *qkv);
        memcpy(qkv + graft_delta_keys(sizes) + h * dim, qkvz + dim, (size_t)dim * sizeof *qkv);
        memcpy(qkv + 2 * graft_delta_keys(sizes) + h * shared, v, (size_t)shared * sizeof *qkv);
        memcpy(z + h * shared, v + shared, (size_t)shared * sizeof *z);
    }
}

/* Does the same for b and a. */
static void ungroup_heads(const struct graft_delta_sizes *sizes, const float *ba, float *b, float *a) {
    const int64_t shared = sizes->value_heads / sizes->key_heads;
    for (int64_t h = 0; h < sizes->key_heads; h++, ba += 2 * shared) {
        memcpy(b + h * shared, ba, (size_t)shared * sizeof *b);
        memcpy(a + h * shared, ba + shared, (size_t)shared * sizeof *a);
    }
}

static int project_grouped(const struct graft_delta_net *self, const struct graft_call *call,
                           const struct graft_mixer_args *args, const struct graft_delta_run *run,
                           struct graft_error *error) {
    const struct graft_delta_sizes *sizes = &self->sizes;
    const int64_t tokens = args->batch->tokens;
    const int64_t conv_dim = graft_delta_conv_dim(sizes), values = graft_delta_values(sizes);
    /* [tokens, key_heads, {q, k} [key_dim], {v, z} [value_heads / key_heads, value_dim]] */
    float *qkvz = graft_scratch_floats(call, tokens, conv_dim + values, error);
    /* [tokens, key_heads, {b, a} [value_heads / key_heads]] */
    float *ba = graft_scratch_floats(call, tokens, 2 * sizes->value_heads, error);
    struct products products = {.n = 0};
    if (qkvz == NULL || ba == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    add_product(&products, self->qkvz, tokens, args->hidden_states, qkvz);
    add_product(&products, self->ba, tokens, args->hidden_states, ba);
    int status = graft_linear_forward_all(products.modules, call, products.args, products.n, error);
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        ungroup(sizes, qkvz + t * (conv_dim + values), run->unmixed + t * conv_dim, run->z + t * values);
        ungroup_heads(sizes, ba + t * 2 * sizes->value_heads, run->b + t * sizes->value_heads,
                      run->a + t * sizes->value_heads);
    }
    return status;
}

/* Allocates y [tokens, rank] for the output of `module`, in scratch memory; NULL if there is no module. */
static int narrow(const struct graft_call *call, const struct graft_module *module, int64_t tokens, int64_t rank,
                  float **y, struct graft_error *error) {
    *y = module != NULL ? graft_scratch_floats(call, tokens, rank, error) : NULL;
    return module == NULL || *y != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* Runs a projection for each input, some after a narrow one, or with q, k and v joined. */
static int project_each(const struct graft_delta_net *self, const struct graft_call *call,
                        const struct graft_mixer_args *args, const struct graft_delta_run *run,
                        struct graft_error *error) {
    const struct graft_delta_sizes *sizes = &self->sizes;
    const int64_t tokens = args->batch->tokens;
    const int64_t conv_dim = graft_delta_conv_dim(sizes), keys = graft_delta_keys(sizes);
    const struct graft_module *const modules[] = {self->q, self->k, self->v};
    const int64_t widths[] = {keys, keys, graft_delta_values(sizes)};
    float *parts[] = {NULL, NULL, NULL};      /* [tokens, width] */
    float *narrow_z = NULL, *narrow_a = NULL; /* [tokens, gate_rank] */
    struct products products = {.n = 0}, behind = {.n = 0};
    int status = narrow(call, self->narrow_z, tokens, sizes->gate_rank, &narrow_z, error);
    if (status == GRAFT_OK) {
        status = narrow(call, self->narrow_a, tokens, sizes->gate_rank, &narrow_a, error);
    }
    for (int i = 0; i < 3 && self->qkv == NULL && status == GRAFT_OK; i++) {
        status = narrow(call, modules[i], tokens, widths[i], &parts[i], error);
        add_product(&products, modules[i], tokens, args->hidden_states, parts[i]);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (self->qkv != NULL) {
        add_product(&products, self->qkv, tokens, args->hidden_states, run->unmixed);
    }
    add_product(&products, self->b, tokens, args->hidden_states, run->b);
    if (self->narrow_z == NULL) {
        add_product(&products, self->z, tokens, args->hidden_states, run->z);
        add_product(&products, self->a, tokens, args->hidden_states, run->a);
    } else {
        add_product(&products, self->narrow_z, tokens, args->hidden_states, narrow_z);
        add_product(&products, self->narrow_a, tokens, args->hidden_states, narrow_a);
        add_product(&behind, self->z, tokens, narrow_z, run->z);
        add_product(&behind, self->a, tokens, narrow_a, run->a);
    }
    status = graft_linear_forward_all(products.modules, call, products.args, products.n, error);
    for (int64_t t = 0; t < tokens && self->qkv == NULL && status == GRAFT_OK; t++) {
        float *row = run->unmixed + t * conv_dim;
        for (int i = 0; i < 3; row += widths[i++]) {
            memcpy(row, parts[i] + t * widths[i], (size_t)widths[i] * sizeof *row);
        }
    }
    return status == GRAFT_OK && behind.n > 0
               ? graft_linear_forward_all(behind.modules, call, behind.args, behind.n, error)
               : status;
}

int graft_delta_project(const struct graft_delta_net *self, const struct graft_call *call,
                        const struct graft_mixer_args *args, const struct graft_delta_run *run,
                        struct graft_error *error) {
    return self->sizes.layout == D_MIXER_GROUPED ? project_grouped(self, call, args, run, error)
                                                 : project_each(self, call, args, run, error);
}
