# SPDX-License-Identifier: Apache-2.0
"""A wrapper that only looks: what is computed stays Llama's."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from llama import Llama, main

if __name__ == "__main__":
    main(Llama)
