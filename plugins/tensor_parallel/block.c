/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attentions and MLPs whose projections are divided. The class inside is given fewer heads, or a smaller width, and
 * those rows of its first projections that belong to them, under the checkpoint's names: whatever it makes of them, it
 * makes of this rank's. Its last projection sums over all ranks (linear.c), so nothing is left to do here while it
 * runs.
 */
#include <stdio.h>

#include "graft/attention.h"
#include "graft/instance.h"
#include "graft/mlp.h"
#include "tensor_parallel.h"

/* What a rank has a share of. */
struct counts {
    const char *const *names; /* [n] arguments: "num_attention_heads" */
    int32_t n;
};

enum { MAX_COUNTS = 2 };

static int divide(const struct counts *counts, const struct graft_args *args, const struct graft_sink *sink,
                  struct graft_error *error) {
    int32_t size = tensor_parallel_ranks()->size;
    struct graft_arg shares[MAX_COUNTS];
    for (int32_t i = 0; i < counts->n; i++) {
        int64_t count = graft_args_int(args, counts->names[i], 0);
        if (count < 1 || count % size != 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                                   "%s %lld cannot be divided among %ld processes (%s)", counts->names[i],
                                   (long long)count, (long)size, sink->path);
        }
        shares[i] = graft_int_arg(counts->names[i], count / size);
    }
    const struct graft_args given = graft_args_of(shares, counts->n);
    return sink->super(sink->data, &given, error);
}

/* Weight and bias of a projection that has a share of the outputs. */
static int slice_rows(const struct graft_sink *sink, const char *name, struct graft_error *error) {
    const struct graft_parallel *ranks = tensor_parallel_ranks();
    const struct share share = {0, ranks->rank, 1, ranks->size};
    char weight[SCHEME_NAME + 8], bias[SCHEME_NAME + 8];
    (void)snprintf(weight, sizeof weight, "%s.weight", name);
    (void)snprintf(bias, sizeof bias, "%s.bias", name);
    int status = tensor_parallel_slice(sink, weight, &share, error);
    return status == GRAFT_OK ? tensor_parallel_slice(sink, bias, &share, error) : status;
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct scheme scheme;
    char name[SCHEME_NAME];
    enum style style = STYLE_NONE;
    int is_divided = 0, found = 0;
    int status = tensor_parallel_ranks()->size > 1 ? tensor_parallel_scheme(config, &scheme, error) : GRAFT_OK;
    if (status != GRAFT_OK || tensor_parallel_ranks()->size == 1) {
        return status;
    }
    for (int i = 0; status == GRAFT_OK && (found = scheme_below(&scheme, i, sink->path, name, &style)) >= 0; i++) {
        is_divided |= found;
        status = found && style == STYLE_COLWISE ? slice_rows(sink, name, error) : GRAFT_OK;
    }
    return status == GRAFT_OK && is_divided ? divide(self->data, args, sink, error) : status;
}

static int attention_forward(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                             struct graft_error *error) {
    return graft_self_attention_forward(self, call, args, error);
}

static int mlp_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    return graft_mlp_forward(self, call, args, error);
}

static const struct graft_self_attention attention_vtable = {
    .struct_size = sizeof attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = attention_forward,
};
static const struct graft_mlp mlp_vtable = {.struct_size = sizeof mlp_vtable, .forward = mlp_forward};

static const char *const heads[] = {"num_attention_heads", "num_key_value_heads"};
static const char *const width[] = {"intermediate_size"};
static const struct counts attention_counts = {heads, 2};
static const struct counts mlp_counts = {width, 1};

const struct graft_class tensor_parallel_attention = {
    .struct_size = sizeof tensor_parallel_attention,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "TensorParallelAttention",
    .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
    .describe = describe,
    .forward = &attention_vtable,
    .data = &attention_counts,
};

const struct graft_class tensor_parallel_mlp = {
    .struct_size = sizeof tensor_parallel_mlp,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "TensorParallelMLP",
    .interface_id = GRAFT_INTERFACE_MLP,
    .describe = describe,
    .forward = &mlp_vtable,
    .data = &mlp_counts,
};
