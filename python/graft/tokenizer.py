# SPDX-License-Identifier: Apache-2.0
"""Text to token ids and back, and conversations to prompts, as a model directory says."""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _abi as abi
from ._library import check, error_none, exception_of, lib, new, path, strings, text, text_of
from .arguments import as_json, integer, names, spelled
from .errors import ModelError
from .inputs import one


class Tokenizer:
    """The tokenizer of a model directory. Several threads may use one at once.

    >>> t = graft.Tokenizer("model")
    >>> t.decode(t.encode("Once upon a time"))
    """

    def __init__(self, directory, ignored_fields: Sequence[str] = ()):
        self._lock = threading.Lock()
        self._pointer = ctypes.c_void_p()
        self._chat = ctypes.c_void_p()
        self._directory = directory
        fields = names(ignored_fields, "ignored_fields")
        options = new(abi.graft_tokenizer_options, n_ignored_fields=len(fields), ignored_fields=strings(fields))
        check(lib.graft_tokenizer_load_with, path(directory), ctypes.byref(options), ctypes.byref(self._pointer))
        self._finalizer = weakref.finalize(self, _free, self._pointer, self._chat)

    def encode(self, words: str, add_special_tokens: bool = True) -> List[int]:
        """The ids of a text."""
        data = spelled(words, "text")
        ids = abi.graft_ids()
        try:
            check(
                lib.graft_tokenizer_encode, self._pointer, data, len(data), int(add_special_tokens), ctypes.byref(ids)
            )
            return _ids(ids)
        finally:
            lib.graft_ids_free(ctypes.byref(ids))

    def encode_within(self, words: str, limit: int) -> List[int]:
        """The same with special tokens, cut to `limit` of them."""
        data = spelled(words, "text")
        ids, cut = abi.graft_ids(), ctypes.c_int()
        try:
            check(
                lib.graft_tokenizer_encode_within,
                self._pointer,
                data,
                len(data),
                limit,
                ctypes.byref(ids),
                ctypes.byref(cut),
            )
            return _ids(ids)
        finally:
            lib.graft_ids_free(ctypes.byref(ids))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """The text of ids."""
        array = one(ids)
        return text_of(
            lib.graft_tokenizer_decode, self._pointer, array.ctypes.data, array.size, int(skip_special_tokens)
        )

    def convert_tokens_to_ids(self, token: str) -> Optional[int]:
        """The id of a token, spelled as in the file; None: there is none."""
        found = lib.graft_tokenizer_id(self._pointer, spelled(token, "token"))
        return found if found >= 0 else None

    def convert_ids_to_tokens(self, token: int) -> Optional[str]:
        """The spelling of an id; None: there is no such token."""
        found = lib.graft_tokenizer_token(self._pointer, integer(token, "token", -(2**31), 2**31 - 1), None)
        return text(found) if found is not None else None

    def __len__(self) -> int:
        return lib.graft_tokenizer_size(self._pointer)

    @property
    def eos_token_id(self) -> Optional[int]:
        found = lib.graft_tokenizer_named_id(self._pointer, b"eos_token")
        return found if found >= 0 else None

    def apply_chat_template(
        self,
        messages: Sequence[Dict[str, Any]],
        add_generation_prompt: bool = False,
        tokenize: bool = True,
        tools: Optional[Sequence[Dict[str, Any]]] = None,
        **variables: Any,
    ) -> Union[List[int], str]:
        """What the directory's chat template makes of a conversation: ids, or text."""
        request = new(abi.graft_chat_request, add_generation_prompt=int(add_generation_prompt))
        keep = []

        def put(field: str, value: Any) -> None:
            data = as_json(value, field)
            keep.append(data)
            setattr(request, field, abi.graft_text_view(data, len(data)))

        put("messages", list(messages))
        if tools is not None:
            put("tools", list(tools))
        if variables:
            put("variables", variables)
        template = self._template()
        if tokenize:
            ids = abi.graft_ids()
            try:
                check(lib.graft_chat_template_encode, template, ctypes.byref(request), ctypes.byref(ids))
                return _ids(ids)
            finally:
                lib.graft_ids_free(ctypes.byref(ids))
        return text_of(lib.graft_chat_template_render, template, ctypes.byref(request))

    def _template(self):
        with self._lock:
            if not self._chat:
                check(
                    lib.graft_chat_template_load, path(self._directory), self._pointer, None, ctypes.byref(self._chat)
                )
        if not self._chat:
            raise ModelError("has no chat template", str(self._directory))
        return self._chat

    def stream(self, skip_special_tokens: bool = True) -> DecodeStream:
        """Decoding as ids arrive."""
        return DecodeStream(self, skip_special_tokens)


class DecodeStream:
    """Text as ids arrive: each call returns whole characters that no later id can change."""

    def __init__(self, tokenizer: Tokenizer, skip_special_tokens: bool = True):
        self._tokenizer = tokenizer
        self._pointer = ctypes.c_void_p()
        self._bytes, self._length = ctypes.c_char_p(), ctypes.c_size_t()
        self._error = error_none()
        check(lib.graft_decode_stream_create, tokenizer._pointer, int(skip_special_tokens), ctypes.byref(self._pointer))
        # The tokenizer is an argument, so that it outlives the stream where both go at once.
        self._finalizer = weakref.finalize(self, _destroy, self._pointer, tokenizer)

    def _take(self, function, *arguments) -> str:
        status = function(
            self._pointer, *arguments, ctypes.byref(self._bytes), ctypes.byref(self._length), ctypes.byref(self._error)
        )
        if status != abi.GRAFT_OK:
            raise exception_of(self._error, status)
        return ctypes.string_at(self._bytes, self._length.value).decode("utf-8")

    def push(self, token: int) -> str:
        """Takes the next id."""
        return self._take(lib.graft_decode_stream_push, integer(token, "token", -(2**31), 2**31 - 1))

    def end(self) -> str:
        """What was held back."""
        return self._take(lib.graft_decode_stream_end)


def _free(tokenizer: ctypes.c_void_p, chat: ctypes.c_void_p) -> None:
    lib.graft_chat_template_free(chat)
    lib.graft_tokenizer_free(tokenizer)


def _destroy(stream: ctypes.c_void_p, tokenizer: Tokenizer) -> None:
    lib.graft_decode_stream_destroy(stream)


def _ids(ids) -> List[int]:
    return list((ctypes.c_int32 * ids.n).from_address(ids.ids)) if ids.n else []
