# SPDX-License-Identifier: Apache-2.0
"""libgraft itself: where it is, how its functions are called, and how its errors become exceptions.

Every call releases the interpreter's lock, as ctypes does, so other threads of Python run while the library computes.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading

from . import _abi as abi
from .errors import of_code

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Where ids of plugins are looked for: PLUGINS/ID/ID.so.
PLUGINS = os.environ.get("GRAFT_PLUGINS_DIR") or os.path.join(FOLDER, "plugins")

_local = threading.local()


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.path.join(FOLDER, "libgraft.so.1"))
    for name, (result, parameters) in abi.PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library


lib = _load()


def text(value) -> str:
    """A string of the library's; "" for NULL."""
    return value.decode("utf-8", "replace") if value else ""


def path(value) -> bytes:
    """The path of a file or folder, as the system has it."""
    return os.fsencode(os.fspath(value))


def new(struct, **values):
    """A struct that begins with its size."""
    return struct(struct_size=ctypes.sizeof(struct), **values)


def strings(values):
    """An array of strings; None where there are none."""
    encoded = [value if isinstance(value, bytes) else str(value).encode() for value in values]
    return (ctypes.c_char_p * len(encoded))(*encoded) if encoded else None


def structs(kind, pointer, n: int, stride: int) -> list:
    """An array of the library's: n structs, `stride` bytes apart, as a newer library's may be longer than `kind`."""
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
    error = error_none()
    status = function(*arguments, ctypes.byref(error))
    raised = take_raised()
    if status != abi.GRAFT_OK:
        if raised is not None and text(error.source) == CALLBACK:
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


# --- Python code that the library calls ---

CALLBACK = "Python"


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
