# SPDX-License-Identifier: Apache-2.0
"""The library object that a model uses, with its plugins and a copy of what is registered; it lives as long as the
model."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any, Dict, List, Mapping, Sequence, Union

from . import _abi as abi
from . import registry
from ._library import PLUGINS, check, lib, listed, new, path, strings, structs, text
from .conversions import as_transforms
from .errors import UsageError
from .interfaces import Borrowed
from .python_class import ClassOf

Plugins = Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]]


class Library:
    """One library of the host: `plugins` are ids or files, "all" those that came with the package."""

    def __init__(self, plugins: Plugins = (), plugins_dir=None, plugin_options: Mapping[str, Mapping[str, Any]] = {}):
        self._given = (plugins, plugins_dir, plugin_options)
        self.pointer = ctypes.c_void_p()
        self.directory = os.fspath(plugins_dir) if plugins_dir is not None else PLUGINS
        self._options = {name: dict(values) for name, values in plugin_options.items()}
        self._loaded: Dict[str, int] = {}
        self._classes: Dict[str, ClassOf] = {}
        self._interfaces: Dict[str, str] = {}
        self._keep: List[Any] = []
        check(lib.graft_library_create, ctypes.byref(self.pointer))
        try:
            wanted = [plugins] if isinstance(plugins, (str, os.PathLike)) else list(plugins)
            self._register(registry.get_patch_mapping(), wanted)
            for name, transforms in registry.conversions().items():
                array = as_transforms(transforms, self._keep)
                check(lib.graft_library_register_conversions, self.pointer, name.encode(), array, len(transforms), 1)
        except BaseException:
            self.close()
            raise

    def again(self) -> Library:
        """Makes another library with the same plugins and options."""
        return Library(*self._given)

    def forget(self) -> List[Borrowed]:
        """Called before the model is freed: lets go of instances of Python classes, and returns the weights' memory
        that arrays of the user's still show."""
        borrowed = [each for made in self._keep if isinstance(made, ClassOf) for each in made.close()]
        return [each for each in borrowed if each.in_use()]

    def close(self) -> None:
        lib.graft_library_free(self.pointer)
        self.pointer = ctypes.c_void_p()

    # --- Plugins ---

    def _load_options(self, identifier: str, **values):
        chosen = [f"{identifier}.{name}={_spelled(value)}" for name, value in self._options.pop(identifier, {}).items()]
        options = new(abi.graft_library_options, n_plugin_options=len(chosen), **values)
        if chosen:
            options.plugin_options = strings(chosen)
        return options

    def load(self, plugin: Union[str, os.PathLike]) -> None:
        """Loads a plugin, by its id or from its file; "all": those of the directory."""
        name = os.fspath(plugin)
        if name == "all":
            directories = (ctypes.c_char_p * 1)(path(self.directory))
            options = new(abi.graft_library_options)
            check(lib.graft_library_load_plugins, self.pointer, directories, 1, ctypes.byref(options))
        elif os.sep in name or name.endswith(".so"):
            check(lib.graft_library_load_plugin, self.pointer, path(name), ctypes.byref(self._load_options("")))
        elif name not in self._ids():
            self._load_named(name)

    def _load_named(self, name: str) -> None:
        file = os.path.join(self.directory, name, name + ".so")
        if os.path.exists(file):
            check(lib.graft_library_load_plugin, self.pointer, path(file), ctypes.byref(self._load_options(name)))
            return
        allow = strings([name])
        directories = (ctypes.c_char_p * 1)(path(self.directory))
        options = self._load_options(name, allow=allow, n_allow=1)
        check(lib.graft_library_load_plugins, self.pointer, directories, 1, ctypes.byref(options))

    def _plugins(self):
        return listed(lambda i: lib.graft_library_plugin(self.pointer, i))

    def _ids(self) -> List[str]:
        return [text(plugin.descriptor.contents.id) for plugin in self._plugins()]

    def replacements(self, identifier: str):
        """The structs graft_replacement of a plugin."""
        for plugin in self._plugins():
            descriptor = plugin.descriptor.contents
            if text(descriptor.id) == identifier:
                yield from structs(
                    abi.graft_replacement,
                    descriptor.replacements,
                    descriptor.n_replacements,
                    descriptor.replacement_stride,
                )

    def notes(self) -> List[str]:
        """What the library has to say of its plugins."""
        return list(_all(lib.graft_library_note, self.pointer))

    # --- The patch mapping ---

    def _register(self, mapping: Mapping[str, registry.Replacement], plugins: Sequence[Any]) -> None:
        for replacement in mapping.values():
            if isinstance(replacement, str) and replacement not in plugins and self._is_plugin(replacement):
                self._load_quietly(replacement)
        for plugin in plugins:
            self.load(plugin)
        for name in self._options:
            raise UsageError(f"options are given for plugin {name}, which is not loaded", name)
        patches = (abi.graft_patch * max(1, len(mapping)))()
        for patch, (key, replacement) in zip(patches, mapping.items()):
            patch.struct_size = ctypes.sizeof(abi.graft_patch)
            patch.key = key.encode()
            patch.replacement = self.class_for(key, replacement)
        if mapping:
            check(lib.graft_library_register, self.pointer, patches, len(mapping), 1)

    def _is_plugin(self, name: str) -> bool:
        return os.path.exists(os.path.join(self.directory, name, name + ".so"))

    def _load_quietly(self, name: str) -> None:
        """Loads a plugin that only the patch mapping names: its classes are known, but its own replacements are taken
        out."""
        if name in self._ids():
            return
        self.load(name)
        keys = strings(sorted({text(r.target) for r in self.replacements(name)}))
        if keys:
            check(lib.graft_library_unregister, self.pointer, keys, len(keys))

    def class_for(self, key: str, replacement: registry.Replacement):
        """Finds the class that a value of the patch mapping stands for, as the replacement of the class `key`."""
        if not isinstance(replacement, str):
            return self._python_class(key, replacement)
        if replacement in self._ids():
            return self._of_plugin(key, replacement)
        found = ctypes.POINTER(abi.graft_class)()
        check(lib.graft_library_find_class, self.pointer, replacement.encode(), ctypes.byref(found))
        return found

    def _of_plugin(self, key: str, identifier: str):
        found = list(self.replacements(identifier))
        targets = [text(r.target) for r in found]
        for replacement, target in zip(found, targets):
            if target == key:
                return replacement.replacement
        for replacement, target in zip(found, targets):
            if replacement.key == abi.GRAFT_KEY_PATTERN and re.search(target, key):
                return replacement.replacement
        if len(found) == 1:
            return found[0].replacement
        raise UsageError(f"plugin {identifier} has no class for '{key}': it replaces {', '.join(targets)}", key)

    def _python_class(self, key: str, python_class):
        if not self._interfaces:
            self._interfaces = self._known_interfaces()
        interface = python_class.interface or self._interface_for(key)
        made = ClassOf(python_class, interface, self._interfaces)
        self._keep.append(made)
        return ctypes.pointer(made.struct)

    def _known_interfaces(self) -> Dict[str, str]:
        classes, n = ctypes.POINTER(abi.graft_class_info)(), ctypes.c_size_t()
        check(lib.graft_library_classes, self.pointer, ctypes.byref(classes), ctypes.byref(n))
        result = {}
        stride = classes[0].struct_size if n.value else 0
        for info in structs(abi.graft_class_info, classes, n.value, stride):
            found = info.cls.contents
            result[text(found.name)] = text(found.interface_id)
        lib.graft_classes_free(classes)
        for identifier in self._ids():
            for replacement in self.replacements(identifier):
                found = replacement.replacement.contents
                result[text(found.name)] = text(found.interface_id)
        return result

    def _interface_for(self, key: str) -> str:
        if key in self._interfaces:
            return self._interfaces[key]
        try:
            found = {interface for name, interface in self._interfaces.items() if re.search(key, name)}
        except re.error:
            found = set()
        if len(found) == 1:
            return found.pop()
        if not found:
            raise UsageError(f"there is no class '{key}'", key, "the names are those of transformers")
        raise UsageError(f"'{key}' matches classes of several interfaces", key, "set `interface` of the Python class")


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _all(function, pointer):
    i = 0
    while True:
        found = function(pointer, i)
        if found is None:
            return
        yield text(found)
        i += 1
