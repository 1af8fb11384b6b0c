# SPDX-License-Identifier: Apache-2.0
"""The parameters of a plugin's class as a module of torch, and the conversions of transformers that lead to them."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, NamedTuple, Tuple

import torch
from transformers import PretrainedConfig, conversion_mapping, core_model_loading

from . import _abi as abi
from ._library import lib, listed, new, text
from .conversions import WeightConverter, WeightTransform, from_conversions
from .errors import UsageError
from .model import Model
from .opening import Library


class Layout(NamedTuple):
    """The parameters and conversions of the modules that a plugin puts in the place of one class."""

    name: str  # what their parents call them: "self_attn"
    parameters: Dict[str, Tuple[int, ...]]  # by their names relative to the module
    linears: List[str]  # which modules below are Linear
    conversions: List[WeightTransform]


_layouts: Dict[Tuple[str, str, str], Layout] = {}
# Conversions of transformers by model type, as they were, and what is added for (plugin, name of the modules).
_published: Dict[str, list] = {}
_added: Dict[str, Dict[Tuple[str, str], Tuple[Layout, List[str]]]] = {}


def config_of(args, kwargs) -> PretrainedConfig:
    for each in (*args, *kwargs.values()):
        if isinstance(each, PretrainedConfig):
            return each
    raise UsageError("is built without a config, so its layout is not known", "graft.torch")


def layout_of(config: PretrainedConfig, original: type, plugin: str, plugins_dir) -> Layout:
    """Finds out what a plugin's class has in the place of `original`, by opening a model of this config in Graft."""
    said = json.loads(config.to_json_string(use_diff=False))
    said["architectures"] = said.get("architectures") or _architecture(config)
    key = (json.dumps(said, sort_keys=True), original.__name__, plugin)
    if key not in _layouts:
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
                json.dump(said, file)
            options = new(abi.graft_model_options, without_weights=1)
            with Model(directory, Library([plugin], plugins_dir), options) as model:
                _layouts[key] = _read(model, original.__name__)
    return _layouts[key]


def _architecture(config: PretrainedConfig) -> List[str]:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return [MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[config.model_type]]


def _read(model: Model, original: str) -> Layout:
    modules = listed(lambda i: lib.graft_model_module(model._open(), i))
    found = next((one for one in modules if text(one.original_class) == original and one.plugin), None)
    if found is None:
        raise UsageError("the plugin replaces no module of this class in the model", original)
    prefix = text(found.path) + "."
    info = lib.graft_model_plan(model._open()).contents
    parameters: Dict[str, Tuple[int, ...]] = {}
    for k in range(info.n_parameters):
        one = info.parameters[k].contents
        if text(one.name).startswith(prefix):
            parameters[text(one.name)[len(prefix) :]] = tuple(one.shape[: one.rank])
    linears = [
        each.path[len(prefix) :]
        for each in model.named_modules()
        if each.path.startswith(prefix) and each.class_name == "Linear"
    ]
    cls = found.cls.contents
    conversions = (
        from_conversions(cls.conversions, cls.n_conversions, cls.conversion_stride) if cls.n_conversions else []
    )
    return Layout(text(found.name), parameters, linears, conversions)


# --- The module ---


def lay_out(module: torch.nn.Module, layout: Layout) -> List[str]:
    """Replaces the parameters of a module by those of the layout; returns the names of those it had before."""
    before = [name for name, _ in module.named_parameters()]
    for name in list(module._parameters):
        del module._parameters[name]
    for name, child in list(module._modules.items()):
        if child is not None and any(True for _ in child.parameters()):
            del module._modules[name]
    for name, shape in layout.parameters.items():
        *above, own = name.split(".")
        path = ".".join(above)
        holder = module
        for i, part in enumerate(above):
            if part not in holder._modules:
                is_linear = i == len(above) - 1 and path in layout.linears and own == "weight"
                has_bias = path + ".bias" in layout.parameters
                holder.add_module(
                    part, torch.nn.Linear(shape[1], shape[0], has_bias) if is_linear else torch.nn.Module()
                )
            holder = holder._modules[part]
        if own not in holder._parameters:
            parameter = torch.nn.Parameter(torch.empty(shape))
            if not parameter.is_meta:
                torch.nn.init.normal_(parameter, std=0.02)
            holder.register_parameter(own, parameter)
    module._is_hf_initialized = True  # transformers would look for the parameters that are gone
    return before


# --- How a checkpoint gets there ---


def register_conversions(model_type: str, plugin: str, layout: Layout, before: List[str]) -> None:
    """Adds the class's conversions to those that transformers has for a model type, and takes out those that make the
    parameters that are gone. Once for each."""
    if model_type not in _published:
        _published[model_type] = list(conversion_mapping.get_checkpoint_conversion_mapping(model_type) or [])
    if (plugin, layout.name) not in _added.setdefault(model_type, {}):
        _added[model_type][plugin, layout.name] = (layout, before)
        _register(model_type)


def forget_conversions(plugin: str) -> None:
    """Takes the conversions that were added for a plugin out of transformers' lists again."""
    for model_type, added in _added.items():
        keys = [key for key in added if key[0] == plugin]
        for key in keys:
            del added[key]
        if keys:
            _register(model_type)


def _register(model_type: str) -> None:
    made = list(_published[model_type])
    for layout, before in _added[model_type].values():
        made = _changed(made, layout, before)
    conversion_mapping.register_checkpoint_conversion_mapping(model_type, made, overwrite=True)


def _changed(existing: list, layout: Layout, before: List[str]) -> list:
    gone = {f"{layout.name}.{name}" for name in before}
    made = [each for each in existing if not _makes(each, gone)]
    made_before = {target for each in existing if _makes(each, gone) for target in _plain(each.target_patterns)}
    for each in layout.conversions:
        # What transformers makes of the files is not what they hold.
        sources = tuple(f"{layout.name}.{name}" for name in each.source_patterns)
        if not any(target.endswith(sources) for target in made_before) and _applies(each, layout):
            made.append(_converter(each, layout.name))
    return made


def _plain(patterns) -> List[str]:
    every = [patterns] if isinstance(patterns, str) else list(patterns)
    return [each.replace("\\.", ".").rstrip("$") for each in every]


def _makes(transform, gone: set) -> bool:
    return any(target.endswith(tuple(gone)) for target in _plain(transform.target_patterns))


def _applies(transform: WeightTransform, layout: Layout) -> bool:
    """Whether the module has its targets; a renaming of one of a list is for other families' files."""
    names = {".".join("*" if part.isdigit() else part for part in name.split(".")) for name in layout.parameters}
    if not all(target in names for target in transform.target_patterns):
        return False
    return isinstance(transform, WeightConverter) or not any("*" in each for each in transform.source_patterns)


def _converter(transform: WeightTransform, name: str):
    sources = [f"{name}.{each}" for each in transform.source_patterns]
    targets = [f"{name}.{each}" for each in transform.target_patterns]
    if not isinstance(transform, WeightConverter):
        return core_model_loading.WeightRenaming(sources, targets)
    operations = [_operation(each) for each in transform.operations]
    return core_model_loading.WeightConverter(sources, targets, operations)


def _operation(operation) -> Any:
    made = getattr(core_model_loading, type(operation).__name__, None)
    if made is None:
        raise UsageError("transformers has no such operation", type(operation).__name__)
    return made(**operation.__dict__)
