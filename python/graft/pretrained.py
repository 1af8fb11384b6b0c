# SPDX-License-Identifier: Apache-2.0
"""Opening a model by its directory and keyword arguments."""

from __future__ import annotations

import ctypes
import os
import tempfile
from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _abi as abi
from ._library import lib, new, path, strings
from .arguments import as_json, integer, names, spelled
from .errors import GraftError, UsageError
from .model import Model
from .opening import Library, Plugins

_PRECISIONS = {
    "auto": abi.GRAFT_PRECISION_AUTO,
    "float32": abi.GRAFT_PRECISION_FLOAT32,
    "bfloat16": abi.GRAFT_PRECISION_BFLOAT16,
}


def _precision(name: Any) -> int:
    spelled = str(name).replace("torch.", "")
    if spelled not in _PRECISIONS:
        raise UsageError(f"dtype: expected one of {', '.join(_PRECISIONS)}, got {name!r}")
    return _PRECISIONS[spelled]


def _adapters(adapters):
    """{"name": directory} or {"name": (directory, scale)}, or a list of directories."""
    if isinstance(adapters, (str, os.PathLike)):
        adapters = [adapters]
    if not isinstance(adapters, Mapping):
        by_name = {os.path.basename(os.path.normpath(os.fspath(each))): each for each in adapters}
        if len(by_name) != len(adapters):
            raise UsageError("adapters: two of the directories have one name", hint='give names: {"a": directory}')
        adapters = by_name
    array = (abi.graft_adapter_options * max(1, len(adapters)))()
    for made, (name, where) in zip(array, adapters.items()):
        directory, scale = where if isinstance(where, tuple) else (where, 1.0)
        made.struct_size = ctypes.sizeof(abi.graft_adapter_options)
        made.name, made.directory, made.scale = spelled(name, "name of an adapter"), path(directory), scale
    return array, len(adapters)


def from_pretrained(
    directory,
    *,
    plugins: Plugins = (),
    plugins_dir=None,
    plugin_options: Mapping[str, Mapping[str, Any]] = {},
    dtype: Any = "auto",
    kv_cache_dtype: Any = "auto",
    fusion_config: Optional[Mapping[str, Any]] = None,
    patch: Union[None, str, os.PathLike, Mapping[str, Any]] = None,
    adapters: Any = (),
    attn_implementation: Optional[str] = None,
    experts_implementation: Optional[str] = None,
    kernels: Sequence[str] = (),
    quantize: Optional[str] = None,
    dequantize: bool = False,
    ignored_fields: Sequence[str] = (),
    replacements: bool = True,
    weights: bool = True,
    load: bool = True,
    threads: Optional[int] = None,
) -> Model:
    """Opens a model directory and loads it.

    Args:
        directory: with config.json and weights, as Hugging Face publishes them.
        plugins: ids of plugins that came with the package ("fused_qkv"), or files; their order decides where several
            replace one class. "all": every one that came with it.
        plugins_dir: where ids are looked for instead: PLUGINS_DIR/ID/ID.so.
        plugin_options: {"ID": {"NAME": value}}.
        dtype: of products: "auto", "float32", "bfloat16". kv_cache_dtype: of keys and values.
        fusion_config: {"patch_embeddings": True}: which fusion families to use.
        patch: a patch file (docs/patch.md) or what would be in one, for this load only.
        adapters: PEFT directories: a list, {"name": directory} or {"name": (directory, scale)}.
        attn_implementation, experts_implementation, kernels: what is chosen by name.
        quantize, dequantize: weights in another form than the files': "int4"; floats for quantized ones.
        ignored_fields: paths of fields of JSON files that are as if they were not there.
        replacements: False: every class is the original one.
        weights: False: config.json is enough; parameters have initial values.
        load: False: weights are not bound yet (`Model.load`), for looking at the plan.
        threads: how many compute; None: all that the process may use.

    Raises:
        GraftError: ModelError, PluginError or UsageError, with code, source, message and hint.
    """
    options = new(abi.graft_model_options, precision=_precision(dtype), kv_cache=_precision(kv_cache_dtype))
    options.without_weights = int(not weights)
    options.without_replacements = int(not replacements)
    options.dequantize = int(dequantize)
    for field, value in (
        ("attn_implementation", attn_implementation),
        ("experts_implementation", experts_implementation),
        ("quantize", quantize),
    ):
        if value is not None:
            setattr(options, field, spelled(value, field))
    if fusion_config is not None:
        options.fusion_config = as_json(dict(fusion_config), "fusion_config")
    for field, value in (("kernels", kernels), ("ignored_fields", ignored_fields)):
        wanted = names(value, field)
        setattr(options, field, strings(wanted))
        setattr(options, "n_" + field, len(wanted))
    options.adapters, options.n_adapters = _adapters(adapters)
    options.adapter_stride = ctypes.sizeof(abi.graft_adapter_options)
    with _patch_file(patch) as file:
        options.patch_file = file
        library = Library(plugins, plugins_dir, plugin_options)
        if threads is not None:
            lib.graft_library_set_threads(library.pointer, integer(threads, "threads", 1, 2**31 - 1))
        model = Model(directory, library, options)
    return model.load() if load else model


@contextmanager
def _patch_file(patch) -> Iterator[Optional[bytes]]:
    if patch is None or isinstance(patch, (str, os.PathLike)):
        yield None if patch is None else path(patch)
        return
    with tempfile.NamedTemporaryFile("wb", suffix=".json") as file:
        file.write(as_json(dict(patch), "patch"))
        file.flush()
        try:
            yield path(file.name)
        except GraftError as error:
            if error.source == file.name:
                error.source = "patch"
            raise
