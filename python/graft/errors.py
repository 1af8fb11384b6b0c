# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each error code of the library."""

from __future__ import annotations

from typing import Optional


class GraftError(Exception):
    """The base of all errors of Graft.

    Attributes:
        code: one of the library's codes, which are the program's exit statuses (1 to 6).
        source: the file, tensor, module or plugin that is at fault; may be empty.
        message: what is wrong, what was expected and what was found; one line.
        hint: what to do about it; may be empty.
    """

    code = 1

    def __init__(self, message: str, source: str = "", hint: str = "", code: Optional[int] = None):
        super().__init__(message, source, hint)
        self.message = message
        self.source = source
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        text = f"{self.source}: {self.message}" if self.source else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text


class InternalError(GraftError):
    """Memory ran out, or Graft broke a promise of its own."""

    code = 1


class UsageError(GraftError, ValueError):
    """An argument is wrong."""

    code = 2


class PluginError(GraftError):
    """A plugin is at fault, or two plugins do not fit together."""

    code = 3


class ModelError(GraftError):
    """A file of the model directory is at fault."""

    code = 4


class FileError(GraftError, OSError):
    """A file that is read or written, other than the model's."""

    code = 5


class VerifyError(GraftError):
    """Replaced and original differ."""

    code = 6


_BY_CODE = {each.code: each for each in (InternalError, UsageError, PluginError, ModelError, FileError, VerifyError)}


def of_code(code: int, message: str, source: str = "", hint: str = "") -> GraftError:
    """Makes the exception for an error code of the library."""
    return _BY_CODE.get(code, GraftError)(message, source, hint, code)
