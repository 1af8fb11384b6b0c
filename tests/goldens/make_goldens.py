"""Make the small checkpoints and recorded outputs listed in README.md.

    python make_goldens.py --oracle DIR [--out DIR] [NAME ...]

DIR holds oracle_lib.py and patched_lib.py (with patch_classes.py). Without names, every case is made. Seeds are
fixed starting points: a case takes the first seed whose greedy choices and router choices are clear of rounding noise.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2MoeConfig, Qwen2MoeForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 16
CLASSES = {"llama": LlamaForCausalLM, "qwen2_moe": Qwen2MoeForCausalLM}
IDS = {"bos_token_id": 1, "eos_token_id": 2}
COMMON = dict(vocab_size=128, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
              max_position_embeddings=256, **IDS)
WIDE = dict(hidden_size=48, intermediate_size=40)


def rope(theta, **kw):
    return {"rope_type": "default", "rope_theta": theta, **kw}


def llama(**kw):
    return "llama", {**COMMON, "intermediate_size": 24, "rms_norm_eps": 1e-5, "rope_parameters": rope(10000.0), **kw}


def moe(**kw):
    return "qwen2_moe", {**COMMON, "intermediate_size": 24, "moe_intermediate_size": 8, "num_experts": 5, "num_experts_per_tok": 2,
                         "shared_expert_intermediate_size": 20, "rope_parameters": rope(1e6), **kw}


LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
GQA_SEED = 425
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
    "qwen2_moe_gqa": (moe(), GQA_SEED, 12, {}, "2 key/value heads for 4 query heads"),
    "qwen2_moe_stacked": (moe(), GQA_SEED, 12, {"hub_config": False},
                          "the weights of qwen2_moe_gqa in the runtime layout: one stacked tensor for all experts of a layer; config.json in v5 spelling"),
}
PATCHED = {
    "llama_fused_qkv_tied_bf16": (llama(**WIDE, num_attention_heads=6, tie_word_embeddings=True), 501, 14, {"dtype": "bfloat16"},
                                  "GQA, fused qkv, tied embeddings, bfloat16 on disk"),
    "qwen2_moe_doc_example_bf16": (moe(**WIDE, num_key_value_heads=4), 502, 12, {"dtype": "bfloat16"},
                                   "experts as a list of modules, fused qkv with equal head counts, bfloat16 on disk"),
    "llama_fused_qkv_bias": (llama(**WIDE, num_attention_heads=6, attention_bias=True), 503, 12, {}, "GQA, fused qkv with biases"),
}


def layout(folder, family, config, seed, options, stacked):
    """Write the model directory. Configuration objects change when a model is built from them, so each gets its own."""
    build = LlamaConfig if family == "llama" else Qwen2MoeConfig
    fresh = json.loads(json.dumps(config))
    ol.make_checkpoint(folder, CLASSES[family], build(**fresh), seed, generation=IDS, **options)
    if stacked:
        model = ol.load(CLASSES[family], folder)
        shutil.rmtree(folder)
        model.save_pretrained(folder, save_original_format=False)


def clear_enough(folder, cls, inputs):
    """True if rounding noise cannot change a greedy or router choice; stricter where a low-precision run is recorded too."""
    dtype = ol.disk_dtype(folder)
    model = ol.load(cls, folder, torch.float32)
    got = ol.forward(model, inputs)
    ids, margins, _ = ol.greedy(model, inputs, STEPS)
    router = ol.router_margin(got)
    low = dtype != "float32"
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
        if clear_enough(folder, CLASSES[family], {"input_ids": ids}):
            return seed, {"input_ids": ids}
        seed += 1000


def readable(folder):
    """safetensors writes files that only their owner may read."""
    for name in os.listdir(folder):
        os.chmod(f"{folder}/{name}", 0o644)


def kept(name):
    return name in ("logits", "greedy_logits", "logits.bfloat16", "logits.float16")


def make_plain(name, out):
    (family, config), seed, length, options, note = PLAIN[name]
    folder = f"{out}/plain/{name}"
    seed, inputs = first_clear_seed(folder, family, config, seed, length, options, name == "qwen2_moe_stacked")
    ol.record(folder, name, CLASSES[family], inputs, steps=STEPS, note=note, extra={"seed": seed, **facts(folder, family, inputs)}, keep=kept)
    add_rms(folder, CLASSES[family], inputs)
    readable(folder)


def facts(folder, family, inputs):
    """What the feature under test changes, so that a test which misses it cannot pass unnoticed."""
    model = ol.load(CLASSES[family], folder, torch.float32)
    base = ol.forward(model, inputs, False)["logits"]

    def changed(edit):
        with tempfile.TemporaryDirectory() as scratch:
            other = shutil.copytree(folder, f"{scratch}/model")
            ol.rewrite_json(f"{other}/config.json", edit)
            return ol.max_diff(base, ol.forward(ol.load(CLASSES[family], other, torch.float32), inputs, False)["logits"])

    out = {}
    if family == "qwen2_moe":
        out["layer_types"] = model.config.layer_types
        out["sparse_layers"] = [i for i, layer in enumerate(model.model.layers) if hasattr(layer.mlp, "gate")]
        out["max_abs_with_layer_types_in_config"] = changed(lambda c: c.update(layer_types=model.config.layer_types))
        out["max_abs_with_norm_topk_prob_flipped"] = changed(lambda c: c.update(norm_topk_prob=not c["norm_topk_prob"]))
        if model.config.use_sliding_window:
            out["max_abs_without_sliding_window"] = changed(lambda c: c.update(use_sliding_window=False))
    elif model.config.rope_parameters["rope_type"] != "default":
        out["inv_freq"] = model.model.rotary_emb.inv_freq.tolist()
        out["max_abs_without_rope_scaling"] = changed(lambda c: c.update(rope_scaling=None))
    return out


def make_patched(name, out):
    import patched_lib as pl
    (family, config), seed, length, options, note = PATCHED[name]
    folder, cls = f"{out}/patched/{name}", CLASSES[family]
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
    readable(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--oracle", required=True, help="directory of oracle_lib.py and patched_lib.py")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    sys.path.insert(0, args.oracle)
    import oracle_lib as ol
    for wanted in args.names or [*PLAIN, *PATCHED]:
        if wanted in PLAIN:
            make_plain(wanted, args.out)
        elif len(args.names) == 1:
            make_patched(wanted, args.out)
        else:  # a process each: the registries that patches fill are global
            subprocess.run([sys.executable, os.path.abspath(__file__), "--oracle", args.oracle, "--out", args.out, wanted], check=True)
