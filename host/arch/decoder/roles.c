/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/roles.h"

#include <stdio.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/moe/expert_conversions.h"
#include "arch/role.h"

enum { MAX_NAME = 256 };

/* A class of a decoder. Its name is a choice. */
struct role {
    int32_t choice;
    const char *suffix;     /* appended to a family's prefix; NULL: the class must be named explicitly */
    struct graft_class cls; /* complete except for name and data */
};

static const struct role roles[] = {
    {D_CLASS_CAUSAL_LM, "ForCausalLM", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm)}},
    {D_CLASS_MASKED_LM, "ForMaskedLM", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MASKED_LM, graft_masked_lm)}},
    {D_CLASS_CONDITIONAL,
     "ForConditionalGeneration",
     {GRAFT_ROLE_OUTLINED_AS(GRAFT_INTERFACE_CAUSAL_LM, graft_conditional, graft_causal_lm_vtable)}},
    {D_CLASS_MODEL, "Model", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_BASE_MODEL, graft_decoder_model)}},
    {D_CLASS_SEQUENCES,
     "ForSequenceClassification",
     {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_SEQUENCE_CLASSIFIER, graft_decoder_sequences)}},
    {D_CLASS_TOKENS,
     "ForTokenClassification",
     {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_TOKEN_CLASSIFIER, graft_decoder_tokens)}},
    {D_CLASS_ANSWERS,
     "ForQuestionAnswering",
     {GRAFT_ROLE_OUTLINED_AS(GRAFT_INTERFACE_TOKEN_CLASSIFIER, graft_decoder_answers, graft_decoder_tokens_vtable)}},
    {D_CLASS_LAYER, "DecoderLayer", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer)}},
    {D_CLASS_LAYER, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_DECODER_LAYER, graft_extended_layer)}},
    {D_CLASS_ATTENTION, "Attention", {GRAFT_ROLE(GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)}},
    {D_CLASS_ATTENTION,
     NULL,
     {.struct_size = sizeof(struct graft_class),
      .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
      .describe = graft_mla_describe,
      .create = graft_outline_create,
      .destroy = graft_mla_destroy,
      .forward = &graft_mla_vtable}},
    {D_CLASS_ATTENTION, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_SELF_ATTENTION, graft_routed_attention)}},
    {D_CLASS_ATTENTION, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_SELF_ATTENTION, graft_disentangled)}},
    {D_CLASS_CROSS_ATTENTION,
     "CrossAttention",
     {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_SELF_ATTENTION, graft_cross_attention)}},
    {D_CLASS_MLP, "MLP", {GRAFT_ROLE_PART(GRAFT_INTERFACE_MLP, graft_mlp, graft_parts_mlp)}},
    {D_CLASS_NORM, "RMSNorm", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_NORM, graft_decoder_norm)}},
    {D_CLASS_HEAD_NORM, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_NORM, graft_decoder_norm)}},
    {D_CLASS_LAST_NORM, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_NORM, graft_decoder_norm)}},
    {D_CLASS_ROTARY,
     "RotaryEmbedding",
     {.struct_size = sizeof(struct graft_class),
      .interface_id = GRAFT_INTERFACE_ROTARY,
      .describe = graft_decoder_rotary_describe,
      .create = graft_decoder_rotary_create,
      .destroy = graft_decoder_rotary_destroy,
      .forward = &graft_decoder_rotary_vtable}},
    {D_CLASS_EMBEDDING, NULL, {GRAFT_ROLE_PART(GRAFT_INTERFACE_EMBEDDING, graft_embedding, graft_scaled_embedding)}},
    {D_CLASS_STEP_NORM, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_NORM, graft_decoder_norm)}},
    {D_CLASS_GATED_NORM, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_GATED_NORM, graft_gated_norm)}},
    {D_CLASS_MIXER, NULL, {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_mamba)}}, /* or another of `mixers` */
    {D_CLASS_MOE, "SparseMoeBlock", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MLP, graft_sparse_moe_block)}},
    {D_CLASS_ROUTER, "TopKRouter", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_ROUTER, graft_router)}},
    {D_CLASS_EXPERTS,
     "Experts",
     {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_EXPERTS, graft_experts), .flags = GRAFT_CLASS_CALLS_EXPERTS}},
};

enum { N_ROLES = sizeof roles / sizeof roles[0] };

/* The class of D_CLASS_EXPERTS with D_EXPERTS_PLAIN. It has its own loop, because experts implementations expect gates.
 */
static const struct graft_class plain_experts = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_EXPERTS, graft_plain_experts)};

/* The class of D_CLASS_MLP with D_MIXER_RWKV. */
static const struct graft_class rwkv_channel = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_rwkv_channel)};

/* By D_MIXER_KIND. */
static const struct graft_class mixers[] = {
    [D_MIXER_MAMBA] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_mamba)},
    [D_MIXER_MAMBA2] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_mamba2)},
    [D_MIXER_DELTA] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_delta_net)},
    [D_MIXER_SHORT_CONV] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_short_conv)},
    [D_MIXER_LIGHTNING] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_lightning)},
    [D_MIXER_RG_LRU] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_rg_lru)},
    [D_MIXER_RWKV] = {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_MIXER, graft_rwkv_time)},
};

int graft_decoder_name_classes(struct graft_description *description, const char *prefix, int is_new,
                               struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < N_ROLES && status == GRAFT_OK; i++) {
        char name[MAX_NAME];
        const struct graft_value value = {.kind = GRAFT_VALUE_TEXT, .text = name};
        const char *present = graft_description_name(description, roles[i].choice);
        const int is_asked = !is_new || roles[i].choice == D_CLASS_MASKED_LM; /* a family has it only if it names it */
        if (roles[i].suffix == NULL || (is_asked && (present == NULL || graft_class_is_basic(present)))) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.200s%s", prefix, roles[i].suffix);
        status = graft_description_set(description, roles[i].choice, &value, prefix, error);
    }
    return status;
}

int32_t graft_decoder_n_classes(void) {
    return N_ROLES;
}

/* Whether the class belongs to experts, so that only families with experts have it. */
static int is_of_experts(int32_t choice) {
    return choice == D_CLASS_MOE || choice == D_CLASS_ROUTER || choice == D_CLASS_EXPERTS;
}

/* Whether only families with an encoder have the class. */
static int is_of_encoder(int32_t choice) {
    return choice == D_CLASS_CONDITIONAL || choice == D_CLASS_CROSS_ATTENTION;
}

static int is_named(const struct graft_description *description, int32_t choice, const char *name) {
    const char *own = graft_description_name(description, choice);
    return own != NULL && strcmp(own, name) == 0;
}

/* Whether the projections have names that are known to classes which join them (graft/attention.h). */
static int has_known_names(const struct graft_description *description) {
    static const char *const known[][3] = {{"q_proj", "k_proj", "v_proj"},
                                           {"self.query", "self.key", "self.value"},
                                           {"query", "key", "value"},
                                           {"q_lin", "k_lin", "v_lin"},
                                           {"attn.q", "attn.k", "attn.v"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (is_named(description, D_QUERY, known[i][0]) && is_named(description, D_KEY, known[i][1]) &&
            is_named(description, D_VALUE, known[i][2])) {
            return 1;
        }
    }
    return 0;
}

/* Whether a single projection can replace those of queries, keys and values. */
static int can_join(const struct graft_description *description) {
    return has_known_names(description) && graft_description_name(description, D_QKV) == NULL &&
           graft_description_name(description, D_DISENTANGLED_NAME) == NULL &&
           graft_description_word(description, D_PROJECTED) == D_PROJECTED_ONCE &&
           graft_description_never(description, D_VALUE_IS_KEY) &&
           graft_description_never(description, D_SHARED_LAYERS) && graft_description_never(description, D_K_BIAS) &&
           graft_description_never(description, D_LATENT_RANK) &&
           graft_description_word(description, D_GATE) != D_GATE_QUERY;
}

/* The vtable of the family's layers, which distinguishes the roles of D_CLASS_LAYER. */
static const void *layer_of(const struct graft_description *description) {
    const int is_plain = graft_description_name(description, D_LAYER_LOW_RANK) == NULL &&
                         graft_description_name(description, D_LAYER_SCALAR) == NULL &&
                         graft_description_never(description, D_LAYER_EXPERTS_BESIDE) &&
                         graft_description_never(description, D_INPUT_SIZE) &&
                         graft_description_never(description, D_STREAMS_COUNT);
    return is_plain ? (const void *)&graft_decoder_layer_vtable : &graft_extended_layer_vtable;
}

/* The vtable of the family's attention, which distinguishes the roles of D_CLASS_ATTENTION. */
static const void *attention_of(const struct graft_description *description) {
    return graft_description_name(description, D_DISENTANGLED_NAME) != NULL ? (const void *)&graft_disentangled_vtable
           : !graft_description_never(description, D_LATENT_RANK)           ? &graft_mla_vtable
           : graft_description_word(description, D_PROJECTED) == D_PROJECTED_ROUTED ? &graft_routed_attention_vtable
                                                                                    : &graft_attention_vtable;
}

int graft_decoder_class(const struct graft_description *description, int32_t i, struct graft_class *cls) {
    const struct role *role = &roles[i];
    const char *name = graft_description_name(description, role->choice);
    const int32_t stored = graft_description_word(description, D_MOE_STORED);
    const int32_t mixer = graft_description_word(description, D_MIXER_KIND);
    if (name == NULL || graft_class_is_basic(name) ||
        (role->choice == D_CLASS_ATTENTION && role->cls.forward != attention_of(description)) ||
        (role->choice == D_CLASS_LAYER && role->cls.forward != layer_of(description)) ||
        (is_of_encoder(role->choice) && graft_description_encoder(description) == NULL) ||
        (is_of_experts(role->choice) && graft_description_never(description, D_MOE_EXPERTS)) ||
        (role->choice == D_CLASS_MIXER && mixer <= D_MIXER_NONE)) {
        return 0;
    }
    const int plain = graft_description_word(description, D_MOE_KIND) == D_EXPERTS_PLAIN;
    *cls = role->choice == D_CLASS_MIXER                          ? mixers[mixer]
           : role->choice == D_CLASS_MLP && mixer == D_MIXER_RWKV ? rwkv_channel
           : role->choice == D_CLASS_EXPERTS && plain             ? plain_experts
                                                                  : role->cls;
    cls->name = name;
    cls->data = description;
    if (role->choice == D_CLASS_ATTENTION && can_join(description)) {
        cls->flags |= GRAFT_CLASS_JOINS_QKV;
    }
    if (role->choice == D_CLASS_EXPERTS && stored >= 0 && stored < GRAFT_EXPERT_LAYOUTS) {
        const struct graft_expert_layout *layout =
            plain && stored == D_STORED_LIST ? &graft_plain_experts_layout : &graft_expert_layouts[stored];
        cls->conversions = layout->conversions;
        cls->n_conversions = layout->n;
        cls->conversion_stride = sizeof *cls->conversions;
    }
    return 1;
}

const char *graft_decoder_class_name(const struct graft_description *description, int32_t choice) {
    const char *name = graft_description_name(description, choice);
    switch (name == NULL ? choice : D_COUNT) {
    case D_CLASS_BASE_MODEL:
        return graft_description_name(description, D_CLASS_MODEL);
    case D_CLASS_HEAD_NORM:
    case D_CLASS_LAST_NORM:
    case D_CLASS_STEP_NORM:
        return graft_description_name(description, D_CLASS_NORM);
    default:
        return name;
    }
}

const struct graft_description *graft_decoder_description(const struct graft_class *cls) {
    for (int32_t i = 0; i < N_ROLES && cls->base == NULL; i++) {
        if (cls->describe == roles[i].cls.describe && cls->forward == roles[i].cls.forward &&
            roles[i].choice != D_CLASS_EMBEDDING) {
            return cls->data;
        }
    }
    return NULL;
}

int graft_decoder_is_root(const struct graft_class *cls) {
    return strcmp(cls->interface_id, GRAFT_INTERFACE_CAUSAL_LM) == 0 ||
           strcmp(cls->interface_id, GRAFT_INTERFACE_MASKED_LM) == 0 ||
           strcmp(cls->interface_id, GRAFT_INTERFACE_SEQUENCE_CLASSIFIER) == 0 ||
           strcmp(cls->interface_id, GRAFT_INTERFACE_TOKEN_CLASSIFIER) == 0 ||
           strcmp(cls->interface_id, GRAFT_INTERFACE_BASE_MODEL) == 0;
}
