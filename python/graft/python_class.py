# SPDX-License-Identifier: Apache-2.0
"""Makes a struct graft_class of a subclass of graft.Module; its functions call Python."""

from __future__ import annotations

import ctypes
import gc
import itertools
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _abi as abi
from ._library import call_back, new, text
from .conversions import as_conversions
from .errors import PluginError
from .interfaces import INTERFACES, Array, Borrowed, size_of, view
from .module import Description, Forward, Module


class ClassOf:
    """A subclass of Module as a struct graft_class; lives as long as the library that it is registered with.

    `interfaces` has the interface of each class by its name, and `name` is that of the class that it replaces.
    """

    def __init__(self, python_class, interface: str, interfaces: Dict[str, str]):
        if interface not in INTERFACES:
            raise PluginError(f"Python has no interface {interface}", python_class.__name__)
        self.python_class = python_class
        self.interface = INTERFACES[interface]
        self.interfaces = interfaces
        self.described: Dict[str, str] = {}
        self._keep: List[Any] = []
        self._instances: Dict[int, Module] = {}
        self._numbers = itertools.count(1)
        kinds = dict(abi.graft_class._fields_)
        forward = dict(self.interface.vtable._fields_)["forward"](self._forward)
        # What a call requires, a class that calls its original passes on.
        features = 0xFFFFFFFF if python_class.calls_original else 0
        self.vtable = new(self.interface.vtable, features=features, forward=forward)
        conversions = list(python_class.conversions)
        describe = kinds["describe"](self._describe) if python_class.describe is not None else kinds["describe"](0)
        self.struct = new(
            abi.graft_class,
            name=python_class.__name__.encode(),
            interface_id=interface.encode(),
            describe=describe,
            create=kinds["create"](self._create),
            destroy=kinds["destroy"](self._destroy),
            forward=ctypes.addressof(self.vtable),
            flags=abi.GRAFT_CLASS_CALLS_SUPER if python_class.calls_original else 0,
        )
        if conversions and python_class.describe is None:
            raise PluginError("conversions come with a describe", python_class.__name__)
        if conversions:
            self.struct.conversions = as_conversions(conversions, self._keep)
            self.struct.n_conversions = len(conversions)
            self.struct.conversion_stride = ctypes.sizeof(abi.graft_conversion)

    def _describe(self, cls, config, args, sink, error) -> int:
        def run():
            description = Description(sink, config, args, error, self.described)
            try:
                self.python_class.describe(description)
            finally:
                description.forget()

        return call_back(run, error, text(sink.contents.path))

    def _create(self, cls, build, instance, error) -> int:
        def run():
            made = self.python_class(build.contents, {**self.interfaces, **self.described})
            made.setup()
            number = next(self._numbers)
            self._instances[number] = made
            instance[0] = number

        return call_back(run, error, text(build.contents.path))

    def close(self) -> List[Borrowed]:
        """Called before the model is freed. Returns the weights' memory, which arrays of the user's may still show."""
        instances, self._instances = self._instances, {}
        return [each for made in instances.values() for each in made._close()]

    def _destroy(self, instance) -> None:
        self._instances.pop(instance, None)

    def _forward(self, instance, call, args, error) -> int:
        made = self._instances[instance]
        return call_back(lambda: self._run(made, call, args.contents, error), error, made.path)

    def _run(self, made: Module, call, args, error) -> None:
        borrowed = self._compute(made, call, args, error)
        if any(each.in_use() for each in borrowed):
            gc.collect()  # arrays in a cycle, say
        if any(each.in_use() for each in borrowed):
            raise PluginError(
                "forward kept an array that it was given, or a view of it",
                made.path,
                "keep a copy: the memory is the host's, and other modules write to it",
            )

    def _compute(self, made: Module, call, args, error) -> List[Borrowed]:
        """Calls forward with arrays over the host's memory; returns that memory, so that the caller sees what is
        kept."""
        sizes: Dict[str, int] = {}
        for name, kind in type(args)._fields_:
            if kind is ctypes.c_int64:
                sizes[name] = getattr(args, name)
        if self.interface.has_batch:
            sizes["tokens"] = args.batch.contents.tokens

        def known(name: str) -> Optional[int]:
            return sizes[name] if name in sizes else made._size(name)

        arrays: List[Tuple[Array, np.ndarray]] = []
        borrowed: List[Borrowed] = []
        for array in self.interface.arrays:
            address = getattr(args, array.name)
            if address is not None:
                shape = tuple(size_of(dimension, known) for dimension in array.shape)
                data = view(address, shape, array.dtype, array.is_written, borrowed=borrowed)
                arrays.append((array, data))
        by_name = {array.name: data for array, data in arrays}
        if "residual" in by_name:
            by_name["hidden_states"] += by_name["residual"]
        inputs = [each for each in arrays if each[0].is_read and each[0].name != "residual"]
        outputs = [each for each in arrays if each[0].is_written]
        if len(outputs) > 1:  # a norm's sum with its residual has been made
            outputs = [each for each in outputs if each[0].name != "hidden_states"]
        before = made._forward
        made._forward = Forward(call, args, error, inputs, outputs)
        try:
            result = made.forward(*(data for _, data in inputs))
        finally:
            made._forward = before
        self._store(made, outputs, result)
        return borrowed

    @staticmethod
    def _store(made: Module, outputs, result) -> None:
        results = result if isinstance(result, tuple) else (result,)
        if len(results) != len(outputs):
            names = ", ".join(array.name for array, _ in outputs)
            raise PluginError(f"forward returned {len(results)} arrays, expected {len(outputs)}: {names}", made.path)
        for (array, place), value in zip(outputs, results):
            if np.shape(value) != place.shape:
                raise PluginError(
                    f"forward returned {array.name} of shape {np.shape(value)}, expected {place.shape}", made.path
                )
            place[...] = value
