/* SPDX-License-Identifier: Apache-2.0 */
/* Disentangled attention (He et al. 2021, eq. 4). A score is the product of query and key, plus that of the query and
 * the key projection of the distance's embedding, plus that of the key and its query projection. The embeddings of
 * distances are the model's (distances.c). */
#include <math.h>

#include "arch/decoder/attention_keep.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/distances.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/threads.h"

struct kept {
    struct graft_parts_attention_sizes sizes; /* first, for graft_attention_keep */
    struct graft_distances distances;
    int32_t has_key;   /* 1: scores include query * key projection of the distance */
    int32_t has_query; /* 1: scores include key * query projection of the distance */
    int32_t is_shared; /* 1: distances use the projections of tokens, not their own */
};

enum { QUERY, KEY, VALUE, POSITION_KEY, POSITION_QUERY, OUTPUT, N_LINEARS };

struct disentangled {
    struct graft_instance base;
    struct kept kept;
    const struct graft_module *linears[N_LINEARS]; /* NULL: the model has no such projection */
    const struct graft_module *distances;          /* [rows, hidden_size]; NULL: none */
    const struct graft_module *norm;               /* norm of the distances; NULL: none */
};

static const int32_t names[N_LINEARS] = {D_QUERY, D_KEY, D_VALUE, D_DISENTANGLED_KEY, D_DISENTANGLED_QUERY, D_OUTPUT};

static int has_linear(const struct kept *kept, int i) {
    const int projects_distances = kept->distances.rows > 0 && !kept->is_shared;
    return i == POSITION_KEY     ? kept->has_key && projects_distances
           : i == POSITION_QUERY ? kept->has_query && projects_distances
                                 : 1;
}

int graft_disentangled_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    struct kept *kept = graft_attention_keep(self, config, args, sink, sizeof *kept, &reader, error);
    if (kept == NULL) {
        return error->code;
    }
    const struct graft_parts_attention_sizes *sizes = &kept->sizes;
    const int64_t width = sizes->heads * sizes->head_dim;
    kept->distances = graft_distances_read(&reader);
    kept->has_key = graft_read_bool(&reader, D_DISENTANGLED_BY_KEY);
    kept->has_query = graft_read_bool(&reader, D_DISENTANGLED_BY_QUERY);
    kept->is_shared = graft_read_bool(&reader, D_DISENTANGLED_SHARED);
    /* The divisor has a factor for each term of a score, even if the model has no distances. */
    kept->sizes.scaling = 1.0 / sqrt((double)(sizes->head_dim * (1 + kept->has_key + kept->has_query)));
    if (reader.status == GRAFT_OK && sizes->kv_heads != sizes->heads) {
        graft_reader_fail(&reader, D_KV_HEADS, "expected num_attention_heads (%lld), got %lld", (long long)sizes->heads,
                          (long long)sizes->kv_heads);
    }
    for (int i = 0; i < N_LINEARS && reader.status == GRAFT_OK; i++) {
        if (has_linear(kept, i)) {
            graft_describe_linear(sink, graft_description_name(description, names[i]),
                                  i == OUTPUT ? width : sizes->hidden_size, i == OUTPUT ? sizes->hidden_size : width,
                                  i == OUTPUT ? sizes->o_proj_bias : sizes->qkv_bias, error);
        }
    }
    if (reader.status == GRAFT_OK) {
        graft_distances_describe(&kept->distances, GRAFT_DISTANCES, GRAFT_DISTANCES_NORM, sizes->hidden_size, sink,
                                 error);
    }
    return reader.status == GRAFT_OK ? (int)error->code : reader.status;
}

int graft_disentangled_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct kept *kept = build->kept;
    struct disentangled *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *kept;
    for (int i = 0; i < N_LINEARS; i++) {
        if (has_linear(kept, i)) {
            self->linears[i] = graft_build_child(build, graft_description_name(cls->data, names[i]), error);
        }
    }
    if (kept->distances.rows > 0) {
        self->distances = graft_build_child(build, GRAFT_DISTANCES, error);
        self->norm = kept->distances.has_norm ? graft_build_child(build, GRAFT_DISTANCES_NORM, error) : NULL;
    }
    return graft_instance_finish(self, instance, error);
}

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
    const struct kept *kept = &work->self->kept;
    const int64_t dim = kept->sizes.head_dim, width = kept->sizes.heads * dim;
    for (int64_t h = 0; h < kept->sizes.heads; h++) {
        float *row = work->bias + (h * work->batch->tokens + token) * work->longest;
        for (int64_t j = begin; j < end; j++) {
            const int64_t at = graft_distances_row(&kept->distances, token - j) * width + h * dim;
            float sum = 0.0f;
            if (work->position_k != NULL) {
                sum += dot(work->q + token * width + h * dim, work->position_k + at, dim);
            }
            if (work->position_q != NULL) {
                sum += dot(work->k + j * width + h * dim, work->position_q + at, dim);
            }
            row[j - begin] = sum * (float)kept->sizes.scaling;
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

static float *project(const struct graft_module *linear, const struct graft_call *call, int64_t rows, int64_t width,
                      const float *x, struct graft_error *error) {
    float *y = graft_scratch_floats(call, rows, width, error);
    const struct graft_linear_args args = {sizeof args, 0, rows, x, y};
    return y != NULL && graft_linear_forward(linear, call, &args, error) == GRAFT_OK ? y : NULL;
}

/* Computes position_k and position_q, the key and query projections of all distances, [rows, heads, head_dim] each. */
static int project_distances(struct work *work, const struct graft_call *call, struct graft_error *error) {
    const struct disentangled *self = work->self;
    const struct kept *kept = &self->kept;
    const int64_t rows = kept->distances.rows, width = kept->sizes.heads * kept->sizes.head_dim;
    const float *x =
        graft_distances_find(&kept->distances, self->distances, self->norm, call, kept->sizes.hidden_size, error);
    if (x != NULL && kept->has_key) {
        work->position_k = project(self->linears[kept->is_shared ? KEY : POSITION_KEY], call, rows, width, x, error);
    }
    if (x != NULL && kept->has_query) {
        work->position_q =
            project(self->linears[kept->is_shared ? QUERY : POSITION_QUERY], call, rows, width, x, error);
    }
    return x == NULL || (kept->has_key && work->position_k == NULL) || (kept->has_query && work->position_q == NULL)
               ? GRAFT_ERROR_INTERNAL
               : GRAFT_OK;
}

/* Fills in `mask` with the biases of all queries and keys. */
static int find_mask(struct work *work, const struct graft_call *call, struct graft_mask *mask,
                     struct graft_error *error) {
    const struct graft_batch *batch = work->batch;
    const int64_t heads = work->self->kept.sizes.heads;
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t length = batch->cu_seqlens[s + 1] - batch->cu_seqlens[s];
        work->longest = length > work->longest ? length : work->longest;
    }
    work->bias = graft_scratch_floats(call, heads * batch->tokens, work->longest, error);
    if (work->bias == NULL || project_distances(work, call, error) != GRAFT_OK) {
        return GRAFT_ERROR_INTERNAL;
    }
    call->threads->parallel_for(batch->tokens, 1, run_tokens, work);
    *mask = (struct graft_mask){.struct_size = sizeof *mask,
                                .kind = GRAFT_MASK_BY_HEAD,
                                .bias = work->bias,
                                .bias_stride = work->longest,
                                .bias_head_stride = batch->tokens * work->longest};
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct disentangled *self = instance;
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    const int64_t tokens = args->batch->tokens, width = sizes->heads * sizes->head_dim;
    const float *q = project(self->linears[QUERY], call, tokens, width, args->hidden_states, error);
    const float *k = q != NULL ? project(self->linears[KEY], call, tokens, width, args->hidden_states, error) : NULL;
    const float *v = k != NULL ? project(self->linears[VALUE], call, tokens, width, args->hidden_states, error) : NULL;
    float *context = graft_scratch_floats(call, tokens, width, error);
    struct work work = {.self = self, .batch = args->batch, .q = q, .k = k};
    struct graft_mask mask;
    if (v == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const int sees_distances = self->distances != NULL && (self->kept.has_key || self->kept.has_query);
    if (sees_distances && find_mask(&work, call, &mask, error) != GRAFT_OK) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = sees_distances ? &mask : args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->heads,
        .head_dim = sizes->head_dim,
        .scaling = (float)sizes->scaling,
        .q = q,
        .q_stride = width,
        .k = k,
        .k_stride = width,
        .v = v,
        .v_stride = width,
        .output = context,
        .output_stride = width,
    };
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    int status = call->kernels->attention(call, &attention_args, error);
    return status == GRAFT_OK ? graft_linear_forward(self->linears[OUTPUT], call, &output_args, error) : status;
}

const struct graft_self_attention graft_disentangled_vtable = {
    .struct_size = sizeof graft_disentangled_vtable,
    .forward = forward,
};
