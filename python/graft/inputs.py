# SPDX-License-Identifier: Apache-2.0
"""What models are given: ids, texts or conversations, as the library wants them."""

from __future__ import annotations

import ctypes
from typing import Any, List, Mapping, NamedTuple, Optional

import numpy as np

from . import _abi as abi
from .arguments import spelled
from .errors import UsageError


class Inputs(NamedTuple):
    ids: List[np.ndarray]  # of each prompt: int32
    is_text: bool  # what is generated is text, too
    is_single: bool  # one prompt, not a list of them
    is_even: bool  # an array [prompts, tokens]


def one(ids: Any) -> np.ndarray:
    """The ids of one prompt as the library takes them."""
    array = np.ascontiguousarray(ids)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise UsageError(f"token ids: expected integers, got {array.dtype}")
    if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
        raise UsageError("token ids: one of them has more than 32 bits")
    return np.ascontiguousarray(array.reshape(-1), np.int32)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value


def _masked(inputs: Mapping[str, Any]) -> Inputs:
    """Reads what tokenizers of transformers return: ids, of which the mask leaves out the padding."""
    made = read(inputs["input_ids"], None)
    mask = inputs.get("attention_mask")
    if mask is None:
        return made
    rows = [np.asarray(row, bool).reshape(-1) for row in ([mask] if made.is_single else mask)]
    if [row.size for row in rows] != [each.size for each in made.ids]:
        raise UsageError("attention_mask: expected one number for each id")
    ids = [np.ascontiguousarray(each[row]) for each, row in zip(made.ids, rows)]
    return made._replace(ids=ids, is_even=made.is_even and all(row.all() for row in rows))


def read(inputs: Any, tokenizer, **chat: Any) -> Inputs:
    """Ids [tokens] or [prompts, tokens] (arrays, tensors or lists, ragged ones too), a text or several, a conversation
    (a list of messages) or several, or a mapping with input_ids and attention_mask."""
    if isinstance(inputs, str):
        return Inputs([one(tokenizer().encode(inputs))], True, True, False)
    if isinstance(inputs, Mapping):
        if "input_ids" not in inputs:
            raise UsageError(f"inputs: expected input_ids, got {', '.join(map(str, inputs)) or 'nothing'}")
        return _masked(inputs)
    if isinstance(inputs, (bytes, bytearray, set, frozenset)) or not hasattr(inputs, "__iter__"):
        raise TypeError(f"inputs: expected texts, conversations or token ids, got {type(inputs).__name__}")
    if not hasattr(inputs, "__array__"):
        inputs = list(inputs)
        if inputs and isinstance(inputs[0], str):
            return Inputs([one(tokenizer().encode(each)) for each in inputs], True, False, False)
        if any(isinstance(each, str) for each in inputs):
            raise TypeError("inputs: texts and others in one list")
        if inputs and _is_message(inputs[0]):
            return Inputs([_messages(inputs, tokenizer, chat)], True, True, False)
        if inputs and isinstance(inputs[0], (list, tuple)) and inputs[0] and _is_message(inputs[0][0]):
            return Inputs([_messages(each, tokenizer, chat) for each in inputs], True, False, False)
        if inputs and np.ndim(inputs[0]) == 1:
            ids = [one(each) for each in inputs]
            return Inputs(ids, False, False, len({each.size for each in ids}) == 1)
    array = np.asarray(inputs)
    if array.ndim == 2:
        return Inputs([one(row) for row in array], False, False, True)
    if array.ndim != 1:
        raise UsageError(f"token ids: expected [tokens] or [prompts, tokens], got {array.ndim} dimensions")
    return Inputs([one(array)], False, True, False)


def _messages(messages, tokenizer, chat: Mapping[str, Any]) -> np.ndarray:
    return one(tokenizer().apply_chat_template(messages, add_generation_prompt=True, **chat))


def prompts(ids: List[np.ndarray], adapter: Optional[str] = None):
    """Makes an array of struct graft_prompt over ids."""
    result = (abi.graft_prompt * len(ids))()
    for prompt, each in zip(result, ids):
        prompt.struct_size = ctypes.sizeof(abi.graft_prompt)
        prompt.ids = each.ctypes.data
        prompt.count = each.size
        if adapter is not None:
            prompt.adapter = spelled(adapter, "adapter")
    return result


def encoder_prompts(ids: List[np.ndarray], types: Optional[List[np.ndarray]] = None):
    """Makes an array of struct graft_encoder_prompt over ids, with a type for each id if there are types."""
    result = (abi.graft_encoder_prompt * len(ids))()
    for i, (prompt, each) in enumerate(zip(result, ids)):
        prompt.struct_size = ctypes.sizeof(abi.graft_encoder_prompt)
        prompt.ids = each.ctypes.data
        prompt.count = each.size
        if types is not None:
            prompt.token_type_ids = types[i].ctypes.data
    return result
