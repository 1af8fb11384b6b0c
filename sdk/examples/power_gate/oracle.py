# SPDX-License-Identifier: Apache-2.0
"""A gate that is a power."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from llama import Llama, main


class PowerGate(Llama):
    def mlp(self, path, x):
        gate = self.linear(path + ".gate_proj", x)
        gate = np.sign(gate) * np.abs(gate) ** self.config.get("gate_power", 0.5)
        return self.linear(path + ".down_proj", gate * self.linear(path + ".up_proj", x))


if __name__ == "__main__":
    main(PowerGate)
