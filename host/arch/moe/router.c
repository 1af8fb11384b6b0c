/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses each token's experts and their weights. */
#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/moe/router_input.h"
#include "arch/moe/sparsemixer.h"
#include "arch/role.h"
#include "graft/describe.h"

struct kept {
    int64_t num_experts;
    int64_t hidden_size;
    int64_t groups; /* 0: none */
    int64_t top_groups;
    int32_t score; /* D_SCORE_... */
    int32_t normalise;
    int32_t has_bias;
    int32_t is_exact; /* 1: logits are computed in f32, whatever the model's type */
    float sum_offset; /* number that is added to the sum of a token's weights */
    float least_sum;  /* lower bound of the sum of a token's weights */
    float scale;
    float softcap; /* softcap of logits; 0: none */
    float jitter;  /* of D_SCORE_SPARSEMIXER */
};

struct router {
    struct graft_instance base;
    struct kept kept;
    const struct graft_weight *weight;       /* [num_experts, hidden_size] */
    const struct graft_weight *bias;         /* [num_experts]; NULL: none */
    const struct graft_weight *correction;   /* [num_experts]: used only for choosing; may be NULL, like the next */
    const struct graft_weight *expert_scale; /* [num_experts]: factor of weights */
    struct graft_router_input input;
};

/* Checks that groups have equal sizes, and that the groups from which a token may choose have enough experts. */
static void check_groups(struct graft_reader *reader, const struct kept *kept, int64_t least) {
    const int64_t groups = kept->groups;
    const int64_t size = groups > 0 ? kept->num_experts / groups : 0;
    const int64_t top_k = graft_read_int(reader, D_MOE_TOP_K);
    if (reader->status != GRAFT_OK || groups == 0) {
        return;
    }
    if (kept->num_experts % groups != 0 || size < least) {
        graft_reader_fail(reader, D_MOE_GROUPS,
                          "expected a divisor of the number of experts (%lld) that leaves %lld or more in a group, "
                          "got %lld",
                          (long long)kept->num_experts, (long long)least, (long long)groups);
    } else if (kept->top_groups < 1 || kept->top_groups > groups) {
        graft_reader_fail(reader, D_MOE_TOP_GROUPS, "expected 1 to %lld, got %lld", (long long)groups,
                          (long long)kept->top_groups);
    } else if (top_k > size * kept->top_groups) {
        graft_reader_fail(reader, D_MOE_TOP_K, "expected 1 to %lld, got %lld", (long long)(size * kept->top_groups),
                          (long long)top_k);
    }
}

static void check(struct graft_reader *reader, const struct kept *kept, int32_t is_corrected) {
    check_groups(reader, kept, is_corrected ? 2 : 1);
    const int64_t top_k = graft_read_int(reader, D_MOE_TOP_K);
    if (reader->status == GRAFT_OK && kept->score == D_SCORE_SPARSEMIXER && (top_k != 2 || kept->num_experts < 2)) {
        graft_reader_fail(reader, D_MOE_TOP_K, "expected 2, as this router always chooses, got %lld", (long long)top_k);
    }
}

int graft_router_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_reader reader;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, description, config, graft_args_int(args, "layer_idx", 0), error);
    const char *correction =
        graft_read_bool(&reader, D_MOE_CORRECTED) ? graft_description_name(description, D_MOE_CORRECTION) : NULL;
    const char *expert_scale = graft_description_name(description, D_MOE_EXPERT_SCALE);
    *kept = (struct kept){
        .num_experts = graft_read_int(&reader, D_MOE_EXPERTS),
        .hidden_size = graft_read_int(&reader, D_HIDDEN_SIZE),
        .groups = graft_read_int(&reader, D_MOE_GROUPS),
        .top_groups = graft_read_int(&reader, D_MOE_TOP_GROUPS),
        .score = graft_read_word(&reader, D_MOE_SCORE),
        .normalise = graft_read_bool(&reader, D_MOE_NORMALISE),
        .has_bias = graft_read_bool(&reader, D_MOE_ROUTER_BIAS),
        .is_exact = graft_read_bool(&reader, D_MOE_ROUTER_EXACT),
        .least_sum = (float)graft_read_real(&reader, D_MOE_LEAST_SUM),
        .sum_offset = (float)graft_read_real(&reader, D_MOE_SUM_OFFSET),
        .scale = (float)graft_read_real(&reader, D_MOE_SCALE),
        .softcap = (float)graft_read_real(&reader, D_MOE_SOFTCAP),
    };
    if (kept->score == D_SCORE_SPARSEMIXER) {
        kept->jitter = (float)graft_read_real(&reader, D_MOE_JITTER);
    }
    check(&reader, kept, correction != NULL);
    if (reader.status == GRAFT_OK && kept->score == D_SCORE_SPARSEMIXER && expert_scale != NULL) {
        graft_reader_fail(&reader, D_MOE_SCORE, "sparsemixer is not supported with moe.expert_scale");
    }
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    const int64_t shape[] = {kept->num_experts, kept->hidden_size};
    graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
    if (kept->has_bias) {
        graft_describe_vector(sink, "bias", kept->num_experts, error);
    }
    const int64_t correction_shape[] = {1, kept->num_experts};
    const int32_t is_row = graft_read_bool(&reader, D_MOE_CORRECTION_ROW);
    if (correction != NULL) {
        graft_describe_parameter(sink, correction, is_row ? 2 : 1, correction_shape + !is_row, 0, GRAFT_INIT_NONE,
                                 error);
    }
    if (expert_scale != NULL) {
        graft_describe_vector(sink, expert_scale, kept->num_experts, error);
    }
    return graft_router_input_describe(&reader, kept->hidden_size, sink, error);
}

int graft_router_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const char *correction = graft_description_name(cls->data, D_MOE_CORRECTION);
    const char *expert_scale = graft_description_name(cls->data, D_MOE_EXPERT_SCALE);
    struct router *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    self->weight = graft_build_weight(build, "weight", error);
    if (self->kept.has_bias) {
        self->bias = graft_build_weight(build, "bias", error);
    }
    if (correction != NULL) {
        self->correction = build->weight(build->data, correction);
    }
    self->expert_scale = expert_scale != NULL ? graft_build_weight(build, expert_scale, error) : NULL;
    graft_router_input_find(&self->input, cls->data, self->kept.hidden_size, build, error);
    return graft_instance_finish(self, instance, error);
}

/* Divides each row of weights [tokens, k] by its sum plus `offset`, or by `least` if that is larger. */
static void normalise(float *weights, int64_t tokens, int64_t k, float offset, float least) {
    for (int64_t t = 0; t < tokens; t++) {
        float *row = weights + t * k;
        float sum = offset;
        for (int64_t j = 0; j < k; j++) {
            sum += row[j];
        }
        sum = sum < least ? least : sum;
        for (int64_t j = 0; j < k; j++) {
            row[j] /= sum;
        }
    }
}

/* Computes scores [tokens, num_experts] from logits; experts are chosen by them, or they are the weights. */
static int score(const struct router *self, const struct graft_call *call, const struct graft_router_args *args,
                 float *scores, struct graft_error *error) {
    const int64_t count = args->tokens * self->kept.num_experts;
    memcpy(scores, args->logits, (size_t)count * sizeof *scores);
    return self->kept.score == D_SCORE_SOFTMAX
               ? call->kernels->softmax(call, scores, args->tokens, self->kept.num_experts, error)
           : self->kept.score == D_SCORE_SIGMOID
               ? call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, scores, count, scores, error)
               : GRAFT_OK;
}

/* The score of a group: the sum of its two largest scores, or with a softmax its largest score. */
static float group_score(const float *scores, int64_t n, int32_t of_two) {
    float best = -INFINITY, second = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (scores[i] > best) {
            second = best;
            best = scores[i];
        } else if (scores[i] > second) {
            second = scores[i];
        }
    }
    return of_two && n > 1 ? best + second : best;
}

/* Sets scores of experts outside of the best groups to the lowest number (DeepSeek-AI 2024). */
static void leave_groups(const struct router *self, float *scores, int64_t tokens, float *of_groups) {
    const int64_t groups = self->kept.groups;
    const int64_t n = self->kept.num_experts / groups;
    for (int64_t t = 0; t < tokens; t++) {
        float *row = scores + t * self->kept.num_experts;
        for (int64_t g = 0; g < groups; g++) {
            of_groups[g] = group_score(row + g * n, n, self->correction != NULL);
        }
        for (int64_t g = 0; g < groups; g++) {
            int64_t better = 0;
            for (int64_t other = 0; other < groups; other++) {
                better += of_groups[other] > of_groups[g] || (of_groups[other] == of_groups[g] && other < g);
            }
            for (int64_t i = 0; better >= self->kept.top_groups && i < n; i++) {
                row[g * n + i] = -INFINITY;
            }
        }
    }
}

/* Computes chosen [tokens, num_experts], by which experts are chosen: corrected scores, within the best groups. */
static int correct(const struct router *self, const struct graft_call *call, const float *scores, int64_t tokens,
                   float *chosen, struct graft_error *error) {
    const int64_t experts = self->kept.num_experts;
    const float *added = self->correction != NULL ? graft_scratch_widened(call, self->correction, error) : NULL;
    float *of_groups = graft_scratch_floats(call, self->kept.groups + 1, 1, error);
    if (of_groups == NULL || (self->correction != NULL && added == NULL)) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * experts; i++) {
        chosen[i] = scores[i] + (added != NULL ? added[i % experts] : 0.0f);
    }
    if (self->kept.groups > 1) {
        leave_groups(self, chosen, tokens, of_groups);
    }
    return GRAFT_OK;
}

/* Looks up the weights of the chosen experts in `scores`, if they were chosen by other numbers. */
static void look_up(const struct router *self, const struct graft_router_args *args, const float *scores) {
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        args->top_k_weights[i] = scores[i / args->k * self->kept.num_experts + args->top_k_index[i]];
    }
}

static int choose(const struct router *self, const struct graft_call *call, const struct graft_router_args *args,
                  const float *scores, struct graft_error *error) {
    const int32_t is_corrected = self->correction != NULL || self->kept.groups > 1;
    const float *by = scores;
    int status = GRAFT_OK;
    if (is_corrected) {
        float *chosen = graft_scratch_floats(call, args->tokens, self->kept.num_experts, error);
        status = chosen != NULL ? correct(self, call, scores, args->tokens, chosen, error) : GRAFT_ERROR_INTERNAL;
        by = chosen;
    }
    if (status == GRAFT_OK) {
        status = call->kernels->top_k(call, by, args->tokens, self->kept.num_experts, args->k, args->top_k_index,
                                      args->top_k_weights, error);
    }
    if (status == GRAFT_OK && is_corrected) {
        look_up(self, args, scores);
    }
    return status;
}

/* Computes the weights of the chosen experts from their logits or scores, normalised and scaled. */
static int weigh(const struct router *self, const struct graft_call *call, const struct graft_router_args *args,
                 struct graft_error *error) {
    const int64_t count = args->tokens * args->k;
    float *weights = args->top_k_weights;
    int status = self->kept.score == D_SCORE_TOP_SOFTMAX
                     ? call->kernels->softmax(call, weights, args->tokens, args->k, error)
                 : self->kept.score == D_SCORE_TOP_SIGMOID
                     ? call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, weights, count, weights, error)
                     : GRAFT_OK;
    if (status == GRAFT_OK && self->kept.normalise) {
        normalise(weights, args->tokens, args->k, self->kept.sum_offset, self->kept.least_sum);
    }
    const float *scales = status == GRAFT_OK && self->expert_scale != NULL
                              ? graft_scratch_widened(call, self->expert_scale, error)
                              : NULL;
    for (int64_t i = 0; i < count; i++) {
        weights[i] *= self->kept.scale * (scales != NULL ? scales[args->top_k_index[i]] : 1.0f);
    }
    return status == GRAFT_OK && self->expert_scale != NULL && scales == NULL ? GRAFT_ERROR_INTERNAL : status;
}

/* Computes args->logits. */
static int find_logits(const struct router *self, const struct graft_call *call, const struct graft_router_args *args,
                       struct graft_error *error) {
    const int64_t experts = self->kept.num_experts;
    const float *seen = args->hidden_states;
    int status = graft_router_input_run(&self->input, call, args->tokens, &seen, error);
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = self->weight,
        .bias = self->bias,
        .rows = experts,
        .x = seen,
        .x_stride = self->kept.hidden_size,
        .tokens = args->tokens,
        .y = args->logits,
        .y_stride = experts,
    };
    struct graft_call exact;
    if (self->kept.is_exact) {
        graft_struct_copy(&exact, sizeof exact, call);
        exact.precision = GRAFT_PRECISION_FLOAT32;
    }
    if (status != GRAFT_OK) {
        return status;
    }
    status = call->kernels->linear(self->kept.is_exact ? &exact : call, &product, 1, sizeof product, error);
    return status == GRAFT_OK && self->kept.softcap > 0.0f
               ? graft_softcap(call, self->kept.softcap, args->logits, args->tokens * experts, error)
               : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_router_args *args,
                   struct graft_error *error) {
    const struct router *self = instance;
    float *scores = graft_scratch_floats(call, args->tokens, self->kept.num_experts, error); /* [tokens, num_experts] */
    int status = scores != NULL ? find_logits(self, call, args, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && self->kept.score == D_SCORE_SPARSEMIXER) {
        graft_sparsemixer(args, self->kept.jitter);
        return GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = score(self, call, args, scores, error);
    }
    if (status == GRAFT_OK) {
        status = choose(self, call, args, scores, error);
    }
    return status == GRAFT_OK ? weigh(self, call, args, error) : status;
}

const struct graft_router graft_router_vtable = {
    .struct_size = sizeof graft_router_vtable,
    .forward = forward,
};
