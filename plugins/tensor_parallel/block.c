/* SPDX-License-Identifier: Apache-2.0 */
/* Attentions and MLPs whose projections are divided. The wrapped class gets fewer heads, or a smaller width, and those
 * rows of its first projections that belong to them, under the checkpoint's names; so it computes this rank's share
 * without knowing. Its last projection sums over all ranks (linear.c), so nothing remains to be done here in a forward.
 */
#include "graft/attention.h"
#include "graft/instance.h"
#include "graft/mlp.h"
#include "tensor_parallel.h"

/* A kind of block, and the arguments of which a rank gets a share. */
struct kind {
    const char *const *names; /* [n] names of the arguments: "num_attention_heads" */
    int32_t n;
    int32_t is_attention;
};

enum { MAX_COUNTS = 2 };

static int divide(const struct kind *kind, const struct graft_args *args, const struct graft_sink *sink,
                  struct graft_error *error) {
    int32_t size = tensor_parallel_ranks()->size;
    struct graft_arg shares[MAX_COUNTS];
    for (int32_t i = 0; i < kind->n; i++) {
        int64_t count = graft_args_int(args, kind->names[i], 0);
        if (count < 1 || count % size != 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                                   "%s %lld cannot be divided among %ld processes (%s)", kind->names[i],
                                   (long long)count, (long)size, sink->path);
        }
        shares[i] = graft_int_arg(kind->names[i], count / size);
    }
    const struct graft_args given = graft_args_of(shares, kind->n);
    return sink->super(sink->data, &given, error);
}

/* Sets the sizes of the parts that one weight concatenates: queries, keys and values, or gate and up. */
static void set_parts(const struct kind *kind, const struct graft_args *args, struct graft_operation *share) {
    share->parts[0] = kind->is_attention ? graft_args_int(args, kind->names[0], 1) : 1;
    share->parts[1] = kind->is_attention ? graft_args_int(args, kind->names[1], 1) : 1;
    share->parts[2] = kind->is_attention ? share->parts[1] : 0;
}

/* Declares that a projection gets a share of its outputs. */
static int share_outputs(const struct kind *kind, const struct graft_args *args, const struct graft_sink *sink,
                         const char *name, enum style style, struct graft_error *error) {
    struct graft_operation share = tensor_parallel_share();
    if (style == STYLE_PACKED_COLWISE) {
        set_parts(kind, args, &share);
    }
    return sink->share(sink->data, name, GRAFT_SHARE_OUTPUTS, &share, error);
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct scheme scheme;
    char name[SCHEME_NAME];
    enum style style = STYLE_NONE;
    int n_divided = 0, found = 0;
    if (tensor_parallel_ranks()->size == 1 || tensor_parallel_leaves(sink->path)) {
        return GRAFT_OK;
    }
    tensor_parallel_scheme(config, &scheme, error);
    for (int i = 0; error->code == GRAFT_OK && (found = scheme_below(&scheme, i, sink->path, name, &style)) >= 0; i++) {
        if (found && (style == STYLE_COLWISE || style == STYLE_PACKED_COLWISE)) {
            share_outputs(self->data, args, sink, name, style, error);
            n_divided++;
        }
    }
    return n_divided > 0 ? divide(self->data, args, sink, error) : error->code;
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
static const struct kind attention_kind = {heads, 2, 1};
static const struct kind mlp_kind = {width, 1, 0};

const struct graft_class tensor_parallel_attention = {
    .struct_size = sizeof tensor_parallel_attention,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "TensorParallelAttention",
    .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
    .describe = describe,
    .forward = &attention_vtable,
    .data = &attention_kind,
};

const struct graft_class tensor_parallel_mlp = {
    .struct_size = sizeof tensor_parallel_mlp,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "TensorParallelMLP",
    .interface_id = GRAFT_INTERFACE_MLP,
    .describe = describe,
    .forward = &mlp_vtable,
    .data = &mlp_kind,
};
