# SPDX-License-Identifier: Apache-2.0
"""Calls of modules as transformers makes them, as calls of Graft's interfaces: arrays are torch's own memory in f32.

Activations of other types cost a copy on the way in and one on the way out.
"""

from __future__ import annotations

import ctypes
import inspect
from typing import Any, Callable, Dict, Optional

import torch

from . import _abi as abi
from ._library import new
from ._torch_cache import Batch, without_cache
from ._torch_host import Host
from .errors import UsageError
from .interfaces import INTERFACES, size_of


def _floats(tensor: torch.Tensor, path: str = "", name: str = "", width: Optional[int] = None) -> torch.Tensor:
    """The tensor in f32 and dense: itself if it is so already, else a copy. `width`: how long its rows have to be."""
    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
        raise UsageError(f"{name}: expected floats, got {getattr(tensor, 'dtype', type(tensor).__name__)}", path)
    if tensor.device.type != "cpu":
        raise UsageError(f"{name}: is on {tensor.device}, and Graft computes on the CPU", path)
    if width is not None and (tensor.dim() < 1 or tensor.shape[-1] != width):
        raise UsageError(f"{name}: expected rows of {width}, got {list(tensor.shape)}", path)
    return tensor.detach().to(torch.float32).contiguous()


def _rows(tensor: torch.Tensor) -> int:
    return tensor.shape[:-1].numel()


def _width(module, host: Host, path: str, array: str) -> int:
    """The length of a row of one of the arrays that the module's interface reads."""
    shape = next(each.shape for each in INTERFACES[host.interface(path)].arrays if each.name == array)

    def known(name: str) -> Optional[int]:
        value = host.args[path].get(name, getattr(module, name, None))
        if value is None and name == "hidden_size":  # routers' parents do not give it
            value = host.hidden_size
        return value if isinstance(value, int) else None

    try:
        return size_of(shape[-1], known)
    except KeyError as missing:
        raise UsageError(f"nothing says its {missing.args[0]}", path) from None


def _size(module, host: Host, path: str, name: str, *attributes: str) -> int:
    """A size that the parent gives in Graft, or an attribute of the module in torch."""
    if name in host.args[path]:
        return int(host.args[path][name])
    for attribute in attributes:
        value = getattr(module, attribute, None)
        if isinstance(value, int):
            return value
    raise UsageError(f"nothing says its {name}", path)


def _simple(args_type, count: str, source: str, target: str, width: Optional[str] = None):
    """Makes the call of an interface that reads one array and writes another."""

    def call(host: Host, path: str, module, x: torch.Tensor, *more: Any, **kwargs: Any):
        given = _floats(x, path, source, None if count == "count" else _width(module, host, path, source))
        columns = given.shape[-1] if width is None else _size(module, host, path, width, width)
        output = torch.empty((*given.shape[:-1], columns))
        if given.numel() == 0:
            return output.to(x.dtype)
        args = new(args_type)
        setattr(args, count, given.numel() if count == "count" else _rows(given))
        setattr(args, source, given.data_ptr())
        setattr(args, target, output.data_ptr())
        host.model.run_module(path, args)
        return output.to(x.dtype)

    return call


def _embedding(host: Host, path: str, module, ids: torch.Tensor):
    if ids.is_floating_point() or bool(((ids < 0) | (ids > 2**31 - 1)).any()):
        raise UsageError("ids: expected those of tokens", path)
    given = ids.detach().to(torch.int32).contiguous()
    output = torch.empty((*ids.shape, _size(module, host, path, "embedding_dim", "embedding_dim")))
    args = new(abi.graft_embedding_args, tokens=given.numel(), ids=given.data_ptr(), output=output.data_ptr())
    host.model.run_module(path, args)
    return output


def _experts(host: Host, path: str, module, hidden_states, top_k_index, top_k_weights, *more: Any, **kwargs: Any):
    given = _floats(hidden_states, path, "hidden_states", _width(module, host, path, "hidden_states"))
    weights = _floats(top_k_weights, path, "top_k_weights")
    if top_k_index.dim() < 1 or top_k_index.shape != weights.shape or _rows(top_k_index) != _rows(given):
        raise UsageError(
            f"top_k_index, top_k_weights: expected [{_rows(given)}, k], got {list(top_k_index.shape)}, "
            f"{list(weights.shape)}",
            path,
        )
    if top_k_index.is_floating_point() or bool((top_k_index < 0).any()):
        raise UsageError("top_k_index: expected numbers of experts", path)
    n = _size(module, host, path, "num_experts", "num_experts")
    index = top_k_index.detach()
    sentinel = index >= n  # an expert that is somewhere else: it adds nothing here
    if bool(sentinel.any()):
        weights = weights.masked_fill(sentinel, 0.0)
        index = index.masked_fill(sentinel, 0)
    index = index.to(torch.int32).contiguous()
    output = torch.empty_like(given)
    if index.numel() == 0:
        return output.zero_().to(hidden_states.dtype)
    args = new(
        abi.graft_experts_args,
        tokens=_rows(given),
        k=index.shape[-1],
        hidden_states=given.data_ptr(),
        top_k_index=index.data_ptr(),
        top_k_weights=weights.data_ptr(),
        output=output.data_ptr(),
    )
    host.model.run_module(path, args)
    return output.to(hidden_states.dtype)


def _router(host: Host, path: str, module, hidden_states, *more: Any, **kwargs: Any):
    width = _width(module, host, path, "hidden_states")
    given = _floats(hidden_states, path, "hidden_states", width).reshape(-1, width)
    n = _size(module, host, path, "num_experts", "num_experts", "n_routed_experts")
    k = _size(module, host, path, "num_experts_per_tok", "top_k", "num_experts_per_tok")
    logits, weights = torch.empty(given.shape[0], n), torch.empty(given.shape[0], k)
    index = torch.empty((given.shape[0], k), dtype=torch.int32)
    args = new(
        abi.graft_router_args,
        tokens=given.shape[0],
        experts=n,
        k=k,
        hidden_states=given.data_ptr(),
        logits=logits.data_ptr(),
        top_k_index=index.data_ptr(),
        top_k_weights=weights.data_ptr(),
    )
    host.model.run_module(path, args)
    kind = hidden_states.dtype
    return logits.to(kind), weights.to(kind), index.to(torch.int64)


def _mask(attention_mask, is_causal: bool, tokens: int, batch: Batch, path: str):
    """Makes a struct graft_mask for the last `tokens` of each sequence; returns it with the tensor that it points
    to."""
    is_whole = all(place.kept == place.length for place in batch.places)
    if attention_mask is None and is_whole and (is_causal or batch.cache is None):
        return new(abi.graft_mask, kind=abi.GRAFT_MASK_CAUSAL if is_causal else abi.GRAFT_MASK_NONE), None
    sequences = len(batch.places)
    if attention_mask is not None:
        said = _biases(attention_mask, sequences, tokens, batch.width, path)
    length = max(place.length for place in batch.places) + tokens
    bias = torch.full((sequences, tokens, length), float("-inf"))
    for i, place in enumerate(batch.places):
        seen = bias[i, :, place.length - place.kept : place.length + tokens]  # what transformers' Cache has
        if attention_mask is not None:
            seen.copy_(said[i, :, : place.kept + tokens])
        else:
            seen.zero_()
            if is_causal:
                seen[:, place.kept :].copy_(torch.full((tokens, tokens), float("-inf")).triu(1))
    return new(abi.graft_mask, kind=abi.GRAFT_MASK_DENSE, bias=bias.data_ptr(), bias_stride=length), bias


def _biases(attention_mask, sequences: int, tokens: int, width: int, path: str) -> torch.Tensor:
    """A mask of transformers as numbers that are added to scores: [sequences, tokens, width or more] f32."""
    shape = tuple(attention_mask.shape)
    if len(shape) != 4 or shape[0] not in (1, sequences) or shape[1:3] != (1, tokens) or shape[3] < width:
        raise UsageError(
            f"attention_mask: expected [{sequences}, 1, {tokens}, {width}], got {list(shape)}", path
        )
    said = attention_mask.detach()[:, 0].expand(sequences, -1, -1)
    if said.dtype == torch.bool:
        return torch.zeros(said.shape).masked_fill(~said, float("-inf"))
    said = said.to(torch.float32)
    return said.masked_fill(said <= torch.finfo(torch.float32).min / 2, float("-inf"))


def _attention(
    host: Host,
    path: str,
    module,
    hidden_states: torch.Tensor,
    position_embeddings=None,
    attention_mask=None,
    past_key_values=None,
    *more: Any,
    **kwargs: Any,
):
    """Runs attention: without a cache over the given tokens alone, with one also over the earlier tokens in the
    slots."""
    if position_embeddings is None:
        raise UsageError("attention without position_embeddings", path)
    given = _floats(hidden_states, path, "hidden_states", _width(module, host, path, "hidden_states"))
    if given.dim() != 3:
        raise UsageError(f"hidden_states: expected [sequences, tokens, hidden], got {list(given.shape)}", path)
    sequences, tokens, _ = given.shape
    rotated = int(host.args[path].get("rotary_width") or _width(module, host, path, "cos"))
    for each in position_embeddings:
        if each.dim() != 3 or each.shape[0] not in (1, sequences) or each.shape[1] != tokens:
            raise UsageError(
                f"position_embeddings: expected [1, {tokens}, {rotated}], got {list(each.shape)}", path
            )
    if given.numel() == 0:
        return hidden_states.clone(), None
    cos, sin = (_floats(each.expand(sequences, -1, -1), path, "cos", rotated) for each in position_embeddings)
    is_causal = getattr(module, "is_causal", True)
    output = torch.empty_like(given)

    def run_in(batch: Batch) -> None:
        mask, _bias = _mask(attention_mask, is_causal, tokens, batch, path)
        cu_seqlens = torch.arange(0, (sequences + 1) * tokens, tokens, dtype=torch.int64)
        begins = torch.tensor([[place.length] for place in batch.places])
        positions = (begins + torch.arange(tokens)).contiguous()
        slots = torch.tensor([place.slot for place in batch.places], dtype=torch.int32)
        made = new(
            abi.graft_batch,
            sequences=sequences,
            tokens=sequences * tokens,
            cu_seqlens=cu_seqlens.data_ptr(),
            positions=positions.data_ptr(),
            slots=slots.data_ptr(),
            cache=batch.cache,
        )
        args = new(
            abi.graft_self_attention_args,
            batch=ctypes.pointer(made),
            hidden_states=given.data_ptr(),
            cos=cos.data_ptr(),
            sin=sin.data_ptr(),
            mask=ctypes.pointer(mask),
            output=output.data_ptr(),
        )
        host.model.run_module(path, args)

    if past_key_values is None:
        run_in(without_cache(sequences, tokens))
    else:
        with host.sequences(path).going_on(past_key_values, module.layer_idx, sequences, tokens) as batch:
            run_in(batch)
    return output.to(hidden_states.dtype), None


CALLS: Dict[str, Callable[..., Any]] = {
    "graft.linear/1": _simple(abi.graft_linear_args, "tokens", "x", "y", "out_features"),
    "graft.mlp/1": _simple(abi.graft_mlp_args, "tokens", "hidden_states", "output"),
    "graft.norm/1": _simple(abi.graft_norm_args, "tokens", "hidden_states", "output"),
    "graft.activation/1": _simple(abi.graft_activation_args, "count", "x", "y"),
    "graft.patch_embed/1": _simple(abi.graft_patch_embed_args, "patches", "pixel_values", "output", "embed_dim"),
    "graft.embedding/1": _embedding,
    "graft.experts/1": _experts,
    "graft.router/1": _router,
    "graft.self_attention/1": _attention,
}


def takes(interface: str, original: type) -> bool:
    """Whether transformers calls classes of this kind as `run` expects; for attention, with position_embeddings."""
    return (
        interface != "graft.self_attention/1" or "position_embeddings" in inspect.signature(original.forward).parameters
    )


def check_interface(interface: str, name: str) -> None:
    if interface not in CALLS:
        raise UsageError(f"classes of the interface {interface} are not run inside transformers", name)


def run(host: Host, path: str, module: torch.nn.Module, *args: Any, **kwargs: Any):
    """Calls the module at `path` with what transformers gives `module`."""
    if torch.is_grad_enabled() and _wants_grad(module, args, kwargs):
        raise UsageError("a gradient is required, and Graft has none", path, "call the model under torch.no_grad()")
    return CALLS[host.interface(path)](host, path, module, *args, **kwargs)


def _wants_grad(module: torch.nn.Module, args, kwargs) -> bool:
    given = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
    return any(each.requires_grad for each in (*given, *module.parameters()))
