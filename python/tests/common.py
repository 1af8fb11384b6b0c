# SPDX-License-Identifier: Apache-2.0
"""Golden cases: small checkpoints with what transformers says of them."""

import json
import os
import struct

import numpy as np

GOLDENS = os.environ["GRAFT_TEST_GOLDENS"]
_TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64}


def folder(case):
    return os.path.join(GOLDENS, case)


def golden(case):
    with open(os.path.join(folder(case), "golden.json"), encoding="utf-8") as file:
        return json.load(file)


def tensors(case, file="golden.safetensors"):
    """The tensors of a safetensors file, by name."""
    with open(os.path.join(folder(case), file), "rb") as opened:
        data = opened.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    result = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin : 8 + length + end]
            result[name] = np.frombuffer(raw, _TYPES[entry["dtype"]]).reshape(entry["shape"])
    return result


def close_to(array, reference, tolerance=5e-5):
    """Whether two arrays differ by rounding only."""
    return float(np.abs(array - reference).max()) <= tolerance * max(1.0, float(np.abs(reference).max()))
