# SPDX-License-Identifier: Apache-2.0
"""Plugins inside transformers: against transformers itself, in the same process."""

import copy
import ctypes
import gc
import os
import unittest

import graft
import graft.torch
import torch
from bridge import LLAMA, MOE, QWEN3, TOLERANCE, Patched, ids_of, reference
from common import folder, golden
from transformers import DynamicCache, MistralConfig, MistralForCausalLM, monkey_patching

PASSES_ON = os.path.join(os.environ["GRAFT_TEST_BUILD"], "python/tests/passes_on.so")
LAYERS = os.path.join(os.environ["GRAFT_TEST_BUILD"], "sdk/examples/fused_norm_mlp/fused_norm_mlp.so")


def plan_of(model):
    host, _ = next(m._graft_place for m in model.modules() if isinstance(m, graft.torch.Bridge))
    return host.model.plan


class InTransformers(Patched):
    def check(self, case, plugin, n):
        ids, original = ids_of(case), reference(case)
        model = self.build(case, plugin)
        bridged = [m for m in model.modules() if isinstance(m, graft.torch.Bridge)]
        self.assertEqual(len(bridged), n)
        with torch.no_grad():
            difference = (model(ids).logits - original(ids).logits).abs().max()
        self.assertLessEqual(float(difference), TOLERANCE * 12)
        more = {"max_new_tokens": 12, "do_sample": False}
        self.assertEqual(model.generate(ids, **more).tolist(), original.generate(ids, **more).tolist())
        return model

    def test_experts_without_copies(self):
        model = self.check(MOE, "sequential_experts", 2)
        plan = plan_of(model)
        self.assertEqual((plan["copied_bytes"], plan["computed_bytes"]), (0, 0))

    def test_attention_without_copies(self):
        model = self.check(LLAMA, "fused_qkv", 2)
        self.assertEqual(type(model.model.layers[0].self_attn).__name__, "LlamaFusedAttention")
        self.assertEqual(plan_of(model)["copied_bytes"], 0)

    def test_what_passes_every_call_on(self):
        self.check(
            MOE, PASSES_ON, 2 + 2 * 2 + 5 + 2 + 2
        )  # attentions, blocks and shared experts, norms, experts, routers

    def test_batches_masks_and_beams(self):
        original, model = reference(MOE), self.build(MOE, "fused_qkv", "sequential_experts")
        ids = ids_of(MOE)
        ids = torch.cat([ids, ids + 1])
        mask = torch.ones_like(ids)
        mask[1, :4] = 0
        for more in ({}, {"num_beams": 3}, {"use_cache": False}):
            made = [
                each.generate(ids, attention_mask=mask, max_new_tokens=10, do_sample=False, **more).tolist()
                for each in (model, original)
            ]
            self.assertEqual(made[0], made[1], more)

    def test_parameters_are_torchs_own(self):
        ids, model = ids_of(MOE), self.build(MOE, "sequential_experts")
        with torch.no_grad():
            before = model(ids).logits
            model.model.layers[0].mlp.experts.down_proj.mul_(0.5)  # in place: the plugin reads it
            changed = model(ids).logits
            self.assertGreater(float((changed - before).abs().max()), 1e-3)
            original = reference(MOE)
            original.model.layers[0].mlp.experts.down_proj.mul_(0.5)
            self.assertLessEqual(float((original(ids).logits - changed).abs().max()), TOLERANCE * 12)
            weight = model.model.layers[0].mlp.experts.down_proj
            weight.data = weight.data * 2  # elsewhere: found when it runs
            self.assertLessEqual(float((model(ids).logits - before).abs().max()), TOLERANCE * 12)

    def test_copies_have_tensors_of_their_own(self):
        ids, model = ids_of(LLAMA), self.build(LLAMA, "fused_qkv")
        with torch.no_grad():
            expected = model(ids).logits
            other = copy.deepcopy(model)
            model.model.layers[0].self_attn.q_proj.weight.zero_()
            self.assertTrue(torch.equal(other(ids).logits, expected))

    def test_attention_in_both_directions(self):
        original, model = reference(LLAMA), self.build(LLAMA, "fused_qkv")
        states = torch.randn(1, 5, 64, generator=torch.Generator().manual_seed(3))
        made = []
        with torch.no_grad():
            angles = original.model.rotary_emb(states, torch.arange(5)[None])
            for each in (model, original):
                attention = each.model.layers[0].self_attn
                attention.is_causal = False
                made.append(attention(states, position_embeddings=angles, attention_mask=None)[0])
        self.assertLessEqual(float((made[0] - made[1]).abs().max()), TOLERANCE)

    def test_bfloat16(self):
        ids, model = ids_of(LLAMA), self.build(LLAMA, "fused_qkv", dtype=torch.bfloat16)
        with torch.no_grad():
            made = model(ids).logits
            expected = reference(LLAMA, torch.bfloat16)(ids).logits
        self.assertEqual(made.dtype, torch.bfloat16)
        self.assertLess(float((made - expected).abs().max()), 0.02 * float(expected.abs().max()))

    def test_saved_as_transformers_does(self):
        import tempfile

        model = self.build(MOE, "sequential_experts")
        monkey_patching.clear_patch_mapping()
        with tempfile.TemporaryDirectory() as scratch:
            model.save_pretrained(scratch)
            with graft.from_pretrained(scratch) as native, torch.no_grad():
                logits = torch.as_tensor(native(ids_of(MOE)[0].tolist()).logits)
                self.assertLessEqual(float((model(ids_of(MOE)).logits[0] - logits).abs().max()), TOLERANCE * 12)

    def test_sentinels_of_experts(self):
        model, original = self.build(MOE, "sequential_experts"), reference(MOE)
        states = torch.randn(5, 64, generator=torch.Generator().manual_seed(1))
        index = torch.tensor([[0, 6], [6, 6], [1, 2], [6, 3], [5, 4]])  # there are 6 experts: number 6 is none
        weights = torch.rand(5, 2, generator=torch.Generator().manual_seed(2))
        original.config._experts_implementation = "eager"
        with torch.no_grad():
            made, expected = (each.model.layers[0].mlp.experts(states, index, weights) for each in (model, original))
        self.assertLessEqual(float((made - expected).abs().max()), TOLERANCE)


class WithACache(Patched):
    """Attention that goes on from what it has kept, whatever transformers does with its Cache."""

    def setUp(self):
        super().setUp()
        self.ids, self.original = ids_of(LLAMA), reference(LLAMA)
        self.model = self.build(LLAMA, "fused_qkv")
        self.rows = []
        self.run_module = graft.Model.run_module
        graft.Model.run_module = lambda *args: self.watch(*args)
        self.addCleanup(setattr, graft.Model, "run_module", self.run_module)

    def watch(self, model, path, args):
        if isinstance(args, graft.abi.graft_self_attention_args):
            self.rows.append(args.batch.contents.tokens)
        return self.run_module(model, path, args)

    def both(self, ids, of=None, tolerance=TOLERANCE * 12, **more):
        """Runs both models, each with its cache, and compares the logits."""
        caches = of or (DynamicCache(), DynamicCache())
        with torch.no_grad():
            made, expected = (
                model(ids, past_key_values=cache, **more).logits
                for model, cache in zip((self.model, self.original), caches)
            )
        self.assertLessEqual(float((made - expected).abs().max()), tolerance)
        return caches

    def test_only_new_tokens_are_computed(self):
        self.model.generate(self.ids, max_new_tokens=6, do_sample=False)
        length = self.ids.shape[1]
        self.assertEqual(self.rows, [length] * 2 + [1] * 2 * 5)

    def test_pieces(self):
        caches = self.both(self.ids[:, :3])
        for begin, end in ((3, 4), (4, 9), (9, self.ids.shape[1])):
            self.both(self.ids[:, begin:end], caches)

    def test_crop_and_reset(self):
        caches = self.both(self.ids)
        for cache in caches:
            cache.crop(-4)
        self.both(self.ids[:, 1:3], caches)
        for cache in caches:
            cache.reset()
        self.both(self.ids[:, 2:], caches)

    def test_sequences_reordered_repeated_and_selected(self):
        ids = torch.cat([self.ids, self.ids + 1, self.ids + 2])
        caches = self.both(ids)
        for change in (
            lambda cache: cache.reorder_cache(torch.tensor([2, 0, 2])),
            lambda cache: cache.batch_repeat_interleave(2),
            lambda cache: cache.reorder_cache(torch.tensor([5, 4, 3, 0, 0, 0])),
            lambda cache: cache.batch_select_indices(torch.tensor([4, 1])),
        ):
            for cache in caches:
                change(cache)
            n = caches[0].layers[0].keys.shape[0]
            self.both(torch.arange(7, 7 + 2 * n).view(n, 2), caches)

    def test_copies_of_a_cache(self):
        """A prompt that several others begin with is computed once."""
        begun = self.both(self.ids)
        for token in (3, 4):
            copies = copy.deepcopy(begun)
            for _ in range(3):
                self.both(torch.tensor([[token]]), copies)
        self.both(torch.tensor([[5]]), begun)
        self.assertEqual(self.rows, [self.ids.shape[1]] * 2 + [1] * 2 * 7)

    def test_static_caches(self):
        more = {"max_new_tokens": 8, "do_sample": False, "cache_implementation": "static"}
        made, expected = (each.generate(self.ids, **more).tolist() for each in (self.model, self.original))
        self.assertEqual(made, expected)

    def test_drafts(self):
        more = {"max_new_tokens": 16, "do_sample": False, "prompt_lookup_num_tokens": 3}
        made, expected = (each.generate(self.ids, **more).tolist() for each in (self.model, self.original))
        self.assertEqual(made, expected)

    def test_what_is_kept_goes_with_the_cache(self):
        host = next(m._graft_place[0] for m in self.each_bridge(attached=True))
        kept = host.sequences("model.layers.0.self_attn")._slots
        caches = self.both(self.ids)
        self.assertEqual(len(kept), 1)
        del caches
        gc.collect()
        self.assertEqual(len(kept), 0)

    def each_bridge(self, attached):
        if attached:
            graft.torch.attach(self.model)
        return (m for m in self.model.modules() if isinstance(m, graft.torch.Bridge))

    def test_a_call_that_fails(self):
        cache = self.both(self.ids)[0]
        angles = self.model.model.rotary_emb(torch.zeros(1, 1, 64), torch.tensor([[self.ids.shape[1]]]))
        attention, states = self.model.model.layers[0].self_attn, torch.zeros(1, 1, 64)
        wrong = torch.zeros(1, 1, 1, 3)
        with torch.no_grad():
            with self.assertRaisesRegex(graft.UsageError, "attention_mask: expected"):
                attention(states, angles, wrong, past_key_values=cache)
            with self.assertRaisesRegex(graft.UsageError, "tokens that this module does not know"):
                attention(states, angles, None, past_key_values=cache)

    def test_caches_of_others(self):
        filled = DynamicCache()
        with torch.no_grad():
            self.original(self.ids, past_key_values=filled)
            with self.assertRaisesRegex(graft.UsageError, "tokens that this module does not know"):
                self.model(self.ids, past_key_values=filled)
            mine = DynamicCache()
            self.model(self.ids, past_key_values=mine)
            weight = self.model.model.layers[0].self_attn.q_proj.weight
            weight.data = weight.data * 2  # found elsewhere: nothing is left of what was computed with the old ones
            with self.assertRaisesRegex(graft.UsageError, "parameters that have moved"):
                self.model(self.ids, past_key_values=mine)

    def test_sliding_windows(self):
        config = MistralConfig(
            vocab_size=99, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, sliding_window=5, bos_token_id=None, eos_token_id=None,
        )  # fmt: skip
        ids = torch.randint(99, (2, 9), generator=torch.Generator().manual_seed(4))
        mask = torch.ones_like(ids)
        mask[1, :3] = 0
        original = MistralForCausalLM(config).eval()
        graft.torch.register(PASSES_ON, model_types=["mistral"])
        with monkey_patching.apply_patches():
            model = MistralForCausalLM(config).eval()
        model.load_state_dict(original.state_dict())
        for more in ({}, {"attention_mask": mask}, {"cache_implementation": "static"}):
            more = {"max_new_tokens": 12, "do_sample": False, "pad_token_id": 0, **more}
            made, expected = (each.generate(ids, **more).tolist() for each in (model, original))
            self.assertEqual(made, expected, more)


class InTheirOwnLayout(Patched):
    PLUGINS = ("sequential_experts", "fused_qkv")

    def test_parameters_and_conversions(self):
        import tempfile

        from safetensors.torch import load_file

        ids, original = ids_of(MOE), reference(MOE)
        model = self.build(MOE, *self.PLUGINS, layout="plugin")
        names = dict(model.named_parameters())
        self.assertIn("model.layers.1.self_attn.qkv_proj.weight", names)
        self.assertNotIn("model.layers.1.self_attn.q_proj.weight", names)
        self.assertIsInstance(model.model.layers[1].mlp.experts.get_submodule("5.down_proj"), torch.nn.Linear)
        with torch.no_grad():
            made = model(ids).logits
            self.assertLessEqual(float((made - original(ids).logits).abs().max()), TOLERANCE * 12)
            model.model.layers[1].mlp.experts.get_submodule("5.down_proj").weight.mul_(2)  # read where it is
            self.assertGreater(float((model(ids).logits - made).abs().max()), 1e-4)
            model.model.layers[1].mlp.experts.get_submodule("5.down_proj").weight.div_(2)
        self.assertEqual(plan_of(model)["copied_bytes"], 0)
        with tempfile.TemporaryDirectory() as scratch:
            model.save_pretrained(scratch)
            saved, first = (load_file(os.path.join(each, "model.safetensors")) for each in (scratch, folder(MOE)))
        self.assertEqual(saved.keys(), first.keys())
        self.assertTrue(all(torch.equal(saved[name], first[name]) for name in first))

    def test_unregistering_brings_transformers_conversions_back(self):
        self.build(MOE, *self.PLUGINS, layout="plugin")
        for plugin in self.PLUGINS:
            graft.torch.unregister(plugin)
        with torch.no_grad():
            logits = reference(MOE)(ids_of(MOE)).logits[0]
        with graft.from_pretrained(folder(MOE)) as native:
            here = torch.as_tensor(native(golden(MOE)["input_ids"]).logits)
        self.assertLessEqual(float((here - logits).abs().max()), TOLERANCE * 12)

    def test_built_from_a_config(self):
        graft.torch.register("sequential_experts", model_types=["qwen2_moe"], layout="plugin")
        config = reference(MOE).config
        with monkey_patching.apply_patches(), torch.no_grad():
            model = type(reference(MOE))(config).eval()
            self.assertTrue(torch.isfinite(model(ids_of(MOE)).logits).all())


class Refused(Patched):
    def test_gradients(self):
        model = self.build(LLAMA, "fused_qkv")
        with self.assertRaisesRegex(graft.UsageError, "gradient"):
            model(ids_of(LLAMA))

    def test_shapes_and_types(self):
        """What a module cannot be given does not reach the library, which would read beyond it."""
        model = self.build(MOE, "fused_qkv", "sequential_experts")
        attention, experts = model.model.layers[0].self_attn, model.model.layers[0].mlp.experts
        states = torch.zeros(1, 4, 64)
        angles = model.model.rotary_emb(states, torch.arange(4)[None])
        index, weights = torch.zeros(4, 2, dtype=torch.int64), torch.ones(4, 2)

        def attend(given=states, cos_sin=angles, mask=None):
            return lambda: attention(given, cos_sin, mask)

        cases = (
            (attend(states[..., :63]), r"hidden_states: expected rows of 64, got \[1, 4, 63\]"),
            (attend(states[0]), "hidden_states: expected \\[sequences, tokens, hidden\\]"),
            (attend(states.long()), "hidden_states: expected floats, got torch.int64"),
            (attend(cos_sin=[each[..., :8] for each in angles]), "cos: expected rows of 16"),
            (attend(cos_sin=[each[:, :2] for each in angles]), "position_embeddings: expected"),
            (attend(mask=torch.zeros(1, 4, 4, 4)), "attention_mask: expected"),
            (lambda: experts(states[0, :, :3], index, weights), "hidden_states: expected rows of 64"),
            (lambda: experts(states[0], index[:3], weights[:3]), r"top_k_weights: expected \[4, k\]"),
            (lambda: experts(states[0], index, weights[:3]), r"top_k_weights: expected \[4, k\]"),
            (lambda: experts(states[0], index - 1, weights), "top_k_index: expected numbers of experts"),
        )
        with torch.no_grad():
            attention(states, angles)  # which finds its parameters
            for call, words in cases:
                with self.assertRaisesRegex(graft.UsageError, words):
                    call()
            self.assertEqual(experts(states[0, :0], index[:0], weights[:0]).shape, (0, 64))
            self.assertEqual(attention(states[:0], angles)[0].shape, (0, 4, 64))
            self.assertTrue((experts(states[0], index + 2**32, weights) == 0).all())

    def test_interfaces_by_name(self):
        with self.assertRaisesRegex(graft.UsageError, "decoder_layer/1"):
            graft.torch.register(LAYERS, model_types=["qwen3"])
        with self.assertRaisesRegex(graft.UsageError, "decoder_layer/1"):
            graft.torch.verify(reference(QWEN3), LAYERS)
        self.assertEqual(monkey_patching.get_patch_mapping(), {})

    def test_what_it_replaces_nothing_of(self):
        with self.assertRaisesRegex(graft.UsageError, "replaces no"):
            graft.torch.register("sequential_experts", model_types=["llama"])
        with self.assertRaises(graft.UsageError):
            graft.torch.unregister("sequential_experts")

    def test_modules_outside_a_model(self):
        model = self.build(LLAMA, "fused_qkv")
        attention = copy.deepcopy(model.model.layers[0].self_attn)
        with torch.no_grad(), self.assertRaisesRegex(graft.UsageError, "part of no model"):
            attention(torch.zeros(1, 2, 64))

    def test_attention_of_another_kind(self):
        with self.assertRaisesRegex(graft.UsageError, "BertSelfAttention: is attention without position_embeddings"):
            graft.torch.register("fused_qkv", model_types=["bert"])
        self.assertEqual(monkey_patching.get_patch_mapping(), {})

    def test_layouts(self):
        with self.assertRaisesRegex(graft.UsageError, "layout"):
            graft.torch.register("fused_qkv", layout="other")

    def test_names_that_are_taken(self):
        graft.torch.register("fused_qkv", model_types=["llama"])
        with self.assertRaises(ValueError):
            graft.torch.register(PASSES_ON, model_types=["llama"])
        graft.torch.register(PASSES_ON, model_types=["llama"], overwrite=True)
        graft.torch.unregister(PASSES_ON)
        self.assertEqual(monkey_patching.get_patch_mapping(), {})


class Verify(Patched):
    def test_every_module(self):
        original = reference(MOE)
        for plugin, n in (("sequential_experts", 2), ("fused_qkv", 2)):
            rows = graft.torch.verify(original, plugin, ids_of(MOE))
            self.assertEqual(len(rows), n)
            for row in rows:
                self.assertEqual((row.reason, row.calls), ("", 1))
                self.assertLessEqual(row.difference, TOLERANCE * max(1, row.largest))
                self.assertGreater(row.seconds, 0)

    def test_every_interface(self):
        rows = graft.torch.verify(reference(MOE), PASSES_ON, ids_of(MOE))
        kinds = {row.class_name for row in rows if not row.reason}
        wanted = ("activation", "embedding", "experts", "linear", "mlp", "norm", "router", "self_attention")
        self.assertEqual(kinds, {"PassesOn_" + each for each in wanted})
        for row in rows:
            self.assertLessEqual(row.difference, TOLERANCE * max(1, row.largest), row)

    def test_arguments_of_the_model(self):
        original, ids = reference(LLAMA), ids_of(LLAMA)
        for row in graft.torch.verify(original, "fused_qkv", {"input_ids": ids, "use_cache": True}):
            self.assertLessEqual(row.difference, TOLERANCE * max(1, row.largest))
        with self.assertRaisesRegex(graft.UsageError, "past_key_values"):
            graft.torch.verify(original, "fused_qkv", {"input_ids": ids, "past_key_values": DynamicCache()})

    def test_differences(self):
        original = reference(LLAMA)
        for layer in original.model.layers:
            layer.self_attn.scaling *= 1.5  # what the config does not say
        rows = graft.torch.verify(original, "fused_qkv")
        self.assertTrue(all(row.difference > 1e-3 for row in rows))


class Structs(unittest.TestCase):
    def test_pointers_of_torch(self):
        """The shortest way: a module of a native model over torch's memory."""
        x = torch.randn(3, 64)
        y = torch.empty(3, 112)
        with graft.from_pretrained(folder(LLAMA)) as model:
            args = graft.abi.graft_linear_args(
                struct_size=ctypes.sizeof(graft.abi.graft_linear_args), tokens=3, x=x.data_ptr(), y=y.data_ptr()
            )
            model.run_module("model.layers.0.mlp.up_proj", args)
        weight = reference(LLAMA).model.layers[0].mlp.up_proj.weight
        self.assertLessEqual(float((y - x @ weight.detach().T).abs().max()), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
