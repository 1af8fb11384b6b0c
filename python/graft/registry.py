# SPDX-License-Identifier: Apache-2.0
"""What is registered for all models that are opened later: which classes replace others, and conversions.

The mapping is of this process, as in transformers; each model that is opened takes a copy. Values are names of classes
("LlamaFusedAttention"), ids of plugins ("sequential_experts"), or subclasses of graft.Module.
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Type, Union

from .conversions import WeightTransform
from .errors import UsageError
from .module import Module

Replacement = Union[str, Type[Module]]

_lock = threading.Lock()
_patches: Dict[str, Replacement] = {}
_conversions: Dict[str, List[WeightTransform]] = {}
_scopes: List[Dict[str, Replacement]] = []


def _check(key: str, replacement: Replacement) -> None:
    is_class = isinstance(replacement, type) and issubclass(replacement, Module)
    if not isinstance(key, str) or not (is_class or isinstance(replacement, str)):
        raise TypeError(
            f"replacement for '{key}': expected the name of a class, the id of a plugin or a subclass of graft.Module, "
            f"got {replacement!r}"
        )


def register_patch_mapping(mapping: Mapping[str, Replacement], overwrite: bool = False) -> None:
    """Has classes replaced in all models that are opened from now on.

    Args:
        mapping: class names, or regular expressions that are searched in class names, and what is built there: the
            name of a class, the id of a plugin, or a subclass of `graft.Module`. Names go before expressions.
        overwrite: whether a key that is registered already may be registered again.

        >>> graft.register_patch_mapping({"Qwen2MoeExperts": "sequential_experts"})
    """
    with _lock:
        for key, replacement in mapping.items():
            _check(key, replacement)
            if key in _patches and not overwrite:
                raise UsageError(f"'{key}' is registered already", key, "overwrite=True replaces it")
        _patches.update(mapping)


def unregister_patch_mapping(keys: Sequence[str]) -> None:
    """Takes keys out of the mapping, spelled as they were registered."""
    with _lock:
        for key in keys:
            if key not in _patches:
                raise UsageError(f"'{key}' is not registered", key)
        for key in keys:
            del _patches[key]


def get_patch_mapping() -> Dict[str, Replacement]:
    """A copy of the mapping."""
    with _lock:
        return dict(_patches)


def clear_patch_mapping() -> None:
    """Takes all keys out of the mapping."""
    with _lock:
        _patches.clear()


@contextmanager
def apply_patches() -> Iterator[None]:
    """Within the block `graft.class_named` gives replacements, as the mapping is on entering."""
    scope = get_patch_mapping()
    with _lock:
        _scopes.append(scope)
    try:
        yield
    finally:
        with _lock:
            _scopes.remove(scope)


def class_named(name: str) -> Replacement:
    """What a class name stands for now: its replacement within `apply_patches`, else the name itself."""
    with _lock:
        scopes = list(reversed(_scopes))
    for scope in scopes:
        found = find_replacement(name, scope)
        if found is not None:
            return found
    return name


def find_replacement(name: str, mapping: Mapping[str, Replacement]) -> Optional[Replacement]:
    """Names first, then expressions in the order of registration. A key that is no expression is a name only."""
    if name in mapping:
        return mapping[name]
    for key, replacement in mapping.items():
        try:
            if re.search(key, name):
                return replacement
        except re.error:
            continue
    return None


def register_checkpoint_conversion_mapping(
    model_type_or_class_name: str, mapping: Sequence[WeightTransform], overwrite: bool = False
) -> None:
    """Registers conversions from a checkpoint's tensors for models of a type, or of a class.

    Args:
        model_type_or_class_name: "qwen2_moe", or "Qwen2MoeForCausalLM", which goes before the type.
        mapping: `WeightRenaming` and `WeightConverter`, in the order in which they apply.
        overwrite: whether they may replace what is registered, or what the classes of the host convert themselves.
    """
    transforms = list(mapping)
    for each in transforms:
        if not isinstance(each, WeightTransform):
            raise TypeError(f"expected a WeightRenaming or a WeightConverter, got {each!r}")
    with _lock:
        if model_type_or_class_name in _conversions and not overwrite:
            raise UsageError(
                f"conversions for '{model_type_or_class_name}' are registered already",
                model_type_or_class_name,
                "overwrite=True replaces them",
            )
        _conversions[model_type_or_class_name] = transforms


def unregister_checkpoint_conversion_mapping(model_type_or_class_name: str) -> None:
    """Takes a list of conversions back; those that classes own apply again."""
    with _lock:
        if _conversions.pop(model_type_or_class_name, None) is None:
            raise UsageError(
                f"no conversions are registered for '{model_type_or_class_name}'", model_type_or_class_name
            )


def get_checkpoint_conversion_mapping(model_type_or_class_name: str) -> Optional[List[WeightTransform]]:
    """A copy of what is registered under a name; None: nothing is."""
    with _lock:
        found = _conversions.get(model_type_or_class_name)
        return None if found is None else list(found)


def conversions() -> Dict[str, List[WeightTransform]]:
    """All lists, for a model that is opened."""
    with _lock:
        return {name: list(transforms) for name, transforms in _conversions.items()}
