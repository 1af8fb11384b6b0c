"""Make quantizations.json: what `--quantize` makes of models that are here already.

    python make_quantization_goldens.py MODELS

MODELS is where the build has put the models (build/tests/goldens/models). FP8 is quantized by transformers itself, all
else by the formulas of the methods, written down here: bitsandbytes' NF4, compressed-tensors' integers with its minmax
observer, and MXFP4 as the published models were made. Recorded is one SHA-256 over all tensors that are made, in the order
of their names: of name, type and shape as text, then of the bytes.
"""
import hashlib
import json
import os
import sys
import types

import torch
from safetensors.torch import load_file
from transformers.integrations.finegrained_fp8 import Fp8Quantize

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "../../demo/tiny-qwen2-moe")
# case: the model, the format, whether experts that are stored one by one are quantized
CASES = {
    "llama_nf4": ("plain/llama", "nf4"),
    "llama_bf16_nf4_32": ("plain/llama_bf16", "nf4:32"),  # blocks across rows
    "llama_f16_nf4": ("plain/llama_f16", "nf4"),
    "llama_int8": ("plain/llama", "int8"),
    "llama_bf16_int8": ("plain/llama_bf16", "int8"),
    "qwen2_moe_f16_int8": ("plain/qwen2_moe_f16", "int8"),
    "llama_tied_bf16_int8": ("plain/llama_tied_bf16", "int8"),
    "llama_fp8_32": ("plain/llama", "fp8:32"),  # some weights stay
    "demo_int4": ("demo", "int4:32"),
    "demo_int8_32": ("demo", "int8:32"),
    "demo_fp8_64": ("demo", "fp8:64"),
    "demo_nf4": ("demo", "nf4"),
    "gpt_oss_mxfp4": ("quantized/mxfp4_gpt_oss", "mxfp4"),  # of its floats
}
NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
TYPES = {torch.uint8: "U8", torch.int32: "I32", torch.int64: "I64", torch.float32: "F32", torch.float16: "F16",
         torch.bfloat16: "BF16", torch.float8_e4m3fn: "F8_E4M3"}


def nf4(name, weight, block):
    """Dettmers et al. 2023: the number nearest to weight / largest of its block."""
    flat = weight.float().flatten()
    padded = torch.nn.functional.pad(flat, (0, -len(flat) % block)).view(-1, block)
    largest = padded.abs().amax(1)
    scaled = padded * (1 / largest).unsqueeze(1)
    numbers = torch.tensor(NF4)
    codes = (scaled.unsqueeze(-1) - numbers).abs().argmin(-1).flatten()[: len(flat)].to(torch.uint8)
    state = json.dumps({"quant_type": "nf4", "blocksize": block, "dtype": str(weight.dtype).removeprefix("torch."),
                        "shape": list(weight.shape)})
    return {name: (codes[::2] << 4 | codes[1::2]).unsqueeze(1), name + ".absmax": largest, name + ".quant_map": numbers,
            name + ".quant_state.bitsandbytes__nf4": torch.tensor(list(state.encode()), dtype=torch.uint8)}


def integers(name, weight, bits, group):
    """compressed-tensors, symmetric, in the weight's own type: each operation is rounded to it."""
    rows, columns = weight.shape
    groups = weight.view(rows, -1, group or columns)
    scale = groups.abs().amax(-1, keepdim=True) / ((2**bits - 1) / 2)
    scale = torch.where(scale == 0, torch.finfo(weight.dtype).eps, scale)
    half = 2 ** (bits - 1)
    codes = torch.round((groups / scale).clamp(-half, half - 1)).view(rows, columns).to(torch.int64) + half
    slots = 32 // bits
    codes = torch.nn.functional.pad(codes, (0, -columns % slots)).view(rows, -1, slots)
    words = sum(codes[..., i] << bits * i for i in range(slots))
    words = torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)
    return {name + "_packed": words, name + "_scale": scale.squeeze(-1), name + "_shape": torch.tensor([rows, columns])}


def fp8(name, weight, block):
    config = types.SimpleNamespace(weight_block_size=[block, block], scale_fmt="float")
    made = Fp8Quantize(types.SimpleNamespace(quantization_config=config)).convert({name: weight})
    return {} if list(made) == [name] else made


def mxfp4(name, weight):
    """[experts, inputs, outputs]: the smallest power of two by which none of 32 inputs is more than 6, ties to even."""
    blocks = weight.to(torch.bfloat16).float().transpose(1, 2).contiguous()
    blocks = blocks.view(*blocks.shape[:-1], -1, 32)
    largest = blocks.abs().amax(-1, keepdim=True) / 6
    exponents = (largest.view(torch.int32) + 0x007FFFFF) >> 23
    scaled = blocks * torch.where(exponents > 0, torch.exp2((127 - exponents).float()), torch.zeros(()))
    numbers = torch.tensor(E2M1)
    distance = (scaled.abs().unsqueeze(-1) - numbers).abs()
    nearest = distance.amin(-1, keepdim=True)
    even_first = distance + 0.0
    even_first[..., 1::2] = torch.where(distance[..., 1::2] == nearest, distance[..., 1::2] + 1e-9, distance[..., 1::2])
    codes = even_first.argmin(-1).to(torch.uint8) | (scaled.signbit().to(torch.uint8) << 3)
    return {name + "_blocks": codes[..., ::2] | codes[..., 1::2] << 4, name + "_scales": exponents.squeeze(-1).to(torch.uint8)}


def dequantized(blocks, scales):
    codes = torch.stack((blocks & 15, blocks >> 4), -1).flatten(-2).long()
    values = torch.tensor(E2M1 + [-x for x in E2M1])[codes] * torch.exp2(scales.float() - 127).unsqueeze(-1)
    return values.flatten(-2).transpose(1, 2).to(torch.bfloat16).contiguous()


def is_linear(name, weight):
    return (weight.ndim == 2 and name.endswith(".weight") and "embed" not in name and not name.startswith("lm_head")
            and not name.endswith("mlp.gate.weight"))


def quantize(model, spec):
    name, _, group = spec.partition(":")
    tensors = {}
    for file in sorted(os.listdir(model)):
        if file.startswith("model") and file.endswith(".safetensors"):
            tensors.update(load_file(os.path.join(model, file)))
    made = {}
    if name == "mxfp4":
        for stem in {n.rsplit("_", 1)[0] for n in tensors if n.endswith("_blocks")}:
            made.update(mxfp4(stem, dequantized(tensors[stem + "_blocks"], tensors[stem + "_scales"])))
        return made
    for n, weight in tensors.items():
        if not is_linear(n, weight) or (name == "nf4" and ".experts." in n):
            continue
        if name == "nf4":
            made.update(nf4(n, weight, int(group or 64)))
        elif name == "fp8":
            made.update(fp8(n, weight, int(group or 128)))
        else:
            made.update(integers(n, weight, int(name[3:]), int(group or (128 if name == "int4" else 0))))
    return made


def digest(made):
    sha = hashlib.sha256()
    for name in sorted(made):
        tensor = made[name].contiguous()
        sha.update(f"{name} {TYPES[tensor.dtype]} {list(tensor.shape)}\n".encode())
        sha.update(tensor.view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()


def main():
    models = sys.argv[1]
    cases = {}
    for case, (model, spec) in CASES.items():
        made = quantize(DEMO if model == "demo" else os.path.join(models, model), spec)
        cases[case] = {"model": model, "quantize": spec, "tensors": len(made), "sha256": digest(made)}
        print(case, len(made))
    with open(os.path.join(HERE, "quantizations.json"), "w") as out:
        out.write(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
