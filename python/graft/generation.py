# SPDX-License-Identifier: Apache-2.0
"""How a model generates: keyword arguments over what its directory says, under transformers' names."""

from __future__ import annotations

import ctypes
import difflib
from typing import Any, Dict

import numpy as np

from . import _abi as abi
from ._library import check, lib, new, strings
from .arguments import as_json, integer, names
from .errors import UsageError

# Those that generation_config.json has no field for.
_OWN = {"seed": (0, 2**64 - 1), "ignore_eos": (0, 1), "speculate": (0, 2**31 - 1)}  # and what they may be

# Fields of files that are no members of the struct, and what the library refuses by name.
_FIELDS = {name for name, _ in abi.graft_generation._fields_ if not name.startswith(("n_", "struct_", "reserved"))} | {
    "exponential_decay_length_penalty",
    "eos_token_id",
    "prompt_lookup_num_tokens",
    *("watermarking_config", "constraints", "force_words_ids", "custom_generate", "dola_layers", "penalty_alpha"),
    *("num_beam_groups", "low_memory", "token_healing", "max_time", "assistant_early_exit", "cache_implementation"),
}


class Generation:
    """A struct graft_generation with the memory that it points to."""

    def __init__(self, model_pointer, fields: Dict[str, Any]):
        unknown = sorted(set(fields) - _FIELDS)
        if unknown:
            near = difflib.get_close_matches(unknown[0], _FIELDS, 1)
            raise UsageError(f"generate has no argument {unknown[0]}", "generate", f"{near[0]}?" if near else "")
        fields = {name: value for name, value in fields.items() if value is not None}
        self.struct = new(abi.graft_generation)
        self._fields = ctypes.c_void_p()
        lib.graft_model_generation(model_pointer, ctypes.byref(self.struct))
        own = {name: fields.pop(name) for name in _OWN if name in fields}
        processors = fields.pop("logits_processors", None)
        if fields:
            data = as_json(fields, "generate", default=_plain)
            check(
                lib.graft_generation_read,
                data,
                len(data),
                b"generate",
                ctypes.byref(self.struct),
                ctypes.byref(self._fields),
            )
        for name, value in own.items():
            setattr(self.struct, name, integer(value, name, *_OWN[name]))
        if processors is not None:
            wanted = names(processors, "logits_processors")
            self._names = strings(wanted)
            self.struct.logits_processors = self._names
            self.struct.n_logits_processors = len(wanted)

    @property
    def sequences_per_prompt(self) -> int:
        return max(1, self.struct.num_return_sequences)

    def close(self) -> None:
        lib.graft_generation_fields_free(self._fields)
        self._fields = ctypes.c_void_p()

    def __enter__(self) -> Generation:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__}")
