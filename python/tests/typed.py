# SPDX-License-Identifier: Apache-2.0
"""What users write, for type checkers: `mypy --strict` has nothing to say of it. It is not run."""

from typing import Any, Dict, List

import graft
import numpy as np


def use(directory: str) -> None:
    options: Dict[str, Any] = {"threads": 1}
    model: graft.Model = graft.from_pretrained(directory, plugins=["fused_qkv"], adapters={"a": "adapter"}, **options)
    with model as m:
        for piece in m.stream("Once upon a time", max_new_tokens=3, temperature=0.5):
            print(piece, end="")
        output: graft.ModelOutput = m([1, 2, 3], output_hidden_states=True)
        states = output.hidden_states
        if states is not None:
            print(states[0].shape, output.logits.shape)
        paths: List[str] = [each.path for each in m.named_modules()]
        plan: Dict[str, Any] = m.plan
        vectors: np.ndarray = m.embed(["one", "two"])
        print(paths, plan["parameters"], vectors[0], m.tokenizer.decode([1]))
        graft.fuse_modules(m, [graft.ModuleSpec("model.layers.*.mlp"), "model.layers.*.norm"])
        found = m.verify([1, 2], max_new_tokens=2)
        if not found.passed:
            print(max(row.difference for row in found.modules))
        m.save_pretrained("saved", max_shard_size="5GB")


class Loud(graft.Module):
    calls_original = True

    def forward(self, hidden_states: np.ndarray) -> np.ndarray:
        return np.asarray(self.original(hidden_states))


class Joined(graft.Module):
    conversions = [
        graft.WeightConverter(["gate.weight", "up.weight"], ["gate_up"], [graft.Concatenate(dim=0)]),
        graft.WeightRenaming("down.weight", "down"),
    ]

    @classmethod
    def describe(cls, d: graft.Description) -> None:
        d.parameter("gate_up", [2, d.args["hidden_size"]])
        d.child("act", "SiLUActivation", "graft.activation/1")

    def setup(self) -> None:
        self.gate_up = self.weight("gate_up")


def main() -> None:
    graft.register_patch_mapping({"LlamaMLP": Loud, "Qwen2MoeExperts": "sequential_experts"}, overwrite=True)
    graft.register_checkpoint_conversion_mapping("llama", [graft.WeightRenaming("a", "b")])
    try:
        with graft.apply_patches():
            use("model")
    except graft.UsageError as error:
        print(error.code, error.source, error.message, error.hint)
