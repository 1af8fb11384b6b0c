"""Make the small checkpoints and recorded outputs listed in README.md.

    python make_goldens.py --oracle DIR [--out DIR] [NAME ...]

DIR holds oracle_lib.py and patched_lib.py (with patch_classes.py). Without names, every case is made. Seeds are
fixed starting points: a case takes the first seed whose greedy choices and router choices are clear of rounding noise.
Weights come from recipes (weights.py), which are kept in their place.
"""
import argparse
import collections
import functools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING
from transformers.models.falcon_mamba.modeling_falcon_mamba import FalconMambaPreTrainedModel
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssMLP
from transformers.models.mamba.modeling_mamba import MambaPreTrainedModel
from transformers.models.mamba2.modeling_mamba2 import Mamba2PreTrainedModel

import weights


class Gemma2ForCausalLM(transformers.Gemma2ForCausalLM):
    """With eager attention, whatever is asked for: sdpa leaves the softcap out."""

    @classmethod
    def from_pretrained(cls, *args, **kw):
        return transformers.Gemma2ForCausalLM.from_pretrained(*args, **{**kw, "attn_implementation": "eager"})


class GptOssForCausalLM(transformers.GptOssForCausalLM):
    """With eager attention, whatever is asked for: sdpa has no sinks."""

    @classmethod
    def from_pretrained(cls, *args, **kw):
        return transformers.GptOssForCausalLM.from_pretrained(*args, **{**kw, "attn_implementation": "eager"})


GptOssMLP.gate = property(lambda self: self.router)  # what other families call it

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "../../plugins/families")  # whose cases lie beside the plugins, where there are any
STEPS = 16
EAGER = {"gemma2": Gemma2ForCausalLM, "gpt_oss": GptOssForCausalLM}


def config_class(family):
    return CONFIG_MAPPING[family]


def model_class(family):
    return EAGER.get(family) or MODEL_FOR_CAUSAL_LM_MAPPING[config_class(family)]


IDS = {"bos_token_id": 1, "eos_token_id": 2}
COMMON = dict(vocab_size=128, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
              max_position_embeddings=256, **IDS)
WIDE = dict(hidden_size=48, intermediate_size=40)


def cache_as_others(forward):
    """The forward of a Mamba with its cache under the name that all other models have for it."""
    @functools.wraps(forward)
    def run(self, *args, past_key_values=None, cache_params=None, **kw):
        out = forward(self, *args, cache_params=cache_params if past_key_values is None else past_key_values, **kw)
        out.past_key_values = out.cache_params
        return out
    return run


for recurrent in (transformers.FalconMambaForCausalLM, transformers.MambaForCausalLM, transformers.Mamba2ForCausalLM):
    recurrent.forward = cache_as_others(recurrent.forward)
for recurrent in (FalconMambaPreTrainedModel, MambaPreTrainedModel, Mamba2PreTrainedModel):
    recurrent._supports_sdpa = True  # it has no attention to choose, but refuses


def rope(theta, **kw):
    return {"rope_type": "default", "rope_theta": theta, **kw}


def llama(**kw):
    return "llama", {**COMMON, "intermediate_size": 24, "rms_norm_eps": 1e-5, "rope_parameters": rope(10000.0), **kw}


def moe(**kw):
    return "qwen2_moe", {**COMMON, "intermediate_size": 24, "moe_intermediate_size": 8, "num_experts": 5, "num_experts_per_tok": 2,
                         "shared_expert_intermediate_size": 20, "rope_parameters": rope(1e6), **kw}


def small(**kw):
    return {**COMMON, "vocab_size": 64, "hidden_size": 24, "intermediate_size": 20, "rope_parameters": rope(10000.0), **kw}


def gemma2(**kw):
    return "gemma2", small(**{"head_dim": 8, "num_hidden_layers": 3, "query_pre_attn_scalar": 12, "sliding_window": 6,
                              "attn_logit_softcapping": 2.0, "final_logit_softcapping": 4.0, **kw})


def deepseek(family, **kw):
    return family, {**small(), "num_key_value_heads": 4, "kv_lora_rank": 16, "q_lora_rank": 12, "qk_nope_head_dim": 6, "qk_rope_head_dim": 8,
                    "v_head_dim": 5, "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 3, "moe_intermediate_size": 8,
                    "n_group": 4, "topk_group": 2, "first_k_dense_replace": 1, **kw}


def with_biases(state):
    """As published: correction biases are f32 whatever the rest is."""
    return {name: tensor.float() if "correction" in name else tensor for name, tensor in state.items()}


def with_predictors(state):
    """As published: with layers that predict further tokens, numbered on."""
    layer = {name.split("layers.1.")[1]: tensor for name, tensor in state.items() if "layers.1." in name}
    layer["eh_proj.weight"] = torch.zeros(24, 48)
    return {**state, **{f"model.layers.{i}.{name}": tensor.clone() for i in (2, 3) for name, tensor in layer.items()}}


def gemma3(full, sliding, **kw):
    return "gemma3_text", small(**{"head_dim": 8, "num_hidden_layers": 6, "query_pre_attn_scalar": 12, "sliding_window": 6,
                                   "rope_parameters": {"full_attention": full, "sliding_attention": sliding}, **kw})


def mistral(**kw):
    return "mistral", small(**{"sliding_window": None, "rms_norm_eps": 1e-5, **kw})


def bitnet(**kw):
    return "bitnet", small(**{"rms_norm_eps": 1e-5, "rope_parameters": rope(500000.0), **kw})


def gpt2(**kw):
    return "gpt2", {"vocab_size": 64, "n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 32, **IDS, **kw}


def gpt_neox(part, theta=10000.0, **kw):
    config = {**small(), "rope_parameters": rope(theta, partial_rotary_factor=part), "hidden_size": 32, **kw}
    del config["num_key_value_heads"]
    return "gpt_neox", config


def gpt_oss(**kw):
    return "gpt_oss", small(**{"head_dim": 8, "num_hidden_layers": 3, "intermediate_size": 12, "num_local_experts": 5, "num_experts_per_tok": 2,
                               "sliding_window": 6, "swiglu_limit": 1.5, "rope_parameters": rope(150000.0, **OPEN_YARN), **kw})


def with_masks(state):
    """As published: without the base model's prefix, and with the causal masks that older versions stored."""
    masks = {f"h.{i}.attn.bias": torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32) for i in range(2)}
    return {**{name.removeprefix("transformer."): tensor for name, tensor in state.items()}, **masks}


def olmo2(**kw):
    return "olmo2", small(**{"rms_norm_eps": 1e-5, "rope_parameters": rope(500000.0), **kw})


def phi3(**kw):
    return "phi3", small(**{"pad_token_id": 0, **kw})


def starcoder2(**kw):
    return "starcoder2", small(**{"sliding_window": 6, "tie_word_embeddings": False, **kw})


def qwen2(**kw):
    return "qwen2", small(**{"rope_parameters": rope(1e6), **kw})


def qwen3(**kw):
    return "qwen3", small(**{"head_dim": 8, "rope_parameters": rope(1e6), **kw})


def mixtral(**kw):
    return "mixtral", small(**{"intermediate_size": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "rope_parameters": rope(1e6), **kw})


def qwen3_moe(**kw):
    return "qwen3_moe", small(**{"head_dim": 8, "moe_intermediate_size": 8, "num_experts": 6, "num_experts_per_tok": 2, "norm_topk_prob": True,
                                 "rope_parameters": rope(1e6), **kw})


def mamba(**kw):
    return "mamba", {"vocab_size": 64, "hidden_size": 24, "num_hidden_layers": 2, "state_size": 10, "tie_word_embeddings": False, **IDS, "pad_token_id": 1,
                     **kw}


OPEN_YARN = dict(rope_type="yarn", factor=4.0, beta_fast=4.0, beta_slow=0.5, truncate=False, original_max_position_embeddings=64)
PUBLISHED_YARN = dict(rope_type="yarn", factor=32.0, beta_fast=32.0, beta_slow=1.0, truncate=False, original_max_position_embeddings=4096)
def mamba2(**kw):
    return "mamba2", {"vocab_size": 64, "hidden_size": 24, "num_hidden_layers": 2, "num_heads": 6, "head_dim": 8, "state_size": 10, "n_groups": 2,
                      "chunk_size": 8, **IDS, "pad_token_id": 1, **kw}


def qwen3_next(**kw):
    return "qwen3_next", small(**{"num_hidden_layers": 4, "head_dim": 8, "linear_num_key_heads": 2, "linear_key_head_dim": 6, "linear_num_value_heads": 4,
                                  "linear_value_head_dim": 10, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 12, "num_experts": 5,
                                  "num_experts_per_tok": 2, "rope_parameters": rope(1e6, partial_rotary_factor=0.5), **kw})


def with_predictor(state):
    """As published: with a layer that predicts further tokens."""
    return {**state, "mtp.fc.weight": torch.zeros(24, 48)}


LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
TWO_HEADS = dict(num_attention_heads=2, num_key_value_heads=1)  # larger heads have more frequencies
DYNAMIC = rope(10000.0, rope_type="dynamic", factor=4.0)
YARN = rope(10000.0, rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
LONGROPE = rope(10000.0, rope_type="longrope", original_max_position_embeddings=24, short_factor=[1.0, 1.25, 1.5, 2.0, 2.5, 3.0],
                long_factor=[1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
# Published Qwen3-MoE configs say num_experts; transformers 5 writes num_local_experts.
PUBLISHED = {"rename_fields": {"num_local_experts": "num_experts"}}
# name: (family and config, first seed, prompt length, options of oracle_lib.make_checkpoint, note)
PLAIN = {
    "llama_bf16": (llama(**WIDE), 301, 14, {"dtype": "bfloat16"}, "bfloat16 on disk"),
    "llama_f16": (llama(**WIDE), 302, 14, {"dtype": "float16"}, "float16 on disk"),
    "llama_tied": (llama(vocab_size=131, tie_word_embeddings=True), 303, 12, {}, "tied embeddings: no lm_head on disk; odd vocabulary size"),
    "llama_tied_bf16": (llama(tie_word_embeddings=True), 304, 14, {"dtype": "bfloat16"}, "tied embeddings, bfloat16 on disk"),
    "llama_sharded": (llama(), 305, 12, {"shard": "24KB"}, "several files and an index"),
    "llama_rope_llama3": (llama(num_attention_heads=2, num_key_value_heads=1, rope_parameters=rope(10000.0, **LLAMA3)), 306, 40, {},
                          "rope type llama3; the frequencies fall into all three of its ranges"),
    "llama_head_dim": (llama(**WIDE, head_dim=16), 307, 12, {}, "4 heads of 16 on a hidden size of 48"),
    "llama_bias": (llama(attention_bias=True, mlp_bias=True), 308, 12, {}, "biases on all projections of attention and MLP"),
    "llama_v5_config": (llama(rope_parameters=rope(500000.0)), 309, 12, {"hub_config": False},
                        "config.json as transformers 5 writes it: rope_parameters, dtype"),
    "llama_mha": (llama(num_key_value_heads=4), 310, 12, {}, "as many key/value heads as query heads"),
    "llama_one_kv_head": (llama(num_key_value_heads=1), 311, 12, {}, "one key/value head for all query heads"),
    "qwen2_moe_bf16": (moe(**WIDE, num_key_value_heads=4), 412, 12, {"dtype": "bfloat16"}, "bfloat16 on disk"),
    "qwen2_moe_f16": (moe(**WIDE, num_key_value_heads=4), 413, 12, {"dtype": "float16"}, "float16 on disk"),
    "qwen2_moe_sharded_bf16": (moe(num_experts=6), 414, 12, {"dtype": "bfloat16", "shard": "16KB"}, "several files and an index, bfloat16 on disk"),
    "qwen2_moe_tied": (moe(tie_word_embeddings=True), 415, 12, {}, "tied embeddings: no lm_head on disk"),
    "qwen2_moe_norm_topk": (moe(norm_topk_prob=True), 416, 12, {}, "the chosen experts' weights are scaled to sum to one"),
    "qwen2_moe_mlp_only": (moe(num_hidden_layers=3, mlp_only_layers=[1]), 417, 12, {}, "layer 1 is dense"),
    "qwen2_moe_sparse_step": (moe(num_hidden_layers=4, decoder_sparse_step=2), 418, 12, {}, "layers 0 and 2 are dense"),
    "qwen2_moe_sliding": (moe(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=1), 419, 30, {},
                          "layer 0 slides, layers 1 and 2 see everything"),
    "qwen2_moe_sliding_alternate": (moe(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=28), 420, 30, {},
                                    "layers 0 and 2 slide, layer 1 sees everything"),
    "qwen2_moe_gqa": (moe(), 425, 12, {}, "2 key/value heads for 4 query heads"),
    "qwen2_moe_stacked": (moe(), 426, 12, {"hub_config": False},
                          "the runtime layout: one stacked tensor for all experts of a layer; config.json in v5 spelling"),
}
PLAIN.update({
    "llama_rope_linear": (("llama", small(**TWO_HEADS, rope_parameters=rope(10000.0, rope_type="linear", factor=2.5))), 601, 20,
                          {"config_extra": {"rope_scaling": {"type": "linear", "factor": 2.5}}}, "rope type linear, spelled `type`"),
    "llama_rope_dynamic": (("llama", small(**TWO_HEADS, max_position_embeddings=16, rope_parameters=DYNAMIC)), 602, 30, {},
                           "rope type dynamic, original length 16, prompt 30"),
    "llama_rope_dynamic_growing": (("llama", small(**TWO_HEADS, max_position_embeddings=24, rope_parameters=DYNAMIC)), 603, 20, {"hub_config": False},
                                   "rope type dynamic, original length 24, prompt 20: the greedy steps grow past it"),
    "llama_rope_yarn": (("llama", small(**TWO_HEADS, rope_parameters=YARN)), 604, 30, {}, "rope type yarn, original length 16, prompt 30"),
    "llama_rope_longrope": (("llama", small(**TWO_HEADS, rope_parameters=dict(LONGROPE, original_max_position_embeddings=14))), 660, 30, {},
                            "rope type longrope, original length 14, prompt 30: the long factors"),
    "llama_rope_longrope_short": (("llama", small(**TWO_HEADS, rope_parameters=LONGROPE)), 661, 7, {"hub_config": False},
                                  "rope type longrope, prompt and continuation within the original length: the short factors"),
    "llama_rope_yarn_mscale": (("llama", small(**TWO_HEADS, rope_parameters=dict(YARN, mscale=0.8, mscale_all_dim=0.3, beta_fast=4.0, beta_slow=0.5,
                                                                    truncate=False))), 605, 30, {"hub_config": False},
                               "rope type yarn with every optional field but attention_factor"),
    "mistral": (mistral(), 611, 12, {}, "no sliding window: sliding_window null"),
    "mistral_bf16": (mistral(), 612, 12, {"dtype": "bfloat16"}, "bfloat16 on disk"),
    "mistral_f16": (mistral(), 613, 12, {"dtype": "float16"}, "float16 on disk"),
    "mistral_tied_sharded": (mistral(tie_word_embeddings=True), 614, 12, {"shard": "16KB"}, "tied embeddings, several files and an index"),
    "mistral_head_dim": (mistral(head_dim=16, num_key_value_heads=1), 615, 12, {},
                         "4 heads of 16 on a hidden size of 24, one key/value head"),
    "mistral_sliding": (mistral(sliding_window=8), 616, 30, {}, "window 8 in every layer"),
    "mistral_window_absent": (mistral(sliding_window=4096), 617, 12, {"drop_fields": ["sliding_window"]}, "no field sliding_window: 4096"),
    "mistral_v5_config_yarn": (mistral(**TWO_HEADS, sliding_window=8, rope_parameters=dict(YARN, attention_factor=1.25)), 618, 30, {"hub_config": False},
                               "config.json in v5 spelling, window 8, rope type yarn with attention_factor"),
    "qwen2": (qwen2(), 651, 12, {}, "biases on q, k and v, none on o"),
    "qwen2_bf16": (qwen2(), 652, 12, {"dtype": "bfloat16"}, "bfloat16 on disk"),
    "qwen2_tied_sharded": (qwen2(tie_word_embeddings=True), 653, 12, {"shard": "16KB"}, "tied embeddings, several files and an index"),
    "qwen2_head_dim": (qwen2(head_dim=16, num_key_value_heads=1), 654, 12, {}, "4 heads of 16 on a hidden size of 24, one key/value head"),
    "qwen2_window_unused": (qwen2(max_window_layers=1, num_hidden_layers=3), 655, 30, {"config_extra": {"sliding_window": 8}},
                            "sliding_window and max_window_layers without use_sliding_window: no layer slides"),
    "qwen2_sliding": (qwen2(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=1), 656, 30, {},
                      "layers 1 and 2 slide, layer 0 sees everything"),
    "qwen2_layer_types": (qwen2(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, layer_types=[
        "sliding_attention", "full_attention", "sliding_attention"]), 657, 30, {"hub_config": False}, "layer_types in config.json, v5 spelling"),
    "qwen2_rope_yarn": (qwen2(**TWO_HEADS, rope_parameters=dict(YARN, rope_theta=1e6)), 658, 30, {}, "rope type yarn, older spelling"),
    "qwen3": (qwen3(), 621, 12, {}, "heads of queries and keys are normed"),
    "qwen3_bf16": (qwen3(), 622, 12, {"dtype": "bfloat16"}, "bfloat16 on disk"),
    "qwen3_tied_f16": (qwen3(tie_word_embeddings=True), 623, 12, {"dtype": "float16"}, "tied embeddings, float16 on disk"),
    "qwen3_head_dim_absent": (qwen3(head_dim=128, num_attention_heads=2, num_key_value_heads=1, num_hidden_layers=1), 624, 12,
                              {"drop_fields": ["head_dim"]}, "no field head_dim: 128, on a hidden size of 24"),
    "qwen3_bias": (qwen3(attention_bias=True, num_key_value_heads=4), 625, 12, {}, "biases on q, k, v and o; as many key/value heads as query heads"),
    "qwen3_sliding": (qwen3(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=1), 626, 30, {},
                      "layers 1 and 2 slide, layer 0 sees everything"),
    "qwen3_layer_types": (qwen3(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, layer_types=[
        "sliding_attention", "full_attention", "sliding_attention"]), 627, 30, {"hub_config": False}, "layer_types in config.json, v5 spelling"),
    "qwen3_rope_yarn": (qwen3(head_dim=16, **TWO_HEADS, rope_parameters=dict(YARN, rope_theta=1e6)), 628, 30, {}, "rope type yarn, older spelling"),
    "mixtral": (mixtral(), 631, 12, {}, "experts called block_sparse_moe.experts.E.w1, w3, w2 on disk; num_local_experts"),
    "mixtral_bf16": (mixtral(), 632, 12, {"dtype": "bfloat16"}, "bfloat16 on disk"),
    "mixtral_tied_sharded": (mixtral(tie_word_embeddings=True, num_local_experts=3), 633, 12, {"shard": "16KB"},
                             "tied embeddings, several files and an index"),
    "mixtral_sliding_linear": (mixtral(sliding_window=8, rope_parameters=rope(1e6, rope_type="linear", factor=2.0)), 634, 30, {},
                               "window 8 in every layer, rope type linear"),
    "mixtral_stacked": (mixtral(), 635, 12, {"hub_config": False},
                        "the runtime layout: stacked experts, called mlp.experts; config.json in v5 spelling"),
    "qwen3_moe": (qwen3_moe(), 641, 12, PUBLISHED, "norm_topk_prob true, as published"),
    "qwen3_moe_bf16": (qwen3_moe(), 642, 12, {"dtype": "bfloat16", **PUBLISHED}, "bfloat16 on disk"),
    "qwen3_moe_mlp_only_bias": (qwen3_moe(num_hidden_layers=3, mlp_only_layers=[1], attention_bias=True, norm_topk_prob=False), 643, 12, PUBLISHED,
                                "layer 1 is dense; biases on q, k, v and o; norm_topk_prob false"),
    "qwen3_moe_sliding": (qwen3_moe(use_sliding_window=True, sliding_window=8), 644, 30, PUBLISHED, "every layer slides"),
    "qwen3_moe_dynamic": (qwen3_moe(max_position_embeddings=16, rope_parameters=dict(DYNAMIC, rope_theta=1e6)), 645, 30, {"hub_config": False},
                          "rope type dynamic beyond the original length; v5 spelling, num_local_experts"),
})
# The same of families that plugins bring.
BROUGHT = {
    "bitnet_tied_bf16": (bitnet(tie_word_embeddings=True), 721, 12, {"dtype": "bfloat16"},
                         "relu squared, norms before the last projections of attention and MLP; tied embeddings, bfloat16 on disk"),
    "bitnet_bias_sharded": (bitnet(attention_bias=True, hidden_act="silu"), 722, 12, {"shard": "16KB", "hub_config": False},
                            "biases on q, k, v and o, another activation; several files and an index; v5 spelling"),
    "deepseek_v2": (deepseek("deepseek_v2", topk_method="group_limited_greedy", routed_scaling_factor=1.5, mlp_bias=True,
                             rope_parameters=dict(YARN, mscale=0.7, mscale_all_dim=0.7)), 711, 20, {"drop_fields": ["head_dim"]},
                    "groups by their best experts, softmax, biases in MLPs; yarn with its magnitude in the scaling"),
    "deepseek_v2_greedy_bf16": (deepseek("deepseek_v2", q_lora_rank=None, n_group=1, topk_group=1), 712, 20, {"dtype": "bfloat16"},
                                "bfloat16 on disk; no groups, queries by one product"),
    "deepseek_v3": (deepseek("deepseek_v3", rope_parameters=dict(YARN, mscale=1.0, mscale_all_dim=0.8)), 701, 20,
                    {"rename": with_predictors, "config_extra": {"topk_method": "noaux_tc", "scoring_func": "sigmoid", "moe_layer_freq": 1,
                                                                 "num_nextn_predict_layers": 2}, "drop_fields": ["rope_interleave", "head_dim"]},
                    "yarn with its magnitude in the scaling, groups; field names as published, layers that predict further tokens"),
    "deepseek_v3_bf16": (deepseek("deepseek_v3", q_lora_rank=None, n_group=1, topk_group=1, num_hidden_layers=3), 702, 20,
                         {"dtype": "bfloat16", "rename": with_biases}, "bfloat16 on disk, correction biases in f32; no groups, queries by one product"),
    "deepseek_v3_bias_sharded": (deepseek("deepseek_v3", rope_interleave=False, attention_bias=True, norm_topk_prob=False, first_k_dense_replace=0,
                                          n_shared_experts=1, tie_word_embeddings=True), 703, 20, {"hub_config": False, "shard": "16KB"},
                                 "halves are rotated, biases, experts in all layers, weights not normed; v5 spelling, several files and an index"),
    "deepseek_v3_stacked": (deepseek("deepseek_v3", num_hidden_layers=1, first_k_dense_replace=0), 704, 12, {"hub_config": False},
                            "the runtime layout: stacked experts"),
    "gemma2": (gemma2(), 681, 20, {}, "layers 0 and 2 slide, both softcaps, tied embeddings"),
    "gemma2_bf16": (gemma2(num_hidden_layers=2, layer_types=["full_attention", "sliding_attention"]), 682, 20,
                    {"dtype": "bfloat16", "hub_config": False}, "bfloat16 on disk; v5 spelling, layer_types in config.json"),
    "gemma2_uncapped_sharded": (gemma2(num_hidden_layers=2, attn_logit_softcapping=None, final_logit_softcapping=None,
                                       tie_word_embeddings=False, attention_bias=True), 683, 20,
                                {"shard": "16KB", "config_extra": {"hidden_act": "silu"}},
                                "no softcaps; an lm_head, biases on q, k, v and o; hidden_act, which is not read; several files and an index"),
    "gemma3_text": (gemma3(rope(5000.0, rope_type="linear", factor=4.0), rope(50.0)), 684, 20,
                    {"config_extra": {"rope_theta": 5000.0, "rope_scaling": {"rope_type": "linear", "factor": 4.0}, "rope_local_base_freq": 50.0}},
                    "all layers but the sixth slide; two bases, one of them scaled, as published; norms over the heads of queries and keys"),
    "gemma3_text_bf16": (gemma3(rope(5000.0), rope(50.0), num_hidden_layers=3, layer_types=["full_attention", "sliding_attention", "full_attention"]), 685, 20,
                         {"dtype": "bfloat16", "hub_config": False}, "bfloat16 on disk; v5 spelling, layer_types in config.json"),
    "gemma3_text_untied_sharded": (gemma3(rope(5000.0), rope(50.0), num_hidden_layers=3, sliding_window_pattern=2, tie_word_embeddings=False,
                                          attention_bias=True, final_logit_softcapping=4.0, attn_logit_softcapping=2.0), 686, 20,
                                   {"shard": "16KB", "config_extra": {"rope_theta": 5000.0, "rope_local_base_freq": 50.0, "sliding_window_pattern": 2}},
                                   "every second layer slides; a bound on logits, one on scores that is not read; biases, an lm_head, several files"),
    "gpt2": (gpt2(), 681, 12, {"rename": with_masks}, "published names, and masks that no parameter takes"),
    "gpt2_bf16": (gpt2(), 682, 12, {"dtype": "bfloat16"}, "bfloat16 on disk, names with the prefix"),
    "gpt2_scaled_sharded": (gpt2(n_embd=20, n_inner=40, activation_function="relu", scale_attn_by_inverse_layer_idx=True, tie_word_embeddings=False), 683, 12,
                            {"shard": "16KB"}, "scores divided by the layer's number, heads of 5, n_inner, relu; a head of its own; several files and an index"),
    "gpt_neox": (gpt_neox(0.5), 691, 12, {"config_extra": {"rotary_pct": 0.5, "rotary_emb_base": 10000}, "drop_fields": ["rope_theta", "rope_scaling"]},
                 "half of each head is rotated; field names as published"),
    "gpt_neox_sequential_bf16": (gpt_neox(0.25, 500.0, num_attention_heads=2, use_parallel_residual=False), 692, 12, {"dtype": "bfloat16", "hub_config": False},
                                 "attention before MLP, a quarter rotated, bfloat16 on disk; config.json in v5 spelling"),
    "gpt_neox_tied_sharded": (gpt_neox(1.0, tie_word_embeddings=True, hidden_act="gelu_new", attention_bias=False), 693, 12, {"hub_config": False, "shard": "16KB"},
                              "whole heads rotated, no biases in attention; tied embeddings, several files and an index"),
    "gpt_oss": (gpt_oss(), 661, 20, {}, "sinks, biases everywhere, bounded gating, yarn without truncation; layers 0 and 2 slide"),
    "gpt_oss_bf16": (gpt_oss(num_hidden_layers=2, layer_types=["full_attention", "sliding_attention"], swiglu_alpha=1.0), 662, 20,
                     {"dtype": "bfloat16", "hub_config": False}, "bfloat16 on disk; v5 spelling, layer_types in config.json, another swiglu_alpha"),
    "gpt_oss_sharded": (gpt_oss(num_hidden_layers=2, attention_bias=False, rope_parameters=rope(150000.0, **PUBLISHED_YARN)), 663, 20,
                        {"shard": "16KB", "drop_fields": ["rope_scaling", "rope_theta"]},
                        "no biases in attention; nothing about rotary positions, which means yarn; several files and an index"),
    "falcon_mamba": (("falcon_mamba", mamba()[1]), 711, 40, {}, "B, C and steps are normed"),
    "falcon_mamba_tied_bf16": (("falcon_mamba", mamba(hidden_size=40, time_step_rank=5, tie_word_embeddings=True)[1]), 712, 40, {"dtype": "bfloat16"},
                               "tied embeddings, a time_step_rank of its own, more channels than run together, bfloat16 on disk"),
    "mamba_bias_sharded": (mamba(use_bias=True, use_conv_bias=False, conv_kernel=3), 713, 40, {"shard": "8KB"},
                           "biases on in_proj and out_proj, none on the convolution; several files and an index"),
    "mamba2": (mamba2(), 681, 40, {}, "no attention; groups of heads share B and C, and are normed by themselves"),
    "mamba2_tied_bf16": (mamba2(n_groups=1, tie_word_embeddings=True), 682, 40, {"dtype": "bfloat16"}, "tied embeddings, one group, bfloat16 on disk"),
    "mamba2_bias_limit_sharded": (mamba2(use_bias=True, use_conv_bias=False, conv_kernel=3, time_step_limit=[0.3, 0.8]), 683, 40, {"shard": "16KB"},
                                  "biases on in_proj and out_proj, none on the convolution; steps are cut on both sides; several files and an index"),
    "olmo2": (olmo2(), 671, 12, {}, "norms after attention and MLP; norms over all queries and all keys"),
    "olmo2_bf16": (olmo2(**TWO_HEADS), 672, 12, {"dtype": "bfloat16"}, "bfloat16 on disk; one key/value head"),
    "olmo2_bias_sharded": (olmo2(attention_bias=True, num_key_value_heads=4), 673, 12, {"shard": "16KB"},
                           "biases on q, k, v and o; several files and an index"),
    "qwen3_next": (qwen3_next(), 701, 40, {"rename": with_predictor, "config_extra": {"partial_rotary_factor": 0.5, "full_attention_interval": 4}},
                   "attention in layer 3 of 4, half of each head rotated; tensors of a predictor, which no parameter takes"),
    "qwen3_next_bias_bf16": (qwen3_next(attention_bias=True, linear_num_value_heads=2, linear_key_head_dim=20, linear_value_head_dim=18,
                                        layer_types=["linear_attention", "full_attention", "full_attention", "linear_attention"]),
                             702, 40, {"dtype": "bfloat16", "hub_config": False},
                             "biases on q, k, v and o, as many heads of keys as of values, bfloat16 on disk; v5 spelling, layer_types in config.json"),
    "qwen3_next_dense_sharded": (qwen3_next(mlp_only_layers=[1], linear_conv_kernel_dim=3, tie_word_embeddings=True, norm_topk_prob=False), 704, 40,
                                 {"shard": "16KB", "config_extra": {"partial_rotary_factor": 0.5, "full_attention_interval": 4}},
                                 "layer 1 is dense, norm_topk_prob false; tied embeddings, several files and an index"),
}
# A part of each head is rotated, and has as many factors as pairs.
PARTIAL = rope(10000.0, rope_type="longrope", partial_rotary_factor=0.5, short_factor=[1.0, 1.5, 2.0], long_factor=[1.0, 4.0, 16.0])
PARTIAL_HEADS = dict(**TWO_HEADS, original_max_position_embeddings=32)
BROUGHT.update({
    "phi3": (phi3(sliding_window=6), 701, 20, {}, "one projection for q, k and v, one for gate and up; window 6 in every layer"),
    "phi3_bf16_sharded": (phi3(**TWO_HEADS, tie_word_embeddings=True), 702, 12, {"dtype": "bfloat16", "shard": "8KB"},
                          "bfloat16 on disk, several files and an index; tied embeddings, no window"),
    "phi3_longrope": (phi3(**PARTIAL_HEADS, rope_parameters=PARTIAL), 703, 12,
                      {"config_extra": {"partial_rotary_factor": 0.5}}, "rope type longrope on half of each head: the short factors"),
    "phi3_longrope_long": (phi3(**{**PARTIAL_HEADS, "original_max_position_embeddings": 10}, rope_parameters=PARTIAL), 704, 24, {"hub_config": False},
                           "the same beyond the original length: the long factors; v5 spelling"),
    "starcoder2": (starcoder2(), 711, 20, {}, "LayerNorms and biases, no gate, window 6 in every layer"),
    "starcoder2_bf16_tied": (starcoder2(sliding_window=None, tie_word_embeddings=True), 712, 12, {"dtype": "bfloat16", "hub_config": False},
                             "bfloat16 on disk; tied embeddings, no window; v5 spelling"),
    "starcoder2_plain_sharded": (starcoder2(use_bias=False, num_key_value_heads=4, hidden_act="relu"), 713, 20, {"shard": "16KB"},
                                 "no biases but those of the norms, relu, as many key/value heads as query heads; several files and an index"),
})
RECORDED = {"llama_one_kv_head", "mistral_sliding", "qwen2_moe_gqa", "qwen3", "qwen3_moe_mlp_only_bias"}
PATCHED = {
    "llama_fused_qkv_tied_bf16": (llama(**WIDE, num_attention_heads=6, tie_word_embeddings=True), 501, 14, {"dtype": "bfloat16"},
                                  "GQA, fused qkv, tied embeddings, bfloat16 on disk"),
    "qwen2_moe_doc_example_bf16": (moe(**WIDE, num_key_value_heads=4), 502, 12, {"dtype": "bfloat16"},
                                   "experts as a list of modules, fused qkv with equal head counts, bfloat16 on disk"),
    "llama_fused_qkv_bias": (llama(**WIDE, num_attention_heads=6, attention_bias=True), 503, 12, {}, "GQA, fused qkv with biases"),
}


def edit_fields(config, rename, drop):
    for old, new in rename.items():
        config[new] = config.pop(old)
    for name in drop:
        del config[name]


GEMMA = ("gemma2", "gemma3_text")


def spread(family, tied):
    """Base and deviation of each tensor's numbers: activations stay near one, greedy choices clear, every bias and norm counts."""
    norm = 0 if family in GEMMA or family == "qwen3_next" else 1  # their norms add one themselves
    def of(name, shape):
        leaf = name.split(".")[-2]
        root = math.sqrt(shape[-2 if leaf == "experts" and len(shape) == 3 and family == "gpt_oss" else -1])  # of the fan in
        if family == "qwen3_next" and name.endswith(".A_log"):
            return 0, 2  # some heads forget at once, some hardly
        if name.endswith(".linear_attn.norm.weight"):
            return 1, 0.1
        if len(shape) == 1 or name.endswith("_bias"):
            return (0, 0.1) if name.endswith("bias") else (norm, 0.1)
        if leaf in ("embed_tokens", "embed_in", "embeddings", "wte", "wpe"):
            return 0, 2 / root if tied else 0.7
        return 0, {"lm_head": 3, "embed_out": 3, "gate": 2, "router": 2, "shared_expert_gate": 2}.get(leaf, 1) / root
    return of


def layout(folder, family, config, seed, options, stacked):
    """Write the model directory. Configuration objects change when a model is built from them, so each gets its own."""
    fresh = json.loads(json.dumps(config))
    options = dict(options)
    rename, drop = options.pop("rename_fields", {}), options.pop("drop_fields", [])
    ol.make_checkpoint(folder, model_class(family), config_class(family)(**fresh), seed, generation=IDS, **options)
    ol.rewrite_json(f"{folder}/config.json", lambda c: edit_fields(c, rename, drop))
    if stacked:
        model = ol.load(model_class(family), folder)
        shutil.rmtree(folder)
        model.save_pretrained(folder, save_original_format=False)
    weights.refill(folder, seed, spread(family, config.get("tie_word_embeddings", family in GEMMA)))


def choice_margin(model, got):
    """The smallest gap in what routers compare that choose by groups, on the scale of logits: a sigmoid's slope is a quarter at most."""
    config, gaps = model.config, []
    for i, layer in enumerate(model.model.layers):
        if not hasattr(layer.mlp, "gate"):
            continue
        choice, ranked = got[f"router.{i}.logits"], 1
        if hasattr(layer.mlp.gate, "e_score_correction_bias"):
            choice, ranked = 4 * (choice.sigmoid() + layer.mlp.gate.e_score_correction_bias.float()), 2
        groups = config.n_group if getattr(config, "topk_method", "noaux_tc") != "greedy" else 1
        if groups > 1:
            grouped = choice.unflatten(-1, (groups, -1))
            scores = grouped.topk(ranked).values.sum(-1)
            best = scores.sort(-1, descending=True)
            gaps.append((best.values[:, config.topk_group - 1] - best.values[:, config.topk_group]).min().item())
            hidden = torch.ones_like(scores).scatter(1, best.indices[:, :config.topk_group], 0).bool()
            choice = grouped.masked_fill(hidden.unsqueeze(-1), -math.inf).flatten(-2)
        top = choice.sort(-1, descending=True).values
        gaps.append((top[:, config.num_experts_per_tok - 1] - top[:, config.num_experts_per_tok]).min().item())
    return min(gaps)


def router_margin(model, got):
    return choice_margin(model, got) if model.config.model_type.startswith("deepseek") else ol.router_margin(got)


def disk_dtype(folder):
    """That of most tensors: biases of routers stay f32."""
    return collections.Counter(str(t.dtype).removeprefix("torch.") for t in ol.state_dict_of(folder).values()).most_common(1)[0][0]


def clear_enough(folder, cls, inputs):
    """True if rounding noise cannot change a greedy or router choice; stricter where a low-precision run is recorded too. Greedy
    ids are to vary."""
    dtype = ol.disk_dtype(folder)
    model = ol.load(cls, folder, torch.float32)
    got = ol.forward(model, inputs)
    ids, margins, _ = ol.greedy(model, inputs, STEPS)
    router = router_margin(model, got)
    low = dtype != "float32"
    # Tied weights repeat the last token whatever the layers do.
    if len(set(ids)) < 5 and not model.config.tie_word_embeddings:
        return False
    if min(margins) < (0.1 if low else 0.01) or (router is not None and router < (0.05 if low else 0.005)):
        return False
    if not low:
        return True
    native, native_got, _ = ol.forward_native(cls, folder, dtype, inputs)
    same = all(torch.equal(got[k].sort(-1).values, native_got[k].sort(-1).values) for k in got if k.endswith(".experts"))
    return same and ol.greedy(native, inputs, STEPS)[0] == ids


def rms(a, b):
    return (a.double() - b.double()).pow(2).mean().sqrt().item()


def add_rms(folder, cls, inputs):
    """Add the distance between the reference's low-precision run and its float32 run of the same weights."""
    dtype = ol.disk_dtype(folder)
    if dtype == "float32":
        return
    stored = load_file(f"{folder}/golden.safetensors")
    with open(f"{folder}/golden.json", encoding="utf-8") as f:
        golden = json.load(f)
    low, full = stored[f"logits.{dtype}"], stored["logits"]
    spread = golden.setdefault("reference_spread", {})
    spread.update({"max_abs_output": full.abs().max().item(), f"{dtype}_vs_fp32_upcast": ol.max_diff(low, full),
                   f"{dtype}_rms_vs_fp32": rms(low, full)})
    if "registered_patches" not in golden:  # the replacement attention always calls sdpa
        eager = ol.forward_native(cls, folder, dtype, inputs, "eager")[1]["logits"]
        spread.update({f"{dtype}_eager_rms_vs_fp32": rms(eager, full), f"{dtype}_eager_rms_vs_sdpa": rms(eager, low)})
    ol.write_json(f"{folder}/golden.json", golden)


def first_clear_seed(folder, family, config, seed, length, options, stacked):
    while True:
        layout(folder, family, config, seed, options, stacked)
        ids = torch.randint(3, config["vocab_size"], (1, length), generator=torch.Generator().manual_seed(seed))
        if clear_enough(folder, model_class(family), {"input_ids": ids}):
            return seed, {"input_ids": ids}
        seed += 1000


def as_described(runtime):
    """Modules that do nothing at inference (Dropout) are left out. A Conv1D is described as the Linear that it is transposed to,
    experts as transposed likewise, a
    correction bias, there a buffer, as a parameter."""
    modules = runtime["modules"]
    runtime["parameters"] += [buffer for buffer in runtime["buffers"] if buffer["name"].endswith("e_score_correction_bias")]
    for parameter in runtime["parameters"]:
        owner = modules[parameter["name"].rpartition(".")[0]]
        if owner == "Conv1D":
            parameter["shape"].reverse()
        if owner == "GptOssExperts" and len(parameter["shape"]) == 3:
            parameter["shape"][1:] = parameter["shape"][:0:-1]
    runtime["modules"] = {path: "Linear" if name == "Conv1D" else name for path, name in modules.items() if name != "Dropout"}


def finish(folder):
    """What the recipe says goes; golden.json gets short lines; safetensors writes files that only their owner may read."""
    weights.drop(folder)
    with open(f"{folder}/golden.json", encoding="utf-8") as f:
        golden = json.load(f)
    del golden["checkpoint"]
    as_described(golden["runtime"])
    weights.write_json(f"{folder}/golden.json", golden)
    for name in os.listdir(folder):
        os.chmod(f"{folder}/{name}", 0o644)


def kept(name):
    return name in ("logits", "greedy_logits", "logits.bfloat16", "logits.float16")


def add_recorded(folder, cls, inputs):
    """Add hidden states, router outputs and attention weights; the last need eager attention."""
    path = f"{folder}/golden.safetensors"
    stored = load_file(path)
    model = ol.load(cls, folder, torch.float32, "eager")
    stored.update({k: v.contiguous() for k, v in ol.forward(model, inputs).items() if k.startswith(("hidden_states.", "router."))})
    with torch.no_grad():
        attentions = model(**inputs, output_attentions=True).attentions
    stored.update({f"attentions.{i}": w[0].contiguous() for i, w in enumerate(attentions)})
    save_file(stored, path)


def add_states(folder, cls, inputs):
    """Add what recurrent layers keep of the prompt."""
    path = f"{folder}/golden.safetensors"
    states = fl.states(ol.load(cls, folder, torch.float32), inputs["input_ids"])
    if states:
        save_file({**load_file(path), **{name: state.contiguous() for name, state in states.items()}}, path)


def make_plain(name, out):
    (family, config), seed, length, options, note = PLAIN[name] if name in PLAIN else BROUGHT[name]
    plugin = f"{FAMILIES}/{family}"
    folder = f"{plugin}/goldens/{name}" if name not in PLAIN and os.path.isdir(plugin) else f"{out}/plain/{name}"
    # Transformers' one-token step of Mamba 2 forgets the limits of its steps; the whole sequence again does not.
    ol.greedy = functools.partial(CACHED_GREEDY, cached="time_step_limit" not in config)
    seed, inputs = first_clear_seed(folder, family, config, seed, length, options, name.endswith("_stacked"))
    ol.record(folder, name, model_class(family), inputs, steps=STEPS, note=note, extra={"seed": seed, **facts(folder, family, inputs)}, keep=kept)
    add_rms(folder, model_class(family), inputs)
    if name in RECORDED:
        add_recorded(folder, model_class(family), inputs)
    add_states(folder, model_class(family), inputs)
    finish(folder)


def facts(folder, family, inputs):
    """What the feature under test changes, so that a test which misses it cannot pass unnoticed."""
    model = ol.load(model_class(family), folder, torch.float32)
    base = ol.forward(model, inputs, False)["logits"]

    def changed(edit):
        with tempfile.TemporaryDirectory() as scratch:
            other = shutil.copytree(folder, f"{scratch}/model")
            ol.rewrite_json(f"{other}/config.json", edit)
            return ol.max_diff(base, ol.forward(ol.load(model_class(family), other, torch.float32), inputs, False)["logits"])

    out = {}
    config = model.config
    if hasattr(config, "layer_types"):
        out["layer_types"] = config.layer_types
    if family == "qwen2_moe":
        out["max_abs_with_layer_types_in_config"] = changed(lambda c: c.update(layer_types=config.layer_types))
    if family in ("qwen2_moe", "qwen3_moe"):
        out["sparse_layers"] = [i for i, layer in enumerate(model.model.layers) if hasattr(layer.mlp, "gate")]
        out["max_abs_with_norm_topk_prob_flipped"] = changed(lambda c: c.update(norm_topk_prob=not c["norm_topk_prob"]))
    if family == "gpt_oss":
        out["compute"] = "weights upcast to float32, attention eager"
        for field in ("swiglu_limit", "swiglu_alpha"):
            out[f"max_abs_with_another_{field}"] = changed(lambda c: c.update({field: 2 * getattr(config, field)}))
        out["max_abs_without_sliding_window"] = changed(lambda c: c.update(layer_types=["full_attention"] * config.num_hidden_layers))
    if family.startswith("deepseek"):
        out["router_min_margin"] = router_margin(model, ol.forward(model, inputs))
        out["max_abs_without_groups"] = changed(lambda c: c.update(n_group=1, topk_group=1))
        out["max_abs_with_routed_scaling_factor_1.75"] = changed(lambda c: c.update(routed_scaling_factor=1.75))
        for field in ("norm_topk_prob", "rope_interleave"):
            if hasattr(config, field):
                out[f"max_abs_with_{field}_flipped"] = changed(lambda c: c.update({field: not getattr(config, field)}))
    if family == "gemma2":
        out["compute"] = "weights upcast to float32, attention eager"
        for field in ("attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar"):
            plain = config.head_dim if field == "query_pre_attn_scalar" else None
            out[f"max_abs_without_{field}"] = changed(lambda c: c.update({field: plain}))
        out["max_abs_without_sliding_window"] = changed(lambda c: c.update(layer_types=["full_attention"] * config.num_hidden_layers))
    elif family == "gemma3_text":
        full = config.rope_parameters["full_attention"]
        out["max_abs_without_sliding_window"] = changed(lambda c: c.update(sliding_window=4096))
        out["max_abs_with_one_rope"] = changed(lambda c: c.update(rope_scaling=None, rope_parameters={"full_attention": full, "sliding_attention": full}))
        out["max_abs_without_query_pre_attn_scalar"] = changed(lambda c: c.update(query_pre_attn_scalar=config.head_dim))
    elif getattr(config, "sliding_window", None) and family != "gpt_oss":
        out["max_abs_without_sliding_window"] = changed(
            lambda c: c.update(use_sliding_window=False, layer_types=None) if "use_sliding_window" in c else c.update(sliding_window=None))
    if list(getattr(config, "time_step_limit", [0.0, math.inf])) != [0.0, math.inf]:
        out["max_abs_without_time_step_limit"] = changed(lambda c: c.update(time_step_limit=[0.0, {"__float__": "Infinity"}]))
    original = getattr(config, "original_max_position_embeddings", 0)
    if family == "phi3" and config.rope_parameters["rope_type"] == "longrope" and original > inputs["input_ids"].shape[1] + STEPS:
        out["crossing"] = crossing(model, original)
    if getattr(config, "rope_parameters", {}).get("rope_type", "default") != "default":
        theta = config.rope_parameters["rope_theta"]
        out["inv_freq"] = model.model.rotary_emb.inv_freq.tolist()
        out["max_abs_without_rope_scaling"] = changed(lambda c: c.update(rope_scaling=None, rope_parameters=rope(theta)))
    return out


def crossing(model, original):
    """Generation past the original length, where generate() drops the cache and computes it anew."""
    for seed in range(1000):
        ids = torch.randint(3, model.config.vocab_size, (1, original - 6), generator=torch.Generator().manual_seed(seed))
        whole, margins, _ = CACHED_GREEDY(model, {"input_ids": ids}, STEPS, cached=False)
        kept_cache, _, _ = CACHED_GREEDY(model, {"input_ids": ids}, STEPS)
        if min(margins) > 0.01 and whole[:8] == kept_cache[:8] and whole != kept_cache:
            return {"input_ids": ids[0].tolist(), "greedy_ids": whole, "greedy_ids_with_cache_kept": kept_cache}
    raise ValueError("no prompt shows the difference")


def make_patched(name, out):
    import patched_lib as pl
    (family, config), seed, length, options, note = PATCHED[name]
    folder, cls = f"{out}/patched/{name}", model_class(family)
    seed, inputs = first_clear_seed(folder, family, config, seed, length, options, False)
    register = pl.register_doc_example if family == "qwen2_moe" else lambda: pl.register_llama_fused(True)
    golden = pl.patched_case(folder, name, cls, inputs, register, note=note, steps=STEPS)
    golden["seed"] = seed
    if family == "qwen2_moe":
        golden["router_min_margin"] = ol.router_margin(ol.forward(ol.load(cls, folder, torch.float32), inputs))
    ol.write_json(f"{folder}/golden.json", golden)
    tensors = load_file(f"{folder}/golden.safetensors")
    save_file({k: v for k, v in tensors.items() if kept(k)}, f"{folder}/golden.safetensors")
    add_rms(folder, cls, inputs)
    finish(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--oracle", required=True, help="directory of oracle_lib.py and patched_lib.py")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    sys.path.insert(0, args.oracle)
    import families_lib as fl
    import oracle_lib as ol
    CACHED_GREEDY = ol.greedy
    ol.disk_dtype = disk_dtype
    for wanted in args.names or [*PLAIN, *BROUGHT, *PATCHED]:
        if wanted in PLAIN or wanted in BROUGHT:
            make_plain(wanted, args.out)
        elif len(args.names) == 1:
            make_patched(wanted, args.out)
        else:  # a process each: the registries that patches fill are global
            subprocess.run([sys.executable, os.path.abspath(__file__), "--oracle", args.oracle, "--out", args.out, wanted], check=True)
