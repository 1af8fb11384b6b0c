/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that wraps every class of the families that boundary.sh runs and only calls the original, also by the
 * optional slots. The difference in instructions is the cost of crossing to a plugin. */
#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/plugin.h"
#include "graft/rotary.h"
#include "graft/router.h"

/* `self` is the original's module, because the class has no `create`. */
#define WRAPPER(ID, role, ...)                                                                                   \
    static int role##_forward(void *self, const struct graft_call *call, const struct graft_##role##_args *args, \
                              struct graft_error *error) {                                                       \
        return graft_##role##_forward(self, call, args, error);                                                  \
    }                                                                                                            \
    static const struct graft_##role role##_vtable = {                                                           \
        .struct_size = sizeof role##_vtable, .forward = role##_forward, __VA_ARGS__};                            \
    static const struct graft_class role##_class = {.struct_size = sizeof role##_class,                          \
                                                    .flags = GRAFT_CLASS_CALLS_SUPER,                            \
                                                    .name = "Wrapped_" #role,                                    \
                                                    .interface_id = GRAFT_INTERFACE_##ID,                        \
                                                    .forward = &role##_vtable};

static int32_t as_product(void *self, const struct graft_linear_args *args, struct graft_product *product) {
    return graft_linear_pass_product(self, args, product);
}

static int32_t as_kernel(void *self) {
    const struct graft_module *super = self;
    const struct graft_activation *vtable = super->forward;
    return vtable->as_kernel(super->instance); /* only if the original has the slot */
}

WRAPPER(ACTIVATION, activation, .as_kernel = as_kernel)
WRAPPER(BASE_MODEL, base_model, .features = 0)
WRAPPER(CAUSAL_LM, causal_lm, .features = 0)
WRAPPER(DECODER_LAYER, decoder_layer, .features = 0)
WRAPPER(EMBEDDING, embedding, .features = 0)
WRAPPER(EXPERTS, experts, .features = 0)
WRAPPER(LINEAR, linear, .as_product = as_product)
WRAPPER(MLP, mlp, .features = 0)
WRAPPER(NORM, norm, .features = 0)
WRAPPER(ROTARY, rotary, .features = 0)
WRAPPER(ROUTER, router, .features = 0)
WRAPPER(SELF_ATTENTION, self_attention, .features = 0)

#define REPLACEMENT(of, role)                                                                 \
    {                                                                                         \
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = of, \
        .replacement = &role##_class                                                          \
    }

#define FAMILY(prefix)                                                                                      \
    REPLACEMENT(prefix "ForCausalLM", causal_lm), REPLACEMENT(prefix "Model", base_model),                  \
        REPLACEMENT(prefix "DecoderLayer", decoder_layer), REPLACEMENT(prefix "Attention", self_attention), \
        REPLACEMENT(prefix "MLP", mlp), REPLACEMENT(prefix "RMSNorm", norm),                                \
        REPLACEMENT(prefix "RotaryEmbedding", rotary)

static const struct graft_replacement replacements[] = {
    FAMILY("Qwen3"),
    FAMILY("Qwen2Moe"),
    REPLACEMENT("Qwen2MoeSparseMoeBlock", mlp),
    REPLACEMENT("Qwen2MoeTopKRouter", router),
    REPLACEMENT("Qwen2MoeExperts", experts),
    REPLACEMENT("Linear", linear),
    REPLACEMENT("Embedding", embedding),
    REPLACEMENT("SiLUActivation", activation),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "wrap_all",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Every class in a wrapper that calls the original",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    return &plugin;
}
