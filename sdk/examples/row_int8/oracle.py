# SPDX-License-Identifier: Apache-2.0
"""Linears of layers with integers of 8 bits, of which the largest of a row is 127: MODEL is the one that was quantized."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from llama import Llama, main


class RowInt8(Llama):
    def weight(self, path):
        weight = super().weight(path).astype(np.float32)
        if path == "lm_head":
            return weight
        largest = np.abs(weight).max(1, keepdims=True)
        codes = np.rint(weight * (np.float32(127) / largest)).astype(np.int8)
        return codes.astype(np.float64) * (largest / np.float32(127))


if __name__ == "__main__":
    main(RowInt8)
