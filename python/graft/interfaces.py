# SPDX-License-Identifier: Apache-2.0
"""The arrays that modules of each interface read and write, with their shapes, as the headers' comments give them."""

from __future__ import annotations

import ctypes
import re
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _abi as abi
from ._library import structs

_TYPES = {"float": np.dtype(np.float32), "int32_t": np.dtype(np.int32)}

# How a dimension is called among the arguments that a parent gives, where that is another name.
_ARGUMENTS = {"hidden": "hidden_size"}


class Array(NamedTuple):
    name: str
    dtype: np.dtype
    shape: Tuple[str, ...]
    is_read: bool
    is_written: bool
    is_optional: bool


class Interface(NamedTuple):
    id: str
    vtable: type
    args: type
    arrays: Tuple[Array, ...]
    has_batch: bool

    def inputs(self):
        return [array for array in self.arrays if array.is_read]

    def outputs(self):
        return [array for array in self.arrays if array.is_written]


def _array(interface: str, name: str, kind: str, shape, direction: str, optional: bool) -> Array:
    in_place = direction == "out" and name == "hidden_states" or (interface, name) == ("graft.gated_norm/1", "gate")
    return Array(name, _TYPES[kind], shape, direction == "in" or in_place, direction == "out", optional)


def _make(identifier: str) -> Interface:
    vtable, args, arrays = abi.INTERFACES[identifier]
    fields = {name for name, _ in args._fields_}
    made = tuple(_array(identifier, *array) for array in arrays)
    return Interface(identifier, vtable, args, made, "batch" in fields)


INTERFACES: Dict[str, Interface] = {identifier: _make(identifier) for identifier in abi.INTERFACES}


def size_of(dimension: str, known: Callable[[str], Optional[int]]) -> int:
    """Computes a dimension of a shape, such as "tokens" or "in_channels * patch_size", from sizes by name."""
    result = 1
    for factor in dimension.split("*"):
        name = factor.strip()
        value = int(name) if re.fullmatch(r"\d+", name) else known(name)
        if value is None:
            value = known(_ARGUMENTS.get(name, name))
        if value is None:
            raise KeyError(name)
        result *= int(value)
    return result


class Borrowed:
    """Memory of the library's that arrays have been made over: `in_use` while one of them is alive, or a view of
    one."""

    def __init__(self, memory):
        self._memory = weakref.ref(memory)

    def in_use(self) -> bool:
        return self._memory() is not None

    def when_free(self, function, *arguments) -> None:
        """Calls a function once no array is left."""
        weakref.finalize(self._memory(), function, *arguments)


def view(
    address: int,
    shape: Tuple[int, ...],
    dtype: np.dtype,
    writable: bool,
    keep: Any = None,
    borrowed: Optional[List[Borrowed]] = None,
) -> np.ndarray:
    """Makes an array over memory of the library's, without a copy. The memory has to stay as long as the array: `keep`
    lives as long, and `borrowed` gets an object that tells whether an array over it still lives."""
    count = 1
    for side in shape:
        count *= side
    if count == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    memory.keep = keep  # every view of the array refers to `memory`
    if borrowed is not None:
        borrowed.append(Borrowed(memory))
    array = np.frombuffer(memory, dtype).reshape(shape)
    array.flags.writeable = writable
    return array


def args_dict(args) -> Dict[str, Any]:
    """Arguments that a parent gives (struct graft_args) by their names."""
    result: Dict[str, Any] = {}
    if not args:
        return result
    args = args.contents
    for item in structs(abi.graft_arg, args.items, args.count, args.item_stride):
        name = item.name.decode()
        if item.kind == abi.GRAFT_ARG_INT:
            result[name] = item.integer
        elif item.kind == abi.GRAFT_ARG_REAL:
            result[name] = item.real
        elif item.kind == abi.GRAFT_ARG_STRING:
            result[name] = item.string.decode() if item.string else None
        else:
            result[name] = list((ctypes.c_int64 * item.count).from_address(item.integers)) if item.count else []
    return result


def make_args(values: Dict[str, Any], keep: list):
    """Makes a struct graft_args of arguments by their names; `keep` gets the memory that it points to."""
    items = (abi.graft_arg * max(1, len(values)))()
    for item, (name, value) in zip(items, values.items()):
        item.name = name.encode()
        if isinstance(value, (bool, int, np.integer)):
            item.kind, item.integer = abi.GRAFT_ARG_INT, int(value)
        elif isinstance(value, float):
            item.kind, item.real = abi.GRAFT_ARG_REAL, value
        elif isinstance(value, str):
            item.kind, item.string = abi.GRAFT_ARG_STRING, value.encode()
        else:
            numbers = (ctypes.c_int64 * len(value))(*value)
            keep.append(numbers)
            item.kind, item.count, item.integers = abi.GRAFT_ARG_INTS, len(value), ctypes.addressof(numbers)
    keep.append(items)
    return abi.graft_args(
        struct_size=ctypes.sizeof(abi.graft_args),
        count=len(values),
        items=items,
        item_stride=ctypes.sizeof(abi.graft_arg),
    )
