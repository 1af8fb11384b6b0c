# SPDX-License-Identifier: Apache-2.0
"""Projections of layers with 8-bit codes, of which the largest of a row is 127."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from llama import Llama, main


class QuantizedLinear(Llama):
    def weight(self, path):
        weight = super().weight(path).astype(np.float32)
        if not path.endswith("_proj"):
            return weight
        largest, levels = np.abs(weight).max(1, keepdims=True), np.float32(127)
        return np.rint(weight * (levels / largest)).astype(np.float64) * (largest / levels)


if __name__ == "__main__":
    main(QuantizedLinear)
