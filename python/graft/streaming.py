# SPDX-License-Identifier: Apache-2.0
"""New tokens as they come: for streamers, and as text."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from . import inputs as given
from .errors import UsageError


class Sink:
    """Who is told of new tokens while they are generated."""

    def __init__(self, tokenizer, prompt: given.Inputs, streamer: Any):
        if len(prompt.ids) != 1:
            raise UsageError(f"a streamer takes one prompt, got {len(prompt.ids)}")
        self._streamer = streamer
        self._stream = None
        if hasattr(streamer, "put"):
            streamer.put(prompt.ids[0])
            self.put = lambda token: streamer.put(np.asarray([token], np.int32))
            self.end = streamer.end
        elif prompt.is_text:
            self._stream = tokenizer().stream()
            self.put = lambda token: self._say(self._stream.push(token))
            self.end = lambda: self._say(self._stream.end())
        else:
            self.put = streamer
            self.end = lambda: None

    def _say(self, piece: str) -> None:
        if piece:
            self._streamer(piece)


def texts_of(tokens: Iterator[int], decoder) -> Iterator[str]:
    for token in tokens:
        piece = decoder.push(token)
        if piece:
            yield piece
    piece = decoder.end()
    if piece:
        yield piece
