# SPDX-License-Identifier: Apache-2.0
"""Forwards of a model: numpy allocates the arrays, and the library fills them."""

from __future__ import annotations

import ctypes

import numpy as np

from . import _abi as abi
from . import inputs as given
from ._library import check, lib, new
from .errors import UsageError
from .outputs import ModelOutput, Recording


def shaped(array: np.ndarray, prompt: given.Inputs):
    """Views of an array with a row for each token, in the shape of the input: [tokens], [prompts, tokens] or a list."""
    if prompt.is_single:
        return array
    if prompt.is_even:
        return array.reshape(len(prompt.ids), -1, array.shape[-1])
    return np.split(array, np.cumsum([ids.size for ids in prompt.ids])[:-1])


def logits(model, prompt: given.Inputs) -> ModelOutput:
    rows = sum(ids.size for ids in prompt.ids)
    logits = np.empty((rows, lib.graft_model_vocab_size(model)), np.float32)
    prompts = given.prompts(prompt.ids)
    check(lib.graft_model_logits, model, prompts, len(prompts), logits.ctypes.data)
    return ModelOutput(logits=shaped(logits, prompt))


def encode(model, prompt: given.Inputs, token_type_ids, task: int) -> ModelOutput:
    info = new(abi.graft_encoder_info)
    lib.graft_model_encoder_info(model, ctypes.byref(info))
    types = None
    if token_type_ids is not None:
        types = given.read(token_type_ids, None).ids
        if [len(each) for each in types] != [len(ids) for ids in prompt.ids]:
            raise UsageError("token_type_ids: expected one for each id")
    prompts = given.encoder_prompts(prompt.ids, types)
    rows = sum(ids.size for ids in prompt.ids)
    outputs = new(abi.graft_encoder_outputs)
    hidden = np.empty((rows, info.hidden_size), np.float32)
    outputs.last_hidden_state = hidden.ctypes.data
    result = ModelOutput()
    if task == abi.GRAFT_TASK_FEATURES and info.has_pooler:
        result.pooler_output = np.empty((len(prompt.ids), info.hidden_size), np.float32)
        outputs.pooler_output = result.pooler_output.ctypes.data
    all_rows = np.arange(rows, dtype=np.int32)
    logits = None
    if task == abi.GRAFT_TASK_MASKED_LM:
        logits = np.empty((rows, lib.graft_model_vocab_size(model)), np.float32)
        outputs.rows, outputs.n_rows = all_rows.ctypes.data, rows
    elif task == abi.GRAFT_TASK_SEQUENCE_CLASSIFICATION:
        logits = np.empty((len(prompt.ids), info.n_labels), np.float32)
    elif task in (abi.GRAFT_TASK_TOKEN_CLASSIFICATION, abi.GRAFT_TASK_QUESTION_ANSWERING):
        logits = np.empty((rows, info.n_labels), np.float32)
    if logits is not None:
        outputs.logits = logits.ctypes.data
    check(lib.graft_model_encode, model, prompts, len(prompts), ctypes.byref(outputs))
    result.last_hidden_state = shaped(hidden, prompt)
    if logits is not None:
        by_token = task != abi.GRAFT_TASK_SEQUENCE_CLASSIFICATION
        result.logits = shaped(logits, prompt) if by_token else logits
    return result


def record(model, prompt: given.Inputs, what: int, task: int, output: ModelOutput) -> None:
    pointer = ctypes.c_void_p()
    if task == abi.GRAFT_TASK_CAUSAL_LM:
        prompts = given.prompts(prompt.ids)
        check(lib.graft_model_record, model, prompts, len(prompts), what, ctypes.byref(pointer))
    else:
        prompts = given.encoder_prompts(prompt.ids)
        check(lib.graft_model_record_encoder, model, prompts, len(prompts), what, ctypes.byref(pointer))
    recording = Recording(pointer)
    several = len(prompt.ids) > 1
    each = [recorded(recording, f".{i}" if several else "", what) for i in range(len(prompt.ids))]
    names = ("hidden_states", "attentions", "router_logits")
    for name, values in zip(names, zip(*each)):
        if values[0] is not None:
            setattr(output, name, values[0] if prompt.is_single else list(values))


def recorded(recording: Recording, suffix: str, what: int):
    hidden = attentions = routers = None
    if what & abi.GRAFT_RECORD_HIDDEN_STATES:
        layers = recording.numbered("hidden_states.layer.", suffix)
        final = recording.tensors.get("hidden_states.final_norm" + suffix)
        hidden = (recording.tensors["hidden_states.embeddings" + suffix], *layers)
        if final is not None:
            hidden = (*hidden[:-1], final)
    if what & abi.GRAFT_RECORD_ATTENTIONS:
        attentions = tuple(recording.numbered("attentions.", suffix))
    if what & abi.GRAFT_RECORD_ROUTER_LOGITS:
        routers = tuple(recording.numbered("router.", ".logits" + suffix))
    return hidden, attentions, routers
