# SPDX-License-Identifier: Apache-2.0
"""Progress bars of what takes longer than a second: loading, saving, reading long prompts. They are tqdm's, where it is
installed, on terminals and in notebooks."""

from __future__ import annotations

import importlib.util
import time
from contextlib import contextmanager
from typing import Any, Iterator, List, Optional

from . import _abi as abi
from ._library import call_back, lib, take_raised

PATIENCE = 1.0  # seconds before a bar is shown

_is_enabled = True
_has_tqdm: Optional[bool] = None


def enable_progress_bar() -> None:
    """Shows progress bars again."""
    global _is_enabled
    _is_enabled = True


def disable_progress_bar() -> None:
    """Shows no progress bars from now on."""
    global _is_enabled
    _is_enabled = False


def _are_shown() -> bool:
    global _has_tqdm
    if _has_tqdm is None:
        _has_tqdm = importlib.util.find_spec("tqdm") is not None
    return _is_enabled and _has_tqdm


class Bar:
    """The progress bar of one call of the library."""

    def __init__(self, label: str, unit: str):
        self._label, self._unit = label, unit
        self._start = time.monotonic()
        self._bar: Any = None

    def tell(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._start < PATIENCE:
                return
            from tqdm.auto import tqdm

            self._bar = tqdm(
                total=total, desc=self._label, unit=self._unit, unit_scale=self._unit == "B", leave=False, disable=None
            )
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def shown(library, label: str, unit: str, is_long: bool = True) -> Iterator[List[BaseException]]:
    """Within the block a bar shows what the library tells of its progress, if that may be long. What is raised
    meanwhile, such as KeyboardInterrupt, is in the list that it gives, and is raised after the block."""
    raised: List[BaseException] = []
    if not is_long or not _are_shown():
        yield raised
        return
    bar = Bar(label, unit)

    def on_progress(data, what, done, total):
        if not raised and call_back(lambda: bar.tell(done, total), None) != abi.GRAFT_OK:
            raised.append(take_raised())

    sink = abi.graft_progress_sink(on_progress)
    lib.graft_library_set_progress(library.pointer, sink, None)
    try:
        yield raised
    finally:
        lib.graft_library_set_progress(library.pointer, abi.graft_progress_sink(0), None)
        bar.close()
    if raised:
        raise raised[0]


@contextmanager
def saving(options: abi.graft_save_options) -> Iterator[None]:
    """Shows what saving with these options tells; Ctrl-C stops it."""
    bar = Bar("Saving", "B") if _are_shown() else None

    def on_progress(data, done, total, error):
        return call_back(lambda: bar.tell(done, total) if bar is not None else None, error)

    options.on_progress = type(options.on_progress)(on_progress)
    try:
        yield
    finally:
        if bar is not None:
            bar.close()
