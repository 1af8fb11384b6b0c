# SPDX-License-Identifier: Apache-2.0
"""Keys and values of an attention of Graft where transformers has a Cache.

They are in caches of the library, each with slots for sequences. Into transformers' Cache goes a number for each token,
in the place of its key and value, which no other token has. Whatever transformers does with its Cache (reorder beams,
repeat or select sequences, crop, reset, copy) it does with these numbers; they then say which tokens of which slot a
sequence goes on from.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from contextlib import contextmanager
from typing import Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
from transformers import cache_utils

from . import _abi as abi
from ._library import check, lib
from .errors import UsageError
from .model import Model

_NONE = np.zeros(0, np.int64)
_lock = threading.Lock()
_next_number = 1


def _numbers(sequences: int, tokens: int) -> torch.Tensor:
    """Makes numbers that no other token has, growing along each sequence: [sequences, 1, tokens, 1]."""
    global _next_number
    with _lock:
        first = _next_number
        _next_number += sequences * tokens
    return torch.arange(first, first + sequences * tokens).view(sequences, 1, tokens, 1)


class Place(NamedTuple):
    """The slot that holds the earlier tokens of a sequence, and how many they are."""

    slot: int
    length: int  # tokens before the new ones
    kept: int  # of these, the last ones, which transformers' Cache still has: fewer with a sliding window


class Batch(NamedTuple):
    """Where the sequences of one call of an attention are kept."""

    cache: Optional[int]  # the library's: its address; None: nothing is kept
    places: List[Place]
    width: int  # of transformers' masks: what its Cache holds, or has room for


def without_cache(sequences: int, tokens: int) -> Batch:
    return Batch(None, [Place(i, 0, 0) for i in range(sequences)], tokens)


class _Slots:
    """A cache of the library, and the numbers of the tokens in each of its slots."""

    def __init__(self, model: Model, n: int):
        self.pointer = ctypes.c_void_p()
        self.tokens: List[np.ndarray] = [_NONE] * n
        with model._running() as pointer:
            check(lib.graft_model_create_cache, pointer, n, ctypes.byref(self.pointer))
        weakref.finalize(self, lib.graft_cache_free, self.pointer)

    def find(self, past: np.ndarray, without=()) -> Optional[Tuple[int, int]]:
        """Finds a slot whose first tokens end with the numbers `past`; returns the slot and the number of these
        tokens."""
        for slot, tokens in enumerate(self.tokens):
            length = int(np.searchsorted(tokens, past[-1])) + 1
            if slot not in without and past.size <= length <= tokens.size:
                if np.array_equal(tokens[length - past.size : length], past):
                    return slot, length
        return None

    def truncate(self, slot: int, length: int) -> None:
        if length < self.tokens[slot].size:
            self.tokens[slot] = self.tokens[slot][:length]
            check(lib.graft_cache_truncate, self.pointer, slot, length)

    def forget(self, place: Place) -> None:
        """Takes out the tokens of a call that failed: the library may have appended some of them."""
        if lib.graft_cache_truncate(self.pointer, place.slot, place.length, None) != abi.GRAFT_OK:
            self.tokens[place.slot] = _NONE

    def copy(self, source: _Slots, start: int, slot: int, length: int) -> None:
        self.tokens[slot] = _NONE
        check(lib.graft_cache_copy, source.pointer, start, self.pointer, slot, length)
        self.tokens[slot] = source.tokens[start][:length]


class Sequences:
    """The slots of one attention module: a set of them for each Cache of transformers that is alive."""

    def __init__(self, model: Model, path: str):
        self._model, self._path = model, path
        self._slots: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    @contextmanager
    def going_on(self, cache, layer: int, sequences: int, tokens: int) -> Iterator[Batch]:
        """Adds new tokens to transformers' Cache and finds the slots that hold the earlier ones. The caller runs the
        module within the block; then the slots have the new tokens, too."""
        if isinstance(cache, cache_utils.QuantizedCache):
            raise UsageError("a quantized cache of transformers keeps no tokens of Graft's", self._path)
        before = getattr(cache.layers[layer], "keys", None) if layer < len(cache.layers) else None
        if before is not None and before.numel() and before.dtype != torch.int64:
            raise self._unknown()
        added = _numbers(sequences, tokens)
        held = cache.update(added, added, layer)[0]
        rows = [row[row > 0] for row in held[:, 0, :, 0].numpy()]  # a static cache is filled up with zeros
        added_rows = added[:, 0, :, 0].numpy()
        if not all(np.array_equal(row[-tokens:], new) for row, new in zip(rows, added_rows)):
            raise UsageError(f"{type(cache).__name__} does not keep what it is given", self._path)
        with self._lock:
            slots, places = self._find(cache, [row[:-tokens] for row in rows])
            try:
                yield Batch(slots.pointer.value, places, held.shape[2])
            except BaseException:
                for place in places:
                    slots.forget(place)
                raise
            for place, new in zip(places, added_rows):
                slots.tokens[place.slot] = np.concatenate([slots.tokens[place.slot], new])

    def _find(self, cache, pasts: List[np.ndarray]) -> Tuple[_Slots, List[Place]]:
        """Gives each sequence a slot of its own that holds the tokens of its past and no others: the slot that has them
        is cut to length, or copied where several sequences go on from it."""
        own = self._slots.get(cache)
        others = [slots for slots in self._slots.values() if slots is not own]
        slots = own
        if own is None or len(own.tokens) < len(pasts):
            slots = _Slots(self._model, len(pasts))
            others += [own] if own is not None else []
        places: List[Optional[Place]] = [None] * len(pasts)
        taken: dict = {}
        for i, past in enumerate(pasts):  # those that go on where they are
            found = slots.find(past, taken) if past.size else None
            if found is not None:
                taken[found[0]] = i
                places[i] = Place(*found, past.size)
        free = [slot for slot in range(len(slots.tokens)) if slot not in taken]
        for i, past in enumerate(pasts):  # those that begin, or go on from a copy
            if places[i] is None:
                places[i] = self._copied(slots, free.pop(), others, past)
        for place in places:
            slots.truncate(place.slot, place.length)
        self._slots[cache] = slots
        return slots, places

    def _copied(self, slots: _Slots, slot: int, others: List[_Slots], past: np.ndarray) -> Place:
        if not past.size:
            return Place(slot, 0, 0)
        for source in [slots, *others]:
            found = source.find(past)
            if found is not None:
                slots.copy(source, found[0], slot, found[1])
                return Place(slot, found[1], past.size)
        raise self._unknown()

    def _unknown(self) -> UsageError:
        return UsageError(
            "the cache has tokens that this module does not know: of another model, of parameters that have moved "
            "since, or of a call that failed",
            self._path,
            "begin with a new cache",
        )
