/* SPDX-License-Identifier: Apache-2.0 */
/* Disentangled attention (He et al. 2021, eq. 4). A score is the product of query and key, plus that of the query and
 * the key projection of the distance's embedding, plus that of the key and its query projection. The embeddings of
 * distances are the model's (distances.c). */
#include <math.h>

#include "arch/decoder/attend.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/distances.h"
#include "arch/role.h"
#include "graft/threads.h"

struct disentangled {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    struct graft_distances distances;
    int32_t has_key;   /* 1: scores include query * key projection of the distance */
    int32_t has_query; /* 1: scores include key * query projection of the distance */
    const struct graft_module *q;
    const struct graft_module *k;
    const struct graft_module *v;
    const struct graft_module *position_k; /* NULL, like the next: distances use the projections of tokens */
    const struct graft_module *position_q;
    const struct graft_module *output;
};

static void outline(struct graft_outline *of, struct disentangled *self) {
    if (graft_parts_read_attention_sizes(of->args, of->sink->path, &self->sizes, of->error) != GRAFT_OK) {
        return;
    }
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t hidden = sizes->hidden_size, width = sizes->heads * sizes->head_dim;
    self->has_key = graft_read_bool(&of->reader, D_DISENTANGLED_BY_KEY);
    self->has_query = graft_read_bool(&of->reader, D_DISENTANGLED_BY_QUERY);
    const int is_shared = graft_read_bool(&of->reader, D_DISENTANGLED_SHARED);
    const int projects = !is_shared && graft_outline_name(of, D_DISENTANGLED_NAME) != NULL &&
                         graft_read_bool(&of->reader, D_DISENTANGLED_USE);
    /* The divisor has a factor for each term of a score, even if the model has no distances. */
    self->sizes.scaling = 1.0 / sqrt((double)(sizes->head_dim * (1 + self->has_key + self->has_query)));
    if (sizes->kv_heads != sizes->heads) {
        graft_reader_fail(&of->reader, D_KV_HEADS, "expected num_attention_heads (%lld), got %lld",
                          (long long)sizes->heads, (long long)sizes->kv_heads);
    }
    const struct {
        const struct graft_module **child;
        int32_t name;
        int is_there;
    } inputs[] = {{&self->q, D_QUERY, 1},
                  {&self->k, D_KEY, 1},
                  {&self->v, D_VALUE, 1},
                  {&self->position_k, D_DISENTANGLED_KEY, projects && self->has_key},
                  {&self->position_q, D_DISENTANGLED_QUERY, projects && self->has_query}};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        graft_outline_linear(of, inputs[i].child, inputs[i].is_there ? graft_outline_name(of, inputs[i].name) : NULL,
                             hidden, width, sizes->qkv_bias);
    }
    graft_outline_linear(of, &self->output, graft_outline_name(of, D_OUTPUT), width, hidden, sizes->o_proj_bias);
    graft_distances_outline(of, &self->distances, GRAFT_DISTANCES, GRAFT_DISTANCES_NORM, hidden);
}

GRAFT_OUTLINED(graft_disentangled, struct disentangled)

/* Inputs and outputs of find_mask. */
struct work {
    const struct disentangled *self;
    const struct graft_batch *batch;
    const float *q; /* [tokens, heads, head_dim] */
    const float *k;
    const float *position_k; /* [rows, heads, head_dim]; NULL: none */
    const float *position_q;
    float *bias; /* [heads, tokens, longest] */
    int64_t longest;
};

static float dot(const float *a, const float *b, int64_t n) {
    float sums[8] = {0.0f};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int lane = 0; lane < 8; lane++) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (; i < n; i++) {
        sums[0] += a[i] * b[i];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* Computes the biases of query `token` for the keys [begin, end), in all heads. */
static void find_biases(const struct work *work, int64_t token, int64_t begin, int64_t end) {
    const struct disentangled *self = work->self;
    const int64_t dim = self->sizes.head_dim, width = self->sizes.heads * dim;
    for (int64_t h = 0; h < self->sizes.heads; h++) {
        float *row = work->bias + (h * work->batch->tokens + token) * work->longest;
        for (int64_t j = begin; j < end; j++) {
            const int64_t at = graft_distances_row(&self->distances, token - j) * width + h * dim;
            float sum = 0.0f;
            if (work->position_k != NULL) {
                sum += dot(work->q + token * width + h * dim, work->position_k + at, dim);
            }
            if (work->position_q != NULL) {
                sum += dot(work->k + j * width + h * dim, work->position_q + at, dim);
            }
            row[j - begin] = sum * (float)self->sizes.scaling;
        }
    }
}

static void run_tokens(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    const int64_t *starts = work->batch->cu_seqlens;
    int32_t s = 0;
    for (int64_t t = begin; t < end; t++) {
        while (starts[s + 1] <= t) {
            s++;
        }
        find_biases(work, t, starts[s], starts[s + 1]);
    }
}

/* Fills in `mask` with the biases of all queries and keys, from the key and query projections of all distances. */
static void find_mask(struct work *work, const struct graft_pass *pass, struct graft_mask *mask) {
    const struct disentangled *self = work->self;
    const struct graft_batch *batch = work->batch;
    const int64_t heads = self->sizes.heads, width = heads * self->sizes.head_dim;
    const struct graft_pass rows = {pass->call, self->distances.rows, pass->error};
    const float *x = graft_distances_find(&self->distances, pass, self->sizes.hidden_size);
    if (self->has_key) {
        work->position_k = graft_pass_product(&rows, self->position_k != NULL ? self->position_k : self->k, x, width);
    }
    if (self->has_query) {
        work->position_q = graft_pass_product(&rows, self->position_q != NULL ? self->position_q : self->q, x, width);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t length = batch->cu_seqlens[s + 1] - batch->cu_seqlens[s];
        work->longest = length > work->longest ? length : work->longest;
    }
    work->bias = graft_pass_floats(pass, heads * work->longest);
    if (graft_pass_ok(pass)) {
        pass->call->threads->parallel_for(batch->tokens, 1, run_tokens, work);
    }
    *mask = (struct graft_mask){.struct_size = sizeof *mask,
                                .kind = GRAFT_MASK_BY_HEAD,
                                .bias = work->bias,
                                .bias_stride = work->longest,
                                .bias_head_stride = batch->tokens * work->longest};
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct disentangled *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t heads = self->sizes.heads, dim = self->sizes.head_dim;
    const struct graft_module *const linears[] = {self->q, self->k, self->v};
    float *const made[] = {graft_pass_floats(&pass, heads * dim), graft_pass_floats(&pass, heads * dim),
                           graft_pass_floats(&pass, heads * dim)};
    const struct graft_projected x = {.q = graft_heads_packed(made[0], heads, dim),
                                      .k = graft_heads_packed(made[1], heads, dim),
                                      .v = graft_heads_packed(made[2], heads, dim)};
    struct graft_mask mask;
    graft_pass_linears(&pass, linears, args->hidden_states, made, 3);
    struct graft_attention_args attention_args = graft_heads_args(&self->sizes, args, &x);
    struct work work = {.self = self, .batch = args->batch, .q = x.q.x, .k = x.k.x};
    attention_args.softcap = 0.0f;
    if (self->distances.embeddings != NULL && (self->has_key || self->has_query)) {
        find_mask(&work, &pass, &mask);
        attention_args.mask = &mask;
    }
    graft_pass_linear(&pass, self->output, graft_heads_run(&pass, &attention_args), args->output);
    return error->code;
}

const struct graft_self_attention graft_disentangled_vtable = {.struct_size = sizeof graft_disentangled_vtable,
                                                               .forward = forward};
