/* SPDX-License-Identifier: Apache-2.0 */
/* What DeepseekV3Attention consists of, and its forward from hidden states to output. */
#include "attention.h"

#include <stdlib.h>

#include "graft/describe.h"

/* The norms within have an eps of their own, not that of config.json. */
static const double latent_eps = 1e-6;

static int describe_queries(const struct deepseek_sizes *sizes, const char *norm, int32_t bias,
                            const struct graft_sink *sink, struct graft_error *error) {
    int64_t width = sizes->heads * (sizes->nope + sizes->rope);
    if (sizes->q_lora == 0) {
        return graft_describe_linear(sink, "q_proj", sizes->hidden, width, 0, error);
    }
    int status = graft_describe_linear(sink, "q_a_proj", sizes->hidden, sizes->q_lora, bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_norm(sink, "q_a_layernorm", norm, sizes->q_lora, latent_eps, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "q_b_proj", sizes->q_lora, width, 0, error) : status;
}

static int describe_latents(const struct deepseek_sizes *sizes, const char *norm, int32_t bias,
                            const struct graft_sink *sink, struct graft_error *error) {
    int status =
        graft_describe_linear(sink, "kv_a_proj_with_mqa", sizes->hidden, sizes->kv_lora + sizes->rope, bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_norm(sink, "kv_a_layernorm", norm, sizes->kv_lora, latent_eps, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "kv_b_proj", sizes->kv_lora,
                                                      sizes->heads * (sizes->nope + sizes->v), 0, error)
                              : status;
}

int deepseek_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct deepseek_traits *traits = self->data;
    int32_t bias = graft_args_int(args, "qkv_bias", 0) != 0;
    struct deepseek_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    int status = sizes != NULL ? deepseek_sizes_read(config, args, sink, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = describe_queries(sizes, traits->rms_norm, bias, sink, error);
    }
    if (status == GRAFT_OK) {
        status = describe_latents(sizes, traits->rms_norm, bias, sink, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "o_proj", sizes->heads * sizes->v, sizes->hidden,
                                                      graft_args_int(args, "o_proj_bias", 0) != 0, error)
                              : status;
}

int deepseek_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct deepseek_sizes *sizes = build->kept;
    struct deepseek_attention *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    if (sizes->q_lora == 0) {
        self->q_proj = graft_build_child(build, "q_proj", &status, error);
    } else {
        self->q_a_proj = graft_build_child(build, "q_a_proj", &status, error);
        self->q_a_layernorm = graft_build_child(build, "q_a_layernorm", &status, error);
        self->q_b_proj = graft_build_child(build, "q_b_proj", &status, error);
    }
    self->kv_a_proj = graft_build_child(build, "kv_a_proj_with_mqa", &status, error);
    self->kv_a_layernorm = graft_build_child(build, "kv_a_layernorm", &status, error);
    self->kv_b_proj = graft_build_child(build, "kv_b_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

void deepseek_attention_destroy(void *instance) {
    struct deepseek_attention *self = instance;
    deepseek_absorbed_free(atomic_load(&self->absorbed));
    free(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    struct deepseek_attention *self = instance;
    int64_t tokens = args->batch->tokens;
    struct deepseek_projected projected;
    float *context = graft_scratch_floats(call, tokens, self->sizes.heads * self->sizes.v, error);
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = deepseek_project(self, call, args, &projected, error);
    if (status == GRAFT_OK) {
        status = deepseek_attend(self, call, args, &projected, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention deepseek_attention_vtable = {
    .struct_size = sizeof deepseek_attention_vtable,
    .forward = forward,
};
