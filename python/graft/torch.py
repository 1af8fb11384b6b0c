# SPDX-License-Identifier: Apache-2.0
"""Plugins of Graft inside transformers: one binary in two hosts.

    >>> import graft.torch
    >>> graft.torch.register("sequential_experts")
    >>> model = AutoModelForCausalLM.from_pretrained("model")     # its experts are the plugin's
    >>> with torch.no_grad():
    ...     model(ids)
    >>> graft.torch.verify(original, "sequential_experts")        # every module, its difference and time

A module of the plugin is a subclass of the class that it replaces: it has the same parameters, loads and saves as
transformers does it, and computes by the plugin, over torch's memory. On the CPU, and without gradients: where one is
required, that is an error.
"""

from __future__ import annotations

import copy
import gc
import importlib
import inspect
import re
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type

import torch
from transformers import PreTrainedModel, monkey_patching
from transformers.models.auto.configuration_auto import model_type_to_module_name

from . import _abi as abi
from ._library import check, lib, structs, text
from ._torch_calls import check_interface, run, takes
from ._torch_host import Host
from ._torch_layout import config_of, forget_conversions, lay_out, layout_of, register_conversions
from .errors import UsageError
from .opening import Library
from .outputs import ModuleDifference

# What was registered for each plugin, as it was given: its id and names of classes.
_registered: Dict[str, Tuple[str, List[str]]] = {}


class Bridge:
    """What a class of a plugin has in front of the class of transformers that it replaces."""

    _graft_plugin: str  # its id
    _graft_given: str  # the plugin as it was given: its id or its file
    _graft_plugins_dir: Any
    _graft_original: Type[torch.nn.Module]
    _graft_place: Optional[Tuple[Host, str]] = None

    def forward(self, *args: Any, **kwargs: Any):
        place = self._graft_place
        if place is None or not place[0].is_current(place[1], self):
            attach(_root_of(self))
            place = self._graft_place
        return run(place[0], place[1], self, *args, **kwargs)

    def __deepcopy__(self, memo):
        place, self._graft_place = self._graft_place, None  # the copy has tensors of its own
        try:
            made = self.__class__.__new__(self.__class__)
            memo[id(self)] = made
            made.__dict__.update(copy.deepcopy(self.__dict__, memo))
            return made
        finally:
            self._graft_place = place

    def __getstate__(self):
        return {**self.__dict__, "_graft_place": None}


def _root_of(module: torch.nn.Module) -> PreTrainedModel:
    """The outermost model that the module is a part of."""
    found = [each for each in gc.get_objects() if issubclass(type(each), PreTrainedModel)]
    found = [each for each in found if any(part is module for part in each.modules())]
    if not found:
        raise UsageError("is part of no model of transformers", type(module).__name__)
    return max(found, key=lambda each: sum(1 for _ in each.modules()))


def attach(model: PreTrainedModel) -> None:
    """Has the plugins' modules in a model compute on its parameters as they are now. They do so by themselves when they
    first run, and when parameters have moved."""
    places = [(path, module) for path, module in model.named_modules() if isinstance(module, Bridge)]
    plugins = list(dict.fromkeys(module._graft_given for _, module in places))
    if not places:
        raise UsageError("none of its modules is a plugin's", type(model).__name__)
    host = Host(model, [path for path, _ in places], plugins, places[0][1]._graft_plugins_dir)
    for path, module in places:
        _check_place(host, path, module._graft_plugin)
        # Not a submodule, nor part of the state.
        object.__setattr__(module, "_graft_place", (host, path))


def _check_place(host: Host, path: str, plugin: str) -> None:
    found = host.modules.get(path)
    if found is None:
        raise UsageError("Graft has no module there", path)
    if found.plugin != plugin:
        raise UsageError(f"plugin {plugin} does not take it: Graft builds {found.class_name}", path)
    check_interface(found.interface, path)


# --- Which classes ---


def _model_types(library: Library) -> List[str]:
    """Those that Graft knows, and transformers."""
    families, n = abi.POINTER(abi.graft_family_info)(), abi.c_size_t()
    check(lib.graft_library_families, library.pointer, abi.byref(families), abi.byref(n))
    stride = families[0].struct_size if n.value else 0
    every = structs(abi.graft_family_info, families, n.value, stride)
    result = list(dict.fromkeys(text(each.family.contents.model_type) for each in every))
    lib.graft_families_free(families)
    return result


def _modeling(model_type: str):
    folder = model_type_to_module_name(model_type)
    try:
        return importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    except ImportError:
        return None


class _Replacements:
    """What a plugin replaces: which class, and by which of its own."""

    def __init__(self, plugin: str, plugins_dir):
        self.plugin, self.plugins_dir = plugin, plugins_dir
        library = Library([plugin], plugins_dir)
        try:
            self.identifier = library._ids()[-1]
            self.interfaces = library._known_interfaces()
            self.model_types = _model_types(library)
            self._rules = []
            for replacement in library.replacements(self.identifier):
                cls = replacement.replacement.contents
                is_pattern = replacement.key == abi.GRAFT_KEY_PATTERN
                types = _terminated(replacement.model_types)
                self._rules.append(
                    (is_pattern, text(replacement.target), types, text(cls.name), text(cls.interface_id))
                )
        finally:
            library.close()
        self._rules.sort(key=lambda rule: rule[0])  # names go before patterns

    def find(self, original: type, model_type: str) -> Optional[Tuple[str, str]]:
        """The plugin's class for a class of torch, and its interface; None: it has none."""
        name = original.__name__
        for is_pattern, target, types, made, interface in self._rules:
            matches = re.search(target, name) if is_pattern else target == name
            if matches and (types is None or model_type in types) and self.interfaces.get(name) == interface:
                return made, interface
        return None


def _classes(model_type: str) -> List[type]:
    """The classes of modules that transformers has for a model type."""
    modeling = _modeling(model_type)
    members = inspect.getmembers(modeling, inspect.isclass) if modeling else ()
    return [
        cls for _, cls in members if issubclass(cls, torch.nn.Module) and not issubclass(cls, (PreTrainedModel, Bridge))
    ]


def _terminated(array) -> Optional[List[str]]:
    if not array:
        return None
    result = []
    while array[len(result)] is not None:
        result.append(text(array[len(result)]))
    return result


def _laid_out(original: type):
    """What makes an instance with the plugin's parameters."""

    def __init__(self, *args: Any, **kwargs: Any):
        original.__init__(self, *args, **kwargs)
        config = config_of(args, kwargs)
        layout = layout_of(config, original, self._graft_given, self._graft_plugins_dir)
        register_conversions(config.model_type, self._graft_plugin, layout, lay_out(self, layout))

    return __init__


def _bridge(original: type, name: str, replacements: _Replacements, layout: str) -> type:
    plugin = replacements.identifier
    members = {
        "_graft_plugin": plugin,
        "_graft_given": replacements.plugin,
        "_graft_plugins_dir": replacements.plugins_dir,
        "_graft_original": original,
        "__module__": __name__,
        "__doc__": f"{name} of plugin {plugin}, in the place of {original.__name__}.",
    }
    if layout == "plugin":
        members["__init__"] = _laid_out(original)
    return type(name, (Bridge, original), members)


def register(
    plugin: str,
    *,
    model_types: Optional[Sequence[str]] = None,
    layout: str = "original",
    plugins_dir=None,
    overwrite: bool = False,
) -> Dict[str, type]:
    """Has a plugin's classes built where transformers would build those that it replaces, from now on.

    Args:
        plugin: its id, or its file.
        model_types: to look for such classes in, all of which have to be such as can be run; None: all that Graft
            knows, where others stay as they are.
        layout: "original": modules have the parameters of the class that they replace. "plugin": they have those that
            the plugin's class describes, with Linears where it has them, and its conversions are registered with
            transformers, so that checkpoints are loaded and saved as ever.
        plugins_dir: where the id is looked for.
        overwrite: whether names that are registered with transformers already may be registered again.

    Returns:
        What was registered with transformers' `register_patch_mapping`: names and classes.
    """
    if layout not in ("original", "plugin"):
        raise UsageError(f"layout: expected original or plugin, got {layout!r}")
    mapping: Dict[str, type] = {}
    replacements = _Replacements(plugin, plugins_dir)
    for model_type in replacements.model_types if model_types is None else model_types:
        for original in _classes(model_type):
            found = replacements.find(original, model_type)
            if found is not None:
                check_interface(found[1], f"{replacements.identifier}: {found[0]} for {original.__name__}")
                if not takes(found[1], original):
                    if model_types is not None:
                        raise UsageError(
                            "is attention without position_embeddings, which is not run", original.__name__
                        )
                    continue
                mapping[original.__name__] = _bridge(original, found[0], replacements, layout)
    if not mapping:
        raise UsageError("replaces no class of transformers", str(plugin))
    monkey_patching.register_patch_mapping(mapping, overwrite=overwrite)
    _registered.setdefault(plugin, (replacements.identifier, []))[1].extend(mapping)
    return mapping


def unregister(plugin: str) -> None:
    """Takes back what `register` did. Models that are built keep their modules, but those of the plugin's own layout
    are saved with its conversions only as long as it is registered."""
    if plugin not in _registered:
        raise UsageError("is not registered", str(plugin))
    identifier, names = _registered.pop(plugin)
    forget_conversions(identifier)
    mapping = monkey_patching.get_patch_mapping()
    monkey_patching.unregister_patch_mapping([name for name in names if name in mapping])


# --- Comparing ---


def verify(model: PreTrainedModel, plugin: str, inputs: Any = None, *, plugins_dir=None) -> List[ModuleDifference]:
    """Runs a model of transformers, and each module that a plugin would replace a second time, by the plugin's class on
    the same inputs and parameters.

    Args:
        model: as transformers builds it, not patched.
        plugin: its id, or its file.
        inputs: ids [tokens] or [prompts, tokens], or keyword arguments of the model, but no past_key_values; without
            it some ids.

    Returns:
        For each module the largest difference of its output, the largest number of the original's, and the seconds that
        both took.
    """
    replacements = _Replacements(plugin, plugins_dir)
    model_type = model.config.model_type
    places = {path: each for path, each in model.named_modules() if replacements.find(type(each), model_type)}
    if not places:
        raise UsageError("replaces no module of the model", str(plugin))
    for module in places.values():
        check_interface(replacements.find(type(module), model_type)[1], type(module).__name__)
    rows: Dict[str, ModuleDifference] = {}
    host = Host(model, list(places), [plugin], plugins_dir)
    try:
        run_there = {}
        for path, module in places.items():
            try:
                _check_place(host, path, replacements.identifier)
                run_there[path] = module
            except UsageError as reason:
                rows[path] = _not_compared(host, path, module, reason.message)
        with torch.no_grad(), _watching(run_there, lambda *seen: _compare(host, rows, *seen)):
            model(**_arguments(model, inputs))
        for path, module in run_there.items():
            rows.setdefault(path, _not_compared(host, path, module, "it was not called"))
    finally:
        host.close()
    return [rows[path] for path in places]


def _not_compared(host: Host, path: str, module: torch.nn.Module, reason: str) -> ModuleDifference:
    found = host.modules.get(path)
    name = found.class_name if found is not None else ""
    return ModuleDifference(path, name, type(module).__name__, 0.0, 0.0, 0, 0.0, 0.0, reason)


def _arguments(model: PreTrainedModel, inputs: Any) -> Dict[str, Any]:
    if isinstance(inputs, Mapping):
        if inputs.get("past_key_values") is not None:
            raise UsageError("modules run twice on whole sequences, and past_key_values hold earlier tokens", "verify")
        return dict(inputs)
    if inputs is None:
        size = model.config.get_text_config().vocab_size
        inputs = torch.randint(size, (1, 16), generator=torch.Generator().manual_seed(0))
    ids = torch.as_tensor(inputs)
    return {"input_ids": ids[None] if ids.dim() == 1 else ids, "use_cache": False}


class _watching:
    """While it is entered, `seen(path, module, args, kwargs, output, seconds)` is told of each call."""

    def __init__(self, places: Dict[str, torch.nn.Module], seen):
        self._places, self._seen = places, seen
        self._handles: List[Any] = []

    def __enter__(self):
        for path, module in self._places.items():
            begun: List[Tuple[float, Any, Any]] = []

            def before(module, args, kwargs, begun=begun):
                kept = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
                named = {n: a.clone() if isinstance(a, torch.Tensor) else a for n, a in kwargs.items()}
                named.pop("past_key_values", None)  # an empty one, which the original fills
                begun.append((time.perf_counter(), kept, named))

            def after(module, args, kwargs, output, begun=begun, path=path):
                start, kept, named = begun.pop()
                self._seen(path, module, kept, named, output, time.perf_counter() - start)

            self._handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            self._handles.append(module.register_forward_hook(after, with_kwargs=True))

    def __exit__(self, *_):
        for handle in self._handles:
            handle.remove()


def _tensors(output: Any) -> List[torch.Tensor]:
    each = output if isinstance(output, (tuple, list)) else (output,)
    return [one.float() for one in each if isinstance(one, torch.Tensor)]


def _compare(host: Host, rows: Dict[str, ModuleDifference], path, module, args, kwargs, output, seconds) -> None:
    start = time.perf_counter()
    ours = run(host, path, module, *args, **kwargs)
    own_seconds = time.perf_counter() - start
    difference = largest = 0.0
    for one, other in zip(_tensors(ours), _tensors(output)):
        difference = max(difference, float((one - other).abs().max()))
        largest = max(largest, float(other.abs().max()))
    found = host.modules[path]
    so_far = rows.get(path) or ModuleDifference(path, found.class_name, type(module).__name__, 0, 0, 0, 0, 0, "")
    rows[path] = so_far._replace(
        difference=max(so_far.difference, difference),
        largest=max(so_far.largest, largest),
        calls=so_far.calls + 1,
        seconds=so_far.seconds + own_seconds,
        original_seconds=so_far.original_seconds + seconds,
    )


__all__ = ["Bridge", "attach", "register", "unregister", "verify"]
