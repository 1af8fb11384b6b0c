# SPDX-License-Identifier: Apache-2.0
"""Weight conversions under the names that transformers has for them: how tensors of a checkpoint become parameters.

Operations and transforms mean what they mean there; docs/patch.md describes them, docs/deviations.md the intended
differences.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Union

from . import _abi as abi
from ._library import strings, structs


class ConversionOps:
    """An operation on the tensors that a WeightConverter's sources match."""

    _kind = 0
    _fields: Sequence[str] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None

    def _fill(self, operation, keep: list) -> None:
        operation.dim = getattr(self, "dim", 0)


class Concatenate(ConversionOps):
    """Joins all sources along `dim` into one target."""

    _kind = abi.GRAFT_OP_CONCATENATE
    _fields = ("dim",)

    def __init__(self, dim: int = 0, num_shards_attribute: Optional[str] = None):
        self.dim = dim
        self.num_shards_attribute = num_shards_attribute

    def _fill(self, operation, keep):
        operation.dim = self.dim
        if self.num_shards_attribute is not None:
            operation.num_shards_attribute = self.num_shards_attribute.encode()


class Chunk(Concatenate):
    """Divides one source along `dim` into equal parts, one for each target."""

    _kind = abi.GRAFT_OP_CHUNK


class Split(ConversionOps):
    """Divides one source along `dim` into parts as large as the targets' parameters."""

    _kind = abi.GRAFT_OP_SPLIT
    _fields = ("dim",)

    def __init__(self, dim: int = 0):
        self.dim = dim


class MergeModulelist(Split):
    """Stacks the tensors that a source with `*` matches along a new `dim`."""

    _kind = abi.GRAFT_OP_MERGE_MODULELIST


class SplitModulelist(Split):
    """Divides one source into the tensors of a target with `*`, one for each index along `dim`."""

    _kind = abi.GRAFT_OP_SPLIT_MODULELIST


class Interleave(ConversionOps):
    """`dim` as pairs [n / 2, 2] becomes [2, n / 2]; `inverse`: the other way."""

    _kind = abi.GRAFT_OP_INTERLEAVE
    _fields = ("dim", "inverse")

    def __init__(self, dim: int = 0, inverse: bool = False):
        self.dim = dim
        self.inverse = inverse

    def _fill(self, operation, keep):
        operation.dim = self.dim
        operation.inverse = self.inverse


class Transpose(ConversionOps):
    """`dim0` and `dim1` change places; with `check_dims` only where the shape is not the parameter's."""

    _kind = abi.GRAFT_OP_TRANSPOSE
    _fields = ("dim0", "dim1", "check_dims")

    def __init__(self, dim0: int = 0, dim1: int = 1, check_dims: bool = False):
        self.dim0 = dim0
        self.dim1 = dim1
        self.check_dims = check_dims

    def _fill(self, operation, keep):
        operation.dim = self.dim0
        operation.dim1 = self.dim1
        operation.check_dims = self.check_dims


class Conv3dToLinear(ConversionOps):
    """[out, in, t, h, w] becomes [out, in * t * h * w]."""

    _kind = abi.GRAFT_OP_CONV3D_TO_LINEAR
    _fields = ("in_channels", "kernel_size")

    def __init__(self, in_channels: int, kernel_size: Sequence[int]):
        self.in_channels = in_channels
        self.kernel_size = tuple(kernel_size)

    def _fill(self, operation, keep):
        operation.in_channels = self.in_channels
        operation.kernel_size[:] = self.kernel_size


class LinearToConv3d(Conv3dToLinear):
    """The reverse of Conv3dToLinear."""

    _kind = abi.GRAFT_OP_LINEAR_TO_CONV3D


class PermuteForRope(ConversionOps):
    """Rows [heads, half, 2] become [heads, 2, half]; `inverse`: the other way."""

    _kind = abi.GRAFT_OP_PERMUTE_FOR_ROPE
    _fields = ("subconfig_key", "permute_layer_names", "inverse")

    def __init__(
        self,
        subconfig_key: Optional[str] = None,
        permute_layer_names: Optional[Sequence[str]] = None,
        inverse: bool = False,
    ):
        self.subconfig_key = subconfig_key
        self.permute_layer_names = permute_layer_names
        self.inverse = inverse

    def _fill(self, operation, keep):
        operation.inverse = self.inverse
        if self.subconfig_key is not None:
            operation.subconfig_key = self.subconfig_key.encode()
        if self.permute_layer_names is not None:
            names = [name.encode() for name in self.permute_layer_names]
            ended = (abi.c_char_p * (len(names) + 1))(*names, None)
            keep.append(ended)
            operation.permute_layer_names = ended


class ErnieFuseAndSplitTextVisionExperts(ConversionOps):
    """Several lists of experts into as many stacks as there are targets."""

    _kind = abi.GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS
    _fields = ("stack_dim", "concat_dim")

    def __init__(self, stack_dim: int = 0, concat_dim: int = 1):
        self.stack_dim = stack_dim
        self.concat_dim = concat_dim

    def _fill(self, operation, keep):
        operation.dim = self.stack_dim
        operation.dim1 = self.concat_dim


class ErnieSplitAndDecoupleTextVisionExperts(ErnieFuseAndSplitTextVisionExperts):
    """The reverse."""

    _kind = abi.GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS


OPERATIONS = {
    each._kind: each
    for each in (
        Concatenate,
        Chunk,
        Split,
        MergeModulelist,
        SplitModulelist,
        Interleave,
        Transpose,
        Conv3dToLinear,
        LinearToConv3d,
        PermuteForRope,
        ErnieFuseAndSplitTextVisionExperts,
        ErnieSplitAndDecoupleTextVisionExperts,
    )
}


class WeightTransform:
    """What renamings and converters have in common."""

    def __init__(self, source_patterns: Union[str, List[str]], target_patterns: Union[str, List[str]]):
        self.source_patterns = [source_patterns] if isinstance(source_patterns, str) else list(source_patterns)
        self.target_patterns = [target_patterns] if isinstance(target_patterns, str) else list(target_patterns)
        self.operations: List[ConversionOps] = []

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None


class WeightRenaming(WeightTransform):
    """Renames tensors: what the source pattern matches in a name is replaced by the target."""

    def __repr__(self) -> str:
        return f"WeightRenaming({self.source_patterns!r}, {self.target_patterns!r})"


class WeightConverter(WeightTransform):
    """Converts tensors: the operations make the targets of the tensors whose names match the sources."""

    def __init__(self, source_patterns, target_patterns, operations: Sequence[ConversionOps]):
        super().__init__(source_patterns, target_patterns)
        self.operations = list(operations)
        if not self.operations:
            raise ValueError("WeightConverter requires at least one operation.")

    def __repr__(self) -> str:
        return f"WeightConverter({self.source_patterns!r}, {self.target_patterns!r}, {self.operations!r})"


# --- As the library has them ---


def _operations(transform: WeightTransform, keep: list):
    operations = (abi.graft_operation * max(1, len(transform.operations)))()
    for operation, given in zip(operations, transform.operations):
        operation.struct_size = abi.sizeof(abi.graft_operation)
        operation.kind = given._kind
        given._fill(operation, keep)
    keep.append(operations)
    return operations


def as_transforms(transforms: Sequence[WeightTransform], keep: list):
    """An array of struct graft_weight_transform; `keep` gets what has to live as long as it."""
    result = (abi.graft_weight_transform * max(1, len(transforms)))()
    for made, given in zip(result, transforms):
        is_converter = isinstance(given, WeightConverter)
        sources, targets = strings(given.source_patterns), strings(given.target_patterns)
        keep.extend((sources, targets))
        made.struct_size = abi.sizeof(abi.graft_weight_transform)
        made.kind = abi.GRAFT_TRANSFORM_CONVERTER if is_converter else abi.GRAFT_TRANSFORM_RENAME
        made.source_patterns, made.n_sources = sources, len(given.source_patterns)
        made.target_patterns, made.n_targets = targets, len(given.target_patterns)
        if is_converter:
            made.operations = _operations(given, keep)
            made.n_operations = len(given.operations)
            made.operation_stride = abi.sizeof(abi.graft_operation)
    keep.append(result)
    return result


def as_conversions(transforms: Sequence[WeightTransform], keep: list):
    """An array of struct graft_conversion: those of a class, whose names are relative to its module."""
    result = (abi.graft_conversion * max(1, len(transforms)))()
    for made, given in zip(result, transforms):
        sources, targets = strings(given.source_patterns), strings(given.target_patterns)
        keep.extend((sources, targets))
        made.struct_size = abi.sizeof(abi.graft_conversion)
        made.sources, made.n_sources = sources, len(given.source_patterns)
        made.targets, made.n_targets = targets, len(given.target_patterns)
        if given.operations:
            made.operations = _operations(given, keep)
            made.n_operations = len(given.operations)
            made.operation_stride = abi.sizeof(abi.graft_operation)
    keep.append(result)
    return result


def _operation_of(operation) -> ConversionOps:
    kind = operation.kind
    if kind == abi.GRAFT_OP_TRANSPOSE:
        return Transpose(operation.dim, operation.dim1, bool(operation.check_dims))
    if kind in (abi.GRAFT_OP_CONV3D_TO_LINEAR, abi.GRAFT_OP_LINEAR_TO_CONV3D):
        return OPERATIONS[kind](operation.in_channels, tuple(operation.kernel_size))
    if kind == abi.GRAFT_OP_INTERLEAVE:
        return Interleave(operation.dim, bool(operation.inverse))
    if kind in (abi.GRAFT_OP_CONCATENATE, abi.GRAFT_OP_CHUNK):
        shards = operation.num_shards_attribute
        return OPERATIONS[kind](operation.dim, shards.decode() if shards else None)
    if issubclass(OPERATIONS.get(kind, Split), ErnieFuseAndSplitTextVisionExperts):
        return OPERATIONS[kind](operation.dim, operation.dim1)
    if kind in OPERATIONS and issubclass(OPERATIONS[kind], Split):
        return OPERATIONS[kind](operation.dim)
    raise NotImplementedError(f"operation {kind} has no name in Python")


def from_conversions(conversions, n: int, stride: int) -> List[WeightTransform]:
    """Reads the conversions of a C class (n structs, `stride` bytes apart) as WeightRenaming and WeightConverter."""
    result: List[WeightTransform] = []
    for conversion in structs(abi.graft_conversion, conversions, n, stride):
        sources = [conversion.sources[k].decode() for k in range(conversion.n_sources)]
        targets = [conversion.targets[k].decode() for k in range(conversion.n_targets)]
        given = (conversion.operations, conversion.n_operations, conversion.operation_stride)
        operations = [_operation_of(each) for each in structs(abi.graft_operation, *given)]
        result.append(WeightConverter(sources, targets, operations) if operations else WeightRenaming(sources, targets))
    return result


__all__ = [
    "WeightTransform",
    "WeightRenaming",
    "WeightConverter",
    "ConversionOps",
    *[each.__name__ for each in OPERATIONS.values()],
]
