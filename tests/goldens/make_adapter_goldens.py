"""Make the adapters in adapters/, with the outputs of their bases and them, by PEFT.

    python make_adapter_goldens.py --models DIR [NAME ...]

DIR: build/tests/goldens/models, where the build has made the bases. Needs peft 0.21.2 beside torch and transformers.
"""
import argparse
import json
import math
import os
import shutil
import tempfile

import torch
from peft import IA3Config, LoHaConfig, LoKrConfig, LoraConfig, PeftModel, VeraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, Mxfp4Config

import weights

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, LEAST = 12, 1e-2
EXPERTS = ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
# From the folder of the other bases.
GPT_OSS = "plain/gpt_oss"
GPT2 = "../../../plugins/families/gpt2/goldens/gpt2"

# The base, LoRA's options, the type on disk, and whether experts are named one by one as transformers 4 did. Tables that
# PEFT stores beside a pair, or of which it stores single rows, are others than the base's here, so that all show which
# they take.
CASES = {
    "head_tied": ("plain/llama_tied", dict(r=4, lora_alpha=8, target_modules=["lm_head", "v_proj"]), "float32", None),
    "embedding_tied": ("plain/llama_tied", dict(r=4, lora_alpha=8, target_modules=["embed_tokens", "v_proj"]),
                       "bfloat16", None),
    "both_tied": ("plain/llama_tied", dict(r=4, lora_alpha=8, target_modules=["embed_tokens", "lm_head"]), "float32", None),
    "both_untied": ("plain/qwen2", dict(r=4, lora_alpha=8, target_modules=["embed_tokens", "lm_head", "q_proj"]),
                    "bfloat16", None),
    "gpt2_head": (GPT2, dict(r=4, lora_alpha=8, target_modules=["wte", "lm_head"]), "float32", None),
    "tokens_tied": ("plain/llama_tied", dict(
        r=4, lora_alpha=8, target_modules=["v_proj"], trainable_token_indices=[130, *range(4, 60, 4)]), "float32", None),
    "tokens_each": ("plain/llama_tied", dict(
        r=4, lora_alpha=8, target_modules=["v_proj"], trainable_token_indices={"embed_tokens": [*range(4, 60, 4)], "lm_head": [40, 7, 60]}),
        "float32", None),
    "tokens_untied": ("plain/qwen2_bf16", dict(
        r=4, lora_alpha=8, target_modules=["v_proj"], trainable_token_indices={"embed_tokens": [*range(4, 60, 4)], "lm_head": [40, 7, 60]}),
        "bfloat16", None),
    "gpt2_tokens": (GPT2, dict(
        r=4, lora_alpha=8, target_modules=["c_attn"], fan_in_fan_out=True, trainable_token_indices=[*range(4, 60, 4)]),
        "float32", None),
    "lora_bias": ("plain/qwen2", dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], lora_bias=True, exclude_modules=["0.mlp.down_proj"]),
        "float32", None),
    "ia3": ("plain/qwen2", dict(
        config=IA3Config, target_modules=["q_proj", "k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"],
        modules_to_save=["lm_head"]), "float32", None),
    "ia3_gptq": ("quantized/gptq_int8_qwen2", dict(
        config=IA3Config, target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"]),
        "bfloat16", None),
    "loha": ("plain/qwen2", dict(
        config=LoHaConfig, r=3, alpha=6, target_modules=["q_proj", "v_proj", "up_proj"], rank_pattern={"up_proj": 2},
        alpha_pattern={"0.self_attn.q_proj": 5}), "float32", None),
    "lokr": ("plain/qwen2", dict(
        config=LoKrConfig, r=2, alpha=4, target_modules=["q_proj", "k_proj", "gate_proj", "down_proj"],
        rank_pattern={"k_proj": 64}), "float32", None),
    "lokr_both": ("plain/qwen2", dict(
        config=LoKrConfig, r=2, alpha=4, target_modules=["q_proj", "v_proj", "up_proj"], decompose_both=True,
        decompose_factor=8), "bfloat16", None),
    "vera": ("plain/qwen2", dict(config=VeraConfig, r=6, target_modules=["q_proj", "v_proj", "o_proj", "down_proj"]),
             "float32", None),
    "resized_tied": ("plain/llama_tied", dict(
        r=4, lora_alpha=8, target_modules=["v_proj"], modules_to_save=["embed_tokens", "lm_head"], resize=140),
        "float32", None),
    "resized_head": ("plain/llama_tied", dict(r=4, lora_alpha=8, target_modules=["lm_head", "v_proj"], resize=140),
                     "float32", None),
    "resized_both": ("plain/qwen2", dict(
        r=4, lora_alpha=8, target_modules=["embed_tokens", "lm_head", "q_proj"], resize=150), "bfloat16", None),
    "layers": ("plain/qwen2", dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "up_proj"], layers_to_transform=[1], layers_pattern="layers",
        init_lora_weights="orthogonal"), "float32", None),
    "gpt_oss_experts": (GPT_OSS, dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], target_parameters=EXPERTS, use_rslora=True,
        rank_pattern={"experts.down_proj": 3}, alpha_pattern={r"layers\.1\.mlp\.experts\.gate_up_proj": 5}), "float32", None),
    "gpt_oss_one": (GPT_OSS, dict(
        r=2, lora_alpha=4, target_modules=[], target_parameters=["1.mlp.experts.gate_up_proj", "2.mlp.experts.down_proj"]),
        "bfloat16", None),
    "gpt_oss_mxfp4": ("quantized/mxfp4_gpt_oss", dict(
        r=4, lora_alpha=16, target_modules=["o_proj"], target_parameters=EXPERTS), "bfloat16", None),
    "bnb_nf4_qwen3": ("quantized/bnb_nf4_double_qwen3", dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "o_proj", "down_proj"]), "float32", None),
    "qwen2_moe_experts": ("plain/qwen2_moe_gqa", dict(
        r=3, lora_alpha=6, target_modules=["q_proj", "shared_expert.up_proj"], target_parameters=EXPERTS), "float32", None),
    "qwen2_dora": ("plain/qwen2", dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"], use_dora=True),
        "float32", None),
    "bnb_nf4_dora": ("quantized/bnb_nf4_double_qwen3", dict(
        r=4, lora_alpha=8, target_modules=["k_proj", "v_proj", "up_proj"], use_dora=True), "float32", None),
    "hqq_dora": ("quantized/hqq_int4_llama", dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], use_dora=True), "float32", None),
    "gptq_dora": ("quantized/gptq_int8_qwen2", dict(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], use_dora=True), "bfloat16", None),
    "gpt2": (GPT2, dict(
        r=4, lora_alpha=8, target_modules=["c_attn", "c_proj", "c_fc"], fan_in_fan_out=True, use_dora=True),
        "bfloat16", None),
    "mixtral_experts": ("plain/mixtral", dict(
        r=3, lora_alpha=6, target_modules=["k_proj", "w1", "w2", "w3"]), "float32",
        ("model.layers.{layer}.block_sparse_moe.experts.{expert}.{name}", {"w1": "gate", "w3": "up", "w2": "down"})),
}


def dequantize_bnb(model):
    """By bitsandbytes itself, in f32: left to itself, it would multiply in bf16."""
    from bitsandbytes import functional, nn
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear4bit):
            module.weight.quant_state.dtype = torch.float32
            plain = torch.nn.Linear(module.in_features, module.out_features, bias=False)
            plain.weight = torch.nn.Parameter(functional.dequantize_4bit(module.weight.data, module.weight.quant_state))
            model.set_submodule(name, plain)
    for attribute in ("is_quantized", "is_loaded_in_4bit", "hf_quantizer", "quantization_method"):
        if hasattr(model, attribute):
            delattr(model, attribute)
    return model


def codes(words, bits):
    """Those of words, the first in the lowest bits, in a dimension of their own."""
    return torch.stack([words.long() >> bits * i & (1 << bits) - 1 for i in range(32 // bits)], -1)


def load_gptq(base, bits):
    """Weights by the formula, of zero points that are stored less one."""
    config = AutoConfig.from_pretrained(base)
    del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    tensors = load_file(f"{base}/model.safetensors")
    for name in [n.removesuffix(".qweight") for n in tensors if n.endswith(".qweight")]:
        words, zeros, scales, groups = (tensors.pop(f"{name}.{n}") for n in ("qweight", "qzeros", "scales", "g_idx"))
        integers = codes(words, bits).transpose(1, 2).reshape(-1, words.shape[1])
        zeros = codes(zeros, bits).reshape(zeros.shape[0], -1) + 1
        tensors[f"{name}.weight"] = ((integers - zeros[groups.long()]) * scales.float()[groups.long()]).T.contiguous()
    model.load_state_dict(tensors, strict=not config.tie_word_embeddings)
    return model


def load_hqq(base):
    """Weights of 4 bits by the formula."""
    config = AutoConfig.from_pretrained(base)
    del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    tensors = load_file(f"{base}/model.safetensors")
    for name in [n.removesuffix(".W_q") for n in tensors if n.endswith(".W_q")]:
        module = {n.removeprefix(f"{name}."): tensors.pop(n) for n in list(tensors) if n.startswith(f"{name}.")}
        integers = torch.cat([module["W_q"] >> 4, module["W_q"] & 15]).float()
        weight = (integers - module["zero"].float()) * module["scale"].float()
        tensors[f"{name}.weight"] = weight.reshape(module["shape"].tolist())
    model.load_state_dict(tensors, strict=not config.tie_word_embeddings)
    return model


def load(base):
    with open(f"{base}/config.json") as f:
        quantization = json.load(f).get("quantization_config", {})
    method = quantization.get("quant_method")
    if method == "gptq":
        return load_gptq(base, quantization["bits"])
    if method == "hqq":
        return load_hqq(base)
    more = {"quantization_config": Mxfp4Config(dequantize=True)} if method == "mxfp4" else {}
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation="eager", **more).eval()
    return (dequantize_bnb(model) if method == "bitsandbytes" else model).float()


def load_resized(base, options):
    model = load(base)
    if "resize" in options:
        model.resize_token_embeddings(options["resize"])
    return model


def experts_one_by_one(folder, model, options, naming):
    """Adds a pair for each projection of each expert to what PEFT has written."""
    pattern, names = naming
    config, rank, path = model.config, options["r"], f"{folder}/adapter_model.safetensors"
    tensors, hidden, inner = load_file(path), config.hidden_size, config.intermediate_size
    for layer in range(config.num_hidden_layers):
        for expert in range(config.num_local_experts):
            for name, role in names.items():
                module = "base_model.model." + pattern.format(layer=layer, expert=expert, name=name)
                tensors[f"{module}.lora_A.weight"] = torch.zeros(rank, inner if role == "down" else hidden)
                tensors[f"{module}.lora_B.weight"] = torch.zeros(hidden if role == "down" else inner, rank)
    save_file(tensors, path, metadata={"format": "pt"})
    weights.edit_json(f"{folder}/adapter_config.json", lambda c: c.update(target_modules=options["target_modules"]))


def spread(name, shape):
    if "lora_magnitude" in name:
        return 1, 0.2
    if "ia3_l" in name or "vera_lambda" in name:
        return 1, 0.3
    if len(shape) == 1 or "hada_" in name or "lokr_" in name:
        return 0, 0.3
    return 0, 1 / math.sqrt(shape[1]) if ".lora_A." in name else 0.4 / math.sqrt(shape[1])


def write_adapter(folder, model, options, dtype, naming, seed):
    """The recipe for the tensors that PEFT names, and these."""
    known = options if naming is None else {**options, "target_modules": ["k_proj"]}
    known = dict(known)
    kind = known.pop("config", LoraConfig)
    known.pop("resize", None)
    get_peft_model(model, kind(task_type="CAUSAL_LM", **known)).save_pretrained(folder)
    os.remove(f"{folder}/README.md")
    if naming is not None:
        experts_one_by_one(folder, model, options, naming)
    path = f"{folder}/adapter_model.safetensors"
    tensors = {name: tensor.to(getattr(torch, dtype)).contiguous() for name, tensor in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})
    weights.edit_json(f"{folder}/adapter_config.json", lambda c: c.update(
        base_model_name_or_path="example/base", inference_mode=True,
        **{key: sorted(c[key]) for key in ("target_modules", "target_parameters", "exclude_modules", "feedforward_modules")
           if isinstance(c.get(key), list)}))
    weights.refill(folder, seed, spread)


def outputs(model, ids):
    """Logits of the prompt, and what greedy decoding adds to it."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
        steps, greedy, margin = [], [], math.inf
        for _ in range(STEPS):
            last = model(input_ids=torch.tensor([ids + greedy]), use_cache=False).logits[0, -1]
            best = last.topk(2).values
            margin = min(margin, (best[0] - best[1]).item())
            steps.append(last)
            greedy.append(int(last.argmax()))
    return logits, torch.stack(steps), greedy, margin


def can_merge(options, model):
    """Not with a bias that the base has no place for, nor with one weight for the embedding and the head."""
    return "lora_bias" not in options and "config" not in options and not model.config.tie_word_embeddings


def attempt(base, folder, options, dtype, naming, seed):
    """What golden.json says, or None where the choices are not clear."""
    model, plain_model = load_resized(base, options), load(base)
    length = min(12, model.config.max_position_embeddings // 6)  # tests run the prompt six times over, too
    ids = torch.randint(3, 60, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
    plain = outputs(plain_model, ids)
    write_adapter(folder, model, options, dtype, naming, seed)
    adapted = PeftModel.from_pretrained(load_resized(base, options), folder).eval()
    logits, steps, greedy, margin = outputs(adapted, ids)
    if margin < LEAST or greedy == plain[2]:
        return None
    merged = outputs(adapted.merge_and_unload().eval(), ids)[0] if can_merge(options, adapted) else logits
    save_file({"logits": logits[None].contiguous(), "greedy_logits": steps.contiguous()}, f"{folder}/golden.safetensors")
    return {
        "base": os.path.basename(base), "seed": seed, "dtype_on_disk": dtype, "input_ids": ids, "greedy_ids": greedy,
        "greedy_min_margin": margin, "argmax_per_position": logits.argmax(-1).tolist(),
        "last_top5": [{"id": int(i), "logit": float(v)} for v, i in zip(*logits[-1].topk(5))],
        "reference_spread": {"max_abs_output": logits.abs().max().item(),
                             "peft_vs_merged_max_abs": (logits - merged).abs().max().item()},
        "base_vs_adapter_max_abs": (logits[:, :plain[0].shape[1]] - plain[0]).abs().max().item(),
    }


def make(name, models):
    base, options, dtype, naming = CASES[name]
    for seed in range(1, 40):
        with tempfile.TemporaryDirectory() as folder:
            golden = attempt(f"{models}/{base}", folder, options, dtype, naming, seed)
            if golden is None:
                continue
            weights.write_json(f"{folder}/golden.json", golden)
            weights.drop(folder)
            shutil.rmtree(f"{HERE}/adapters/{name}", ignore_errors=True)
            shutil.copytree(folder, f"{HERE}/adapters/{name}")
            print(name, "seed", seed, golden["reference_spread"], "moves", golden["base_vs_adapter_max_abs"])
            return
    raise SystemExit(f"{name}: no seed gives clear choices")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for case in arguments.names or CASES:
        make(case, arguments.models)
