# SPDX-License-Identifier: Apache-2.0
"""Perplexity of the demo model on stories.txt as torch and transformers compute it: python make_expected.py > expected

A line for each window: its size, the number of predicted tokens, the mean negative log likelihood of one, and its exp.
Weights are widened to float32; attention is the eager one, on one thread.
"""
import math
import pathlib
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

here = pathlib.Path(__file__).parent
demo = here.parents[2] / "demo" / "tiny-qwen2-moe"
torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(demo)
model = AutoModelForCausalLM.from_pretrained(demo, dtype=torch.float32, attn_implementation="eager").eval()
text = (here / "stories.txt").read_text(encoding="utf-8")
ids = torch.tensor(tokenizer(text, add_special_tokens=False)["input_ids"])
for window in (512, 64, 7, 2):
    losses = []
    for begin in range(0, len(ids), window):
        piece = ids[begin : begin + window]
        if len(piece) < 2:
            continue
        with torch.no_grad():
            logits = model(piece[None]).logits[0]
        losses.append(torch.nn.functional.cross_entropy(logits[:-1], piece[1:], reduction="none").double())
    losses = torch.cat(losses)
    mean = losses.mean().item()
    sys.stdout.write(f"{window} {len(losses)} {mean:.9f} {math.exp(mean):.9f}\n")
