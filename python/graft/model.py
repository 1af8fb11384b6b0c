# SPDX-License-Identifier: Apache-2.0
"""Models: opened from a directory, run, looked at, saved."""

from __future__ import annotations

import ctypes
import json
import os
import re
import threading
import weakref
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _abi as abi
from . import forwards
from . import inputs as given
from . import progress
from ._library import call_back, check, lib, listed, new, path, strings, structs, text, text_of
from .arguments import integer, names, spelled
from .errors import UsageError
from .comparing import compare, original_options, sample_ids
from .generation import Generation
from .opening import Library, _all
from .outputs import ModelOutput, Plan, Verification
from .streaming import Sink, texts_of
from .tokenizer import Tokenizer

_LONG = 512  # tokens of prompts: the library reads so many at once
_TOLERANCE = 5e-5  # of logits, relative to the largest: the program's


class ModuleSpec(NamedTuple):
    """A module of a chain (`Model.fuse_modules`), wherever its path matches: `*` is anything but a dot."""

    path: str
    inputs: Optional[Sequence[str]] = None
    outputs: Optional[Sequence[str]] = None


class NamedModule(NamedTuple):
    """A module of a model."""

    path: str
    class_name: str
    original_class: str  # that it replaces, or ""
    interface: str
    plugin: str  # whose class it is, or ""


def _shard_bytes(size: Union[int, str]) -> int:
    if isinstance(size, str):
        spelled = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]B)", size.upper())
        if spelled is None:
            raise UsageError(f"max_shard_size: expected a number of bytes or a text like '5GB', got {size!r}")
        size = int(float(spelled[1]) * {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}[spelled[2]])
    return integer(size, "max_shard_size", 1, 2**63 - 1)


class Model:
    """A model directory that is opened, with the replacements that were registered at that moment.

    Made by `from_pretrained`. One thread at a time runs a model: calls from several wait for each other. Different
    models run at once, as the interpreter's lock is released while one computes. `close` (or a `with` block) frees
    it, and so does its last reference.
    """

    def __init__(self, directory, library: Library, options: abi.graft_model_options):
        self._directory = os.fspath(directory)
        self._library = library
        self._options = options
        self._lock = threading.Lock()
        self._user: Optional[int] = None
        self._tokenizer: Optional[Tokenizer] = None
        self._pointer = ctypes.c_void_p()
        self._is_loaded = False
        try:
            with progress.shown(library, "Opening", "B"):
                check(
                    lib.graft_model_open,
                    library.pointer,
                    path(directory),
                    ctypes.byref(options),
                    ctypes.byref(self._pointer),
                )
        except BaseException:
            lib.graft_model_free(self._pointer)
            library.close()
            raise
        self._finalizer = weakref.finalize(self, _free, self._pointer, library)

    # --- Its life ---

    def close(self) -> None:
        """Frees the model, its library and its plugins. Nothing but `close` may be called afterwards."""
        if self._user == threading.get_ident():
            raise UsageError("the model is in use by the call that called this", self._directory)
        with self._lock:
            self._finalizer()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @contextmanager
    def _running(self) -> Iterator[ctypes.c_void_p]:
        """Gives the pointer of the model, which no other thread uses within the block."""
        if self._user == threading.get_ident():
            raise UsageError("the model is in use by the call that called this", self._directory)
        with self._lock:
            if not self._pointer:
                raise UsageError("the model is closed", self._directory)
            try:
                self._user = threading.get_ident()
                yield self._pointer
            finally:
                self._user = None

    def _open(self) -> ctypes.c_void_p:
        if not self._pointer:
            raise UsageError("the model is closed", self._directory)
        return self._pointer

    def load(self) -> Model:
        """Binds the weights and makes the modules, where `from_pretrained` was told not to."""
        with self._running() as model:
            if not self._is_loaded:
                with progress.shown(self._library, "Loading", "B"):
                    check(lib.graft_model_load, model)
                    self._is_loaded = True
        return self

    # --- What it is ---

    @property
    def directory(self) -> str:
        """The model directory."""
        return self._directory

    @property
    def config(self) -> Dict[str, Any]:
        """config.json."""
        with open(os.path.join(self._directory, "config.json"), encoding="utf-8") as file:
            return json.load(file)

    @property
    def tokenizer(self) -> Tokenizer:
        """The directory's tokenizer, read when it is first needed."""
        if self._tokenizer is None:
            self._tokenizer = Tokenizer(self._directory)
        return self._tokenizer

    @property
    def vocab_size(self) -> int:
        """How many logits each token has."""
        return lib.graft_model_vocab_size(self._open())

    @property
    def task(self) -> int:
        """What it is for: one of GRAFT_TASK_... (graft/host/encode.h)."""
        return lib.graft_model_task(self._open())

    @property
    def plan(self) -> Plan:
        """What opening it decided: which tensors become which parameters, which classes replace others, notes."""
        model = self._open()
        return Plan(json.loads(text_of(lib.graft_model_plan_json, model, 0)), text_of(lib.graft_model_plan_html, model))

    @property
    def notes(self) -> List[str]:
        """What the library has to say of the model and of its plugins."""
        model = self._open()
        return self._library.notes() + list(_all(lib.graft_model_note, model))

    def named_modules(self) -> Iterator[NamedModule]:
        """Modules by path, parents before their children."""
        for one in listed(lambda i: lib.graft_model_module(self._open(), i)):
            if one.flags & abi.GRAFT_MODULE_SUPER:  # has the path of what calls it
                continue
            yield NamedModule(
                text(one.path), text(one.class_name), text(one.original_class), text(one.interface_id), text(one.plugin)
            )

    def check_strict(self) -> None:
        """Raises where checkpoint and model do not fit exactly, or a field of config.json is not used."""
        check(lib.graft_model_check_strict, self._open())

    def __repr__(self) -> str:
        if not self._pointer:
            return f"<graft.Model {self._directory}, closed>"
        plan = lib.graft_model_plan(self._pointer).contents
        return f"<graft.Model {text(plan.architecture)} from {self._directory}>"

    def _repr_html_(self) -> Optional[str]:
        return self.plan._repr_html_() if self._pointer else None

    # --- Generating ---

    def generate(
        self,
        inputs: Any,
        *,
        max_new_tokens: Optional[int] = None,
        streamer: Any = None,
        adapter: Optional[str] = None,
        chat: Mapping[str, Any] = {},
        **generation: Any,
    ):
        """Continues prompts.

        Args:
            inputs: a text or several, a conversation (messages) or several, token ids [tokens] or [prompts, tokens], or
                what a tokenizer of transformers returns.
            max_new_tokens: of each prompt; without it what the directory says.
            streamer: an object with `put` and `end` as transformers' streamers have, which is given ids; or a function
                of one argument, which is given pieces of text (or ids, where ids went in). One prompt only.
            adapter: the only one of the model's adapters that takes effect; None: all.
            chat: for conversations: variables of the chat template, such as `tools` or `enable_thinking`.
            **generation: as in transformers: do_sample, temperature, top_k, top_p, num_beams, repetition_penalty,
                stop_strings and so on; and seed, ignore_eos, speculate, logits_processors (names that plugins give).

        Returns:
            For texts and conversations the new text; for ids an array of prompt and new ids, as in transformers. For
            several prompts, or num_return_sequences, a list.
        """
        prompt = given.read(inputs, lambda: self.tokenizer, **chat)
        if max_new_tokens is not None:
            generation["max_new_tokens"] = max_new_tokens
        sink = Sink(lambda: self.tokenizer, prompt, streamer) if streamer is not None else None
        with self._running() as model, Generation(model, generation) as settings:
            n = settings.sequences_per_prompt
            sequences: List[List[int]] = [[] for _ in range(n * len(prompt.ids))]
            with self._reading(prompt.ids) as raised:
                self._generate(model, given.prompts(prompt.ids, adapter), settings, sequences, sink, raised)
        if sink is not None:
            sink.end()
        if prompt.is_text:
            results: List[Any] = [self.tokenizer.decode(ids, skip_special_tokens=True) for ids in sequences]
        else:
            results = [
                np.concatenate([prompt.ids[i // n], np.asarray(ids, np.int32)]) for i, ids in enumerate(sequences)
            ]
        return results[0] if prompt.is_single and n == 1 else results

    def _reading(self, ids):
        """Shows how far prompts are read, if they are long."""
        return progress.shown(self._library, "Reading the prompt", "tok", sum(len(each) for each in ids) > _LONG)

    @staticmethod
    def _generate(model, prompts, settings: Generation, sequences: List[List[int]], sink, raised=()) -> None:
        adds = [each.append for each in sequences]

        def on_token(data, sequence, token, last, error):
            def take():
                if raised:
                    raise raised[0]
                adds[sequence](token)
                if sink is not None:
                    sink.put(token)

            return call_back(take, error)

        check(
            lib.graft_model_generate,
            model,
            prompts,
            len(prompts),
            ctypes.byref(settings.struct),
            abi.graft_token_function(on_token),
            None,
        )

    def stream(
        self,
        inputs: Any,
        *,
        max_new_tokens: Optional[int] = None,
        adapter: Optional[str] = None,
        chat: Mapping[str, Any] = {},
        **generation: Any,
    ) -> Iterator[Any]:
        """Continues one prompt as an iterator: over pieces of text, or over ids where ids went in. The model is free
        for other calls between two steps."""
        prompt = given.read(inputs, lambda: self.tokenizer, **chat)
        if len(prompt.ids) != 1:
            raise UsageError(f"stream takes one prompt, got {len(prompt.ids)}")
        if max_new_tokens is not None:
            generation["max_new_tokens"] = max_new_tokens
        tokens = self._stream(prompt.ids, adapter, generation)
        if not prompt.is_text:
            return tokens
        return texts_of(tokens, self.tokenizer.stream())

    def _stream(self, ids, adapter, generation) -> Iterator[int]:
        prompts = given.prompts(ids, adapter)
        sequences, number = ctypes.c_void_p(), ctypes.c_int64()
        with self._running() as model, Generation(model, generation) as settings:
            check(lib.graft_sequences_create, model, None, ctypes.byref(sequences))
            try:
                how = new(abi.graft_sequence_options, generation=ctypes.pointer(settings.struct))
                check(lib.graft_sequences_add, sequences, prompts, ctypes.byref(how), ctypes.byref(number))
            except BaseException:
                lib.graft_sequences_free(sequences)
                raise
        tokens, n = ctypes.POINTER(abi.graft_sequence_token)(), ctypes.c_size_t()
        step, begins = (sequences, ctypes.byref(tokens), ctypes.byref(n)), True
        try:
            while True:
                with self._running():
                    if lib.graft_sequences_count(sequences) == 0:
                        return
                    if begins:  # the prompt is read in this step
                        begins = False
                        with self._reading(ids):
                            check(lib.graft_sequences_step, *step)
                    else:
                        check(lib.graft_sequences_step, *step)
                    stride = tokens[0].struct_size if n.value else 0
                    made = [one.id for one in structs(abi.graft_sequence_token, tokens, n.value, stride)]
                yield from made
        finally:
            if self._pointer:
                lib.graft_sequences_free(sequences)

    # --- Forwards ---

    def __call__(
        self,
        inputs: Any,
        *,
        output_hidden_states: bool = False,
        output_attentions: bool = False,
        output_router_logits: bool = False,
        token_type_ids: Any = None,
    ) -> ModelOutput:
        """Runs prompts and returns what the model says of each position: `model(ids).logits`.

        Arrays are the library's results themselves, f32, without a copy.
        """
        prompt = given.read(inputs, lambda: self.tokenizer)
        what = (
            output_hidden_states * abi.GRAFT_RECORD_HIDDEN_STATES
            | output_attentions * abi.GRAFT_RECORD_ATTENTIONS
            | output_router_logits * abi.GRAFT_RECORD_ROUTER_LOGITS
        )
        with self._running() as model:
            task = lib.graft_model_task(model)
            if task == abi.GRAFT_TASK_CAUSAL_LM:
                if token_type_ids is not None:
                    raise UsageError("token_type_ids: the model is no encoder", self._directory)
                output = forwards.logits(model, prompt)
            else:
                output = forwards.encode(model, prompt, token_type_ids, task)
            if what:
                forwards.record(model, prompt, what, task, output)
        return output

    def embed(self, texts: Any) -> np.ndarray:
        """One vector for each text, as sentence-transformers makes them: [texts, size] f32; [size] for one text."""
        info = new(abi.graft_embedding_info)
        is_text = isinstance(texts, str)
        with self._running() as model:
            check(lib.graft_model_embedding, model, ctypes.byref(info))
            if is_text or (not hasattr(texts, "__array__") and all(isinstance(each, str) for each in texts)):
                encoder = new(abi.graft_encoder_info)
                lib.graft_model_encoder_info(model, ctypes.byref(encoder))
                limit = info.max_tokens or encoder.max_tokens or 2**31 - 1
                words = [texts] if is_text else list(texts)
                ids = [np.asarray(self.tokenizer.encode_within(each, limit), np.int32) for each in words]
                prompt = given.Inputs(ids, True, is_text, False)
            else:
                prompt = given.read(texts, None)
            vectors = np.empty((len(prompt.ids), info.size), np.float32)
            prompts = given.encoder_prompts(prompt.ids)
            check(lib.graft_model_embed, model, prompts, len(prompts), vectors.ctypes.data)
        return vectors[0] if prompt.is_single else vectors

    def run_module(self, module_path: str, args: ctypes.Structure) -> None:
        """Runs one module by itself, with the struct of its interface (`graft.abi`)."""
        with self._running() as model:
            check(lib.graft_model_run_module, model, spelled(module_path, "module_path"), ctypes.byref(args))

    # --- Comparing, fusing, saving ---

    def verify(self, inputs: Any = None, *, max_new_tokens: int = 16, tolerance: float = _TOLERANCE) -> Verification:
        """Runs the model beside the one without replacements: each replaced module and its original on the same inputs,
        logits, and the tokens that both go on with.

        Args:
            inputs: as of `generate`; without it some ids.
            max_new_tokens: to compare; 0: none.
            tolerance: how far logits may differ, relative to the largest.
        """
        prompt = given.read(sample_ids(self) if inputs is None else inputs, lambda: self.tokenizer)
        with Model(self._directory, self._library.again(), original_options(self._options)) as original:
            original.load()
            return compare(self, original, prompt, max_new_tokens, tolerance)

    def fuse_modules(self, specs: Sequence[Union[ModuleSpec, str]]) -> None:
        """Fuses modules that follow each other into chains, wherever their paths match."""
        keep: List[Any] = []
        array = (abi.graft_module_spec * len(specs))()
        for made, spec in zip(array, (each if isinstance(each, ModuleSpec) else ModuleSpec(each) for each in specs)):
            made.struct_size = ctypes.sizeof(abi.graft_module_spec)
            made.path = spelled(spec.path, "path of a ModuleSpec")
            for given_names, field in ((spec.inputs, "inputs"), (spec.outputs, "outputs")):
                if given_names is not None:
                    wanted = names(given_names, field)
                    keep.append(strings(wanted))
                    setattr(made, field, keep[-1])
                    setattr(made, "n_" + field, len(wanted))
        with self._running() as model:
            check(lib.graft_model_fuse_modules, model, array, len(specs))

    def unfuse_modules(self, paths: Sequence[str] = ()) -> None:
        """Takes chains apart: those of the modules that paths match, or all."""
        with self._running() as model:
            wanted = names(paths, "paths")
            check(lib.graft_model_unfuse_modules, model, strings(wanted), len(wanted))

    def fused_by(self, module_path: str) -> Optional[str]:
        """What runs the chain of a module: a plugin's id, "" if its modules run one after another; None: no chain."""
        found = lib.graft_model_fused_by(self._open(), spelled(module_path, "module_path"))
        return None if found is None else text(found)

    def save_pretrained(
        self, directory, *, save_original_format: bool = True, max_shard_size: Union[int, str] = "50GB"
    ) -> None:
        """Writes the model to a directory that is empty or does not exist.

        Args:
            save_original_format: the same tensors as it was opened from, bit for bit, whatever replaces classes;
                without it one tensor for each parameter, and a journal that leads back.
            max_shard_size: of a file: bytes, or "5GB".
        """
        options = new(abi.graft_save_options, runtime_layout=int(not save_original_format))
        options.max_shard_bytes = _shard_bytes(max_shard_size)
        with self._running() as model, progress.saving(options):
            check(lib.graft_model_save, model, path(directory), ctypes.byref(options))


def _free(pointer: ctypes.c_void_p, library: Library) -> None:
    model = ctypes.c_void_p(pointer.value)
    pointer.value = None  # for what still knows the model, such as an iterator that goes at the same time
    borrowed = library.forget()
    left = len(borrowed)

    def free() -> None:
        lib.graft_model_free(model)
        library.close()

    def one_less() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            free()

    for each in borrowed:  # weights that arrays of somebody's still show: the model stays as long
        each.when_free(one_less)
    if not borrowed:
        free()


def fuse_modules(model: Model, specs: Sequence[Union[ModuleSpec, str]]) -> Model:
    """Fuses modules of a model (`Model.fuse_modules`) and returns the model."""
    model.fuse_modules(specs)
    return model


def unfuse_modules(model: Model, paths: Sequence[str] = ()) -> Model:
    """Takes chains of fused modules apart (`Model.unfuse_modules`) and returns the model."""
    model.unfuse_modules(paths)
    return model


__all__ = ["Model", "ModuleSpec", "NamedModule", "fuse_modules", "unfuse_modules"]
