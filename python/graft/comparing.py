# SPDX-License-Identifier: Apache-2.0
"""A model beside the same one without replacements."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List

import numpy as np

from . import _abi as abi
from . import forwards
from . import inputs as given
from ._library import check, lib
from .generation import Generation
from .outputs import Verification, compared


def sample_ids(model, n: int = 16) -> np.ndarray:
    """Token ids for a comparison without a prompt: random, the same each time, and no placeholders of images."""
    special = {lib.graft_model_image_token_id(model._open()), lib.graft_model_video_token_id(model._open())}
    choices = np.setdiff1d(np.arange(model.vocab_size), list(special))
    return np.random.default_rng(0).choice(choices, n)


def original_options(options: abi.graft_model_options) -> abi.graft_model_options:
    """A copy of a model's options without those that replace classes."""
    made = abi.graft_model_options.from_buffer_copy(options)
    made.without_replacements = 1
    made.patch = None
    made.patch_file = None
    made.fusion_config = None
    made.n_kernels = 0
    return made


def compare(model, original, prompt: given.Inputs, new_tokens: int, tolerance: float) -> Verification:
    """Runs a model and its original on a prompt and compares modules, logits (or hidden states) and the next tokens."""
    comparison, found = ctypes.c_void_p(), abi.graft_difference()
    generates = model.task == abi.GRAFT_TASK_CAUSAL_LM
    flat = prompt._replace(is_single=True)
    with model._running() as ours, original._running() as theirs:
        check(lib.graft_model_compare, ours, theirs, len(prompt.ids), ctypes.byref(comparison))
        try:
            a, b = (_run(each, flat, generates) for each in (ours, theirs))
            modules = compared(comparison)
        finally:
            lib.graft_comparison_free(comparison)
        lib.graft_difference_add(ctypes.byref(found), a.ctypes.data, b.ctypes.data, a.size)
        same = not generates or not new_tokens or _say_the_same(model, (ours, theirs), prompt, new_tokens)
    limit = lib.graft_difference_limit(ctypes.byref(found), tolerance)
    return Verification(modules, found.difference, found.value, same, same and found.difference <= limit)


def _run(pointer, prompt: given.Inputs, generates: bool) -> np.ndarray:
    if generates:
        return forwards.logits(pointer, prompt).logits
    output = forwards.encode(pointer, prompt, None, lib.graft_model_task(pointer))
    return output.logits if output.logits is not None else output.last_hidden_state


def _say_the_same(model, pointers, prompt: given.Inputs, new_tokens: int) -> bool:
    greedy: Dict[str, Any] = {"max_new_tokens": new_tokens, "do_sample": False, "num_beams": 1, "ignore_eos": 1}
    said = []
    for pointer in pointers:
        with Generation(pointer, dict(greedy)) as settings:
            sequences: List[List[int]] = [[] for _ in prompt.ids]
            model._generate(pointer, given.prompts(prompt.ids), settings, sequences, None)
            said.append(sequences)
    return said[0] == said[1]
