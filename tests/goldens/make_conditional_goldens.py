"""Make conditional/: a miniature of every model type with an encoder and a decoder, and of variants.

    python make_conditional_goldens.py [NAME ...]

As make_type_goldens.py, with AutoModelForSeq2SeqLM. Recorded are the logits of DECODER_IDS where the encoder has read IDS,
what is generated greedily and with beams, and how far the reference's run in float64 is from that in float32.
conditional/cases.json lists the cases. Tables of sines are left out of the files, as published ones leave them out: both
sides compute them.
"""
import os
import shutil
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import CONFIG_MAPPING, AutoModelForSeq2SeqLM

import make_type_goldens as types
import weights

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "conditional")
IDS = types.IDS + [i + 1 for i in types.IDS]  # more than relative distances tell apart
MORE_IDS = [7, 52, 19]
DECODER_IDS = [5, 17, 33, 9, 71, 44, 12, 60, 3, 8, 21, 90]  # after the token that the decoder starts with
NEW_TOKENS = 6
BEAMS = 3
GAP = 1e-3  # between the largest logits: no rounding may choose another token
SIZES = dict(types.SIZES, d_kv=16, d_ff=48, relative_attention_num_buckets=8, relative_attention_max_distance=20,
             max_position_embeddings=64, encoder_layers=3, encoder_attention_heads=2, encoder_ffn_dim=40)
START = dict(types.SPECIAL, decoder_start_token_id=3)
# NAME: (type, fields)
CASES = {
    **{name: (name, {}) for name in (
        "bart", "blenderbot", "blenderbot-small", "marian", "mbart", "mt5", "mvp", "pegasus", "plbart", "t5", "umt5")},
    "bart-scaled": ("bart", dict(scale_embedding=True)),
    "m2m_100": ("m2m_100", dict(pad_token_id=1, bos_token_id=0)),
    "t5-decoder": ("t5", dict(num_layers=3, num_decoder_layers=2)),
    "t5-gated": ("t5", dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "t5-head": ("t5", dict(feed_forward_proj="gated-silu", tie_word_embeddings=False)),  # with a matrix of its own
}


# Projections that an adapter is for.
ADAPTED = {"t5": ("q", "v", "wo", "lm_head"), "bart": ("k_proj", "out_proj", "fc1")}
RANK, ALPHA = 2, 6


def config_of(name):
    kind, changes = CASES[name]
    default = CONFIG_MAPPING[kind]()
    fields = {key: value for key, value in SIZES.items() if key in vars(default)}
    return CONFIG_MAPPING[kind](**{**START, **fields, **changes})


def layout(name, folder, seed):
    torch.manual_seed(seed)
    shutil.rmtree(folder, ignore_errors=True)
    model = AutoModelForSeq2SeqLM.from_config(config_of(name)).float().eval()
    if name.endswith("-head"):
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
    model.save_pretrained(folder)
    file = f"{folder}/model.safetensors"
    sines = any("Sinusoidal" in type(module).__name__ for module in model.modules())
    kept = {key: t for key, t in load_file(file).items() if not (sines and "embed_positions" in key)}
    save_file(kept, file, metadata={"format": "pt"})
    weights.refill(folder, seed, types.spread(kept))
    os.remove(f"{folder}/generation_config.json")


def load(folder, dtype):
    model, info = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    wrong = {kind: names for kind, names in info.items() if [n for n in names if "embed_positions" not in n]}
    if wrong:
        raise ValueError(f"the reference does not load what it saved: {wrong}")
    return model.to(dtype).eval()


def logits_of(model, source, decoder_ids):
    with torch.no_grad():
        start = model.config.decoder_start_token_id
        return model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[start] + decoder_ids])).logits[0]


def generated(model, source, **how):
    with torch.no_grad():
        return model.generate(torch.tensor([source]), max_new_tokens=NEW_TOKENS, do_sample=False, **how)[0].tolist()[1:]


def make_adapter(name, folder):
    """An adapter in folder/adapter, as PEFT writes one, and the logits of the model that it is merged into."""
    adapter = f"{folder}/adapter"
    os.mkdir(adapter)
    model = load(folder, torch.float32)
    linears = {path: module for path, module in model.named_modules() if path.split(".")[-1] in ADAPTED[name]}
    shapes = {path: ((RANK, module.in_features), (module.out_features, RANK)) for path, module in linears.items()}
    pairs = {f"base_model.model.{path}.lora_{letter}.weight": torch.zeros(shape)
             for path, both in shapes.items() for letter, shape in zip("AB", both)}
    save_file(pairs, f"{adapter}/adapter_model.safetensors", metadata={"format": "pt"})
    weights.write_json(f"{adapter}/adapter_config.json", {
        "base_model_name_or_path": name, "bias": "none", "lora_alpha": ALPHA, "peft_type": "LORA", "r": RANK,
        "target_modules": list(ADAPTED[name]), "task_type": "SEQ_2_SEQ_LM"})
    weights.refill(adapter, 1, lambda key, shape: (0, 0.2))
    pairs = load_file(f"{adapter}/adapter_model.safetensors")
    with torch.no_grad():
        for path, module in linears.items():
            a, b = (pairs[f"base_model.model.{path}.lora_{letter}.weight"].double() for letter in "AB")
            module.weight = torch.nn.Parameter((module.weight.double() + ALPHA / RANK * b @ a).float())
    logits = logits_of(model, IDS, DECODER_IDS)
    os.remove(f"{adapter}/adapter_model.safetensors")
    types.write_golden(adapter, {"logits": logits})


def make(name, folder):
    for seed in range(100):
        layout(name, folder, seed)
        model = load(folder, torch.float32)
        logits = logits_of(model, IDS, DECODER_IDS)
        assert logits.isfinite().all() and logits.std() > 0.01
        noise = (logits_of(load(folder, torch.float64), IDS, DECODER_IDS).double() - logits.double()).abs().max().item()
        greedy = [generated(model, ids, num_beams=1) for ids in (IDS, MORE_IDS)]
        beams = generated(model, IDS, num_beams=BEAMS)
        gaps = [logits_of(model, ids, out[:-1]).topk(2).values.diff().abs().min().item()
                for ids, out in zip((IDS, MORE_IDS), greedy)]
        if noise < types.NOISE and min(gaps) > GAP and len(set(greedy[0])) > 2 and greedy[0] != greedy[1]:
            break
    types.keep_recipe(folder)
    types.write_golden(folder, {"logits": logits})
    return {"f64_difference": float(f"{noise:.1e}"), "start": model.config.decoder_start_token_id, "generated": greedy[0],
            "generated_more": greedy[1], "beams": beams}


def make_with_adapter(name, folder):
    made = make(name, folder)
    if name in ADAPTED:
        weights.write(folder)
        make_adapter(name, folder)
        weights.drop(folder)
    return made


if __name__ == "__main__":
    types.quiet()
    document = {"input_ids": IDS, "more_ids": MORE_IDS, "decoder_ids": DECODER_IDS, "num_beams": BEAMS,
                "cases": types.recorded(TARGET) if sys.argv[1:] else {}}
    sys.exit(not types.make_all(TARGET, document, sys.argv[1:] or CASES, make_with_adapter))
