/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which experts a token goes to: the best of its best groups (DeepSeek-AI 2024, DeepSeek-V3, 2.1.2). A correction bias
 * has a say in the choice, none in the weights.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deepseek.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct sizes {
    int64_t experts;
    int64_t hidden;
    int64_t groups;     /* divides experts */
    int64_t topk_group; /* groups that a token chooses from */
    int64_t ranked;     /* so many of its best experts make up a group's score: 1 or 2 */
    int32_t sigmoid;    /* struct deepseek_traits */
    int32_t norm;       /* 1: the weights of a token add up to `scaling` */
    double scaling;
};

struct router {
    struct sizes sizes;
    const struct graft_weight *weight; /* [experts, hidden] */
    const struct graft_weight *bias;   /* [experts]; NULL: none */
};

/* A token finds as many experts as it wants in the groups that it may choose from. */
static int check_groups(const struct graft_config *config, const struct sizes *sizes, struct graft_error *error) {
    int64_t size = sizes->experts / sizes->groups;
    int64_t k = 1;
    if (sizes->experts % sizes->groups != 0 || size < sizes->ranked) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "n_group: expected a divisor of %s (%lld) that leaves %lld or more in a group, got %lld",
                               graft_config_spelling(config, "num_experts"), (long long)sizes->experts,
                               (long long)sizes->ranked, (long long)sizes->groups);
    }
    return graft_config_need_int(config, "num_experts_per_tok", 1, size * sizes->topk_group, &k, error);
}

/* A family whose scores are a softmax says by `topk_method` whether there are groups. */
static int read_method(const struct graft_config *config, struct sizes *sizes, int32_t *grouped,
                       struct graft_error *error) {
    const char *method = sizes->sigmoid ? "noaux_tc" : "greedy";
    const char *scores = sizes->sigmoid ? "sigmoid" : "softmax";
    const char *wanted = scores;
    int status = graft_config_string(config, "topk_method", &method, error);
    if (status == GRAFT_OK) {
        status = graft_config_string(config, "scoring_func", &wanted, error);
    }
    if (status == GRAFT_OK && strcmp(wanted, scores) != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "scoring_func: expected \"%s\", got \"%s\"",
                                 scores, wanted);
    }
    *grouped = strcmp(method, sizes->sigmoid ? "noaux_tc" : "group_limited_greedy") == 0;
    if (status == GRAFT_OK && !*grouped && (sizes->sigmoid || strcmp(method, "greedy") != 0)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "topk_method: expected %s, got \"%s\"",
                                 sizes->sigmoid ? "\"noaux_tc\"" : "\"greedy\" or \"group_limited_greedy\"", method);
    }
    return status;
}

static int read_groups(const struct graft_config *config, struct sizes *sizes, struct graft_error *error) {
    int32_t grouped = 0;
    int status = read_method(config, sizes, &grouped, error);
    if (status != GRAFT_OK || !grouped) {
        return status;
    }
    status = graft_config_need_int(config, "n_group", 1, sizes->experts, &sizes->groups, error);
    return status == GRAFT_OK ? graft_config_need_int(config, "topk_group", 1, sizes->groups, &sizes->topk_group, error)
                              : status;
}

static int read_sizes(const struct graft_config *config, const struct deepseek_traits *traits, struct sizes *sizes,
                      struct graft_error *error) {
    *sizes =
        (struct sizes){.groups = 1, .topk_group = 1, .ranked = traits->sigmoid ? 2 : 1, .sigmoid = traits->sigmoid};
    int status = graft_config_need_int(config, "num_experts", 1, DEEPSEEK_MAX_EXPERTS, &sizes->experts, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "hidden_size", 1, DEEPSEEK_MAX_SIZE, &sizes->hidden, error);
    }
    if (status == GRAFT_OK) {
        status = read_groups(config, sizes, error);
    }
    if (status == GRAFT_OK) {
        status = check_groups(config, sizes, error);
    }
    if (status == GRAFT_OK && sizes->sigmoid) {
        status = graft_config_bool(config, "norm_topk_prob", &sizes->norm, error);
    }
    return status == GRAFT_OK ? graft_config_real(config, "routed_scaling_factor", 0.0, &sizes->scaling, error)
                              : status;
}

int deepseek_router_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)args;
    int status = sizes != NULL ? read_sizes(config, self->data, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t shape[] = {sizes->experts, sizes->hidden};
    status = graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
    return status == GRAFT_OK && sizes->sigmoid
               ? graft_describe_vector(sink, "e_score_correction_bias", sizes->experts, error)
               : status;
}

int deepseek_router_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    struct router *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    self->weight = graft_build_weight(build, "weight", &status, error);
    self->bias = build->weight(build->data, "e_score_correction_bias");
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* scores [tokens, experts], from logits that are computed in f32 whatever the model is. */
static int score(const struct router *self, const struct graft_call *call, const struct graft_router_args *args,
                 float *scores, struct graft_error *error) {
    int64_t experts = self->sizes.experts;
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = self->weight,
        .rows = experts,
        .x = args->hidden_states,
        .x_stride = self->sizes.hidden,
        .tokens = args->tokens,
        .y = args->logits,
        .y_stride = experts,
    };
    struct graft_call exact;
    graft_struct_copy(&exact, sizeof exact, call);
    exact.precision = GRAFT_PRECISION_FLOAT32;
    int status = call->kernels->linear(&exact, &product, 1, sizeof product, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (self->sizes.sigmoid) {
        return call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, args->logits, args->tokens * experts, scores,
                                         error);
    }
    memcpy(scores, args->logits, (size_t)(args->tokens * experts) * sizeof *scores);
    return call->kernels->softmax(call, scores, args->tokens, experts, error);
}

/* The best of `count` numbers, or the sum of the best two. */
static float group_score(const float *choice, int64_t count, int64_t ranked) {
    float best = -INFINITY;
    float second = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        second = choice[i] > best ? best : choice[i] > second ? choice[i] : second;
        best = choice[i] > best ? choice[i] : best;
    }
    return ranked == 1 ? best : best + second;
}

/* choice [tokens, experts] becomes -inf outside of the groups that are best for the token. */
static int hide_groups(const struct router *self, const struct graft_call *call, int64_t tokens, float *choice,
                       struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    int64_t size = sizes->experts / sizes->groups;
    float *scores = graft_scratch_floats(call, tokens, sizes->groups, error);     /* [tokens, groups] */
    float *best = graft_scratch_floats(call, tokens, sizes->topk_group, error);   /* [tokens, topk_group] */
    int32_t *index = graft_scratch_ints(call, tokens * sizes->topk_group, error); /* [tokens, topk_group] */
    char *chosen = call->scratch_alloc(call->scratch, sizes->groups);             /* [groups] */
    if (scores == NULL || best == NULL || index == NULL || chosen == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int64_t i = 0; i < tokens * sizes->groups; i++) {
        scores[i] = group_score(choice + i * size, size, sizes->ranked);
    }
    int status = call->kernels->top_k(call, scores, tokens, sizes->groups, sizes->topk_group, index, best, error);
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        memset(chosen, 0, (size_t)sizes->groups);
        for (int64_t j = 0; j < sizes->topk_group; j++) {
            chosen[index[t * sizes->topk_group + j]] = 1;
        }
        for (int64_t e = 0; e < sizes->experts; e++) {
            choice[t * sizes->experts + e] = chosen[e / size] ? choice[t * sizes->experts + e] : -INFINITY;
        }
    }
    return status;
}

/* What experts are chosen by: their scores, corrected, where the token may choose them. */
static int rank(const struct router *self, const struct graft_call *call, int64_t tokens, const float *scores,
                float *choice, struct graft_error *error) {
    int64_t experts = self->sizes.experts;
    memcpy(choice, scores, (size_t)(tokens * experts) * sizeof *choice);
    if (self->bias != NULL) {
        float *bias = graft_scratch_floats(call, experts, 1, error); /* [experts] */
        int status = bias != NULL ? call->kernels->widen(call, self->bias, bias, error) : GRAFT_ERROR_INTERNAL;
        if (status != GRAFT_OK) {
            return status;
        }
        for (int64_t i = 0; i < tokens * experts; i++) {
            choice[i] += bias[i % experts];
        }
    }
    return self->sizes.topk_group < self->sizes.groups ? hide_groups(self, call, tokens, choice, error) : GRAFT_OK;
}

/* The weights are the scores of those that were chosen. */
static void weigh(const struct sizes *sizes, const struct graft_router_args *args, const float *scores) {
    for (int64_t t = 0; t < args->tokens; t++) {
        const int32_t *index = args->top_k_index + t * args->k;
        float *weights = args->top_k_weights + t * args->k;
        float sum = 0.0f;
        for (int64_t j = 0; j < args->k; j++) {
            weights[j] = scores[t * sizes->experts + index[j]];
            sum += weights[j];
        }
        float factor = (float)sizes->scaling / (sizes->norm ? sum + 1e-20f : 1.0f);
        for (int64_t j = 0; j < args->k; j++) {
            weights[j] *= factor;
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_router_args *args,
                   struct graft_error *error) {
    const struct router *self = instance;
    int64_t experts = self->sizes.experts;
    float *scores = graft_scratch_floats(call, args->tokens, experts, error); /* [tokens, experts] */
    float *choice = graft_scratch_floats(call, args->tokens, experts, error); /* [tokens, experts] */
    if (scores == NULL || choice == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = score(self, call, args, scores, error);
    if (status == GRAFT_OK) {
        status = rank(self, call, args->tokens, scores, choice, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->top_k(call, choice, args->tokens, experts, args->k, args->top_k_index,
                                      args->top_k_weights, error);
    }
    if (status == GRAFT_OK) {
        weigh(&self->sizes, args, scores);
    }
    return status;
}

const struct graft_router deepseek_router_vtable = {.struct_size = sizeof deepseek_router_vtable, .forward = forward};
