# SPDX-License-Identifier: Apache-2.0
"""libgraft itself: where it is, how its functions are called, and how its errors become exceptions.

Every call releases the interpreter's lock, as ctypes does, so other threads of Python run while the library computes.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import threading

import _signal  # what signal wraps: several times as fast, and needed for every call

from . import _abi as abi
from .errors import of_code

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Where ids of plugins are looked for: PLUGINS/ID/ID.so.
PLUGINS = os.environ.get("GRAFT_PLUGINS_DIR") or os.path.join(FOLDER, "plugins")

_local = threading.local()
_SIGINT = int(signal.SIGINT)


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.path.join(FOLDER, "libgraft.so.1"))
    for name, (result, parameters) in abi.PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library


lib = _load()


def text(value) -> str:
    """The text of a C string that the library returned; "" for NULL."""
    return value.decode("utf-8", "replace") if value else ""


def path(value) -> bytes:
    """The bytes of a path, as the library takes paths."""
    return os.fsencode(os.fspath(value))


def new(struct, **values):
    """Makes a struct of the library's with its struct_size set."""
    return struct(struct_size=ctypes.sizeof(struct), **values)


def strings(values):
    """Makes a C array of strings; None for an empty one."""
    encoded = [value if isinstance(value, bytes) else str(value).encode() for value in values]
    return (ctypes.c_char_p * len(encoded))(*encoded) if encoded else None


def structs(kind, pointer, n: int, stride: int) -> list:
    """Lists the n structs of a C array. They are `stride` bytes apart: in a newer library they may be longer than
    `kind`."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    return [kind.from_address(address + i * stride) for i in range(n)]


def listed(at):
    """The structs that at(0), at(1), ... point to, up to the first NULL."""
    for i in itertools.count():
        found = at(i)
        if not found:
            return
        yield found.contents


def error_none() -> abi.graft_error:
    return new(abi.graft_error)


def exception_of(error: abi.graft_error, status: int):
    return of_code(status, text(error.message), text(error.source), text(error.hint))


def check(function, *arguments) -> None:
    """Calls a function that takes an error last, and raises what it records.

    What Python code that the library called has raised is raised again: as the cause where the library says more.
    """
    take_raised()
    error = error_none()
    status = _interrupts.during(function, *arguments, ctypes.byref(error))
    raised = take_raised()
    if status != abi.GRAFT_OK:
        if raised is not None and (text(error.source) == CALLBACK or not isinstance(raised, Exception)):
            raise raised
        raise exception_of(error, status) from raised


def text_of(function, *arguments) -> str:
    """What a function writes to the struct graft_text that it takes after `arguments`."""
    made = abi.graft_text()
    try:
        check(function, *arguments, ctypes.byref(made))
        return ctypes.string_at(made.bytes, made.length).decode("utf-8", "replace") if made.length else ""
    finally:
        lib.graft_text_free(ctypes.byref(made))


# --- Ctrl-C while the library runs ---


class _Interrupts:
    """Where Ctrl-C goes while the main thread is in the library.

    Python raises KeyboardInterrupt between any two instructions. In a function that ctypes calls back, before its first
    `try`, it would be printed and lost. So while the library runs, Ctrl-C is noted, and raised where the library calls
    Python code of the user's, or has returned.
    """

    def __init__(self):
        self.has_come = False
        self._is_users_code = False

    def _on_signal(self, number, frame) -> None:
        if self._is_users_code:
            raise KeyboardInterrupt
        self.has_come = True

    @staticmethod
    def _is_main() -> bool:
        return threading.get_ident() == threading.main_thread().ident

    def during(self, function, *arguments):
        """Calls a function of the library."""
        before = _signal.getsignal(_SIGINT)
        if not self._is_main() or before not in (_signal.default_int_handler, self._on_signal):
            return function(*arguments)
        was_users_code, self._is_users_code = self._is_users_code, False
        _signal.signal(_SIGINT, self._on_signal)
        try:
            result = function(*arguments)
        finally:
            _signal.signal(_SIGINT, before)
            self._is_users_code = was_users_code
        self.raise_if_come()
        return result

    def raise_if_come(self) -> None:
        if self.has_come and self._is_main():
            self.has_come = False
            raise KeyboardInterrupt

    def in_users_code(self, function) -> None:
        """Calls a function of the user's while the library waits for it."""
        if not self._is_main():
            function()
            return
        self.raise_if_come()
        try:
            self._is_users_code = True
            function()
        finally:
            self._is_users_code = False


_interrupts = _Interrupts()


# --- Python code that the library calls ---

CALLBACK = "Python"


class Recorded(Exception):
    """A function of the host has failed and recorded why."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


def call_back(function, error, source: str = CALLBACK) -> int:
    """Calls a Python function for the library and returns the status to give back; what it raises is recorded in
    `error`."""
    try:
        _interrupts.in_users_code(function)
        return abi.GRAFT_OK
    except Recorded as recorded:
        return recorded.status
    except BaseException as exception:
        return keep_raised(exception, error, source)


def keep_raised(exception: BaseException, error, source: str = CALLBACK) -> int:
    """Records what a function called by the library has raised; returns the status that it returns."""
    _local.raised = exception
    code = getattr(exception, "code", abi.GRAFT_ERROR_PLUGIN)
    code = code if isinstance(code, int) and 1 <= code <= abi.GRAFT_ERROR_VERIFY else abi.GRAFT_ERROR_PLUGIN
    if error and error.contents.code == abi.GRAFT_OK:
        error.contents.code = code
        error.contents.source = source.encode()[:255]
        message = getattr(exception, "message", None) or f"{type(exception).__name__}: {exception}"
        error.contents.message = " ".join(str(message).split()).encode()[:1023]
        error.contents.hint = b""
    return code


def take_raised():
    raised = getattr(_local, "raised", None)
    _local.raised = None
    return raised


def version() -> str:
    """The version of the library's interface for plugins: "1.0"."""
    return f"{abi.GRAFT_ABI_MAJOR}.{abi.GRAFT_ABI_MINOR}"
