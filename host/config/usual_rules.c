/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that files of a model directory have in any family, and that change nothing that Graft computes. The names are
 * those of transformers 4 and 5. If a class uses one of them, it asks for the field, which then counts as used.
 */
#include <string.h>

#include "config/rules.h"

#define ANY(field) \
    { .name = (field) }
#define NEUTRAL(field, json) \
    { .name = (field), .values = (json) }
#define ONLY(field, json) \
    { .name = (field), .values = (json), .flags = GRAFT_FIELD_ONLY }

static const struct graft_field_rule config_rules[] = {
    /* who wrote the file, and where it was */
    ANY("_commit_hash"),
    ANY("_name_or_path"),
    ANY("_model_name_or_path"), /* in models converted from GGUF */
    ANY("auto_map"),
    ANY("custom_pipelines"),
    ANY("model_name"),
    ANY("model_type"),
    ANY("transformers.js_config"),
    ANY("transformers_version"),
    ANY("unsloth_fixed"),
    ANY("unsloth_version"),
    /* what PEFT writes about adapters of any kind */
    ANY("adapter.*.auto_mapping"),
    ANY("adapter.*.base_model_name_or_path"),
    ANY("adapter.*.inference_mode"),
    ANY("adapter.*.peft_version"),
    ANY("adapter.*.revision"),
    ANY("adapter.*.task_type"),
    /* training; dropout has no effect in a trained model */
    ANY("activation_dropout"),
    ANY("attention_dropout"),
    ANY("attention_probs_dropout_prob"),
    ANY("attn_dropout"),
    ANY("attn_pdrop"),
    ANY("aux_loss_alpha"),
    ANY("classifier_dropout"),
    ANY("dropout"),
    ANY("embd_pdrop"),
    ANY("embedding_dropout"),
    ANY("finetuning_task"),
    ANY("gradient_checkpointing"),
    ANY("hidden_dropout"),
    ANY("hidden_dropout_prob"),
    ANY("initializer_cutoff_factor"),
    ANY("initializer_factor"),
    ANY("initializer_range"),
    ANY("keys_to_ignore_at_inference"),
    ANY("mlp_dropout"),
    ANY("output_router_logits"),
    ANY("problem_type"),
    ANY("resid_pdrop"),
    ANY("router_aux_loss_coef"),
    ANY("router_jitter_noise"),
    ANY("router_z_loss_coef"),
    ANY("seq_aux"),
    /* how the reference computes, or returns results */
    ANY("_attn_implementation"),
    ANY("_attn_implementation_autoset"),
    ANY("_experts_implementation"),
    ANY("attn_implementation"),
    ANY("cache_implementation"),
    ANY("chunk_size_feed_forward"),
    ANY("dtype"),
    ANY("ep_size"),
    ANY("experts_implementation"),
    ANY("fusion_config"),
    ANY("output_attentions"),
    ANY("output_hidden_states"),
    ANY("output_past"),
    ANY("output_scores"),
    ANY("pretraining_tp"),
    ANY("return_dict"),
    ANY("return_dict_in_generate"),
    ANY("tf_legacy_loss"),
    ANY("torch_dtype"),
    ANY("torchscript"),
    ANY("use_bfloat16"),
    ANY("use_cache"),
    /* names of labels, and ids that tokenizers have as well; the ids that end a text are asked for */
    ANY("bos_token_id"),
    ANY("cls_token_id"),
    ANY("decoder_start_token_id"),
    ANY("eos_token_id"),
    ANY("id2label"),
    ANY("label2id"),
    ANY("num_labels"),
    ANY("pad_token_id"),
    ANY("prefix"),
    ANY("sep_token_id"),
    ANY("task_specific_params"),
    ANY("tokenizer_class"),
    ANY("unk_token_id"),
    /* features of some families that other families write as switched off */
    ONLY("is_encoder_decoder", "[false]"),
    NEUTRAL("add_cross_attention", "[false]"),
    NEUTRAL("alibi", "[false]"),
    NEUTRAL("attention_bias", "[false]"),
    NEUTRAL("embedding_multiplier", "[1.0]"),
    NEUTRAL("is_causal", "[true]"),
    NEUTRAL("is_decoder", "[false]"),
    NEUTRAL("logit_scale", "[1.0]"),
    NEUTRAL("logits_scaling", "[1.0]"),
    NEUTRAL("mlp_bias", "[false]"),
    NEUTRAL("num_nextn_predict_layers", "[0]"),
    NEUTRAL("qk_layernorm", "[false]"),
    NEUTRAL("residual_multiplier", "[1.0]"),
    NEUTRAL("tie_encoder_decoder", "[false]"),
    NEUTRAL("use_bidirectional_attention", "[false]"),
    NEUTRAL("use_qk_norm", "[false]"),
    NEUTRAL("use_sliding_window", "[false]"),
    /* belongs in generation_config.json now; old files of config.json have it with these values */
    NEUTRAL("diversity_penalty", "[0.0]"),
    NEUTRAL("do_sample", "[false]"),
    NEUTRAL("early_stopping", "[false]"),
    NEUTRAL("encoder_no_repeat_ngram_size", "[0]"),
    NEUTRAL("length_penalty", "[1.0]"),
    NEUTRAL("max_length", "[20]"),
    NEUTRAL("min_length", "[0]"),
    NEUTRAL("no_repeat_ngram_size", "[0]"),
    NEUTRAL("num_beam_groups", "[1]"),
    NEUTRAL("num_beams", "[1]"),
    NEUTRAL("num_return_sequences", "[1]"),
    NEUTRAL("remove_invalid_values", "[false]"),
    NEUTRAL("repetition_penalty", "[1.0]"),
    NEUTRAL("temperature", "[1.0]"),
    NEUTRAL("top_k", "[50]"),
    NEUTRAL("top_p", "[1.0]"),
    NEUTRAL("typical_p", "[1.0]"),
};

/* Fields of config.json that the reference ignores if there is a generation_config.json. */
static const struct graft_field_rule superseded_rules[] = {
    ANY("bad_words_ids"),
    ANY("begin_suppress_tokens"),
    ANY("diversity_penalty"),
    ANY("do_sample"),
    ANY("early_stopping"),
    ANY("encoder_no_repeat_ngram_size"),
    ANY("epsilon_cutoff"),
    ANY("eta_cutoff"),
    ANY("exponential_decay_length_penalty"),
    ANY("forced_bos_token_id"),
    ANY("forced_eos_token_id"),
    ANY("length_penalty"),
    ANY("max_length"),
    ANY("max_new_tokens"),
    ANY("min_length"),
    ANY("min_new_tokens"),
    ANY("min_p"),
    ANY("no_repeat_ngram_size"),
    ANY("num_beam_groups"),
    ANY("num_beams"),
    ANY("num_return_sequences"),
    ANY("penalty_alpha"),
    ANY("remove_invalid_values"),
    ANY("repetition_penalty"),
    ANY("suppress_tokens"),
    ANY("temperature"),
    ANY("top_k"),
    ANY("top_p"),
    ANY("typical_p"),
};

static const struct graft_field_rule generation_rules[] = {
    ANY("_from_model_config"),
    ANY("transformers_version"),
    /* how the reference computes, or returns results; an assistant's guesses change the speed only */
    ANY("assistant_confidence_threshold"),
    ANY("assistant_early_exit"),
    ANY("assistant_ensemble_weight"),
    ANY("assistant_lookbehind"),
    ANY("cache_config"),
    ANY("cache_implementation"),
    ANY("compile_config"),
    ANY("continuous_batching_config"),
    ANY("disable_compile"),
    ANY("is_assistant"),
    ANY("low_memory"),
    ANY("max_cache_len"),
    ANY("max_matching_ngram_size"),
    ANY("num_assistant_tokens"),
    ANY("num_assistant_tokens_schedule"),
    ANY("output_attentions"),
    ANY("output_hidden_states"),
    ANY("output_logits"),
    ANY("output_scores"),
    ANY("prefill_chunk_size"),
    ANY("prompt_lookup_num_tokens"),
    ANY("return_dict_in_generate"),
    ANY("speculation_type"),
    ANY("target_lookbehind"),
    ANY("use_cache"),
    ANY("use_mtp"),
    /* not asked for where nothing is sampled */
    ANY("temperature"),
    ANY("top_k"),
    ANY("top_p"),
    /* prompts are used as given, and texts are not padded */
    ANY("bos_token_id"),
    ANY("decoder_start_token_id"),
    ANY("pad_token_id"),
    NEUTRAL("diversity_penalty", "[0.0]"),
    NEUTRAL("do_sample", "[false]"),
    NEUTRAL("dola_layers", "[null]"),
    NEUTRAL("early_stopping", "[false]"),
    NEUTRAL("encoder_no_repeat_ngram_size", "[0]"),
    NEUTRAL("encoder_repetition_penalty", "[1.0]"),
    NEUTRAL("epsilon_cutoff", "[0.0]"),
    NEUTRAL("eta_cutoff", "[0.0]"),
    NEUTRAL("guidance_scale", "[1.0]"),
    NEUTRAL("length_penalty", "[1.0]"),
    NEUTRAL("min_length", "[0]"),
    NEUTRAL("min_new_tokens", "[0]"),
    NEUTRAL("min_p", "[0.0]"),
    NEUTRAL("no_repeat_ngram_size", "[0]"),
    NEUTRAL("num_beam_groups", "[1]"),
    NEUTRAL("num_beams", "[1]"),
    NEUTRAL("num_return_sequences", "[1]"),
    NEUTRAL("penalty_alpha", "[0.0]"),
    NEUTRAL("remove_invalid_values", "[false]"),
    NEUTRAL("renormalize_logits", "[false]"),
    NEUTRAL("repetition_penalty", "[1.0]"),
    NEUTRAL("token_healing", "[false]"),
    NEUTRAL("typical_p", "[1.0]"),
};

/* For images and videos, also as sections of processor_config.json. */
static const struct graft_field_rule processor_rules[] = {
    ANY("auto_map"),
    ANY("feature_extractor_type"),
    ANY("image_token"),
    ANY("processor_class"),
    ANY("video_token"),
#define OF_PART(field) ANY(field), ANY("image_processor." field), ANY("video_processor." field)
    /* how the reference stores arrays, and which frames of a video it takes; Graft is given frames */
    OF_PART("data_format"),
    OF_PART("default_to_square"),
    OF_PART("device"),
    OF_PART("disable_grouping"),
    OF_PART("do_sample_frames"),
    OF_PART("fps"),
    OF_PART("image_processor_type"),
    OF_PART("image_seq_length"),
    OF_PART("input_data_format"),
    OF_PART("max_duration"),
    OF_PART("max_frames"),
    OF_PART("max_image_size"),
    OF_PART("min_frames"),
    OF_PART("num_frames"),
    OF_PART("pan_and_scan_max_num_crops"),
    OF_PART("pan_and_scan_min_crop_size"),
    OF_PART("pan_and_scan_min_ratio_to_activate"),
    OF_PART("return_metadata"),
    OF_PART("return_tensors"),
    OF_PART("size_divisor"),
    OF_PART("video_metadata"),
    OF_PART("video_processor_type"),
#undef OF_PART
#define OF_PART(field, json) \
    NEUTRAL(field, json), NEUTRAL("image_processor." field, json), NEUTRAL("video_processor." field, json)
    OF_PART("do_center_crop", "[false]"),
    OF_PART("do_pad", "[false]"),
#undef OF_PART
};

/* For tokenizers: fields besides those that the tokenizer reads (tokenizer/config_fields.c). */
static const struct graft_field_rule tokenizer_rules[] = {
    /* who wrote the file, and where other files were */
    ANY("_commit_hash"),
    ANY("backend"),
    ANY("files_loaded"),
    ANY("is_local"),
    ANY("local_files_only"),
    ANY("merges_file"),
    ANY("name_or_path"),
    ANY("processor_class"),
    ANY("special_tokens_map_file"),
    ANY("tokenizer_file"),
    ANY("transformers_version"),
    ANY("vocab_file"),
    /* truncation and padding, on which callers decide */
    ANY("max_len"),
    ANY("max_length"),
    ANY("model_max_length"),
    ANY("pad_to_multiple_of"),
    ANY("pad_token_type_id"),
    ANY("padding"),
    ANY("padding_side"),
    ANY("stride"),
    ANY("truncation"),
    ANY("truncation_strategy"),
    /* what the reference returns, how it makes and parses chats, and old behaviour of its classes */
    ANY("chat_control_tokens"),
    ANY("do_basic_tokenize"),
    ANY("errors"),
    ANY("from_slow"),
    ANY("model_input_names"),
    ANY("never_split"),
    ANY("remove_space"),
    ANY("response_schema"),
    ANY("response_template"),
    ANY("return_token_type_ids"),
    ANY("sp_model_kwargs"),
    ANY("spaces_between_special_tokens"),
    ANY("trim_offsets"),
    ANY("unk_id"),
    ANY("use_default_system_prompt"),
    ANY("use_fast"),
    ANY("verbose"),
};

#define LIST(name, array)                                                           \
    {                                                                               \
        (name), {                                                                   \
            (array), sizeof(array) / sizeof(array)[0], sizeof(array)[0], "the host" \
        }                                                                           \
    }

struct graft_rules graft_usual_rules(const char *file) {
    static const struct {
        const char *file;
        struct graft_rules rules;
    } lists[] = {
        LIST("config.json", config_rules),
        LIST("generation_config.json", generation_rules),
        LIST("config.json beside generation_config.json", superseded_rules),
        LIST("preprocessor_config.json", processor_rules),
        LIST("tokenizer_config.json", tokenizer_rules),
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].file, file) == 0) {
            return lists[i].rules;
        }
    }
    return (struct graft_rules){0};
}
