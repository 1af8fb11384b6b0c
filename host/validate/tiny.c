/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/tiny.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "weights/safetensors_write.h"

const struct graft_tiny_sizes graft_tiny_usual = {
    .hidden = 32, .heads = 4, .kv_heads = 2, .head_dim = 8, .intermediate = 48, .experts = 4, .vocab = 97, .layers = 2};

const char *graft_tiny_type(size_t i, const char **architecture) {
    static const char *const types[][2] = {
        {"llama", "LlamaForCausalLM"},        {"mistral", "MistralForCausalLM"},
        {"mixtral", "MixtralForCausalLM"},    {"qwen2", "Qwen2ForCausalLM"},
        {"qwen2_moe", "Qwen2MoeForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"},
        {"qwen3_moe", "Qwen3MoeForCausalLM"}, {"qwen2_vl", "Qwen2VLForConditionalGeneration"},
        {"bert", "BertForMaskedLM"},
    };
    if (i >= sizeof types / sizeof types[0]) {
        return NULL;
    }
    *architecture = types[i][1];
    return types[i][0];
}

const char *graft_tiny_architecture(const char *model_type) {
    const char *type, *architecture = NULL;
    size_t i = 0;
    while ((type = graft_tiny_type(i, &architecture)) != NULL && strcmp(type, model_type) != 0) {
        i++;
    }
    return type != NULL ? architecture : NULL;
}

/* Fields that only some types need, in sizes that fit the usual ones. */
#define SHARED "\"first_k_dense_replace\": 1, \"n_routed_experts\": 4, \"n_group\": 1, \"topk_group\": 1, "
#define LATENT                                                                                             \
    SHARED "\"q_lora_rank\": 16, \"kv_lora_rank\": 16, \"qk_rope_head_dim\": 8, \"qk_nope_head_dim\": 8, " \
           "\"v_head_dim\": 8, "
#define LINEAR                                                                                 \
    "\"linear_num_key_heads\": 2, \"linear_num_value_heads\": 4, \"linear_key_head_dim\": 8, " \
    "\"linear_value_head_dim\": 8, "
#define MAMBA "\"mamba_n_heads\": 4, \"mamba_d_head\": 16, "
#define T5 "\"num_layers\": 2, \"d_model\": 32, \"d_ff\": 48, \"d_kv\": 8, \"num_heads\": 4, "
static const struct fields {
    const char *model_type;
    const char *text;
    int32_t kv_for_each_head; /* 1: as many heads of keys and values as of queries */
} fields[] = {
    {"bamba", MAMBA, 0},
    {"codegen", "\"rotary_dim\": 8, ", 0},
    {"deepseek_v2", LATENT, 1},
    {"deepseek_v3", LATENT, 1},
    {"dots1", SHARED "\"n_shared_experts\": 1, ", 0},
    {"gemma4_text", "\"vocab_size_per_layer_input\": 97, \"hidden_size_per_layer_input\": 8, ", 0},
    {"glm4_moe_lite", LATENT, 1},
    {"gptj", "\"rotary_dim\": 8, ", 0},
    {"granitemoehybrid", MAMBA, 0},
    {"mt5", T5, 0},
    {"qwen3_next", LINEAR, 0},
    {"t5", T5, 0},
    {"umt5", T5, 0},
    {"youtu", LATENT, 1},
};

static const struct fields *fields_of(const char *model_type) {
    static const struct fields none = {"", "", 0};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].model_type, model_type) == 0) {
            return &fields[i];
        }
    }
    return &none;
}

/* Writes one config for all model types; each type reads the fields that it knows. */
static void write_config(struct graft_text *text, const char *model_type, const char *architecture,
                         const struct graft_tiny_sizes *sizes) {
    const struct fields *more = fields_of(model_type);
    graft_text_printf(text,
                      "{\"architectures\": [\"%s\"], \"model_type\": \"%s\", \"hidden_size\": %d, "
                      "\"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"head_dim\": %d, "
                      "\"intermediate_size\": %d, \"moe_intermediate_size\": %d, "
                      "\"shared_expert_intermediate_size\": %d, \"num_experts\": %d, \"num_local_experts\": %d, "
                      "\"num_experts_per_tok\": 2, \"vocab_size\": %d, \"num_hidden_layers\": %d, ",
                      architecture, model_type, sizes->hidden, sizes->heads,
                      more->kv_for_each_head ? sizes->heads : sizes->kv_heads, sizes->head_dim, sizes->intermediate,
                      sizes->intermediate / 2, sizes->intermediate, sizes->experts, sizes->experts, sizes->vocab,
                      sizes->layers);
    graft_text_add_string(text, more->text);
    if (strcmp(model_type, "mamba2") == 0) { /* heads of its mixers, which are twice as wide */
        graft_text_printf(text, "\"num_heads\": %d, ", 2 * sizes->heads);
    }
    if (strcmp(model_type, "qwen2_vl") == 0) {
        graft_text_printf(text,
                          "\"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [%d, 1, 1]}, "
                          "\"image_token_id\": 90, \"video_token_id\": 91, \"vision_start_token_id\": 92, "
                          "\"vision_end_token_id\": 93, \"vision_config\": {\"depth\": 2, \"embed_dim\": 16, "
                          "\"hidden_act\": \"quick_gelu\", \"hidden_size\": %d, \"in_channels\": 3, \"mlp_ratio\": 2, "
                          "\"num_heads\": 2, \"patch_size\": 2, \"spatial_merge_size\": 2, "
                          "\"temporal_patch_size\": 2}, ",
                          sizes->head_dim / 2 - 2, sizes->hidden);
    }
    graft_text_printf(text,
                      "\"hidden_act\": \"%s\", \"max_position_embeddings\": 1280, \"rms_norm_eps\": 1e-5, "
                      "\"layer_norm_eps\": 1e-5, \"rope_theta\": 10000.0, \"tie_word_embeddings\": false, "
                      "\"type_vocab_size\": 2, \"pad_token_id\": 0, \"bos_token_id\": 1, \"eos_token_id\": 2, "
                      "\"norm_topk_prob\": true, \"decoder_sparse_step\": 1, \"mlp_only_layers\": [], "
                      "\"torch_dtype\": \"float32\"}\n",
                      strcmp(model_type, "bert") == 0 ? "gelu" : "silu");
}

/* SplitMix64. */
static uint64_t next_word(uint64_t *state) {
    uint64_t word = *state += UINT64_C(0x9E3779B97F4A7C15);
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

void graft_tiny_fill(float *values, int64_t count, float base, uint64_t seed) {
    for (int64_t i = 0; i < count; i++) {
        values[i] = base + (float)((int64_t)(next_word(&seed) >> 40) - (1 << 23)) / (float)(1 << 26);
    }
}

/* The shape that the checkpoint's tensor must have. A class that transposes its weights reports a mismatch for a tensor
 * of the parameter's shape; the mismatched shape is then the transposed one, which is what it wants. */
static const int64_t *find_shape(const struct graft_binding *binding) {
    return binding->status == GRAFT_BINDING_MISMATCHED && binding->value.rank == binding->parameter->rank
               ? binding->value.shape
               : binding->parameter->shape;
}

static int make_tensor(const struct graft_binding *binding, uint64_t seed, struct graft_tensor_view *view) {
    const struct graft_parameter *parameter = binding->parameter;
    const int64_t *shape = find_shape(binding);
    int64_t count = 1;
    *view = (struct graft_tensor_view){.name = parameter->name, .dtype = GRAFT_DTYPE_F32, .rank = parameter->rank};
    for (int i = 0; i < GRAFT_MAX_RANK; i++) {
        view->shape[i] = shape[i];
        count *= shape[i];
    }
    float *values = graft_alloc((size_t)count, sizeof *values);
    int is_scale = parameter->rank == 1 && strcmp(parameter->own_name, "weight") == 0;
    view->data = values;
    view->bytes = count * (int64_t)sizeof *values;
    if (values != NULL) {
        graft_tiny_fill(values, count, is_scale ? 1.0F : 0.0F, seed);
    }
    return values != NULL ? 0 : -1;
}

/* The bytes of the tensors that would be written. */
static int64_t bytes_of(const struct graft_plan *plan) {
    int64_t bytes = 0;
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const int64_t *shape = find_shape(&plan->bindings[i]);
        int64_t count = plan->bindings[i].parameter->tied_to == NULL ? (int64_t)sizeof(float) : 0;
        for (int k = 0; k < GRAFT_MAX_RANK; k++) {
            count *= shape[k];
        }
        bytes += count;
    }
    return bytes;
}

/* Writes a tensor for each parameter of the model without replacements, except for tied ones. */
static int write_weights(const struct graft_model *model, const char *directory, struct graft_error *error) {
    enum { MAX_MEBIBYTES = 64 };
    const struct graft_plan *plan = model->plan;
    const int64_t mebibytes = bytes_of(plan) >> 20;
    if (mebibytes > MAX_MEBIBYTES) { /* sizes that it has under names of its own are those of large models */
        return graft_error_set(error, GRAFT_ERROR_USAGE, directory, "its weights would have %lld MiB, allowed are %d",
                               (long long)mebibytes, MAX_MEBIBYTES);
    }
    struct graft_tensor_view *views = graft_alloc(plan->n_bindings, sizeof *views);
    char *path = graft_path_join(directory, "model.safetensors");
    graft_json *metadata = graft_json_new_object();
    size_t n = 0;
    int failed =
        views == NULL || path == NULL || graft_json_set_take(metadata, "format", graft_json_new_string("pt")) != 0;
    for (size_t i = 0; i < plan->n_bindings && !failed; i++) {
        if (plan->bindings[i].parameter->tied_to == NULL) {
            failed = make_tensor(&plan->bindings[i], i + 1, &views[n]) != 0;
            n++;
        }
    }
    int status =
        failed ? graft_fail_memory(error, directory) : graft_safetensors_write(path, views, n, metadata, error);
    for (size_t i = 0; i < n; i++) {
        graft_free((void *)(uintptr_t)views[i].data);
    }
    graft_json_free(metadata);
    graft_free(path);
    graft_free(views);
    return status;
}

/* Opens the directory, with or without weights, and writes the weights that the model wants. `*fits` says whether its
 * current weights already fit. */
static int write_wanted(struct graft_library *library, const char *directory, int without_weights, int *fits,
                        struct graft_error *error) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .without_weights = without_weights, .without_replacements = 1};
    struct graft_model *model = NULL;
    int status = graft_model_open(library, directory, &options, &model, error);
    *fits = status == GRAFT_OK && !without_weights && graft_plan_check(model->plan, NULL) == GRAFT_OK;
    if (status == GRAFT_OK && !*fits) {
        status = write_weights(model, directory, error);
    }
    graft_model_free(model);
    return status;
}

int graft_tiny_write_weights(struct graft_library *library, const char *directory, struct graft_error *error) {
    int fits = 0, status = GRAFT_OK;
    for (int without_weights = 1; without_weights >= 0 && status == GRAFT_OK; without_weights--) {
        status = write_wanted(library, directory, without_weights, &fits, error);
    }
    return status;
}

static int write_directory(const char *directory, const struct graft_text *config, struct graft_library *library,
                           struct graft_error *error) {
    const struct graft_file_piece piece = {config->bytes, config->length};
    char *path = graft_path_join(directory, "config.json");
    if (path == NULL || config->failed) {
        graft_free(path);
        return graft_fail_memory(error, directory);
    }
    int status = mkdir(directory, S_IRWXU) == 0 ? graft_file_write(path, &piece, 1, error)
                                                : graft_fail_errno(error, GRAFT_ERROR_IO, directory, "mkdir", errno);
    if (status == GRAFT_OK) {
        status = graft_tiny_write_weights(library, directory, error);
    }
    graft_free(path);
    return status;
}

int graft_tiny_write(struct graft_library *library, const char *model_type, const char *architecture,
                     const struct graft_tiny_sizes *sizes, const char *directory, struct graft_error *error) {
    struct graft_text config = {0};
    write_config(&config, model_type, architecture, sizes);
    int status = write_directory(directory, &config, library, error);
    graft_text_free(&config);
    return status;
}

int graft_tiny_make(const struct graft_validation *validation, struct graft_library *library, const char *model_type,
                    const char *architecture, const struct graft_tiny_sizes *sizes, const char *name,
                    struct graft_error *error) {
    char *directory = graft_path_join(validation->folder, name);
    if (directory == NULL) {
        return graft_fail_memory(error, name);
    }
    int status = graft_tiny_write(library, model_type, architecture, sizes, directory, error);
    if (status == GRAFT_OK) {
        status = graft_tiny_make_adapter(library, directory, error);
    }
    graft_free(directory);
    return status;
}
