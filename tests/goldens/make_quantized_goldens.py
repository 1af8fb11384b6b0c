"""Make the quantized checkpoints that are marked so in README.md, with their recorded outputs.

    python make_quantized_goldens.py --oracle DIR [--out DIR] [NAME ...]

DIR holds make_quantized.py, quant_lib.py and oracle_lib.py. Outputs are those of the dequantized weights, by the formulas
of the methods. Float4 is packed by the library compressed-tensors, which gives the same weights, rounded to bf16; what is
called bnb_... by bitsandbytes, auto_round_... by auto-round, modelopt_... by nvidia-modelopt, hqq_... by hqq and
quanto_... by optimum-quanto, torchao_int8_... by torchao, whose own weights are asserted to be these, as those of transformers for mxfp8_... and
fbgemm_....
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # BitNet's Linears would be compiled

import torch
import transformers
from safetensors.torch import save_file
from transformers import (BitNetConfig, BitNetForCausalLM, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM,
                          Qwen2ForCausalLM, Qwen3ForCausalLM, Qwen3MoeForCausalLM)

import weights

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL_NAMES = {"block_sparse_moe": "mlp", "w1": "gate_proj", "w3": "up_proj", "w2": "down_proj"}


def e8m0_pack(weight, block, gen=None, **_):
    """Blocks of FP8 whose scales are powers of two, stored as their exponents."""
    tensors = ql.fp8_block_pack(weight, block=block, ue8m0=True)
    exponents = torch.log2(tensors["weight_scale_inv"])
    tensors["weight_scale_inv"] = exponents.to(torch.int32).add(127).to(torch.uint8).view(torch.float8_e8m0fnu)
    return tensors


def naive_pack(weight, bits, gen=None, **_):
    """Codes of fewer bits than a byte in bytes, a scale for each row."""
    half = 2 ** (bits - 1)
    scale = (weight.abs().amax(1, keepdim=True) / (half - 0.5)).to(torch.bfloat16)
    codes = torch.round(weight / scale.float()).clamp(-half, half - 1).to(torch.int8)
    return {"weight": codes, "weight_scale": scale}


def float4_pack(weight, preset, largest=None, gen=None):
    """As the library stores them; `largest` is what weights with one divisor are taken to reach."""
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import preset_name_to_scheme
    from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
    scheme = preset_name_to_scheme(preset, ["Linear"])
    compressor = BaseCompressor.get_value_from_registry(preset[:5].lower() + "-pack-quantized")
    groups = weight.unflatten(1, (-1, scheme.weights.group_size))
    tensors = {"weight": weight}
    if preset.startswith("NV"):
        top = weight.abs().max() if largest is None else torch.tensor(largest)
        assert top >= weight.abs().max(), weight.abs().max()
        tensors["weight_global_scale"] = generate_gparam(-top, top)
    tensors["weight_scale"], _ = calculate_qparams(groups.amin(-1), groups.amax(-1), scheme.weights,
                                                   global_scale=tensors.get("weight_global_scale"))
    packed = compressor.compress(tensors, scheme)
    assert torch.equal(compressor.decompress(packed, scheme)["weight"], float4_unpack(packed).to(torch.bfloat16))
    if scheme.input_activations is not None and scheme.input_activations.dynamic == "local":
        packed["input_global_scale"] = 100 + 100 * torch.rand(1, generator=gen)
    return packed


def float4_unpack(tensors, **_):
    """A zero has no sign: products cannot tell."""
    values = torch.tensor(ql.FP4_VALUES + tuple(0.0 - v for v in ql.FP4_VALUES))
    codes = torch.stack([tensors["weight_packed"] & 15, tensors["weight_packed"] >> 4], -1).flatten(-2)
    scales = tensors["weight_scale"]
    if scales.dtype == torch.uint8:
        scales = torch.exp2(scales.float() - 127)
    else:
        scales = scales.float() / tensors["weight_global_scale"]
    return values[codes.long()] * scales.repeat_interleave(codes.shape[1] // scales.shape[1], 1)


def bnb_4bit_pack(weight, kind, nested=False, blocksize=64, gen=None):
    """As Linear4bit saves them, of weights in bf16. The library's CPU kernels misread rows that end inside a block."""
    from bitsandbytes import functional
    codes, state = functional.quantize_4bit(weight.to(torch.bfloat16), blocksize=blocksize, compress_statistics=nested,
                                            quant_type=kind)
    packed = {"weight": codes, **{f"weight.{name}": tensor for name, tensor in state.as_dict(packed=True).items()}}
    if weight.shape[1] % blocksize == 0:
        state.dtype = torch.float32
        assert torch.equal(functional.dequantize_4bit(codes, state), bnb_4bit_unpack(packed, kind))
    return packed


def bnb_4bit_unpack(tensors, kind, **_):
    """A zero has no sign: products cannot tell."""
    text = json.loads(bytes(tensors[f"weight.quant_state.bitsandbytes__{kind}"].tolist()))
    absmax, codes = tensors["weight.absmax"], tensors["weight"].flatten()
    if "nested_offset" in text:
        nested = tensors["weight.nested_absmax"].repeat_interleave(text["nested_blocksize"])[:absmax.numel()]
        absmax = tensors["weight.nested_quant_map"][absmax.long()] * nested + torch.tensor(text["nested_offset"])
    codes = torch.stack([codes >> 4, codes & 15], -1).flatten().long()
    weight = tensors["weight.quant_map"][codes] * absmax.repeat_interleave(text["blocksize"])[:codes.numel()]
    return weight.reshape(text["shape"]) + 0.0


def bnb_8bit_pack(weight, gen=None):
    """As Linear8bitLt saves them."""
    from bitsandbytes import functional
    codes, largest, _ = functional.int8_vectorwise_quant(weight.to(torch.float16))
    packed = {"weight": codes, "SCB": largest, "weight_format": torch.tensor(0, dtype=torch.uint8)}
    torch.testing.assert_close(functional.int8_vectorwise_dequant(codes, largest), bnb_8bit_unpack(packed), rtol=3e-7, atol=0)
    return packed


def bnb_8bit_unpack(tensors, **_):
    return tensors["weight"].float() * (tensors["SCB"] / 127)[:, None]


def as_transformers(tensors, weight):
    """The weight, which transformers makes of the tensors as well."""
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    scales = next(tensor for name, tensor in tensors.items() if name.startswith("weight_scale"))
    assert torch.equal(Fp8Dequantize(None)._dequantize_one(tensors["weight"], scales, torch.float32), weight)
    return weight


def fbgemm_unpack(tensors, **_):
    return as_transformers(tensors, ql.ct_fp8_unpack(tensors))


def mxfp8_pack(weight, gen=None):
    """Powers of two for 32 inputs of a row, as their exponents."""
    groups = weight.unflatten(1, (-1, 32))
    exponents = torch.ceil(torch.log2(groups.abs().amax(-1) / ql.F8_MAX))
    codes = (groups * torch.exp2(-exponents)[..., None]).flatten(1).to(ql.F8)
    return {"weight": codes, "weight_scale_inv": (exponents + 127).to(torch.uint8)}


def mxfp8_unpack(tensors, **_):
    scales = torch.exp2(tensors["weight_scale_inv"].float() - 127)
    return as_transformers(tensors, tensors["weight"].float() * scales.repeat_interleave(32, 1))


def modelopt_scales(gen, cache):
    """Those of activations and of the cache of keys or values, which the golden does not use."""
    names = ["input_scale"] + ([cache] if cache is not None else [])
    return {name: (0.01 + 0.01 * torch.rand((), generator=gen)) for name in names}


def modelopt_fp8_pack(weight, largest=None, cache=None, gen=None):
    """`largest` is what weights with one scale are taken to reach."""
    from modelopt.torch.export import quant_utils
    top = weight.abs().max() if largest is None else torch.tensor(largest)
    assert top >= weight.abs().max(), weight.abs().max()
    packed = {"weight": quant_utils.to_quantized_weight(weight, top / ql.F8_MAX, "fp8"), "weight_scale": top / ql.F8_MAX}
    theirs = quant_utils.from_quantized_weight(packed["weight"], packed["weight_scale"], "fp8", torch.float32)
    assert torch.equal(theirs, ql.ct_fp8_unpack(packed))
    return {**packed, **modelopt_scales(gen, cache)}


def modelopt_nvfp4_pack(weight, largest=None, cache=None, gen=None):
    from modelopt.torch.quantization.qtensor import NVFP4QTensor
    top = weight.abs().max() if largest is None else torch.tensor(largest)
    assert top >= weight.abs().max(), weight.abs().max()
    codes, scales, factor = NVFP4QTensor.quantize(weight.clone(), 16, weights_scaling_factor_2=top / (6 * ql.F8_MAX))
    packed = {"weight": codes._quantized_data, "weight_scale": scales, "weight_scale_2": factor}
    theirs = codes.dequantize(torch.float32, scale=scales, double_scale=factor, block_sizes={-1: 16})
    assert torch.equal(theirs, modelopt_nvfp4_unpack(packed))
    return {**packed, **modelopt_scales(gen, cache)}


def modelopt_nvfp4_unpack(tensors, **_):
    """A zero has no sign: products cannot tell."""
    values = torch.tensor(ql.FP4_VALUES + tuple(0.0 - v for v in ql.FP4_VALUES))
    codes = torch.stack([tensors["weight"] & 15, tensors["weight"] >> 4], -1).flatten(-2)
    return values[codes.long()] * (tensors["weight_scale"].float() * tensors["weight_scale_2"]).repeat_interleave(16, 1)


def modelopt_json(**more):
    """As the library writes it into config.json."""
    from modelopt.torch.export.convert_hf_config import convert_hf_quant_config_format
    details = {"kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head", "model.embed_tokens"], **more}
    return convert_hf_quant_config_format({"producer": {"name": "modelopt", "version": "0.47.0"}, "quantization": details})


def modelopt_rules(method, first):
    """Projections of layer 0 have one scale, or one factor; the others each its own."""
    rules = [(r"mlp\.gate$", None)]
    for layer, options in ((r"layers\.0\.self_attn\.", dict(largest=first)), ("", {})):
        rules += [(layer + r".*k_proj$", (method, dict(cache="k_scale", **options))),
                  (layer + r".*v_proj$", (method, dict(cache="v_scale", **options))), (layer + mq.LINEAR, (method, options))]
    return rules


def hqq_params(bits, group_size=64):
    from hqq.core.quantize import BaseQuantizeConfig
    return BaseQuantizeConfig(nbits=bits, group_size=group_size, axis=1)


def hqq_pack(weight, bits, group_size=64, dtype="float16", gen=None):
    """As HQQLinear saves them."""
    from hqq.core.quantize import HQQLinear, Quantizer
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight.data = weight.clone()
    module = HQQLinear(linear, hqq_params(bits, group_size), compute_dtype=getattr(torch, dtype), device="cpu")
    packed = {name: tensor.data for name, tensor in module.state_dict().items() if tensor is not None}
    theirs = Quantizer.dequantize(module.W_q, {**module.meta, "compute_dtype": torch.float32})
    assert torch.equal(theirs, hqq_unpack(packed))
    return packed


def hqq_unpack(tensors, **_):
    """A zero has no sign: products cannot tell."""
    bits, numbers = tensors["nbits"].item(), tensors["W_q"].long()
    strips = 10 if bits == 3 else 8 // bits if bits < 5 else 1
    codes = torch.cat([numbers >> (strips - 1 - i) * bits for i in range(strips)]) & (255 if strips == 1 else 2 ** bits - 1)
    codes = codes[:tensors["scale"].shape[0]]
    weight = (codes.float() - tensors["zero"].float()) * tensors["scale"].float()
    return weight.reshape(tensors["shape"].tolist()) + 0.0


def hqq_json(quant_config):
    """As transformers 4 wrote it; version 5.23 does not load or save such models yet."""
    return json.loads(json.dumps({"quant_method": "hqq", "quant_config": quant_config, "skip_modules": ["lm_head"]}))


def quanto_pack(weight, kind, columns, dtype="bfloat16", gen=None):
    """As QLinear saves them."""
    from optimum.quanto import QLinear, qtypes
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False, dtype=getattr(torch, dtype))
    linear.weight.data = weight.to(linear.weight.dtype)
    module = QLinear.from_module(linear, weights=qtypes[kind])
    module.freeze()
    packed = dict(module.state_dict())
    rounding = 2 ** -10 if dtype == "float16" else 2 ** -7
    theirs, ours = module.weight.dequantize().float(), quanto_unpack(packed, kind, columns)
    shift = packed.get("weight._shift", torch.zeros(1)).float().abs().max().item()
    torch.testing.assert_close(theirs, ours, rtol=rounding, atol=rounding * shift)
    return packed


def quanto_unpack(tensors, kind, columns, **_):
    """Of 8 bits a code times its scale. Else scale * code - shift, of which a zero point is made in f32, as here. A zero
    has no sign: products cannot tell."""
    scale = tensors["weight._scale"].float()
    if "weight._data" in tensors:
        weight = tensors["weight._data"].float() * scale
        return weight + 0.0 if kind == "qint8" else weight
    bits, numbers = int(kind[-1]), tensors["weight._data._data"].long()
    codes = torch.cat([numbers >> i * bits for i in range(8 // bits)])[:scale.shape[0]] & (2 ** bits - 1)
    shift = tensors["weight._shift"].float()
    weight = scale * (codes.float() - shift / scale)
    exact = scale.double() * codes.double() - shift.double()
    torch.testing.assert_close(weight.double(), exact, rtol=0, atol=2 ** -22 * shift.abs().max().item())
    return weight.reshape(-1, columns) + 0.0


def bnb_json(**more):
    from transformers import BitsAndBytesConfig
    return json.loads(BitsAndBytesConfig(**more).to_json_string(use_diff=False))


def bnb_nf4_llama():
    rules = [(r"layers\.0.*_proj$", ("bnb_4bit", dict(kind="nf4", blocksize=32))),
             (mq.LINEAR, ("bnb_4bit", dict(kind="nf4", blocksize=128)))]
    return (LlamaForCausalLM, mq.llama(), 2501, None, None,
            bnb_json(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype="bfloat16"),
            dict(rules=rules, dtype="bfloat16", note="blocks of 32 in layer 0, of 128 in layer 1"))


def bnb_nf4_double_qwen3():
    return (Qwen3ForCausalLM, mq.qwen3(), 2502, "bnb_4bit", dict(kind="nf4", nested=True),
            bnb_json(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                     bnb_4bit_compute_dtype="bfloat16"),
            dict(dtype="bfloat16", note="scales are codes, of one or two blocks of 256"))


def bnb_fp4_qwen2():
    return (Qwen2ForCausalLM, mq.qwen2(hidden_size=96, intermediate_size=160), 2503, "bnb_4bit", dict(kind="fp4"),
            bnb_json(load_in_4bit=True, bnb_4bit_quant_type="fp4"),
            dict(dtype="float16", note="rows end inside blocks of 64; biases of q, k and v"))


def bnb_nf4_mixtral():
    return mixtral(2504, "bnb_4bit", dict(kind="nf4", nested=True, blocksize=128),
                   bnb_json(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True),
                   dtype="bfloat16")


def bnb_int8_llama():
    return (LlamaForCausalLM, mq.llama(num_hidden_layers=1), 2505, "bnb_8bit", {}, bnb_json(load_in_8bit=True), dict(dtype="float16"))


def hqq_int4_llama():
    return (LlamaForCausalLM, mq.llama(num_hidden_layers=1), 2701, "hqq", dict(bits=4), hqq_json(hqq_params(4)),
            dict(dtype="float16"))


def hqq_mixed_qwen2():
    """Bits by kind of module; groups of 32, of 64, and rows."""
    options = {"self_attn.q_proj": (8, 64), "self_attn.k_proj": (8, 64), "self_attn.v_proj": (8, 64),
               "self_attn.o_proj": (3, 64), "mlp.gate_proj": (2, 32), "mlp.up_proj": (4, None), "mlp.down_proj": (5, 32)}
    rules = [(f"{name}$", ("hqq", dict(bits=bits, group_size=size, dtype="bfloat16")))
             for name, (bits, size) in options.items()]
    return (Qwen2ForCausalLM, mq.qwen2(hidden_size=64, num_hidden_layers=1), 2702, None, None,
            hqq_json({name: hqq_params(*values) for name, values in options.items()}),
            dict(rules=rules, dtype="bfloat16", note="8 bits (q, k and v, with biases), 5, 4, 3 and 2, by kind of module"))


def quanto(cls, config, seed, kind, weights, **more):
    """The library writes nothing into config.json; what is here is transformers' QuantoConfig."""
    dtype = more.setdefault("dtype", "bfloat16")
    rules = [(r"down_proj$", ("quanto", dict(kind=kind, columns=config.intermediate_size, dtype=dtype))),
             (mq.LINEAR, ("quanto", dict(kind=kind, columns=config.hidden_size, dtype=dtype)))]
    values = {"quant_method": "quanto", "activations": None, "weights": weights, "modules_to_not_convert": ["lm_head"]}
    return cls, config, seed, None, None, values, dict(rules=rules, **more)


def quanto_int4_llama():
    return quanto(LlamaForCausalLM, mq.llama(num_hidden_layers=1), 2711, "qint4", "int4",
                  note="groups of 128 in down_proj, rows in the others, as the library divides them")


def quanto_int2_qwen2():
    config = mq.qwen2(hidden_size=64, intermediate_size=160, num_hidden_layers=1)
    return quanto(Qwen2ForCausalLM, config, 2712, "qint2", "int2", dtype="float16", note="biases of q, k and v; groups of 32")


def quanto_int8_qwen2():
    config = mq.qwen2(hidden_size=64, num_hidden_layers=1)
    return quanto(Qwen2ForCausalLM, config, 2713, "qint8", "int8", dtype="float16", note="biases of q, k and v")


def quanto_float8_qwen3():
    config = mq.qwen3(hidden_size=64, intermediate_size=96, num_hidden_layers=1)
    return quanto(Qwen3ForCausalLM, config, 2714, "qfloat8", "float8")


def torchao_int8_pack(weight, group=None, gen=None):
    """As the library flattens an Int8Tensor for safetensors."""
    from torchao.quantization import Int8Tensor, PerGroup, PerRow
    tensor = Int8Tensor.from_hp(weight.to(torch.bfloat16), PerGroup(group) if group else PerRow())
    packed = {"_weight_qdata": tensor.qdata, "_weight_scale": tensor.scale, "_weight_zero_point": tensor.zero_point}
    assert torch.equal(tensor.dequantize(torch.float32) + 0.0, torchao_int8_unpack(packed))
    return packed


def torchao_int8_unpack(tensors, **_):
    """A zero has no sign: products cannot tell."""
    codes, scales = tensors["_weight_qdata"].float(), tensors["_weight_scale"].float()
    return codes * scales.repeat_interleave(codes.shape[1] // scales.shape[1], 1) + 0.0


def torchao_int4_pack(weight, group, gen=None):
    """An Int4Tensor of the plain layout, by the formula that it is quantized with: its kernels need a GPU."""
    groups = weight.to(torch.bfloat16).float().unflatten(1, (-1, group))
    least = groups.amin(-1)
    scale = ((groups.amax(-1) - least).clamp(min=1e-6) / 15)
    codes = ((groups - least[..., None]) / scale[..., None]).round().clamp(0, 15).to(torch.int8).sub(8).flatten(1)
    shift = least + scale * 8
    return {"_weight_qdata": codes[:, ::2] & 15 | codes[:, 1::2] << 4,
            "_weight_scale": scale.t().contiguous().to(torch.bfloat16),
            "_weight_zero_point": shift.t().contiguous().to(torch.bfloat16)}


def torchao_int4_unpack(tensors, **_):
    """scale * code + shift, of which a zero point is made in f32, as here. A zero has no sign."""
    data = tensors["_weight_qdata"].view(torch.uint8)
    codes = torch.stack([data & 15, data >> 4], -1).flatten(1) ^ 8
    scale, shift = (tensors[name].float().t() for name in ("_weight_scale", "_weight_zero_point"))
    codes = codes.float().unflatten(1, (scale.shape[1], -1))
    weight = scale[..., None] * (codes - (8 - shift / scale)[..., None])
    exact = scale[..., None].double() * (codes.double() - 8) + shift[..., None].double()
    torch.testing.assert_close(weight.double(), exact, rtol=0, atol=2 ** -21 * shift.abs().max().item())
    return weight.flatten(1) + 0.0


def torchao(cls, config, seed, method, options, settings, note):
    values = transformers.TorchAoConfig(settings).to_dict()
    return cls, config, seed, method, options, json.loads(json.dumps(values)), dict(dtype="bfloat16", note=note)


def torchao_int8_llama():
    from torchao.quantization import Int8WeightOnlyConfig
    return torchao(LlamaForCausalLM, mq.llama(hidden_size=64, num_hidden_layers=1), 2801, "torchao_int8", {},
                   Int8WeightOnlyConfig(), "a scale for each row")


def torchao_int8_qwen2():
    from torchao.quantization import Int8WeightOnlyConfig, PerGroup
    config = mq.qwen2(hidden_size=64, intermediate_size=96, num_hidden_layers=1)
    return torchao(Qwen2ForCausalLM, config, 2802, "torchao_int8", dict(group=32), Int8WeightOnlyConfig(granularity=PerGroup(32)),
                   "groups of 32; biases of q, k and v")


def torchao_int4_qwen3():
    from torchao.quantization import Int4WeightOnlyConfig
    config = mq.qwen3(hidden_size=64, intermediate_size=96, num_hidden_layers=1)
    return torchao(Qwen3ForCausalLM, config, 2803, "torchao_int4", dict(group=32), Int4WeightOnlyConfig(group_size=32),
                   "plain layout, groups of 32, scales and shifts with outputs last")


def stream_codes(words, bits):
    """Codes of a stream of bits along the last dimension, the first in the lowest bits."""
    bytes_ = torch.from_numpy(words.contiguous().numpy().view("uint8")).long()
    stream = (bytes_.unsqueeze(-1) >> torch.arange(8) & 1).reshape(*words.shape[:-1], -1, bits)
    return (stream << torch.arange(bits)).sum(-1)


def stream_unpack(tensors, bits, v2):
    """By the formula, whatever words codes lie in."""
    codes, zeros = stream_codes(tensors["qweight"].t(), bits), stream_codes(tensors["qzeros"], bits) + (not v2)
    groups = tensors["g_idx"].long()
    return (codes - zeros.t()[:, groups]) * tensors["scales"].float().t()[:, groups]


def auto_round_unpack(tensors, layout, bits):
    """By the formula; the library's modules give the same where their scales are f32. A zero has no sign: products cannot
    tell, and scales may be negative."""
    from auto_round.export.export_to_awq.utils import dequantize_gemm
    from auto_round_extension.torch import qlinear_torch, qlinear_torch_zp
    scales = tensors["scales"].float()
    if "awq" in layout:
        weight = ql.awq_unpack(tensors, bits=bits)
        size = weight.shape[1] // scales.shape[0]
        other = dequantize_gemm(tensors["qweight"], tensors["qzeros"], scales, bits, size).t()
    else:
        size = tensors["qweight"].shape[0] * 32 // bits // scales.shape[0]
        tensors = {"g_idx": torch.arange(size * scales.shape[0]) // size, **tensors}
        weight = stream_unpack(tensors, bits, layout == "auto_round")
        assert bits not in (4, 8) or torch.equal(weight, ql.gptq_unpack(tensors, bits=bits, v2=layout == "auto_round"))
        linear = (qlinear_torch if layout == "auto_round" else qlinear_torch_zp).QuantLinear(
            bits, size, weight.shape[1], weight.shape[0], False)
        linear.qweight, linear.qzeros, linear.scales = tensors["qweight"], tensors["qzeros"], scales
        other = linear(torch.eye(weight.shape[1])).t()
    assert torch.equal(weight, other)
    return weight + 0.0


def auto_round(cls, config, seed, layout, layers, dtype, note, **scheme):
    """As the library writes a model whose weights it rounds to the nearest; its config becomes that of the case."""
    quantization = {}

    def convert(state, rules, kind, seed):
        from auto_round import AutoRound
        from tokenizers import Tokenizer, models
        from transformers import PreTrainedTokenizerFast
        model = cls(config).to(kind)
        model.load_state_dict(state, strict=False)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, unk_token="a")))
        with tempfile.TemporaryDirectory() as folder:
            AutoRound(model, tokenizer, iters=0, disable_opt_rtn=True, layer_config=json.loads(json.dumps(layers)),
                      **scheme).quantize_and_save(folder, format=layout)
            folder = os.path.join(folder, os.listdir(folder)[0])
            disk = {name: tensor for file in ol.weight_files(folder) for name, tensor in ol.load_file(f"{folder}/{file}").items()}
            with open(f"{folder}/config.json", encoding="utf-8") as f:
                quantization.clear()
                quantization.update(json.load(f)["quantization_config"])
        meaning = {name: tensor.float() for name, tensor in disk.items() if name.endswith((".weight", ".bias"))}
        modules = sorted(name[:-8] for name in disk if name.endswith(".qweight"))
        for module in modules:
            own = quantization.get("extra_config", {}).get(module, {})
            tensors = {leaf: disk[f"{module}.{leaf}"] for leaf in ("qweight", "qzeros", "scales")}
            meaning[f"{module}.weight"] = auto_round_unpack(tensors, quantization["packing_format"],
                                                            own.get("bits", quantization["bits"]))
        return disk, meaning, [f"{module}.weight" for module in modules]

    return cls, config, seed, None, None, quantization, dict(rules=[], convert=convert, dtype=dtype, note=note)


def auto_round_gptq_mixed_llama():
    layers = {"layers.1.mlp": {"bits": 8, "group_size": 64}, "model.layers.0.self_attn.o_proj": {"bits": 16},
              "lm_head": {"bits": 8}}
    return auto_round(LlamaForCausalLM, mq.llama(hidden_size=64, intermediate_size=128, num_key_value_heads=4), 2601,
                      "auto_round", layers, "bfloat16", "no g_idx; 8 bits by a pattern and in lm_head, a projection left alone",
                      bits=4, group_size=32, sym=True)


def auto_round_bits(layout, seed, note):
    """Each projection of a layer with other bits."""
    layers = {f"model.layers.{i}.{name}": {"bits": (n + i) % 6 + 2} for i in range(2) for n, name in enumerate(
        ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.down_proj"])}
    return auto_round(LlamaForCausalLM, mq.llama(hidden_size=64, intermediate_size=96, num_key_value_heads=4), seed,
                      layout, layers, "bfloat16", note, bits=3, group_size=32, sym=layout != "auto_round")


def auto_round_bits_llama():
    return auto_round_bits("auto_round", 2604, "2 to 7 bits, zero points as they are")


def auto_round_bits_gptq_llama():
    return auto_round_bits("auto_round:auto_gptq", 2605, "2 to 7 bits, zero points less one")


def auto_round_asym_qwen3_moe():
    layers = {"model.layers.0.self_attn.o_proj": {"bits": 8}}
    config = mq.qwen3_moe(hidden_size=64, head_dim=16, moe_intermediate_size=32, num_hidden_layers=1)
    return auto_round(Qwen3MoeForCausalLM, config, 2602, "auto_round", layers, "bfloat16",
                      "zero points as they are, a group for each row; experts one by one", bits=4, group_size=-1, sym=False)


def auto_round_awq_llama():
    layers = {"model.layers.0.self_attn.o_proj": {"bits": 16}}
    return auto_round(LlamaForCausalLM, mq.llama(hidden_size=64, intermediate_size=128, num_hidden_layers=1), 2603,
                      "auto_round:auto_awq", layers, "float16", "a projection left alone", bits=4, group_size=32, sym=False)


def fp8_e8m0_llama():
    block = (32, 64)
    return (LlamaForCausalLM, mq.llama(intermediate_size=192, num_hidden_layers=1), 2401, "fp8_e8m0", dict(block=block),
            mq.fp8_json(weight_block_size=list(block), scale_fmt="ue8m0"),
            dict(dtype="bfloat16", note="scales are powers of two, stored as F8_E8M0; blocks end with every projection"))


def with_f32_biases(state, rules, dtype, seed):
    disk, meaning, done = ql.quantize_state(state, rules, dtype, seed)
    for name in state:
        if name.endswith(".bias"):
            disk[name] = meaning[name] = state[name].float()
    return disk, meaning, done


def fbgemm_fp8_llama():
    plain = [f"model.layers.1.self_attn.{p}_proj" for p in "qkvo"]
    rules = [(r"layers\.1\.self_attn", None), (r"down_proj$", ("fbgemm_fp8", dict(scale_dtype=torch.bfloat16))),
             (mq.LINEAR, ("fbgemm_fp8", dict(scale_dtype=torch.float32)))]
    return (LlamaForCausalLM, mq.llama(hidden_size=64, intermediate_size=112, mlp_bias=True), 2403, None, None,
            {"activation_scale_ub": 1200.0, "modules_to_not_convert": ["lm_head"] + plain, "quant_method": "fbgemm_fp8"},
            dict(rules=rules, convert=with_f32_biases, dtype="bfloat16",
                 note="a scale for each row, of down_proj in bfloat16; attention of layer 1 is not quantized; biases of the MLP"))


def mxfp8_qwen3():
    return (Qwen3ForCausalLM, mq.qwen3(hidden_size=64, intermediate_size=128, head_dim=16), 2404, "mxfp8", {},
            {"activation_scheme": "dynamic", "modules_to_not_convert": ["lm_head"], "quant_method": "mxfp8",
             "scale_fmt": "ue8m0", "weight_block_size": [1, 32]},
            dict(dtype="bfloat16", note="a power of two for 32 inputs, stored as its exponent in a byte"))


def modelopt_fp8_llama():
    return (LlamaForCausalLM, mq.llama(hidden_size=64, intermediate_size=112), 2601, None, None, modelopt_json(quant_algo="FP8"),
            dict(rules=modelopt_rules("modelopt_fp8", 1.0), dtype="bfloat16",
                 note="q, k and v of layer 0 have one scale; scales of activations, keys and values are unused by the golden"))


def modelopt_nvfp4_qwen3_moe():
    config = mq.qwen3_moe(hidden_size=64, moe_intermediate_size=48, num_experts=3, num_attention_heads=4,
                          num_key_value_heads=2, head_dim=16)
    keep = [f"model.layers.{i}.mlp.gate" for i in range(2)]
    return (Qwen3MoeForCausalLM, config, 2602, None, None,
            modelopt_json(quant_algo="NVFP4", group_size=16, exclude_modules=["lm_head", "model.embed_tokens"] + keep),
            dict(rules=modelopt_rules("modelopt_nvfp4", 1.0), dtype="bfloat16",
                 note="q, k and v of layer 0 have one factor; experts one by one, routers are plain"))


def ct_naive_qwen2():
    return (Qwen2ForCausalLM, mq.qwen2(hidden_size=64, intermediate_size=112, num_hidden_layers=1), 2301, "ct_naive", dict(bits=6),
            mq.ct_json("naive-quantized", mq.ct_args(num_bits=6)),
            dict(dtype="bfloat16", note="codes of 6 bits, each in a byte"))


def mixtral(seed, method, options, quantization, **more):
    config = MixtralConfig(vocab_size=96, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                           num_key_value_heads=2, num_local_experts=3, num_experts_per_tok=2, max_position_embeddings=256,
                           sliding_window=None, rope_parameters=mq.rope(1e6), bos_token_id=1, eos_token_id=2)
    rules = [(r"(mlp|block_sparse_moe)\.gate$", None), (r"(w[123]|_proj)$", (method, options))]
    note = "experts are called block_sparse_moe.experts.N.w1 (gate), w3 (up) and w2 (down)"
    return (MixtralForCausalLM, config, seed, None, None, quantization,
            dict(rules=rules, convert=mixtral_state, note=note, **more))


def gptq_int4_mixtral():
    return mixtral(2101, "gptq", dict(group=32), mq.autogptq_json(group_size=32))


def ct_w4a16_mixtral():
    weights = mq.ct_args(num_bits=4, group_size=32, strategy="group")
    quantization = mq.ct_json("pack-quantized", weights, ignore=("lm_head", "re:.*block_sparse_moe.gate$"))
    return mixtral(2302, "ct_packed", dict(bits=4, group=32), quantization, dtype="bfloat16")


def float4_args(size, strategy, scale, **more):
    return mq.ct_args(num_bits=4, type="float", group_size=size, strategy=strategy, scale_dtype=scale, zp_dtype=scale, **more)


def ct_mxfp4_llama():
    weights, inputs = (float4_args(32, "group", "torch.uint8", dynamic=is_dynamic) for is_dynamic in (False, True))
    return (LlamaForCausalLM, mq.llama(hidden_size=96, intermediate_size=160), 2303, "ct_float4", dict(preset="MXFP4"),
            mq.ct_json("mxfp4-pack-quantized", weights, inputs),
            dict(dtype="bfloat16", note="activations are not rounded in the golden (weights only)"))


def nvfp4_args(**more):
    return float4_args(16, "tensor_group", "torch.float8_e4m3fn", **more)


def ct_nvfp4_qwen3():
    rules = [(r"layers\.0.*_proj$", ("ct_float4", dict(preset="NVFP4", largest=4.0))),
             (mq.LINEAR, ("ct_float4", dict(preset="NVFP4")))]
    return (Qwen3ForCausalLM, mq.qwen3(hidden_size=80, intermediate_size=160), 2304, None, None,
            mq.ct_json("nvfp4-pack-quantized", nvfp4_args(), nvfp4_args(dynamic="local")),
            dict(rules=rules, dtype="bfloat16", note="projections of layer 0 have one weight_global_scale, others each its "
                 "own; input_global_scale is stored and unused by the golden (weights only)"))


def ct_nvfp4_mixtral():
    quantization = mq.ct_json("nvfp4-pack-quantized", nvfp4_args(), ignore=("lm_head", "re:.*block_sparse_moe.gate$"))
    return mixtral(2305, "ct_float4", dict(preset="NVFP4A16"), quantization, dtype="bfloat16")


def fp8_block_mixtral():
    return mixtral(2402, "fp8_block", dict(block=(32, 64)), mq.fp8_json(weight_block_size=[32, 64]), dtype="bfloat16")


def mixtral_state(state, rules, dtype, seed):
    """What save_pretrained writes has the published names already."""
    disk, meaning, done = ql.quantize_state(state, rules, dtype, seed)
    assert any(".block_sparse_moe.experts.0.w1." in name for name in disk), sorted(disk)[:20]
    return disk, meaning, done


def bitnet_config(**kw):
    return BitNetConfig(**{**dict(vocab_size=96, hidden_size=32, intermediate_size=72, num_hidden_layers=2, num_attention_heads=4,
                                  num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=True,
                                  rope_parameters=mq.rope(500000.0), bos_token_id=1, eos_token_id=2), **kw})


def bitnet_json(**kw):
    return {"quant_method": "bitnet", "modules_to_not_convert": None, **kw}


def bitnet_offline():
    return (BitNetForCausalLM, bitnet_config(), 2601, bitnet_json(linear_class="autobitlinear", quantization_mode="offline"),
            "as published: AutoBitLinear, tied embeddings")


def bitnet_online():
    return (BitNetForCausalLM, bitnet_config(), 2602, bitnet_json(linear_class="autobitlinear", quantization_mode="online"),
            "weights are rounded in the forward of AutoBitLinear")


def bitnet_bitlinear_llama():
    config = mq.llama(hidden_size=32, intermediate_size=72, num_hidden_layers=1)
    return LlamaForCausalLM, config, 2603, bitnet_json(), "BitLinear, which is the default"


def bitnet_bias_norm_qwen2():
    config = mq.qwen2(hidden_size=32, intermediate_size=72, num_hidden_layers=1)
    return (Qwen2ForCausalLM, config, 2604, bitnet_json(linear_class="autobitlinear", use_rms_norm=True, rms_norm_eps=1e-5),
            "biases of q, k and v, which AutoBitLinear multiplies by the scale as well; norms before its inputs are rounded")


def bitnet_pack(weight, quantization):
    """What is stored of a weight, and what that stands for."""
    from transformers.integrations.bitnet import WeightQuant, pack_weights
    weight = weight.to(torch.bfloat16)
    scale = 1.0 / weight.double().abs().mean().float()
    codes = (weight.float() * scale).round().clamp(-1, 1)
    if quantization.get("quantization_mode") == "online":
        torch.testing.assert_close(WeightQuant.apply(weight.float()), codes / scale, rtol=3e-7, atol=0)
        return {"weight": weight}, codes * (1.0 / scale)
    divides = quantization.get("linear_class", "bitlinear") == "bitlinear"
    stored = (scale if divides else 1.0 / scale).to(torch.bfloat16)
    packed = {"weight": pack_weights(codes.clone()), "weight_scale": stored.reshape(1)}
    return packed, 127 * codes / (127 * stored.float()) if divides else codes * stored.float()


def bitnet_state(state, quantization, seed):
    disk, meaning = {}, {}
    gen = torch.Generator().manual_seed(seed)
    for name, value in sorted(state.items()):
        module = name.rpartition(".")[0]
        if not re.search(mq.LINEAR, module) or value.ndim != 2:
            disk[name] = value.to(torch.bfloat16)
            continue
        packed, meaning[name] = bitnet_pack(value, quantization)
        disk.update({f"{module}.{leaf}": tensor for leaf, tensor in packed.items()})
        if quantization.get("use_rms_norm"):
            disk[f"{module}.rms_norm.weight"] = (1 + 0.1 * torch.randn(value.shape[1], generator=gen)).to(torch.bfloat16)
    return disk, meaning


def in_float32(model):
    """Whatever it is asked for, a quantized model has the types of its file at first."""
    for module in torch.nn.Module.float(model).modules():
        if type(module).__name__ == "BitLinear":
            module.dtype = torch.float32
    return model.eval()


class Halfway:
    """How close inputs of a model's Linears come to where rounding them to integers turns."""

    def __init__(self, model):
        from transformers.integrations.bitnet import AutoBitLinear, BitLinear
        self.least = 0.5
        for module in model.modules():
            if isinstance(module, (AutoBitLinear, BitLinear)):
                module.register_forward_pre_hook(self.watch)

    def watch(self, module, args):
        x = args[0] if module.rms_norm is None else module.rms_norm(args[0])
        scaled = x * (127 / x.abs().amax(-1, keepdim=True))
        self.least = min(self.least, ((scaled - scaled.floor()) - 0.5).abs().min().item())


def bitnet_case(root, name, cls, config, seed, quantization, note, length=6, steps=8):
    """By transformers itself, of a seed where no input is so close to a turn that sums in another order make it another integer;
    nor where the prompt is repeated, as test_quantized does."""
    folder = f"{root}/{name}"
    while True:
        with tempfile.TemporaryDirectory() as made:
            ol.make_checkpoint(made, cls, config, seed, generation={"bos_token_id": 1, "eos_token_id": 2})
            disk, meaning = bitnet_state(ol.state_dict_of(made), quantization, seed)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(made, folder)
        save_file(disk, f"{folder}/model.safetensors", metadata={"format": "pt"})
        ol.rewrite_json(f"{folder}/config.json", lambda c: c.update(torch_dtype="bfloat16", quantization_config=quantization))
        inputs = {"input_ids": torch.randint(3, config.vocab_size, (1, length), generator=torch.Generator().manual_seed(seed))}
        model, info = cls.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
        halfway = Halfway(in_float32(model))
        ids, margins, rows = ol.greedy(model, inputs, steps)
        logits = ol.forward(model, inputs, False)["logits"]
        ol.forward(model, {"input_ids": inputs["input_ids"].repeat(1, 6)}, False)
        if halfway.least > 1e-4 and min(margins) > 0.01 and len(set(ids)) > (1 if config.tie_word_embeddings else 2):
            break
        seed += 1000
    eager = ol.forward(in_float32(ol.load(cls, folder, torch.float32, "eager")), inputs, False)["logits"]
    save_file({"logits": logits.contiguous(), "greedy_logits": rows.contiguous()}, f"{folder}/golden.safetensors")
    weights.write_json(f"{folder}/golden.json", {
        "case": name, "class": cls.__name__, "transformers": transformers.__version__, "torch": torch.__version__,
        "dtype_on_disk": "bfloat16", "compute": "float32, attention sdpa, inputs of quantized Linears rounded to 8 bits", "note": note,
        "input_ids": inputs["input_ids"][0].tolist(), "loading_info": {k: sorted(map(str, v)) for k, v in info.items()},
        **ol.summary({"logits": logits}), "greedy_ids": ids, "greedy_min_margin": min(margins), "least_from_halfway": halfway.least,
        "reference_spread": {"max_abs_output": logits.abs().max().item(), "fp32_eager_vs_sdpa": ol.max_diff(logits, eager)},
        "runtime": {"parameters": []}, "seed": seed,
        # A vector that is normed first tells nothing of one column.
        "quantized_weights": ol.describe([] if quantization.get("use_rms_norm") else sorted((n, w + 0.0) for n, w in meaning.items()), digest=True)})
    for file in os.listdir(folder):
        os.chmod(f"{folder}/{file}", 0o644)
    print(name, seed, ids, min(margins), halfway.least, ol.max_diff(logits, eager), flush=True)


def use_model_names(path):
    """Weights under the names of the model's modules, whatever checkpoints call them."""
    with open(path, encoding="utf-8") as f:
        golden = json.load(f)
    for weight in golden["quantized_weights"]:
        weight["name"] = ".".join(MODEL_NAMES.get(part, part) for part in weight["name"].split("."))
    ol.write_json(path, golden)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--out", default=os.path.join(HERE, "quantized"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.path.insert(0, options.oracle)
    import make_quantized as mq
    import oracle_lib as ol
    import quant_lib as ql
    ql.METHODS["fp8_e8m0"] = (e8m0_pack, ql.fp8_block_unpack)
    ql.METHODS["ct_naive"] = (naive_pack, ql.ct_int8_unpack)
    ql.METHODS["ct_float4"] = (float4_pack, float4_unpack)
    ql.METHODS["bnb_4bit"] = (bnb_4bit_pack, bnb_4bit_unpack)
    ql.METHODS["bnb_8bit"] = (bnb_8bit_pack, bnb_8bit_unpack)
    ql.METHODS["fbgemm_fp8"] = (ql.ct_fp8_pack, fbgemm_unpack)
    ql.METHODS["mxfp8"] = (mxfp8_pack, mxfp8_unpack)
    ql.METHODS["modelopt_fp8"] = (modelopt_fp8_pack, ql.ct_fp8_unpack)
    ql.METHODS["modelopt_nvfp4"] = (modelopt_nvfp4_pack, modelopt_nvfp4_unpack)
    ql.METHODS["hqq"] = (hqq_pack, hqq_unpack)
    ql.METHODS["quanto"] = (quanto_pack, quanto_unpack)
    ql.METHODS["torchao_int8"] = (torchao_int8_pack, torchao_int8_unpack)
    ql.METHODS["torchao_int4"] = (torchao_int4_pack, torchao_int4_unpack)
    for make in (fp8_e8m0_llama, ct_naive_qwen2, gptq_int4_mixtral, ct_w4a16_mixtral, ct_mxfp4_llama, ct_nvfp4_qwen3,
                 ct_nvfp4_mixtral, fp8_block_mixtral, bnb_nf4_llama, bnb_nf4_double_qwen3, bnb_fp4_qwen2, bnb_nf4_mixtral,
                 bnb_int8_llama, auto_round_gptq_mixed_llama, auto_round_bits_llama, auto_round_bits_gptq_llama,
                 auto_round_asym_qwen3_moe, auto_round_awq_llama,
                 fbgemm_fp8_llama, mxfp8_qwen3, modelopt_fp8_llama, modelopt_nvfp4_qwen3_moe, hqq_int4_llama, hqq_mixed_qwen2,
                 quanto_int4_llama, quanto_int2_qwen2, quanto_int8_qwen2, quanto_float8_qwen3,
                 torchao_int8_llama, torchao_int8_qwen2, torchao_int4_qwen3):
        if not options.names or make.__name__ in options.names:
            cls, config, seed, method, values, quantization, more = make()
            rules = more.pop("rules", [(mq.LINEAR, (method, values))])
            ql.make_case(options.out, make.__name__, cls, config, seed, rules, quantization, **more)
            use_model_names(f"{options.out}/{make.__name__}/golden.json")
    for make in (bitnet_offline, bitnet_online, bitnet_bitlinear_llama, bitnet_bias_norm_qwen2):
        if not options.names or make.__name__ in options.names:
            bitnet_case(options.out, make.__name__, *make())
