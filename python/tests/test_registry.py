# SPDX-License-Identifier: Apache-2.0
"""The patch mapping, conversions, and classes in Python."""

import gc
import unittest

import graft
import numpy as np
from common import close_to, folder, golden, tensors

LLAMA = "plain/llama"
MOE = "plain/qwen2_moe"


class GatedMLP(graft.Module):
    """With the children of the class that it replaces."""

    def forward(self, hidden_states):
        gate = self.child("gate_proj")(hidden_states)
        up = self.child("up_proj")(hidden_states)
        return self.child("down_proj")(gate / (1 + np.exp(-gate)) * up)


class FusedMLP(graft.Module):
    """With parameters of its own, and conversions to them."""

    conversions = [
        graft.WeightConverter(["gate_proj.weight", "up_proj.weight"], ["gate_up_proj"], [graft.Concatenate(dim=0)]),
        graft.WeightRenaming("down_proj.weight", "down"),
    ]

    @classmethod
    def describe(cls, d):
        hidden, inner = d.args["hidden_size"], d.args["intermediate_size"]
        d.parameter("gate_up_proj", [2 * inner, hidden])
        d.parameter("down", [hidden, inner])

    def setup(self):
        self.gate_up, self.down = self.weight("gate_up_proj"), self.weight("down")

    def forward(self, hidden_states):
        gate, up = np.split(hidden_states @ self.gate_up.T, 2, axis=-1)
        return (gate / (1 + np.exp(-gate)) * up) @ self.down.T


class Norm(graft.Module):
    def forward(self, hidden_states):
        eps = self.config["rms_norm_eps"]
        scale = 1 / np.sqrt((hidden_states**2).mean(-1, keepdims=True) + eps)
        return hidden_states * scale * self.weight("weight")


class Layer(graft.Module):
    """Calls nothing: the layer is left out."""

    def forward(self, hidden_states, *angles):
        return hidden_states


class Counted(graft.Module):
    """Does what the original does, and counts."""

    calls_original = True
    calls = 0

    def forward(self, *arrays):
        Counted.calls += 1
        return self.original(*arrays)


class Faulty(graft.Module):
    def forward(self, hidden_states):
        raise RuntimeError("an idea that did not work")


class WrongShape(graft.Module):
    def forward(self, hidden_states):
        return hidden_states[:, :3]


class Clean(unittest.TestCase):
    def setUp(self):
        self.addCleanup(graft.clear_patch_mapping)


class Mapping(Clean):
    def test_plugins_by_id_and_classes_by_name(self):
        graft.register_patch_mapping({"Qwen2MoeExperts": "sequential_experts", "Attention$": "fused_qkv"})
        with graft.from_pretrained(folder(MOE)) as model:
            classes = {each.class_name for each in model.named_modules()}
            self.assertTrue(model.verify())
        self.assertIn("ModuleListExperts", classes)
        self.assertIn("FusedQKVAttention", classes)
        graft.unregister_patch_mapping(["Attention$"])
        with graft.from_pretrained(folder(MOE), load=False) as model:
            self.assertNotIn("FusedQKVAttention", {each.class_name for each in model.named_modules()})

    def test_a_plugin_named_by_the_mapping_replaces_nothing_else(self):
        graft.register_patch_mapping({"LlamaAttention": "fused_qkv"})
        with graft.from_pretrained(folder(MOE), load=False) as model:
            self.assertNotIn("FusedQKVAttention", {each.class_name for each in model.named_modules()})

    def test_it_is_transformers_mapping(self):
        graft.register_patch_mapping({"LlamaMLP": GatedMLP})
        self.assertEqual(graft.get_patch_mapping(), {"LlamaMLP": GatedMLP})
        with self.assertRaises(ValueError):
            graft.register_patch_mapping({"LlamaMLP": FusedMLP})
        graft.register_patch_mapping({"LlamaMLP": FusedMLP}, overwrite=True)
        with self.assertRaises(ValueError):
            graft.unregister_patch_mapping(["LlamaMLP", "unknown"])
        self.assertEqual(graft.get_patch_mapping(), {"LlamaMLP": FusedMLP})
        with self.assertRaises(TypeError):
            graft.register_patch_mapping({"LlamaMLP": dict})
        graft.clear_patch_mapping()
        self.assertEqual(graft.get_patch_mapping(), {})

    def test_scopes(self):
        graft.register_patch_mapping({"^Llama.*MLP$": GatedMLP})
        self.assertEqual(graft.class_named("LlamaMLP"), "LlamaMLP")
        with graft.apply_patches():
            graft.clear_patch_mapping()
            self.assertIs(graft.class_named("LlamaMLP"), GatedMLP)
            self.assertEqual(graft.class_named("Qwen2MLP"), "Qwen2MLP")
        self.assertEqual(graft.class_named("LlamaMLP"), "LlamaMLP")

    def test_unknown_names(self):
        for mapping in ({"LlamaMLP": "NoSuchClass"}, {"NoSuchMLP": GatedMLP}, {"LlamaMLP": "fused_qkv"}):
            graft.register_patch_mapping(mapping)
            with self.assertRaises(graft.GraftError):
                graft.from_pretrained(folder(LLAMA))
            graft.clear_patch_mapping()


class PythonClasses(Clean):
    def check(self, case, mapping, n):
        graft.register_patch_mapping(mapping)
        with graft.from_pretrained(folder(case)) as model:
            found = model.verify(max_new_tokens=3)
            logits = model(golden(case)["input_ids"]).logits
        self.assertTrue(found, found)
        self.assertEqual(len(found.modules), n)
        self.assertTrue(close_to(logits, tensors(case)["logits"][0]))

    def test_children_of_the_original(self):
        self.check(LLAMA, {"LlamaMLP": GatedMLP}, 2)

    def test_parameters_of_their_own(self):
        self.check(LLAMA, {"LlamaMLP": FusedMLP}, 2)

    def test_norms_with_residuals(self):
        self.check(LLAMA, {"LlamaRMSNorm": Norm}, 5)

    def test_beside_plugins(self):
        self.check(MOE, {"Qwen2MoeExperts": "sequential_experts", "MLP$": GatedMLP}, 4)

    def test_the_original_is_called(self):
        for case, mapping, n in (
            (LLAMA, {"LlamaAttention": Counted}, 2),
            (LLAMA, {"^LlamaDecoderLayer$": Counted}, 2),
            (LLAMA, {"LlamaRMSNorm": Counted}, 5),
            (LLAMA, {"LlamaRotaryEmbedding": Counted}, 1),
            (LLAMA, {"Linear": Counted, "SiLUActivation": Counted}, 17),
            (MOE, {"Qwen2MoeExperts": Counted, "Qwen2MoeTopKRouter": Counted, "MLP$": Counted}, 6),
            ("plain/gemma2", {"Gemma2Attention": Counted}, 3),  # softcap: a feature that it passes on
        ):
            Counted.calls = 0
            self.check(case, mapping, n)
            self.assertGreaterEqual(Counted.calls, n)
            graft.clear_patch_mapping()

    def test_the_original_changed(self):
        class Doubled(graft.Module):
            calls_original = True

            def forward(self, hidden_states):
                before = hidden_states.copy()
                made = self.original(hidden_states * 2)
                assert (hidden_states == before).all()
                return made / 2

        graft.register_patch_mapping({"Linear": Doubled})
        with graft.from_pretrained(folder(LLAMA)) as model:
            self.assertTrue(model.verify(max_new_tokens=1))

    def test_the_original_misused(self):
        class Without(graft.Module):
            def forward(self, hidden_states):
                return self.original(hidden_states)

        class Few(Counted):
            def forward(self, *arrays):
                return self.original()

        class Other(Counted):
            def forward(self, hidden_states):
                return self.original(hidden_states[:, :3])

        class Early(Counted):
            def setup(self):
                self.original()

        for replacement, words in (
            (Without, "calls_original = True"),
            (Few, "original takes 1 arrays, got 0"),
            (Other, r"hidden_states: expected \(2, 64\), got \(2, 3\)"),
            (Early, "outside forward"),
        ):
            graft.register_patch_mapping({"LlamaMLP": replacement}, overwrite=True)
            with self.assertRaisesRegex(graft.PluginError, words):
                with graft.from_pretrained(folder(LLAMA)) as model:
                    model([1, 2])

    def test_arrays_that_are_kept(self):
        kept = []

        class Keeps(Counted):
            def setup(self):
                self.kept = kept

            def forward(self, hidden_states):
                self.kept.append(hidden_states[1:])
                return hidden_states

        graft.register_patch_mapping({"LlamaMLP": Keeps})
        with graft.from_pretrained(folder(LLAMA)) as model:
            with self.assertRaisesRegex(graft.PluginError, "layers.0.mlp: forward kept an array"):
                model([1, 2, 3])
            kept.clear()

    def test_weights_that_are_kept(self):
        """They stay as long as the model, and longer if somebody has them."""
        kept = []

        class Scale(Norm):
            @classmethod
            def describe(cls, d):
                d.parameter("weight", [d.args["hidden_size"]])
                kept.append(d)

            def setup(self):
                kept.append(self.weight("weight")[:8])

        graft.register_patch_mapping({"LlamaRMSNorm": Scale})
        with graft.from_pretrained(folder(LLAMA)) as model:
            arrays = [each for each in kept if isinstance(each, np.ndarray)]
            expected = [each.copy() for each in arrays]
        del model
        gc.collect()
        self.assertEqual(len(arrays), 5)
        for array, values in zip(arrays, expected):
            self.assertTrue((array == values).all())
        with self.assertRaisesRegex(graft.UsageError, "hidden_size: the config is read after"):
            kept[0].config["hidden_size"]

    def test_interrupts_in_forward(self):
        class Interrupted(graft.Module):
            def forward(self, hidden_states):
                raise KeyboardInterrupt

        graft.register_patch_mapping({"LlamaMLP": Interrupted})
        with graft.from_pretrained(folder(LLAMA)) as model, self.assertRaises(KeyboardInterrupt):
            model([1, 2])

    def test_differences_are_found(self):
        graft.register_patch_mapping({"LlamaDecoderLayer": Layer})
        with graft.from_pretrained(folder(LLAMA)) as model:
            found = model.verify()
        self.assertFalse(found)
        self.assertGreater(found.modules[0].difference, 0.01)

    def test_what_forward_raises(self):
        graft.register_patch_mapping({"LlamaMLP": Faulty})
        with graft.from_pretrained(folder(LLAMA)) as model, self.assertRaises(graft.PluginError) as caught:
            model([1, 2])
        self.assertEqual(caught.exception.source, "model.layers.0.mlp")
        self.assertIsInstance(caught.exception.__cause__, RuntimeError)

    def test_shapes_are_checked(self):
        graft.register_patch_mapping({"LlamaMLP": WrongShape})
        with graft.from_pretrained(folder(LLAMA)) as model, self.assertRaisesRegex(graft.PluginError, "shape"):
            model([1, 2])

    def test_saved_in_the_original_layout(self):
        import tempfile

        graft.register_patch_mapping({"LlamaMLP": FusedMLP})
        with tempfile.TemporaryDirectory() as scratch:
            with graft.from_pretrained(folder(LLAMA)) as model:
                model.save_pretrained(scratch)
            saved, first = (tensors(each, "model.safetensors") for each in (scratch, LLAMA))
        self.assertEqual(saved.keys(), first.keys())
        self.assertTrue(all((saved[name] == first[name]).all() for name in first))


class Conversions(Clean):
    def test_a_list_for_a_model_type(self):
        import os
        import shutil
        import tempfile

        names = [graft.WeightRenaming("decoder.blocks", "model.layers")]
        with tempfile.TemporaryDirectory() as scratch:
            moved = os.path.join(scratch, "moved")
            shutil.copytree(folder(LLAMA), moved)
            file = os.path.join(moved, "model.safetensors")
            with open(file, "rb") as opened:
                data = opened.read()
            length = int.from_bytes(data[:8], "little")
            header = data[8 : 8 + length].rstrip().replace(b'"model.layers', b'"decoder.blocks')
            header += b" " * (-len(header) % 8)
            with open(file, "wb") as opened:
                opened.write(len(header).to_bytes(8, "little") + header + data[8 + length :])
            with self.assertRaises(graft.ModelError):
                graft.from_pretrained(moved)
            graft.register_checkpoint_conversion_mapping("llama", names)
            try:
                with graft.from_pretrained(moved) as model:
                    logits = model(golden(LLAMA)["input_ids"]).logits
                with self.assertRaises(ValueError):
                    graft.register_checkpoint_conversion_mapping("llama", names)
                self.assertEqual(graft.get_checkpoint_conversion_mapping("llama"), names)
            finally:
                graft.unregister_checkpoint_conversion_mapping("llama")
        self.assertTrue(close_to(logits, tensors(LLAMA)["logits"][0]))
        self.assertIsNone(graft.get_checkpoint_conversion_mapping("llama"))


if __name__ == "__main__":
    unittest.main()
