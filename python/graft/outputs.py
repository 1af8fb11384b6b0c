# SPDX-License-Identifier: Apache-2.0
"""What models return."""

from __future__ import annotations

import ctypes
import html
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._library import lib, listed, text
from .interfaces import view


class ModelOutput:
    """The results of a forward; those that were not asked for are None.

    Attributes:
        logits: [prompts, tokens, vocabulary] f32 as the input was [prompts, tokens]; [tokens, vocabulary] of one
            prompt; a list of these where prompts differ in length. Classifiers: [prompts, labels].
        last_hidden_state, pooler_output: of models without a head.
        hidden_states: what goes into the first layer, then what comes out of each; the last one after the final norm.
        attentions: of each layer [heads, tokens, tokens].
        router_logits: of each layer with experts [tokens, experts].
    """

    def __init__(self, **values: Any):
        self.logits: Any = None
        self.last_hidden_state: Any = None
        self.pooler_output: Any = None
        self.hidden_states: Optional[Tuple[np.ndarray, ...]] = None
        self.attentions: Optional[Tuple[np.ndarray, ...]] = None
        self.router_logits: Optional[Tuple[np.ndarray, ...]] = None
        self.__dict__.update(values)

    def __repr__(self) -> str:
        return f"ModelOutput({', '.join(name for name, value in self.__dict__.items() if value is not None)})"


class _RecordingMemory:
    def __init__(self, pointer: ctypes.c_void_p):
        self._pointer = pointer

    def __del__(self):
        lib.graft_recording_free(self._pointer)


class Recording:
    """Tensors that the library has recorded, by name, as arrays over its memory, which stays as long as one of them."""

    def __init__(self, pointer: ctypes.c_void_p):
        self._memory = _RecordingMemory(pointer)
        self.tensors: Dict[str, np.ndarray] = {}
        for one in listed(lambda i: lib.graft_recording_at(pointer, i)):
            shape = tuple(one.shape[: one.rank])
            self.tensors[text(one.name)] = view(one.data, shape, np.dtype(np.float32), False, self._memory)

    def numbered(self, prefix: str, suffix: str) -> List[np.ndarray]:
        """The recorded tensors named PREFIX, a number and SUFFIX, in the order of the numbers."""
        found = []
        for name, array in self.tensors.items():
            middle = name[len(prefix) : len(name) - len(suffix)]
            if name == prefix + middle + suffix and middle.isdigit():
                found.append((int(middle), array))
        return [array for _, array in sorted(found, key=lambda item: item[0])]


class ModuleDifference(NamedTuple):
    """A replaced module, compared with its original on the same inputs."""

    path: str
    class_name: str
    original_class: str
    difference: float  # the largest of all calls
    largest: float  # the largest number of the original
    calls: int
    seconds: float  # that all calls took
    original_seconds: float
    reason: str  # why it was not compared, or ""


class Verification(NamedTuple):
    """What `verify` found."""

    modules: List[ModuleDifference]
    difference: float  # of the logits
    largest: float  # of the original's logits
    same_ids: bool  # whether both go on with the same tokens
    passed: bool

    def __bool__(self) -> bool:
        return self.passed


class Plan(Dict[str, Any]):
    """What opening a model decided: the document of `graft plan --json`. A notebook shows the page of
    `graft plan --html`.

    Attributes:
        page: that page, a whole HTML document.
    """

    def __init__(self, document: Mapping[str, Any] = {}, page: str = ""):
        super().__init__(document)
        self.page = page

    def _repr_html_(self) -> Optional[str]:
        if not self.page:
            return None
        # In a frame of its own, as its style is for a whole page.
        return (
            f'<iframe title="plan" srcdoc="{html.escape(self.page)}" sandbox="" '
            'style="width:100%;height:32rem;border:1px solid #8884;resize:vertical"></iframe>'
        )


def compared(comparison) -> List[ModuleDifference]:
    """Reads what a comparison of the library found, a row for each replaced module."""
    result = []
    for one in listed(lambda i: lib.graft_comparison_at(comparison, i)):
        module = one.module.contents
        result.append(
            ModuleDifference(
                text(module.path),
                text(module.class_name),
                text(module.original_class),
                one.outputs.difference,
                one.outputs.value,
                one.calls,
                one.seconds,
                one.original_seconds,
                text(one.reason),
            )
        )
    return result


__all__ = ["ModelOutput", "ModuleDifference", "Plan", "Recording", "Verification", "compared"]
