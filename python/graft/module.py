# SPDX-License-Identifier: Apache-2.0
"""Classes of modules in Python: slow, for trying an idea before it becomes a plugin.

    class Doubled(graft.Module):
        def forward(self, hidden_states):
            gate = self.child("gate_proj")(hidden_states)
            up = self.child("up_proj")(hidden_states)
            return self.child("down_proj")(gate / (1 + np.exp(-gate)) * up)

    graft.register_patch_mapping({"LlamaMLP": Doubled})

A class without `describe` has the parameters and children of the class that it replaces, and its conversions.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from ._library import Recorded, new, structs, text
from .conversions import WeightTransform
from .errors import PluginError, UsageError
from .interfaces import INTERFACES, Array, Borrowed, Interface, args_dict, make_args, size_of, view

_INITS = {None: "NONE", "none": "NONE", "zeros": "ZEROS", "ones": "ONES", "absent": "ABSENT"}
_DTYPES = {abi.GRAFT_DTYPE_F32: np.float32, abi.GRAFT_DTYPE_F16: np.float16, abi.GRAFT_DTYPE_F64: np.float64}


def copied(pointer):
    """Copies a pointer that is a field of a struct: ctypes would read the field again at each use."""
    return ctypes.cast(pointer, type(pointer))


class Config:
    """config.json as the host reads it, by dotted paths: `config["hidden_size"]`,
    `config.get("rope_scaling.factor")`."""

    def __init__(self, pointer):
        self._pointer = pointer

    def forget(self) -> None:
        """Called when the library's struct is about to be freed: reading is an error from now on."""
        self._pointer = None

    def get(self, path: str, default: Any = None) -> Any:
        """The value of a field; `default` where there is none, or null."""
        if self._pointer is None:
            raise UsageError("the config is read after the model was closed, or after `describe`", path)
        config = self._pointer.contents
        name = path.encode()
        kind = config.kind(config.data, name)
        if kind == abi.GRAFT_FIELD_BOOL:
            return bool(config.integer(config.data, name))
        if kind == abi.GRAFT_FIELD_INT:
            return config.integer(config.data, name)
        if kind == abi.GRAFT_FIELD_REAL:
            return config.real(config.data, name)
        if kind == abi.GRAFT_FIELD_STRING:
            return text(config.string(config.data, name))
        if kind == abi.GRAFT_FIELD_ARRAY:
            return [self.get(f"{path}.{i}") for i in range(config.size(config.data, name))]
        if kind == abi.GRAFT_FIELD_OBJECT:
            keys = [text(config.key(config.data, name, i)) for i in range(config.size(config.data, name))]
            return {key: self.get(f"{path}.{key}") for key in keys}
        return default

    def __getitem__(self, path: str) -> Any:
        value = self.get(path)
        if value is None:
            raise PluginError(f"{path}: missing", text(self._pointer.contents.file))
        return value


class Description:
    """What `describe` is given, to tell the host which parameters and children an instance has.

    Attributes:
        args: what the parent gives, by name.
        config: config.json.
        path: of the module, "model.layers.0.mlp".
    """

    def __init__(self, sink, config, args, error, classes: Dict[str, str]):
        self._sink = sink.contents
        self._error = error
        self._classes = classes
        self.args: Dict[str, Any] = args_dict(args)
        self.config = Config(config)
        self.path = text(self._sink.path)

    def forget(self) -> None:
        """Called when `describe` has returned: the library's structs are valid no longer."""
        self._sink = None
        self.config.forget()

    def _do(self, status: int) -> None:
        if status != abi.GRAFT_OK:
            raise Recorded(status)

    def parameter(self, name: str, shape: Sequence[int], init: Optional[str] = None, contiguous: bool = True) -> None:
        """Declares a parameter. `init`: what it is where the checkpoint has nothing: zeros, ones, absent; None: an
        error."""
        info = new(abi.graft_parameter_info, name=name.encode(), rank=len(shape))
        info.init = getattr(abi, "GRAFT_INIT_" + _INITS[init])
        info.shape[: len(shape)] = list(shape)
        info.flags = abi.GRAFT_PARAMETER_CONTIGUOUS if contiguous else 0
        self._do(self._sink.parameter(self._sink.data, ctypes.byref(info), self._error))

    def child(self, name: str, class_name: str, interface: str, **args: Any) -> None:
        """Declares a child:

        >>> d.child("up_proj", "Linear", "graft.linear/1", in_features=8, out_features=16, bias=0)
        """
        keep: List[Any] = []
        given = make_args(args, keep)
        info = new(
            abi.graft_child_info,
            name=name.encode(),
            class_name=class_name.encode(),
            interface_id=interface.encode(),
            args=ctypes.pointer(given),
        )
        self._classes[class_name] = interface
        self._do(self._sink.child(self._sink.data, ctypes.byref(info), self._error))

    def attribute(self, name: str, *values: int) -> None:
        """A fact about the module under its field name in transformers."""
        numbers = (ctypes.c_int64 * len(values))(*values)
        self._do(
            self._sink.attribute(self._sink.data, name.encode(), ctypes.addressof(numbers), len(values), self._error)
        )

    def base(self, **more: Any) -> None:
        """Declares what the class that this one replaces does; `more` goes before the parent's arguments."""
        keep: List[Any] = []
        given = make_args(more, keep)
        self._do(self._sink.base(self._sink.data, ctypes.pointer(given) if more else None, self._error))


class Child:
    """A module below this one: called with numpy arrays, it returns one (or a tuple)."""

    def __init__(self, pointer, interface: Interface, args: Dict[str, Any], owner: Module):
        self._pointer = pointer
        self._interface = interface
        self._args = args
        self._owner = owner
        self.path = text(pointer.contents.path)
        self.class_name = text(pointer.contents.class_name)

    def __call__(self, *inputs: np.ndarray, **fields: int) -> Union[np.ndarray, Tuple[np.ndarray, ...]]:
        forward = self._owner._forward
        if forward is None:
            raise PluginError("a child is called outside forward", self.path)
        call, error = forward.call, forward.error
        args = new(self._interface.args)
        sizes = dict(self._args, **fields)
        keep, outputs = [], []
        wanted = self._interface.inputs()
        rows = np.asarray(inputs[0]).size if wanted[0].shape == ("count",) else len(inputs[0])
        for name, kind in self._interface.args._fields_:
            if name in fields:
                setattr(args, name, fields[name])
            elif kind is ctypes.c_int64 and name == wanted[0].shape[0]:
                setattr(args, name, rows)
                sizes[name] = rows
        for array, given in zip(wanted, inputs):
            data = np.ascontiguousarray(given, array.dtype)
            if array.is_written:
                data = data.copy()
            keep.append(data)
            setattr(args, array.name, data.ctypes.data)
        for array in self._interface.outputs():
            if array.is_read:
                outputs += [keep[wanted.index(array)]] if len(self._interface.outputs()) == 1 else []
                continue
            shape = tuple(size_of(d, lambda name: sizes.get(name, self._owner._size(name))) for d in array.shape)
            made = np.empty(shape, array.dtype)
            outputs.append(made)
            setattr(args, array.name, made.ctypes.data)
        run_forward(self._pointer, call, args, error)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def run_forward(module, call, args, error) -> None:
    """Calls the forward of a struct graft_module, as graft_module_forward does."""
    context = call.contents
    mark = context.scratch_mark(context.scratch)
    running = None
    if context.running:
        running = copied(context.running[0])
        context.running[0] = module
    try:
        vtable = ctypes.cast(module.contents.forward, ctypes.POINTER(abi.graft_vtable)).contents
        status = vtable.forward(module.contents.instance, call, ctypes.addressof(args), error)
    finally:
        context.scratch_release(context.scratch, mark)
        if context.running:
            context.running[0] = running
    if status != abi.GRAFT_OK:
        raise Recorded(status)


class Forward(NamedTuple):
    """One call of the forward of a Python class: what the library passed, and the arrays made of it."""

    call: Any
    args: Any  # the struct of the interface
    error: Any
    inputs: List[Tuple[Array, np.ndarray]]  # that forward is given
    outputs: List[Tuple[Array, np.ndarray]]  # that it returns


class Module:
    """A class of modules in Python, to be registered in the place of another (`graft.register_patch_mapping`).

    Attributes of the class:
        interface: "graft.mlp/1"; None: that of the class that it replaces.
        conversions: `WeightRenaming` and `WeightConverter`, with names relative to the module.
        calls_original: whether forward calls `self.original`. The module that it replaces is then built beside it and
            has the children and parameters, unless `describe` adds some here.

    Attributes of an instance:
        path: "model.layers.0.mlp".
        args: what its parent gives, by name ("hidden_size").
        config: config.json.
    """

    interface: Optional[str] = None
    conversions: Sequence[WeightTransform] = ()
    calls_original: bool = False

    path: str
    args: Dict[str, Any]
    config: Config

    # Not overridden: it is described as the class that it replaces.
    describe: Any = None  # def describe(cls, d: Description), a classmethod

    def setup(self) -> None:
        """Called once, when weights and children are there."""

    if TYPE_CHECKING:
        forward: Callable[..., Any]
    else:

        def forward(self, *inputs: np.ndarray):
            """Computes the outputs: arrays over the host's memory in, an array out, or a tuple in the order of the
            header."""
            raise NotImplementedError(f"{type(self).__name__} has no forward")

    def weight(self, name: str) -> Optional[np.ndarray]:
        """A parameter as an array: over the model's memory where it is one block of f32 or f16, else a copy in f32."""
        if name not in self._weights:
            pointer = self._build.weight(self._build.data, name.encode())
            self._weights[name] = _weight_array(pointer.contents, name, self._borrowed) if pointer else None
        return self._weights[name]

    def child(self, name: str, interface: Optional[str] = None) -> Child:
        """A child that this class, or the one that it replaces, has described. `interface` where its class is no
        known one."""
        if name not in self._children:
            self._children[name] = self._find_child(name, interface)
        return self._children[name]

    def original(self, *inputs: np.ndarray):
        """Runs the module that this one replaces, on arrays of the shapes that `forward` is given, and returns its
        outputs. Needs `calls_original`."""
        forward, module = self._forward, self._build.super
        if not module:
            raise PluginError("calls the module that it replaces: set calls_original = True", self.path)
        if forward is None:
            raise PluginError("calls the module that it replaces outside forward", self.path)
        if len(inputs) != len(forward.inputs):
            raise PluginError(f"original takes {len(forward.inputs)} arrays, got {len(inputs)}", self.path)
        args = type(forward.args).from_buffer_copy(forward.args)
        args.struct_size = min(args.struct_size, ctypes.sizeof(args))
        if hasattr(args, "residual"):
            args.residual = None  # has been added
        made = {}
        for (array, given), value in zip(forward.inputs, inputs):
            if np.shape(value) != given.shape:
                raise PluginError(f"original: {array.name}: expected {given.shape}, got {np.shape(value)}", self.path)
            made[array.name] = np.array(value, array.dtype, order="C")
        for array, place in forward.outputs:
            made.setdefault(array.name, np.empty(place.shape, array.dtype))
        for name, value in made.items():
            setattr(args, name, value.ctypes.data)
        run_forward(module, forward.call, args, forward.error)
        results = tuple(made[array.name] for array, _ in forward.outputs)
        return results[0] if len(results) == 1 else results

    # --- For the host ---

    def _close(self) -> List[Borrowed]:
        """Called before the model is freed. Returns the weights' memory, which arrays of the user's may still show."""
        borrowed = self._borrowed
        self.config.forget()
        self.__dict__.clear()
        return borrowed

    _forward: Optional[Forward] = None

    def __init__(self, build, interfaces: Dict[str, str]):
        self.path = text(build.path)
        self.args = args_dict(build.args)
        self.config = Config(copied(build.config))
        # The struct is the host's until `create` returns; what it leads to stays until `destroy`.
        self._build = abi.graft_build.from_buffer_copy(build)
        self._interfaces = interfaces
        self._borrowed: List[Borrowed] = []  # what arrays of weights lie over
        self._weights: Dict[str, Optional[np.ndarray]] = {}
        self._children: Dict[str, Child] = {}

    def _find_child(self, name: str, interface: Optional[str]) -> Child:
        pointer = self._build.child(self._build.data, name.encode())
        if not pointer:
            raise PluginError(f'there is no child "{name}"', self.path)
        class_name = text(pointer.contents.class_name)
        interface = interface or self._interfaces.get(class_name)
        if interface not in INTERFACES:
            raise PluginError(
                f"Python does not know the interface of {class_name}", self.path, "name it: child(name, interface)"
            )
        args = args_dict(self._build.child_args(self._build.data, name.encode()))
        return Child(pointer, INTERFACES[interface], args, self)

    def _size(self, name: str) -> Optional[int]:
        value = self.args.get(name)
        if value is None:
            value = self.config.get(name)
        return value if isinstance(value, int) else None


def _weight_array(weight, name: str, borrowed: List[Borrowed]) -> np.ndarray:
    if weight.codec:
        raise PluginError("its numbers are codes, which kernels alone read", name)
    shape = tuple(weight.shape[: weight.rank])
    blocks = []
    for block in structs(abi.graft_row_block, weight.blocks, weight.n_blocks, weight.block_stride):
        count = block.rows * weight.columns
        if block.dtype == abi.GRAFT_DTYPE_BF16:
            bits = view(block.data, (count,), np.dtype(np.uint16), False)
            blocks.append((bits.astype(np.uint32) << 16).view(np.float32))
        elif block.dtype in _DTYPES:
            blocks.append(view(block.data, (count,), np.dtype(_DTYPES[block.dtype]), False, borrowed=borrowed))
        else:
            raise PluginError(f"numpy has no type for elements of type {block.dtype}", name)
    return (blocks[0] if len(blocks) == 1 else np.concatenate([b.astype(np.float32) for b in blocks])).reshape(shape)
