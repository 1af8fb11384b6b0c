# SPDX-License-Identifier: Apache-2.0
"""Graft in Python: Hugging Face model directories with classes of modules replaced by plugins, natively on CPUs.

    >>> import graft
    >>> m = graft.from_pretrained("model", plugins=["fused_qkv"])
    >>> m.generate("Once upon a time", max_new_tokens=32)
    >>> m([1, 2, 3]).logits

`graft.torch` runs the same plugins inside transformers. docs/python.md has more.
"""

from . import _abi as abi
from ._library import version
from .conversions import (
    Chunk,
    Concatenate,
    Conv3dToLinear,
    ConversionOps,
    ErnieFuseAndSplitTextVisionExperts,
    ErnieSplitAndDecoupleTextVisionExperts,
    Interleave,
    LinearToConv3d,
    MergeModulelist,
    PermuteForRope,
    Split,
    SplitModulelist,
    Transpose,
    WeightConverter,
    WeightRenaming,
)
from .errors import FileError, GraftError, InternalError, ModelError, PluginError, UsageError, VerifyError
from .model import Model, ModuleSpec, NamedModule, fuse_modules, unfuse_modules
from .module import Child, Config, Description, Module
from .outputs import ModelOutput, ModuleDifference, Plan, Verification
from .pretrained import from_pretrained
from .progress import disable_progress_bar, enable_progress_bar
from .registry import (
    apply_patches,
    class_named,
    clear_patch_mapping,
    get_checkpoint_conversion_mapping,
    get_patch_mapping,
    register_checkpoint_conversion_mapping,
    register_patch_mapping,
    unregister_checkpoint_conversion_mapping,
    unregister_patch_mapping,
)
from .tokenizer import DecodeStream, Tokenizer

__all__ = [
    "abi",
    "version",
    "from_pretrained",
    "Model",
    "ModelOutput",
    "ModuleDifference",
    "ModuleSpec",
    "NamedModule",
    "Plan",
    "Verification",
    "Tokenizer",
    "DecodeStream",
    "fuse_modules",
    "unfuse_modules",
    "Module",
    "Description",
    "Config",
    "Child",
    "enable_progress_bar",
    "disable_progress_bar",
    "register_patch_mapping",
    "unregister_patch_mapping",
    "get_patch_mapping",
    "clear_patch_mapping",
    "apply_patches",
    "class_named",
    "register_checkpoint_conversion_mapping",
    "unregister_checkpoint_conversion_mapping",
    "get_checkpoint_conversion_mapping",
    "WeightRenaming",
    "WeightConverter",
    "ConversionOps",
    "Chunk",
    "Concatenate",
    "Conv3dToLinear",
    "ErnieFuseAndSplitTextVisionExperts",
    "ErnieSplitAndDecoupleTextVisionExperts",
    "Interleave",
    "LinearToConv3d",
    "MergeModulelist",
    "PermuteForRope",
    "Split",
    "SplitModulelist",
    "Transpose",
    "GraftError",
    "InternalError",
    "UsageError",
    "PluginError",
    "ModelError",
    "FileError",
    "VerifyError",
]
