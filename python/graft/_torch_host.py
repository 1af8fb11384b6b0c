# SPDX-License-Identifier: Apache-2.0
"""A model of Graft over the tensors of a model of transformers: the same config, and for the modules that are run the
same memory."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from typing import Any, Dict, List

import torch

from . import _abi as abi
from ._library import lib, new, text
from ._torch_cache import Sequences
from .errors import UsageError
from .interfaces import args_dict
from .model import Model
from .opening import Library, Plugins

_DTYPES = {
    torch.float32: abi.GRAFT_DTYPE_F32,
    torch.bfloat16: abi.GRAFT_DTYPE_BF16,
    torch.float16: abi.GRAFT_DTYPE_F16,
}


def _check(name: str, tensor: torch.Tensor) -> None:
    if tensor.device.type != "cpu":
        raise UsageError(f"is on {tensor.device}, and Graft computes on the CPU", name)
    if tensor.dtype not in _DTYPES:
        raise UsageError(f"is {tensor.dtype}, expected float32, bfloat16 or float16", name)
    if not tensor.is_contiguous():
        raise UsageError("is not contiguous", name)


class Host:
    """Runs modules of `root` by their paths, through the classes that plugins have for them.

    Parameters of the modules in `paths` are read where torch has them. All others are zeros, the same for all: they
    are not run.
    """

    def __init__(self, root: torch.nn.Module, paths: List[str], plugins: Plugins, plugins_dir=None):
        self.paths = paths
        self.hidden_size = getattr(root.config.get_text_config(), "hidden_size", None)
        modules = dict(root.named_modules())
        self.tensors: Dict[str, torch.Tensor] = {}
        for path in paths:
            for name, tensor in modules[path].named_parameters(prefix=path):
                _check(name, tensor)
                self.tensors[name] = tensor.detach()
        self.pointers = {name: tensor.data_ptr() for name, tensor in self.tensors.items()}
        self._of_path = {path: _below(path, self.pointers) for path in paths}
        self._zeros = torch.zeros(0)
        with tempfile.TemporaryDirectory() as directory:
            self._write_config(root, directory)
            options = new(abi.graft_model_options, precision=abi.GRAFT_PRECISION_FLOAT32, without_weights=1)
            with Model(directory, Library(plugins, plugins_dir), options) as plan:
                given = self._given(plan)
            options.tensors, options.n_tensors = given, len(given)
            self.model = Model(directory, Library(plugins, plugins_dir), options).load()
        self.modules = {module.path: module for module in self.model.named_modules()}
        self.args = {path: _args_of(self.model, path) for path in paths}
        self._sequences: Dict[str, Sequences] = {}

    @staticmethod
    def _write_config(root, directory: str) -> None:
        config: Dict[str, Any] = json.loads(root.config.to_json_string(use_diff=False))
        config["architectures"] = [_original_name(type(root))]
        with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)

    def _is_run(self, name: str) -> bool:
        return any(name.startswith(path + ".") for path in self.paths)

    def _given(self, plan: Model):
        """Torch's tensors, and zeros for the parameters of other modules."""
        others, largest = [], 1
        info = lib.graft_model_plan(plan._open()).contents
        for i in range(info.n_parameters):
            parameter = info.parameters[i].contents
            name, shape = text(parameter.name), tuple(parameter.shape[: parameter.rank])
            if parameter.status != abi.GRAFT_PLANNED_TIED and not self._is_run(name):
                others.append((name, shape))
                largest = max(largest, _product(shape))
        self._zeros = torch.zeros(largest)
        array = (abi.graft_given_tensor * (len(others) + len(self.tensors)))()
        every = [(name, shape, abi.GRAFT_DTYPE_F32, self._zeros.data_ptr()) for name, shape in others]
        every += [(n, tuple(t.shape), _DTYPES[t.dtype], t.data_ptr()) for n, t in self.tensors.items()]
        for made, (name, shape, dtype, address) in zip(array, every):
            made.struct_size = ctypes.sizeof(abi.graft_given_tensor)
            made.name, made.dtype, made.rank, made.data = name.encode(), dtype, len(shape), address
            made.shape[: len(shape)] = shape
        return array

    def is_current(self, path: str, module: torch.nn.Module) -> bool:
        """Whether the module has the parameters that it had, where they were."""
        now = {name: tensor.data_ptr() for name, tensor in module.named_parameters(prefix=path)}
        return now == self._of_path[path]

    def interface(self, path: str) -> str:
        return self.modules[path].interface

    def sequences(self, path: str) -> Sequences:
        """What the attention at a path keeps of earlier tokens."""
        return self._sequences.setdefault(path, Sequences(self.model, path))

    def close(self) -> None:
        self.model.close()


def _args_of(model: Model, path: str) -> Dict[str, Any]:
    found = lib.graft_model_find_module(model._open(), path.encode())
    return args_dict(found.contents.arguments) if found else {}


def _below(path: str, values: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in values.items() if name.startswith(path + ".")}


def _original_name(cls: type) -> str:
    return getattr(cls, "_graft_original", cls).__name__


def _product(shape) -> int:
    result = 1
    for side in shape:
        result *= side
    return result
