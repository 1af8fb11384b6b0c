# SPDX-License-Identifier: Apache-2.0
"""A low-rank adapter, as PEFT stores it: usage oracle.py MODEL ADAPTER."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from llama import Llama, main, read_tensors


class LowRankAdapter(Llama):
    def __init__(self, model, adapter):
        super().__init__(model)
        with open(os.path.join(adapter, "adapter_config.json")) as file:
            config = json.load(file)
        self.factor = config["lora_alpha"] / config["r"]
        self.adapter = read_tensors(os.path.join(adapter, "adapter_model.safetensors"))

    def linear(self, path, x):
        y, name = super().linear(path, x), f"base_model.model.{path}.lora_%s.weight"
        if name % "A" not in self.adapter:
            return y
        return y + self.factor * (x @ self.adapter[name % "A"].T @ self.adapter[name % "B"].T)


if __name__ == "__main__":
    main(LowRankAdapter)
