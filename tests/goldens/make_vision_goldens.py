"""Make the small models with a vision tower, and the images and videos with what the processors make of them, that
README.md lists under "Vision", "Images" and "Videos".

    python make_vision_goldens.py [--out DIR] [NAME ...]

Needs Pillow beside torch and transformers, and for "videos" torchvision, whose compiled part is not used: a build for
another device than torch's will do. Weights, ids and pictures come from fixed seeds.
"""
import argparse
import io
import json
import os
import shutil

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

for operation in ("nms", "qnms"):  # torchvision is imported without its compiled part, which defines them
    torch.library.define(f"torchvision::{operation}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from tokenizers import Tokenizer
import transformers
from transformers import Qwen2VLVideoProcessor
from transformers.image_utils import load_image
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
from transformers.models.glm4v.image_processing_pil_glm4v import Glm4vImageProcessorPil

import weights

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 12
IMAGE, START, END, VIDEO, VIDEO_START, VIDEO_END = 60, 61, 62, 63, 58, 59
TEXT = dict(vocab_size=64, hidden_size=24, intermediate_size=12, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
            max_position_embeddings=128, rms_norm_eps=1e-6, bos_token_id=1, eos_token_id=2, pad_token_id=None)
VISION = dict(depth=2, embed_dim=8, hidden_size=24, num_heads=2, mlp_ratio=2, in_channels=3, patch_size=2, spatial_merge_size=2,
              temporal_patch_size=2, hidden_act="quick_gelu")
ROPE = {"rope_theta": 10000.0, "mrope_section": [1, 3, 2]}
PARTIAL_ROPE = {"rope_theta": 10000.0, "mrope_section": [2, 1, 1], "partial_rotary_factor": 0.5}
VISION_2_5 = dict(depth=3, hidden_size=8, out_hidden_size=24, num_heads=2, intermediate_size=20, in_channels=3, patch_size=2, spatial_merge_size=2,
                  temporal_patch_size=2, window_size=8, fullatt_block_indexes=[1], tokens_per_second=4)
VISION_3 = dict(depth=4, hidden_size=8, out_hidden_size=24, num_heads=2, intermediate_size=20, in_channels=3, patch_size=2, spatial_merge_size=2,
                temporal_patch_size=2, num_position_embeddings=25, deepstack_visual_indexes=[0, 2])
VISION_GLM = dict(depth=2, hidden_size=8, out_hidden_size=24, num_heads=2, intermediate_size=20, in_channels=3, patch_size=2, spatial_merge_size=2,
                  temporal_patch_size=2, image_size=10)
GLM_MOE = dict(head_dim=16, n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, n_group=2, topk_group=1)
MOE = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12)
LINEAR = dict(num_hidden_layers=4, layer_types=["linear_attention", "full_attention"] * 2, linear_num_key_heads=2, linear_num_value_heads=4,
              linear_key_head_dim=6, linear_value_head_dim=8)
# Towers whose images all have the same size.
CLIP = dict(model_type="clip_vision_model", hidden_size=8, intermediate_size=20, num_hidden_layers=3, num_attention_heads=2, image_size=8, patch_size=2)
SIGLIP = {**CLIP, "model_type": "siglip_vision_model", "vision_use_head": False}
FIXED = "fixed size"
# What transformers calls the classes, the fields of a tower, those of the text, whether a video's frames stand alone
# (GLM: with image tokens).
FAMILIES = {
    "gemma3": ("Gemma3", SIGLIP, dict(head_dim=12, query_pre_attn_scalar=12, sliding_window=6, layer_types=["sliding_attention", "full_attention"]), FIXED),
    "paligemma": ("PaliGemma", SIGLIP, dict(model_type="gemma", head_dim=12), FIXED),
    "llava": ("Llava", CLIP, dict(model_type="llama"), FIXED),
    "glm4v": ("Glm4v", VISION_GLM, {}, GLM := "image tokens"),
    "glm4v_moe": ("Glm4vMoe", VISION_GLM, GLM_MOE, GLM),
    "glm_ocr": ("GlmOcr", VISION_GLM, dict(head_dim=16), GLM),
    "qwen2_vl": ("Qwen2VL", VISION, {}, False),
    "qwen2_5_vl": ("Qwen2_5_VL", VISION_2_5, {}, False),
    "qwen3_vl": ("Qwen3VL", VISION_3, dict(head_dim=12, num_hidden_layers=3), True),
    "qwen3_vl_moe": ("Qwen3VLMoe", VISION_3, dict(head_dim=12, **MOE), True),
    "exaone4_5": ("Exaone4_5_", {**{k: v for k, v in VISION_2_5.items() if k != "tokens_per_second"}, "num_heads": 4, "num_key_value_heads": 2, "hidden_size": 16},
                  dict(model_type="exaone4", sliding_window=8, layer_types=["sliding_attention", "full_attention"]), False),
    "qwen3_5_moe": ("Qwen3_5Moe", VISION_3, dict(head_dim=16, **LINEAR, **MOE, shared_expert_intermediate_size=10, intermediate_size=None), True),
    "qwen3_5": ("Qwen3_5", VISION_3, dict(head_dim=16, **LINEAR), True),
}
# name: (family, text fields, vision fields, grids, flat config, dtype on disk, seed); a grid with VIDEO after it is a video's, and its fifth number
# the seconds of a patch along time
MODELS = {
    "qwen2_vl_two_images": ("qwen2_vl", {}, {}, [[1, 4, 6], [1, 6, 2]], True, torch.float32, 801),
    "qwen2_vl_v5_tied": ("qwen2_vl", dict(tie_word_embeddings=True, num_key_value_heads=2), dict(hidden_act="gelu", mlp_ratio=3), [[3, 2, 4]], False,
                         torch.bfloat16, 802),
    "qwen2_vl_videos": ("qwen2_vl", {}, {}, [[5, 2, 4, VIDEO], [1, 4, 4], [2, 4, 2, VIDEO], [1, 2, 6]], True, torch.float32, 803),
    "qwen2_vl_long_video": ("qwen2_vl", {}, {}, [[9, 2, 2, VIDEO]], False, torch.float32, 804),
    "qwen2_5_vl": ("qwen2_5_vl", {}, {}, [[1, 4, 8], [1, 10, 6]], True, torch.float32, 811),
    "qwen2_5_vl_videos": ("qwen2_5_vl", dict(tie_word_embeddings=True), dict(window_size=12, hidden_act="gelu"),
                          [[1, 6, 6], [4, 4, 6, VIDEO, 0.7], [3, 6, 2, VIDEO, 1.0]], False, torch.bfloat16, 812),
    "qwen3_vl": ("qwen3_vl", {}, {}, [[1, 4, 6], [3, 4, 2, VIDEO], [1, 6, 2]], False, torch.float32, 821),
    "qwen3_vl_tied": ("qwen3_vl", dict(tie_word_embeddings=True), dict(deepstack_visual_indexes=[1], num_position_embeddings=9),
                      [[1, 4, 6], [1, 8, 2]], False, torch.bfloat16, 822),
    "qwen3_vl_moe": ("qwen3_vl_moe", {}, {}, [[2, 4, 2, VIDEO], [1, 4, 4]], False, torch.float32, 823),
    "exaone4_5": ("exaone4_5", {}, {}, [[1, 4, 6], [2, 4, 4, VIDEO]], False, torch.float32, 861),
    "qwen3_5_moe": ("qwen3_5_moe", {}, {}, [[2, 4, 2, VIDEO], [1, 4, 4]], False, torch.float32, 825),
    "qwen3_5": ("qwen3_5", {}, {}, [[1, 4, 4], [2, 4, 2, VIDEO]], False, torch.float32, 824),
    "gemma3": ("gemma3", {}, {}, [[1, 4, 4], [1, 4, 4]], False, torch.float32, 851),
    "gemma3_tied": ("gemma3", dict(tie_word_embeddings=True, num_hidden_layers=3, layer_types=["full_attention", "sliding_attention", "sliding_attention"]),
                    dict(image_size=12), [[1, 6, 6]], False, torch.bfloat16, 853),
    "paligemma": ("paligemma", {}, {}, [[1, 4, 4]], False, torch.float32, 852),
    "llava": ("llava", {}, {}, [[1, 4, 4], [1, 4, 4]], False, torch.float32, 841),
    "llava_full_depth": ("llava", dict(tie_word_embeddings=True), dict(hidden_act="gelu", image_size=6, layer=-1), [[1, 3, 3]], False, torch.bfloat16, 842),
    "glm4v": ("glm4v", {}, {}, [[1, 4, 6], [1, 12, 2]], False, torch.float32, 831),
    "glm4v_videos": ("glm4v", dict(tie_word_embeddings=True), dict(attention_bias=True, hidden_act="gelu"),
                     [[3, 4, 2, VIDEO], [1, 2, 8, VIDEO]], False, torch.bfloat16, 832),
    "glm4v_moe": ("glm4v_moe", {}, {}, [[1, 4, 6], [1, 2, 2]], False, torch.float32, 833),
    "glm_ocr": ("glm_ocr", {}, {}, [[1, 4, 6], [1, 2, 4]], False, torch.float32, 834),
    "glm_ocr_video": ("glm_ocr", {}, dict(attention_bias=False, in_channels=1), [[2, 4, 4, VIDEO]], False, torch.float32, 835),
}


def spread(name, shape):
    """Larger weights than the initial ones, so that a mistake shows."""
    return (0, 0.25) if len(shape) > 1 else (1 if name.endswith("weight") else 0, 0.2)


def flatten(config):
    """As configs were published: the language model's fields beside vision_config, rope_scaling of type mrope."""
    text = config.pop("text_config")
    rope = text.pop("rope_parameters")
    for name in ("model_type", "layer_types", "dtype"):
        text.pop(name, None)
    config["torch_dtype"] = config.pop("dtype")
    config.update(text, rope_theta=rope["rope_theta"], rope_scaling={"type": "mrope", "mrope_section": rope["mrope_section"]})
    config["vision_config"].pop("rope_parameters", None)


def prompt(grids, merge, by_frame, generator):
    words = lambda n: torch.randint(3, 58 if by_frame == GLM else 60, (n,), generator=generator).tolist()
    ids = words(4)
    for t, h, w, *video in grids:
        runs = t if video and by_frame else 1
        around = ([VIDEO_START], [VIDEO_END]) if video and by_frame == GLM else ([], [])
        ids += around[0]
        for _ in range(runs):
            ids += [START] + [VIDEO if video and by_frame != GLM else IMAGE] * (t * h * w // merge**2 // runs) + [END] + words(3)
        ids += around[1]
    return ids


def types_of(ids):
    """1 for images, 2 for videos, whose tokens may be image tokens between those that begin and end one."""
    of_video = (ids == VIDEO_START).cumsum(-1) > (ids == VIDEO_END).cumsum(-1)
    return torch.where(ids == IMAGE, of_video.int() + 1, 2 * (ids == VIDEO).int())


def side_of(family, config):
    """How many patches, in each direction, become one vector."""
    if family == "gemma3":
        return config.vision_config.image_size // config.vision_config.patch_size // int(config.mm_tokens_per_image**0.5)
    return getattr(config.vision_config, "spatial_merge_size", 1)


def squares(rows, columns, merge):
    """The patches of an image of rows x columns, row by row, in the order of squares of merge x merge."""
    at = torch.arange(rows * columns).view(rows // merge, merge, columns // merge, merge)
    return at.permute(0, 2, 1, 3).reshape(-1)


def patches_of(pixels, patch, merge):
    """Images [n, channels, height, width] as [patches, channels * patch^2], by squares."""
    n, channels, height, width = pixels.shape
    cut = pixels.view(n, channels, height // patch, patch, width // patch, patch).permute(0, 2, 4, 1, 3, 5).reshape(n, -1, channels * patch**2)
    return cut[:, squares(height // patch, width // patch, merge)].flatten(0, 1)


def inputs_of(ids, grids, vision, generator):
    """Pixel values are random: images and videos in tensors of their own."""
    inputs = {"input_ids": torch.tensor([ids])}
    if not hasattr(vision, "temporal_patch_size"):
        return {**inputs, "pixel_values": torch.randn(len(grids), 3, vision.image_size, vision.image_size, generator=generator)}
    patch = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    for values, name, is_video in (("pixel_values", "image_grid_thw", False), ("pixel_values_videos", "video_grid_thw", True)):
        of_kind = [grid[:3] for grid in grids if (len(grid) > 3) == is_video]
        if of_kind:
            inputs[values] = torch.randn(sum(t * h * w for t, h, w in of_kind), patch, generator=generator)
            inputs[name] = torch.tensor(of_kind)
    seconds = [grid[4] for grid in grids if len(grid) > 4]
    if seconds:
        inputs["second_per_grid_ts"] = torch.tensor(seconds)
    return inputs


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=1)
        f.write("\n")


def make_folder(folder, family, text, vision, flat, dtype, seed):
    prefix, tower, more, form = FAMILIES[family]
    marks = {} if form == FIXED else (dict(image_start_token_id=START, image_end_token_id=END, video_start_token_id=VIDEO_START, video_end_token_id=VIDEO_END) if form == GLM
             else dict(vision_start_token_id=START, vision_end_token_id=END))
    rope = PARTIAL_ROPE if family in ("qwen3_5", "qwen3_5_moe", "glm4v_moe", "glm_ocr") else ROPE
    shutil.rmtree(folder, ignore_errors=True)
    tied = text.get("tie_word_embeddings", False)
    rope = {name: value for name, value in rope.items() if (form != FIXED and family != "exaone4_5") or name != "mrope_section"}
    own = {"llava": dict(vision_feature_layer=vision.pop("layer", -2)), "gemma3": dict(mm_tokens_per_image=4, boi_token_index=START, eoi_token_index=END),
           "paligemma": dict(projection_dim=TEXT["hidden_size"], hidden_size=TEXT["hidden_size"], vocab_size=TEXT["vocab_size"])}
    tokens = dict(image_token_index=IMAGE, **own[family]) if form == FIXED else dict(image_token_id=IMAGE, video_token_id=VIDEO)
    config = getattr(transformers, f"{prefix}Config")(text_config={**TEXT, **more, **text, **({} if family == "gemma3" else {"rope_parameters": dict(rope, rope_type="default")})}, vision_config={**tower, **vision},
                           **tokens, **marks, tie_word_embeddings=tied)
    model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config).to(dtype)
    model.save_pretrained(folder)
    weights.refill(folder, seed, spread)
    if flat:
        with open(f"{folder}/config.json", encoding="utf-8") as f:
            saved = json.load(f)
        flatten(saved)
        write_json(f"{folder}/config.json", saved)
    write_json(f"{folder}/generation_config.json", {"eos_token_id": 2, "bos_token_id": 1})
    for name in os.listdir(folder):
        os.chmod(f"{folder}/{name}", 0o644)


def by_tokens(outputs, grids):
    """What a part of the tower made of all images and then of all videos (two calls), in the order of their tokens."""
    pieces = []
    for kind in (False, True):
        of_kind = [grid[:3] for grid in grids if (len(grid) > 3) == kind]
        if of_kind:
            output = outputs.pop(0)
            shares = [t * h * w * len(output) // sum(a * b * c for a, b, c in of_kind) for t, h, w in of_kind]
            pieces.append((kind, iter(output.split(shares))))
    pieces = dict(pieces)
    return torch.cat([next(pieces[len(grid) > 3]) for grid in grids])


def kinds_of(family, ids, count):
    """What the model is told about the tokens, of which the first `count` are the prompt."""
    if family == "gemma3":
        return {"token_type_ids": (ids == IMAGE).int()}
    if family == "paligemma":
        return {"token_type_ids": (torch.arange(ids.shape[1])[None] >= count).int()}
    return {} if FAMILIES[family][3] == FIXED or family == "exaone4_5" else {"mm_token_type_ids": types_of(ids)}


def greedy(model, inputs, family):
    """Greedy ids and the logits of each step, every step from the start again."""
    ids, rows = inputs["input_ids"], []
    count = ids.shape[1]
    for _ in range(STEPS):
        model.model.rope_deltas = None
        prompt = torch.where(torch.arange(ids.shape[1]) < count, ids, 0)  # tokens of images and videos may be among the new ones
        out = model(**{**inputs, "input_ids": ids, **kinds_of(family, prompt, count), "attention_mask": torch.ones_like(ids)}, use_cache=False)
        rows.append(out.logits[0, -1].float())
        ids = torch.cat([ids, rows[-1].argmax().view(1, 1)], 1)
    return ids[0, inputs["input_ids"].shape[1]:].tolist(), torch.stack(rows)


def generate(model, inputs, family):
    """The same by generate(). It goes on after the last token, wherever the times of a long video end."""
    ids = inputs["input_ids"]
    out = model.generate(**inputs, **kinds_of(family, ids, ids.shape[1]), attention_mask=torch.ones_like(ids), max_new_tokens=STEPS, do_sample=False,
                         eos_token_id=[], pad_token_id=0, output_logits=True, return_dict_in_generate=True)
    return out.sequences[0, ids.shape[1]:].tolist(), torch.cat(out.logits).float()


# Modules that do nothing but hold others, which are lists here.
LISTS = (".vision_tower.encoder", ".visual.embeddings")


def as_described(runtime):
    """A projection that is a bare parameter, transposed, is a Linear here; means need no module; a tower's norms have the decoder's class."""
    runtime["modules"] = {path: "Exaone4RMSNorm" if name == "Exaone4_5_RMSNorm" else name for path, name in runtime["modules"].items()}
    runtime["modules"].pop("model.multi_modal_projector.avg_pool", None)
    for parameter in runtime["parameters"]:
        if parameter["name"].endswith(".mm_input_projection_weight"):
            parameter.update(name=parameter["name"].replace("projection_weight", "projection.weight"), shape=parameter["shape"][::-1])
            runtime["modules"][parameter["name"].removesuffix(".weight")] = "Linear"
    return runtime


def fixed_parts(model):
    """The parts of a tower of fixed size whose outputs are recorded: blocks after the one whose output is used run for nothing."""
    tower = model.model.vision_tower
    layer = getattr(model.config, "vision_feature_layer", -1)
    blocks = tower.encoder.layers[: len(tower.encoder.layers) + 1 + layer]
    return {"patch_embed": tower.embeddings, **{f"block.{i}": b for i, b in enumerate(blocks)}, "merger": model.model.multi_modal_projector}


def in_squares(name, output, vision, merge):
    """[images, rows, width] as [rows of all, width]: patches by squares, after the vector of the whole image, which is no patch's."""
    side = vision.image_size // vision.patch_size
    if name == "vision.merger":
        return output.flatten(0, 1)
    extra = output.shape[1] - side * side
    rows = [torch.arange(extra if name != "vision.patch_embed" else 0), extra + squares(side, side, merge)]
    return output[:, torch.cat(rows)].flatten(0, 1)


def make_model(name, out):
    family, text, vision, grids, flat, dtype, seed = MODELS[name]
    Model = getattr(transformers, f"{FAMILIES[family][0]}ForConditionalGeneration")
    folder = f"{out}/vision/{name}"
    while True:
        make_folder(folder, family, text, vision, flat, dtype, seed)
        model, info = Model.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
        assert not any(info[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
        generator = torch.Generator().manual_seed(seed)
        merge = side_of(family, model.config)
        ids = prompt(grids, merge, FAMILIES[family][3], generator)
        inputs = inputs_of(ids, grids, model.config.vision_config, generator)
        with torch.no_grad():
            greedy_ids, greedy_logits = (generate if "video_grid_thw" in inputs else greedy)(model.eval(), inputs, family)
        best = greedy_logits.topk(2).values
        if (best[:, 0] - best[:, 1]).min() > 0.01:
            break
        seed += 100
    is_fixed = FAMILIES[family][3] == FIXED
    visual = model.model.vision_tower if is_fixed else model.model.visual
    stacked = getattr(visual, "deepstack_merger_list", [])
    modules = fixed_parts(model) if is_fixed else {"patch_embed": visual.patch_embed, **{f"deepstack.{i}": m for i, m in enumerate(stacked)}, **{f"block.{i}": b for i, b in enumerate(visual.blocks)}, "merger": visual.merger}
    seen = {f"vision.{key}": [] for key in modules}
    hooks = [m.register_forward_hook(lambda _, __, o, key=key: seen[f"vision.{key}"].append(o.detach().clone())) for key, m in modules.items()]
    model.model.rope_deltas = None
    kinds = kinds_of(family, inputs["input_ids"], len(ids))
    with torch.no_grad():
        got = model(**inputs, **kinds, attention_mask=torch.ones_like(inputs["input_ids"]), use_cache=False)
        eager = Model.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        exact = Model.from_pretrained(folder, dtype=torch.float64, experts_implementation="eager").eval()
        doubles = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
        best_known = exact(**doubles, **kinds, attention_mask=torch.ones_like(inputs["input_ids"]), use_cache=False)
        other = eager(**inputs, **kinds, attention_mask=torch.ones_like(inputs["input_ids"]), use_cache=False)
        exact.model.rope_deltas = None
        exact_ids, exact_logits = (generate if "video_grid_thw" in inputs else greedy)(exact, doubles, family)
    assert exact_ids == greedy_ids
    for hook in hooks:
        hook.remove()
    counted = [*model.named_parameters(remove_duplicate=False), *((n, b) for n, b in model.named_buffers() if n.endswith("e_score_correction_bias"))]
    if is_fixed:
        vision = model.config.vision_config
        inputs["image_grid_thw"] = torch.tensor(grids)
        inputs["pixel_values"] = patches_of(inputs["pixel_values"], vision.patch_size, merge)
        seen = {name: [in_squares(name, outputs[0], vision, merge)] for name, outputs in seen.items()}
    parameters = [{"name": n, "shape": list(p.shape)} for n, p in counted]
    weights.drop(folder)
    weights.write_json(f"{folder}/golden.json", {
        "seed": seed, "input_ids": ids, **({"token_types": types_of(inputs["input_ids"])[0].tolist()} if FAMILIES[family][3] == GLM else {}), **{key: inputs[key].tolist() for key in inputs if key.endswith(("_grid_thw", "_grid_ts"))}, "greedy_ids": greedy_ids, **({"rope_delta": int(model.model.rope_deltas[0, 0])} if getattr(model.model, "rope_deltas", None) is not None else {}),
        "greedy_min_margin": (best[:, 0] - best[:, 1]).min().item(),
        "reference_spread": {"fp32_eager_vs_sdpa": (got.logits - other.logits).abs().max().item(),
                             "fp32_vs_fp64": max((got.logits.double() - best_known.logits).abs().max().item(), (greedy_logits - exact_logits).abs().max().item())},
        "runtime": as_described({"modules": {n or "<root>": "ModuleList" if n.endswith(LISTS) else type(m).__name__ for n, m in model.named_modules()}, "parameters": parameters})})
    save_file({**{key: value for key, value in inputs.items() if key.startswith("pixel_values")}, "logits": got.logits.contiguous(), "greedy_logits": greedy_logits, **{k: by_tokens(v, grids).contiguous() for k, v in seen.items()}},
              f"{folder}/golden.safetensors")
    os.chmod(f"{folder}/golden.safetensors", 0o644)


# --- Images ---

PREPROCESSOR = {"image_processor_type": "Qwen2VLImageProcessor", "min_pixels": 96, "max_pixels": 400, "patch_size": 2, "temporal_patch_size": 1,
                "merge_size": 2, "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
GLM_PREPROCESSOR = {**PREPROCESSOR, "image_processor_type": "Glm4vImageProcessor", "temporal_patch_size": 2, "size": {"shortest_edge": 192, "longest_edge": 800}}
for field in ("min_pixels", "max_pixels"):
    del GLM_PREPROCESSOR[field]
# Of images that all have one size; what the model says is 2, 2.
FIXED_PATCH, FIXED_MERGE = 2, 2
# What tensors' names begin with: the fields of NAMEpreprocessor_config.json, the processor, the pictures that it prepares.
PROCESSORS = {
    "": (PREPROCESSOR, Qwen2VLImageProcessorPil, None),
    "clip_": ({"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 12}, "crop_size": {"height": 8, "width": 8}}, CLIPImageProcessorPil,
              ["rgb_up.png", "rgb_down.png", "rgb_columns_first.png", "grey_alpha.png"]),
    "clip_pad_": ({"image_processor_type": "CLIPImageProcessor", "do_resize": False, "crop_size": {"height": 12, "width": 8}}, CLIPImageProcessorPil,
                  ["rgb_up.png", "rgb_down.png", "photo_444.jpg"]),
    "siglip_": ({"image_processor_type": "SiglipImageProcessor", "size": {"height": 8, "width": 8}}, SiglipImageProcessorPil, ["rgb_up.png", "rgb_down.png"]),
    "gemma3_": ({"image_processor_type": "Gemma3ImageProcessor", "size": {"height": 12, "width": 12}, "do_pan_and_scan": None}, Gemma3ImageProcessorPil,
                ["rgb_down.png", "rgb_columns_first.png"]),
    "glm4v_": (GLM_PREPROCESSOR, Glm4vImageProcessorPil, ["rgb_up.png", "rgb_down.png", "rgb_same.png", "rgb_narrow.png", "rgb_columns_first.png"]),
}


def picture(width, height, channels, seed):
    """Waves and noise: every level occurs, neighbours differ."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = [127.5 + 90 * np.sin(x * (0.3 + 0.2 * c) + y * 0.17 + c) + rng.normal(0, 30, (height, width)) for c in range(channels)]
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8).squeeze()


def exif(orientation):
    out = Image.Exif()
    out[274] = orientation
    return out


def pictures():
    """File name and bytes of each."""
    def save(name, image, kind, **options):
        out = io.BytesIO()
        image.save(out, kind, **options)
        return name, out.getvalue()

    rgb = Image.fromarray(picture(13, 9, 3, 1))
    palette = Image.fromarray(picture(12, 10, 3, 2)).quantize(11)
    yield save("rgb_up.png", Image.fromarray(picture(7, 5, 3, 3)), "PNG")
    yield save("rgb_down.png", Image.fromarray(picture(41, 27, 3, 4)), "PNG")
    yield save("rgb_same.png", Image.fromarray(picture(16, 12, 3, 5)), "PNG")
    yield save("rgb_narrow.png", Image.fromarray(picture(90, 3, 3, 6)), "PNG")
    yield save("rgb_columns_first.png", Image.fromarray(picture(10, 60, 3, 18)), "PNG")
    yield save("rgba.png", Image.fromarray(picture(13, 9, 4, 7)), "PNG")
    yield save("grey.png", Image.fromarray(picture(11, 14, 1, 8)), "PNG")
    yield save("grey_alpha.png", Image.fromarray(picture(11, 14, 2, 9), "LA"), "PNG")
    yield save("grey_1_bit.png", Image.fromarray(picture(11, 14, 1, 10)).convert("1"), "PNG")
    yield save("palette.png", palette, "PNG", bits=4)
    yield save("palette_transparent.png", palette, "PNG", transparency=3)
    yield save("rgb_transparent.png", rgb, "PNG", transparency=(1, 2, 3))
    yield save("photo_420.jpg", Image.fromarray(picture(21, 18, 3, 11)), "JPEG", quality=90, subsampling="4:2:0")
    yield save("photo_444.jpg", Image.fromarray(picture(17, 12, 3, 12)), "JPEG", quality=95, subsampling="4:4:4")
    yield save("photo_422_progressive.jpg", Image.fromarray(picture(19, 14, 3, 13)), "JPEG", quality=80, subsampling="4:2:2", progressive=True)
    yield save("grey.jpg", Image.fromarray(picture(17, 12, 1, 14)), "JPEG", quality=90)
    yield save("cmyk.jpg", Image.fromarray(picture(17, 12, 4, 15), "CMYK"), "JPEG", quality=90)
    yield save("exif_6.jpg", Image.fromarray(picture(17, 8, 3, 16)), "JPEG", quality=90, exif=exif(6))
    yield save("xmp_8.jpg", Image.fromarray(picture(17, 8, 3, 17)), "JPEG", quality=90, xmp=b'<x:xmpmeta tiff:Orientation="8"/>')
    for orientation in (1, 2, 3, 4, 5, 7, 8):
        yield save(f"exif_{orientation}.png", Image.fromarray(picture(12, 8, 3, 20)), "PNG", exif=exif(orientation))


def make_images(out):
    folder = f"{out}/images"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    tensors = {}
    for name, data in pictures():
        with open(f"{folder}/{name}", "wb") as f:
            f.write(data)
    for prefix, (fields, Processor, names) in PROCESSORS.items():
        write_json(f"{folder}/{prefix}preprocessor_config.json", fields)
        prepare(folder, prefix, Processor(**fields), names or [name for name, _ in pictures()], tensors)
    save_file(tensors, f"{folder}/golden.safetensors")
    os.chmod(f"{folder}/golden.safetensors", 0o644)


def prepare(folder, prefix, processor, names, tensors):
    """Adds what the processor makes of the pictures."""
    for name in names:
        got = processor(load_image(f"{folder}/{name}"), return_tensors="pt")
        # In f32 every level of a channel is another number: the level says it, in a quarter of the bytes.
        levels = np.arange(256, dtype=np.uint8).reshape(1, 256, 1).repeat(3, 2)
        table = processor.normalize(processor.rescale(np.moveaxis(levels, -1, 0), processor.rescale_factor), processor.image_mean, processor.image_std)
        if "image_grid_thw" not in got:
            height, width = got["pixel_values"].shape[2:]
            got["image_grid_thw"] = torch.tensor([[1, height // FIXED_PATCH, width // FIXED_PATCH]])
            got["pixel_values"] = patches_of(got["pixel_values"], FIXED_PATCH, FIXED_MERGE)
        values = got["pixel_values"].reshape(got["image_grid_thw"].prod(), 3, -1)
        index = torch.stack([torch.searchsorted(torch.tensor(table[c, 0]), values[:, c].contiguous()) for c in range(3)], 1)
        assert all(torch.equal(torch.tensor(table[c, 0])[index[:, c]], values[:, c]) for c in range(3))
        tensors[f"{prefix}{name}.levels"] = index.reshape(len(values), -1).to(torch.uint8)
        tensors[f"{prefix}{name}.grid"] = got["image_grid_thw"][0]
        tensors[f"{prefix}table"] = torch.tensor(table[:, 0]).contiguous()


# --- Videos ---

VIDEO_PROCESSOR = {"video_processor_type": "Qwen2VLVideoProcessor", "size": {"shortest_edge": 64, "longest_edge": 160}, "patch_size": 2,
                   "temporal_patch_size": 2, "merge_size": 2}
COUNTED = {"video_processor_type": "Qwen3VLVideoProcessor", "do_sample_frames": False}  # pixels of all frames together
GLM_VIDEO = {"video_processor_type": "Glm4vVideoProcessor", "do_sample_frames": False}
# name: (frames, width, height, kind of file, fields of the config)
VIDEOS = {
    "down": (11, 23, 14, "png", {}),  # an odd number, names of unequal length
    "up": (2, 7, 5, "jpg", {}),
    "same": (1, 12, 8, "png", {"do_normalize": False}),
    "narrow": (3, 3, 60, "png", {"do_rescale": False, "temporal_patch_size": 3, "image_mean": 100, "image_std": 50}),
    "bilinear": (3, 31, 9, "png", {"resample": 2, "do_normalize": False, "do_rescale": False, "min_pixels": 32, "max_pixels": 96}),
    "capped": (4, 24, 20, "png", {"cap_pixels_per_frame": True, "max_video_tokens": 14, "size": {"shortest_edge": 32, "longest_edge": 400}}),
    "capped_least": (2, 20, 24, "png", {"cap_pixels_per_frame": True, "max_video_tokens": 1, "size": {"shortest_edge": 99, "longest_edge": 400}}),
    "counted": (5, 23, 14, "png", COUNTED | {"size": {"shortest_edge": 64, "longest_edge": 640}}),
    "counted_up": (2, 7, 2, "png", COUNTED | {"size": {"shortest_edge": 400, "longest_edge": 640}}),
    "counted_capped": (4, 24, 20, "png", COUNTED | {"cap_pixels_per_frame": True, "max_video_tokens": 6, "size": {"shortest_edge": 32, "longest_edge": 1600}}),
    "glm": (3, 23, 14, "png", GLM_VIDEO | {"size": {"shortest_edge": 64, "longest_edge": 640}}),
    "glm_up": (2, 3, 7, "png", GLM_VIDEO | {"size": {"shortest_edge": 400, "longest_edge": 640}}),
}


def make_videos(out):
    tensors = {}
    shutil.rmtree(f"{out}/videos", ignore_errors=True)
    for seed, (name, (count, width, height, kind, fields)) in enumerate(VIDEOS.items(), 100):
        folder = f"{out}/videos/{name}"
        os.makedirs(f"{folder}/frames")
        write_json(f"{folder}/video_preprocessor_config.json", {**VIDEO_PROCESSOR, **fields})
        files = [f"{folder}/frames/frame{i + 1}.{kind}" for i in range(count)]
        for i, file in enumerate(files):
            Image.fromarray(picture(width, height, 3, 100 * seed + i)).save(file, **({"quality": 90} if kind == "jpg" else {}))
        processor = getattr(transformers, fields.get("video_processor_type", "Qwen2VLVideoProcessor")).from_pretrained(folder)
        got = processor(videos=[np.stack([np.array(load_image(file)) for file in files])], return_tensors="pt")
        # As of images: levels, and the number that each level becomes.
        table = processor.rescale_and_normalize(torch.arange(256, dtype=torch.uint8).view(1, 1, 256).repeat(3, 1, 1), processor.do_rescale,
                                                processor.rescale_factor, processor.do_normalize, processor.image_mean, processor.image_std)
        table = table[:, 0].float().contiguous()
        values = got["pixel_values_videos"].float().reshape(got["video_grid_thw"].prod(), 3, -1)
        index = torch.stack([torch.searchsorted(table[c], values[:, c].contiguous()) for c in range(3)], 1)
        assert all(torch.equal(table[c][index[:, c]], values[:, c]) for c in range(3))
        tensors.update({f"{name}.levels": index.reshape(len(values), -1).to(torch.uint8), f"{name}.grid": got["video_grid_thw"][0],
                        f"{name}.table": table})
    save_file(tensors, f"{out}/videos/golden.safetensors")
    os.chmod(f"{out}/videos/golden.safetensors", 0o644)
    write_json(f"{out}/videos/expected.json", ask_demo(f"{out}/videos"))


def ask_demo(videos):
    """What the trained model of demo/ says of an image between two videos, each prepared as its directory says."""
    demo = f"{HERE}/../../demo/tiny-qwen2-vl"
    model = transformers.Qwen2VLForConditionalGeneration.from_pretrained(demo, dtype=torch.float32).eval()
    files = [[f"{videos}/{name}/frames/{file}" for file in sorted(os.listdir(f"{videos}/{name}/frames"), key=lambda f: (len(f), f))]
             for name in ("down", "capped")]
    frames = [np.stack([np.array(load_image(file)) for file in names]) for names in files]
    seen = Qwen2VLVideoProcessor.from_pretrained(demo)(videos=frames, return_tensors="pt")
    picture = Qwen2VLImageProcessorPil.from_pretrained(demo)(load_image(f"{demo}/samples/1-green-circle-on-yellow.png"), return_tensors="pt")
    text = "".join(f"<|vision_start|><|{kind}_pad|><|vision_end|>" for kind in ("video", "image", "video"))
    text = f"<|im_start|>user\n{text}What is in the picture?<|im_end|>\n<|im_start|>assistant\n"
    prompt = Tokenizer.from_file(f"{demo}/tokenizer.json").encode(text).ids
    grids = {384: iter(seen["video_grid_thw"]), 383: iter(picture["image_grid_thw"])}
    ids = torch.tensor([[t for token in prompt for t in [token] * (int(next(grids[token]).prod()) // 4 if token in grids else 1)]])
    out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), mm_token_type_ids=(ids == 383).int() + 2 * (ids == 384).int(), **seen,
                         **picture, max_new_tokens=STEPS, do_sample=False, output_logits=True, return_dict_in_generate=True)
    best = torch.cat(out.logits).topk(2).values
    assert (best[:, 0] - best[:, 1]).min() > 0.01
    return {"prompt": text, "tokens": ids.shape[1], "greedy_ids": out.sequences[0, ids.shape[1]:].tolist()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    for wanted in args.names or [*MODELS, "images", "videos"]:
        if wanted in ("images", "videos"):
            {"images": make_images, "videos": make_videos}[wanted](args.out)
        else:
            make_model(wanted, args.out)
