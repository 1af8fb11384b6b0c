# SPDX-License-Identifier: Apache-2.0
"""What transformers' documents show of monkey patching, conversions, fusion mapping and module fusion: there with classes
of torch, here with those of Graft, on the same checkpoint in one process."""

import ctypes
import os
import tempfile
import unittest

import graft
import numpy as np
import torch
from bridge import LLAMA, MOE, QWEN3, TOLERANCE, VISION, Patched, ids_of, reference
from common import folder, golden
from torch import nn
from transformers import AutoModelForImageTextToText, conversion_mapping, core_model_loading, monkey_patching
from transformers.conversion_mapping import get_checkpoint_conversion_mapping
from transformers.integrations.hub_kernels import make_parent_class_for_kernel_fusion

QWEN3_VL = "vision/qwen3_vl"


class Documents(Patched):
    """What transformers' documents show, there and here, on the same checkpoint."""

    def both(self, case):
        with graft.from_pretrained(folder(case)) as native, torch.no_grad():
            here = torch.as_tensor(native(golden(case)["input_ids"]).logits)
            there = reference(case)(ids_of(case)).logits[0]
        return float((here - there).abs().max()) / max(1.0, float(there.abs().max()))

    def test_monkey_patching(self):
        """A class by its name, and by an expression; unregistered, cleared, and applied within a block."""
        from transformers.models.llama import modeling_llama

        class Halved(modeling_llama.LlamaMLP):
            def forward(self, x):
                return super().forward(x) / 2

        class HalvedHere(graft.Module):
            def forward(self, x):
                gate, up = self.child("gate_proj")(x), self.child("up_proj")(x)
                return self.child("down_proj")(gate / (1 + np.exp(-gate)) * up) / 2

        self.addCleanup(graft.clear_patch_mapping)
        plain = self.both(LLAMA)
        self.assertLessEqual(plain, TOLERANCE)
        for key in ("LlamaMLP", r"^Llama\w+MLP$|^LlamaMLP$"):
            monkey_patching.register_patch_mapping({key: Halved})
            self.assertGreater(self.both(LLAMA), 1e-3)  # there alone
            graft.register_patch_mapping({key: HalvedHere})
            self.assertLessEqual(self.both(LLAMA), TOLERANCE)
            with self.assertRaises(ValueError):
                graft.register_patch_mapping({key: HalvedHere})
            with self.assertRaises(ValueError):
                monkey_patching.register_patch_mapping({key: Halved})
            for registry in (graft, monkey_patching):
                registry.unregister_patch_mapping([key])
                self.assertEqual(registry.get_patch_mapping(), {})
        graft.register_patch_mapping({"LlamaMLP": HalvedHere})
        monkey_patching.register_patch_mapping({"LlamaMLP": Halved})
        with graft.apply_patches(), monkey_patching.apply_patches():
            self.assertIs(graft.class_named("LlamaMLP"), HalvedHere)
            self.assertIs(modeling_llama.LlamaMLP, Halved)
        self.assertEqual(graft.class_named("LlamaMLP"), "LlamaMLP")
        self.assertIsNot(modeling_llama.LlamaMLP, Halved)

    def test_a_class_that_calls_the_original(self):
        """As documents begin: an attention that says that it runs."""
        from transformers.models.llama.modeling_llama import LlamaAttention

        said = []

        class There(LlamaAttention):
            def forward(self, *args, **kwargs):
                said.append("there")
                return super().forward(*args, **kwargs)

        class Here(graft.Module):
            calls_original = True

            def forward(self, *arrays):
                said.append("here")
                return self.original(*arrays)

        monkey_patching.register_patch_mapping({"LlamaAttention": There})
        graft.register_patch_mapping({"LlamaAttention": Here})
        self.addCleanup(graft.clear_patch_mapping)
        self.assertLessEqual(self.both(LLAMA), TOLERANCE)
        self.assertEqual(said, ["here"] * 2 + ["there"] * 2)
        with graft.from_pretrained(folder(LLAMA)) as native:
            names = {each.path: each.class_name for each in native.named_modules()}
        self.assertEqual(names["model.layers.0.self_attn"], "Here")
        self.assertIs(type(reference(LLAMA).model.layers[0].self_attn), There)

    def test_the_complete_example(self):
        """Experts as a list of modules, and attention with joined projections, from the published checkpoint."""
        from transformers.models.qwen2_moe.modeling_qwen2_moe import Qwen2MoeAttention, Qwen2MoeMLP

        class Listed(nn.ModuleList):
            def __init__(self, config):
                size = config.moe_intermediate_size
                super().__init__(Qwen2MoeMLP(config, intermediate_size=size) for _ in range(config.num_experts))

            def forward(self, hidden_states, top_k_index, top_k_weights):
                result = torch.zeros_like(hidden_states)
                for number, expert in enumerate(self):
                    token, place = torch.where(top_k_index == number)
                    result[token] += expert(hidden_states[token]) * top_k_weights[token, place, None]
                return result

        class Joined(Qwen2MoeAttention):
            def __init__(self, config, layer_idx):
                super().__init__(config, layer_idx)
                parts = [self.q_proj, self.k_proj, self.v_proj]
                del self.q_proj, self.k_proj, self.v_proj
                self.sizes = [part.out_features for part in parts]
                self.qkv_proj = nn.Linear(config.hidden_size, sum(self.sizes))

            def forward(self, hidden_states, **kwargs):
                parts = self.qkv_proj(hidden_states).split(self.sizes, -1)
                for name, part in zip(("q_proj", "k_proj", "v_proj"), parts):
                    self.__dict__[name] = lambda _, part=part: part
                return super().forward(hidden_states, **kwargs)

        theirs = get_checkpoint_conversion_mapping("qwen2_moe")
        self.addCleanup(conversion_mapping.register_checkpoint_conversion_mapping, "qwen2_moe", theirs, overwrite=True)
        converter = core_model_loading.WeightConverter(
            source_patterns=["q_proj", "k_proj", "v_proj"],
            target_patterns=["qkv_proj"],
            operations=[core_model_loading.Concatenate(dim=0)],
        )
        monkey_patching.register_patch_mapping({"Qwen2MoeExperts": Listed, "Qwen2MoeAttention": Joined})
        conversion_mapping.register_checkpoint_conversion_mapping("qwen2_moe", [converter], overwrite=True)
        graft.register_patch_mapping({"Qwen2MoeExperts": "sequential_experts", "Qwen2MoeAttention": "fused_qkv"})
        self.addCleanup(graft.clear_patch_mapping)
        self.assertLessEqual(self.both(MOE), TOLERANCE)
        there = {name for name, _ in reference(MOE).named_parameters()}
        with graft.from_pretrained(folder(MOE)) as native:
            here = {each["name"] for each in native.plan["parameters"]}
        self.assertEqual(here, there)
        self.assertIn("model.layers.1.self_attn.qkv_proj.bias", here)
        self.assertIn("model.layers.1.mlp.experts.5.down_proj.weight", here)

    def test_routes_recorded_and_replayed(self):
        """Which experts tokens go to, recorded there and forced upon both on other tokens."""
        from transformers.models.qwen2_moe.modeling_qwen2_moe import Qwen2MoeTopKRouter

        routes = {}

        class There(Qwen2MoeTopKRouter):
            def forward(self, hidden_states):
                logits, weights, index = super().forward(hidden_states)
                if self in routes:
                    index = routes[self]
                    return logits, logits.softmax(-1).gather(-1, index), index
                self.seen = index
                return logits, weights, index

        class Here(graft.Module):
            calls_original = True

            def forward(self, hidden_states):
                logits, _, _ = self.original(hidden_states)
                index = routes[self.path]
                shares = np.exp(logits - logits.max(-1, keepdims=True))
                shares /= shares.sum(-1, keepdims=True)
                return logits, index, np.take_along_axis(shares, index, -1)

        monkey_patching.register_patch_mapping({"Qwen2MoeTopKRouter": There})
        graft.register_patch_mapping({"Qwen2MoeTopKRouter": Here})
        self.addCleanup(graft.clear_patch_mapping)
        ids, model = ids_of(MOE), reference(MOE)
        with torch.no_grad():
            model(ids)
            routers = {name: each for name, each in model.named_modules() if isinstance(each, There)}
            plain = model(ids + 1).logits[0]
            for name, router in routers.items():
                routes[router] = router.seen.flip(0)
                routes[name] = routes[router].numpy()
            there = model(ids + 1).logits[0]
        with graft.from_pretrained(folder(MOE)) as native:
            here = torch.as_tensor(native((ids + 1)[0].tolist()).logits)
        self.assertEqual(len(routes), 4)
        self.assertGreater(float((there - plain).abs().max()), 1e-3)
        self.assertLessEqual(float((here - there).abs().max()), TOLERANCE * 12)

    def test_patchers(self):
        """What is for one load alone: two models side by side, of which one has other classes and conversions."""
        patch = {"classes": {"Qwen2MoeExperts": "ModuleListExperts"}}
        ids = ids_of(MOE)[0].tolist()
        options = {"plugins": ["sequential_experts"], "patch": patch}
        with graft.from_pretrained(folder(MOE)) as plain, graft.from_pretrained(folder(MOE), **options) as patched:
            kinds = [{each.class_name for each in model.named_modules()} for model in (plain, patched)]
            logits = [torch.as_tensor(model(ids).logits) for model in (plain, patched)]
        with torch.no_grad():
            there = reference(MOE)(ids_of(MOE)).logits[0]
        self.assertIn("Qwen2MoeExperts", kinds[0])
        self.assertIn("ModuleListExperts", kinds[1])
        for here in logits:
            self.assertLessEqual(float((here - there).abs().max()), TOLERANCE * 12)

    def test_converters_are_said_alike(self):
        """A list of transformers for a model type, word by word as one of Graft's."""
        theirs = get_checkpoint_conversion_mapping("qwen2_moe")
        made = []
        for each in theirs:
            operations = [getattr(graft, type(op).__name__)(dim=op.dim) for op in getattr(each, "operations", ())]
            kind = graft.WeightConverter if operations else graft.WeightRenaming
            arguments = (list(each._original_source_patterns), list(each._original_target_patterns))
            made.append(kind(*arguments, operations) if operations else kind(*arguments))
        graft.register_checkpoint_conversion_mapping("qwen2_moe", made, overwrite=True)
        self.addCleanup(graft.unregister_checkpoint_conversion_mapping, "qwen2_moe")
        self.assertLessEqual(self.both(MOE), TOLERANCE)

    def test_fusion_mapping(self):
        """Patch embeddings as a Linear, where fusion_config asks for it."""
        config = {"patch_embeddings": True}
        there = AutoModelForImageTextToText.from_pretrained(folder(VISION), dtype=torch.float32, fusion_config=config)
        names = {name for name, _ in there.named_parameters() if "patch_embed" in name}
        with graft.from_pretrained(folder(VISION), plugins=["patch_embed_linear"], fusion_config=config) as here:
            fused = [each for each in here.plan["fusion"]]
            parameters = {each["name"] for each in here.plan["parameters"] if "patch_embed" in each["name"]}
        self.assertTrue(fused)
        self.assertEqual({name.split("patch_embed.")[1] for name in names}, {"linear_proj.weight"})
        self.assertEqual({name.split("patch_embed.")[1] for name in parameters}, {"linear_proj.weight"})

    def test_fusion_mapping_of_a_config(self):
        """A directory that was saved with a fusion is opened with it, here and there, with the tensors it had. Of
        Qwen3-VL: in transformers 5.23 the weight of a fused Qwen2-VL remains as it was initialized."""
        config = {"patch_embeddings": True}
        more = {"plugins": ["patch_embed_linear"]}
        with tempfile.TemporaryDirectory() as scratch:
            saved = os.path.join(scratch, "saved")
            with graft.from_pretrained(folder(QWEN3_VL), fusion_config=config, **more) as here:
                here.save_pretrained(saved)
            there = AutoModelForImageTextToText.from_pretrained(saved, dtype=torch.float32)
            with graft.from_pretrained(saved, **more) as again:
                named = {each.path: each for each in again.named_modules()}
                path = next(path for path in named if path.endswith("patch_embed"))
                embed = next(module for name, module in there.named_modules() if name.endswith("patch_embed"))
                pixels = torch.randn(7, embed.linear_proj.in_features, generator=torch.Generator().manual_seed(5))
                made = torch.empty(7, embed.linear_proj.out_features)
                args = graft.abi.graft_patch_embed_args(
                    struct_size=ctypes.sizeof(graft.abi.graft_patch_embed_args),
                    patches=7,
                    pixel_values=pixels.data_ptr(),
                    output=made.data_ptr(),
                )
                again.run_module(path, args)
            with torch.no_grad():
                expected = embed(pixels)
        self.assertEqual(named[path].plugin, "patch_embed_linear")
        self.assertLessEqual(float((made - expected).abs().max()), TOLERANCE)

    def test_module_fusion(self):
        """A norm and the MLP after it as one module: there in the place of both, here as a chain."""
        from transformers.models.qwen3.modeling_qwen3 import Qwen3DecoderLayer

        class NormMLP(nn.Module):
            def __init__(self, norm, mlp):
                super().__init__()
                self.norm, self.inner = norm, mlp

            def forward(self, hidden_states):
                return self.inner(self.norm(hidden_states))

        Fused = make_parent_class_for_kernel_fusion(Qwen3DecoderLayer, ["post_attention_layernorm", "mlp"], NormMLP)
        renamings = [
            core_model_loading.WeightRenaming(
                r"post_attention_layernorm\.weight", "post_attention_layernorm.norm.weight"
            ),
            core_model_loading.WeightRenaming(r"\.mlp\.", ".post_attention_layernorm.inner."),
        ]
        conversion_mapping.register_checkpoint_conversion_mapping("qwen3", renamings, overwrite=True)
        self.addCleanup(conversion_mapping.register_checkpoint_conversion_mapping, "qwen3", [], overwrite=True)
        monkey_patching.register_patch_mapping({"Qwen3DecoderLayer": Fused})
        ids = ids_of(QWEN3)
        with torch.no_grad():
            model = reference(QWEN3)
            there = model(ids).logits[0]
        self.assertIsInstance(model.model.layers[0].mlp, nn.Identity)
        specs = [
            graft.ModuleSpec("model.layers.*.post_attention_layernorm"),
            graft.ModuleSpec("model.layers.*.mlp"),
        ]
        with graft.from_pretrained(folder(QWEN3)) as native:
            before = native(ids[0].tolist()).logits
            graft.fuse_modules(native, specs)
            here = native(ids[0].tolist()).logits
            chains = native.plan["chains"]
            graft.unfuse_modules(native)
            after = native(ids[0].tolist()).logits
        self.assertEqual(
            chains[0]["modules"], ["model.layers.0.post_attention_layernorm", "model.layers.0.mlp"]
        )
        self.assertTrue((here == before).all() and (after == before).all())
        self.assertLessEqual(float((torch.as_tensor(here) - there).abs().max()), TOLERANCE * 12)


if __name__ == "__main__":
    unittest.main()
