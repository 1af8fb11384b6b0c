# SPDX-License-Identifier: Apache-2.0
"""Golden checkpoints in transformers, with plugins registered there."""

import unittest

import graft.torch
import torch
from common import folder, golden
from transformers import AutoModelForCausalLM, monkey_patching

MOE, LLAMA, QWEN3, VISION = "plain/qwen2_moe", "plain/llama", "plain/qwen3", "vision/qwen2_vl_two_images"
TOLERANCE = 5e-5


def reference(case, dtype=torch.float32):
    return AutoModelForCausalLM.from_pretrained(folder(case), dtype=dtype).eval()


def ids_of(case):
    return torch.tensor([golden(case)["input_ids"]])


class Patched(unittest.TestCase):
    def setUp(self):
        self.addCleanup(monkey_patching.clear_patch_mapping)
        self.addCleanup(lambda: [graft.torch.unregister(plugin) for plugin in list(graft.torch._registered)])

    def build(self, case, *plugins, dtype=torch.float32, **more):
        for plugin in plugins:
            graft.torch.register(plugin, model_types=[case.split("/")[1]], **more)
        return reference(case, dtype)
