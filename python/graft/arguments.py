# SPDX-License-Identifier: Apache-2.0
"""Arguments from outside, as the library wants them; what they cannot be is an error that names them."""

from __future__ import annotations

import json
import operator
from typing import Any, List, Sequence, Union

from .errors import UsageError


def spelled(value: Any, name: str) -> bytes:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, got {type(value).__name__}")
    return value.encode("utf-8", "surrogatepass")


def names(values: Union[str, Sequence[str]], name: str) -> List[bytes]:
    """Several strings, or one."""
    return [spelled(each, name) for each in ([values] if isinstance(values, str) else values)]


def integer(value: Any, name: str, least: int, most: int) -> int:
    """A whole number in a range: ctypes would cut off its upper bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r}") from None
    if not least <= number <= most:
        raise UsageError(f"{name}: expected {least} to {most}, got {number}")
    return number


def as_json(value: Any, name: str, default=None) -> bytes:
    """What JSON can say."""
    try:
        return json.dumps(value, default=default).encode()
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{name}: {problem}") from None
