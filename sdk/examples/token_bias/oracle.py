# SPDX-License-Identifier: Apache-2.0
"""Scores with the list 87:-9,64:2.5 added, by which the first id is another one. Logits stay what they are."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from llama import Llama, main


class TokenBias(Llama):
    def scores(self, logits):
        scores = logits.copy()
        scores[87] -= 9
        scores[64] += 2.5
        return scores


if __name__ == "__main__":
    main(TokenBias)
