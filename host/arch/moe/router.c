/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses each token's experts and their weights. */
#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/moe/router_input.h"
#include "arch/moe/sparsemixer.h"
#include "arch/role.h"
#include "graft/kernels.h"

struct router {
    struct graft_instance base;
    int64_t num_experts;
    int64_t hidden_size;
    int64_t groups; /* 0: none */
    int64_t top_groups;
    int32_t score; /* D_SCORE_... */
    int32_t normalise;
    int32_t is_exact; /* 1: logits are computed in f32, whatever the model's type */
    float sum_offset; /* number that is added to the sum of a token's weights */
    float least_sum;  /* lower bound of the sum of a token's weights */
    float scale;
    float softcap;                           /* softcap of logits; 0: none */
    float jitter;                            /* of D_SCORE_SPARSEMIXER */
    const struct graft_weight *weight;       /* [num_experts, hidden_size] */
    const struct graft_weight *bias;         /* [num_experts]; NULL: none */
    const struct graft_weight *correction;   /* [num_experts]: used only for choosing; may be NULL, like the next */
    const struct graft_weight *expert_scale; /* [num_experts]: factor of weights */
    struct graft_router_input input;
};

/* Checks that groups have equal sizes, and that the groups from which a token may choose have enough experts. */
static void check_groups(struct graft_reader *reader, const struct router *self, int64_t least) {
    const int64_t groups = self->groups;
    const int64_t size = groups > 0 ? self->num_experts / groups : 0;
    const int64_t top_k = graft_read_int(reader, D_MOE_TOP_K);
    if (reader->status != GRAFT_OK || groups == 0) {
        return;
    }
    if (self->num_experts % groups != 0 || size < least) {
        graft_reader_fail(reader, D_MOE_GROUPS,
                          "expected a divisor of the number of experts (%lld) that leaves %lld or more in a group, "
                          "got %lld",
                          (long long)self->num_experts, (long long)least, (long long)groups);
    } else if (self->top_groups < 1 || self->top_groups > groups) {
        graft_reader_fail(reader, D_MOE_TOP_GROUPS, "expected 1 to %lld, got %lld", (long long)groups,
                          (long long)self->top_groups);
    } else if (top_k > size * self->top_groups) {
        graft_reader_fail(reader, D_MOE_TOP_K, "expected 1 to %lld, got %lld", (long long)(size * self->top_groups),
                          (long long)top_k);
    }
}

static void check(struct graft_reader *reader, const struct router *self, int32_t is_corrected) {
    check_groups(reader, self, is_corrected ? 2 : 1);
    const int64_t top_k = graft_read_int(reader, D_MOE_TOP_K);
    if (reader->status == GRAFT_OK && self->score == D_SCORE_SPARSEMIXER && (top_k != 2 || self->num_experts < 2)) {
        graft_reader_fail(reader, D_MOE_TOP_K, "expected 2, as this router always chooses, got %lld", (long long)top_k);
    }
}

static void outline(struct graft_outline *of, struct router *self) {
    const char *correction =
        graft_read_bool(&of->reader, D_MOE_CORRECTED) ? graft_outline_name(of, D_MOE_CORRECTION) : NULL;
    const char *expert_scale = graft_outline_name(of, D_MOE_EXPERT_SCALE);
    self->num_experts = graft_read_int(&of->reader, D_MOE_EXPERTS);
    self->hidden_size = graft_read_int(&of->reader, D_HIDDEN_SIZE);
    self->groups = graft_read_int(&of->reader, D_MOE_GROUPS);
    self->top_groups = graft_read_int(&of->reader, D_MOE_TOP_GROUPS);
    self->score = graft_read_word(&of->reader, D_MOE_SCORE);
    self->normalise = graft_read_bool(&of->reader, D_MOE_NORMALISE);
    const int has_bias = graft_read_bool(&of->reader, D_MOE_ROUTER_BIAS);
    self->is_exact = graft_read_bool(&of->reader, D_MOE_ROUTER_EXACT);
    self->least_sum = (float)graft_read_real(&of->reader, D_MOE_LEAST_SUM);
    self->sum_offset = (float)graft_read_real(&of->reader, D_MOE_SUM_OFFSET);
    self->scale = (float)graft_read_real(&of->reader, D_MOE_SCALE);
    self->softcap = (float)graft_read_real(&of->reader, D_MOE_SOFTCAP);
    if (self->score == D_SCORE_SPARSEMIXER) {
        self->jitter = (float)graft_read_real(&of->reader, D_MOE_JITTER);
    }
    check(&of->reader, self, correction != NULL);
    if (self->score == D_SCORE_SPARSEMIXER && expert_scale != NULL) {
        graft_reader_fail(&of->reader, D_MOE_SCORE, "sparsemixer is not supported with moe.expert_scale");
    }
    const int64_t shape[] = {self->num_experts, self->hidden_size}, correction_shape[] = {1, self->num_experts};
    const int32_t is_row = graft_read_bool(&of->reader, D_MOE_CORRECTION_ROW);
    graft_outline_parameter(of, &self->weight, "weight", 2, shape);
    graft_outline_vector(of, &self->bias, has_bias ? "bias" : NULL, self->num_experts);
    graft_outline_parameter(of, &self->correction, correction, is_row ? 2 : 1, correction_shape + !is_row);
    graft_outline_vector(of, &self->expert_scale, expert_scale, self->num_experts);
    graft_router_input_outline(of, &self->input, self->hidden_size);
}

GRAFT_OUTLINED(graft_router, struct router)

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

/* scores [tokens, num_experts] of logits; experts are chosen by them, or they are the weights. */
static float *score(const struct router *self, const struct graft_pass *pass, const float *logits) {
    const int64_t experts = self->num_experts;
    float *scores = graft_pass_columns(pass, logits, experts, 0, experts);
    if (self->score == D_SCORE_SOFTMAX && graft_pass_ok(pass)) {
        (void)pass->call->kernels->softmax(pass->call, scores, pass->rows, experts, pass->error);
    } else if (self->score == D_SCORE_SIGMOID) {
        graft_pass_activation(pass, GRAFT_ACTIVATION_SIGMOID, scores, experts);
    }
    return scores;
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
    const int64_t groups = self->groups;
    const int64_t n = self->num_experts / groups;
    for (int64_t t = 0; t < tokens; t++) {
        float *row = scores + t * self->num_experts;
        for (int64_t g = 0; g < groups; g++) {
            of_groups[g] = group_score(row + g * n, n, self->correction != NULL);
        }
        for (int64_t g = 0; g < groups; g++) {
            int64_t better = 0;
            for (int64_t other = 0; other < groups; other++) {
                better += of_groups[other] > of_groups[g] || (of_groups[other] == of_groups[g] && other < g);
            }
            for (int64_t i = 0; better >= self->top_groups && i < n; i++) {
                row[g * n + i] = -INFINITY;
            }
        }
    }
}

/* chosen [tokens, num_experts], by which experts are chosen: corrected scores, within the best groups. */
static float *correct(const struct router *self, const struct graft_pass *pass, const float *scores) {
    const struct graft_pass one = {pass->call, 1, pass->error};
    const int64_t experts = self->num_experts;
    const float *added = graft_pass_widen(pass, self->correction);
    float *of_groups = graft_pass_floats(&one, self->groups + 1), *chosen = graft_pass_floats(pass, experts);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * experts; i++) {
        chosen[i] = scores[i] + (added != NULL ? added[i % experts] : 0.0f);
    }
    if (self->groups > 1 && graft_pass_ok(pass)) {
        leave_groups(self, chosen, pass->rows, of_groups);
    }
    return chosen;
}

static void choose(const struct router *self, const struct graft_pass *pass, const struct graft_router_args *args,
                   const float *scores) {
    const int32_t is_corrected = self->correction != NULL || self->groups > 1;
    const float *by = is_corrected ? correct(self, pass, scores) : scores;
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->top_k(pass->call, by, args->tokens, self->num_experts, args->k, args->top_k_index,
                                         args->top_k_weights, pass->error);
    }
    /* Chosen by other numbers, experts have the weights that their scores are. */
    for (int64_t i = 0; is_corrected && graft_pass_ok(pass) && i < args->tokens * args->k; i++) {
        args->top_k_weights[i] = scores[i / args->k * self->num_experts + args->top_k_index[i]];
    }
}

/* Computes the weights of the chosen experts from their logits or scores, normalised and scaled. */
static void weigh(const struct router *self, const struct graft_pass *pass, const struct graft_router_args *args) {
    const int64_t count = args->tokens * args->k;
    float *weights = args->top_k_weights;
    if (self->score == D_SCORE_TOP_SOFTMAX && graft_pass_ok(pass)) {
        (void)pass->call->kernels->softmax(pass->call, weights, args->tokens, args->k, pass->error);
    } else if (self->score == D_SCORE_TOP_SIGMOID) {
        graft_pass_activation(pass, GRAFT_ACTIVATION_SIGMOID, weights, args->k);
    }
    if (self->normalise && graft_pass_ok(pass)) {
        normalise(weights, args->tokens, args->k, self->sum_offset, self->least_sum);
    }
    const float *scales = graft_pass_widen(pass, self->expert_scale);
    for (int64_t i = 0; graft_pass_ok(pass) && i < count; i++) {
        weights[i] *= self->scale * (scales != NULL ? scales[args->top_k_index[i]] : 1.0f);
    }
}

/* Computes args->logits. */
static void find_logits(const struct router *self, const struct graft_pass *pass,
                        const struct graft_router_args *args) {
    const int64_t experts = self->num_experts;
    const float *x = graft_router_input_run(&self->input, pass, self->hidden_size, args->hidden_states);
    const struct graft_product product =
        graft_product_of(self->weight, self->bias, 0, experts, args->tokens, x, args->logits);
    struct graft_call call;
    graft_struct_copy(&call, sizeof call, pass->call);
    call.precision = self->is_exact ? GRAFT_PRECISION_FLOAT32 : call.precision;
    if (graft_pass_ok(pass)) {
        (void)call.kernels->linear(&call, &product, 1, sizeof product, pass->error);
    }
    if (self->softcap > 0.0f && graft_pass_ok(pass)) {
        (void)graft_softcap(pass->call, self->softcap, args->logits, args->tokens * experts, pass->error);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_router_args *args,
                   struct graft_error *error) {
    const struct router *self = instance;
    const struct graft_pass pass = {call, args->tokens, error};
    find_logits(self, &pass, args);
    if (self->score != D_SCORE_SPARSEMIXER) {
        choose(self, &pass, args, score(self, &pass, args->logits));
        weigh(self, &pass, args);
    } else if (error->code == GRAFT_OK) {
        graft_sparsemixer(args, self->jitter);
    }
    return error->code;
}

const struct graft_router graft_router_vtable = {.struct_size = sizeof graft_router_vtable, .forward = forward};
