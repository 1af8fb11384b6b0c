"""Make variants/: what other values of a few fields of config.json change, in models whose goldens are here already.

    python make_variant_goldens.py [NAME ...]

A variant is a case of this folder (or of a plugin's) and changes to its config.json; its weights are that case's. Recorded are
the logits of a prompt and greedy ids as `generate` gives them, with a cache that forgets nothing: transformers chooses the
cache by `layer_types` and `sliding_window`, also where the model's masks show more than that cache keeps.
"""
import json
import os
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, DynamicCache

import weights

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "../../plugins/families")
STEPS = 8
LONG = 600  # more tokens than a portion of a prompt


def every_second(first):
    return lambda config: {"layer_types": [("sliding_attention", "full_attention")[(i + first) % 2] for i in range(layers(config))]}


def layers(config):
    return config.get("num_hidden_layers") or config["n_layer"]


BOTH_WAYS = {"is_causal": False}
# name: (the case, in a plugin's folder with its name; changes, or a function that gives them; prompt length)
VARIANTS = {
    # Tokens see those after them.
    "llama_both_ways": ("llama_mha", BOTH_WAYS, 20),
    "mistral_both_ways": ("mistral", BOTH_WAYS, 20),
    "mistral_both_ways_window": ("mistral_sliding", {**BOTH_WAYS, "sliding_window": 5}, 20),
    "mixtral_both_ways_window": ("mixtral_sliding_linear", BOTH_WAYS, 30),
    "qwen2_both_ways": ("qwen2", BOTH_WAYS, 20),
    "qwen2_both_ways_window": ("qwen2_sliding", BOTH_WAYS, 20),
    "qwen2_moe_both_ways_window": ("qwen2_moe_sliding_alternate", BOTH_WAYS, 20),
    "llama_both_ways_dynamic": ("llama_rope_dynamic_growing", BOTH_WAYS, 20),
    "qwen3_both_ways_window": ("qwen3_sliding", {**BOTH_WAYS, "sliding_window": 4}, 20),
    "qwen3_moe_both_ways": ("qwen3_moe", BOTH_WAYS, 20),
    "bitnet_both_ways": ("bitnet/bitnet_bias_sharded", BOTH_WAYS, 20),
    "deepseek_v2_both_ways": ("deepseek_v2", BOTH_WAYS, 20),
    "deepseek_v3_both_ways": ("deepseek_v3", BOTH_WAYS, 20),
    "gemma2_both_ways": ("gemma2/gemma2", BOTH_WAYS, 20),
    "gemma3_text_both_ways": ("gemma2/gemma3_text", BOTH_WAYS, 20),
    "gemma3_text_bidirectional": ("gemma2/gemma3_text", {"use_bidirectional_attention": True}, 20),
    "gemma3_text_bidirectional_twice": ("gemma2/gemma3_text", {"use_bidirectional_attention": True, **BOTH_WAYS}, 20),
    "gpt2_both_ways": ("gpt2/gpt2", BOTH_WAYS, 20),
    "gpt_neox_both_ways": ("gpt_neox", BOTH_WAYS, 20),
    "gpt_oss_both_ways": ("gpt_oss", BOTH_WAYS, 20),
    "olmo2_both_ways": ("olmo2/olmo2", BOTH_WAYS, 20),
    "phi3_both_ways": ("phi3/phi3", BOTH_WAYS, 20),
    "phi3_longrope_both_ways": ("phi3/phi3_longrope", BOTH_WAYS, 20),
    "qwen3_next_both_ways": ("qwen3_next", BOTH_WAYS, 20),
    "starcoder2_both_ways": ("starcoder2/starcoder2", BOTH_WAYS, 20),
    # Which layers have a window, and how long it is.
    "mistral_layer_types": ("mistral_sliding", every_second(0), 20),
    "mistral_layer_types_null": ("mistral_sliding", {"layer_types": None, "sliding_window": 3}, 20),
    "llama_window_unread": ("llama_mha", {"sliding_window": 4, "use_sliding_window": True}, 20),
    "olmo2_window_unread": ("olmo2/olmo2", {"sliding_window": 4}, 20),
    "phi3_window": ("phi3/phi3", {"sliding_window": 4}, 20),
    "gpt_oss_layer_types": ("gpt_oss", every_second(1), 20),
    "gemma2_layer_types": ("gemma2/gemma2", every_second(1), 20),
    "qwen2_window_from_layer": ("qwen2_sliding", {"max_window_layers": 2, "sliding_window": 4}, 20),
    "qwen2_layer_types": ("qwen2_sliding", every_second(1), 20),
    "qwen2_moe_window_to_layer": ("qwen2_moe_sliding_alternate", {"max_window_layers": 1, "sliding_window": 4}, 20),
    "qwen3_layer_types": ("qwen3_sliding", every_second(0), 20),
    "qwen3_moe_window_unused": ("qwen3_moe_sliding", {"use_sliding_window": False}, 20),
    # A size that is there, and what would give another one.
    "falcon_mamba_expand": ("falcon_mamba", {"expand": 16}, 20),
    "mamba_expand": ("mamba_bias_sharded", {"expand": 16}, 20),
}
LONG_VARIANTS = {"llama_both_ways", "mistral_both_ways_window"}  # with a prompt of LONG tokens, too


def folder_of(base):
    plugin, slash, name = base.partition("/")
    return f"{FAMILIES}/{plugin}/goldens/{name}" if slash else f"{HERE}/plain/{base}"


def load(folder):
    with open(f"{folder}/config.json", encoding="utf-8") as f:
        eager = json.load(f)["model_type"] in ("gemma2", "gpt_oss")  # which have no other
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager" if eager else None).eval()


def generate(model, ids):
    """Greedy ids, and the smallest gap between the best two logits on the way."""
    cache = {} if any(word in model.config.model_type for word in ("mamba", "next")) else {"past_key_values": DynamicCache()}
    out = model.generate(torch.tensor([ids]), max_new_tokens=STEPS, min_new_tokens=STEPS, do_sample=False, pad_token_id=0,
                         return_dict_in_generate=True, output_logits=True, **cache)
    best = torch.stack(out.logits)[:, 0].topk(2).values
    return out.sequences[0, len(ids):].tolist(), (best[:, 0] - best[:, 1]).min().item()


def run(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0]


def make(name):
    base, changes, length = VARIANTS[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = shutil.copytree(folder_of(base), f"{scratch}/model")
        if os.path.exists(f"{folder}/weights.txt"):
            weights.write(folder)
        plain = load(folder)
        with open(f"{folder}/config.json", encoding="utf-8") as f:
            config = json.load(f)
        changes = changes(config) if callable(changes) else changes
        weights.edit_json(f"{folder}/config.json", lambda c: c.update(changes, eos_token_id=None))
        model = load(folder)
        model.generation_config.eos_token_id = None
        for seed in range(100):
            ids = torch.randint(3, model.config.vocab_size, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
            greedy, margin = generate(model, ids)
            if margin > 0.01 and (len(set(greedy)) > 2 or seed >= 50):  # some models repeat a token
                break
        else:
            raise ValueError(f"{name}: no prompt is clear enough")
        tensors = {f"{name}.logits": run(model, ids)}
        if name in LONG_VARIANTS:
            tensors[f"{name}.long"] = run(model, (ids * LONG)[:LONG])[[0, LONG // 2, -1]].clone()
        moved = (run(plain, ids) - tensors[f"{name}.logits"]).abs().max().item()
    return {"base": base, "changes": changes, "input_ids": ids, "greedy_ids": greedy, "greedy_min_margin": margin, "max_abs_of_changes": moved}, tensors


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    target = f"{HERE}/variants"
    documents, tensors = {}, {}
    if sys.argv[1:] and os.path.exists(f"{target}/variants.json"):
        with open(f"{target}/variants.json", encoding="utf-8") as f:
            documents = json.load(f)
        tensors = load_file(f"{target}/variants.safetensors")
    for variant in sys.argv[1:] or VARIANTS:
        documents[variant], made = make(variant)
        tensors.update(made)
        print(variant, documents[variant]["max_abs_of_changes"], documents[variant]["greedy_min_margin"], flush=True)
    os.makedirs(target, exist_ok=True)
    weights.write_json(f"{target}/variants.json", {name: documents[name] for name in VARIANTS if name in documents})
    save_file({name: tensors[name].contiguous() for name in sorted(tensors)}, f"{target}/variants.safetensors")
    for file in os.listdir(target):
        os.chmod(f"{target}/{file}", 0o644)
