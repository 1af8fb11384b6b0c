# SPDX-License-Identifier: Apache-2.0
"""A Llama in numpy, in float64 and without a cache: the oracle of what examples change in one.

An example's oracle.py derives a class from Llama that computes one part in the example's way, in a few lines that can be
checked by reading. `python3 oracle.py MODEL` prints what that model gives, which is the example's golden.txt: eight
greedy ids, and the first logits of the token after the prompt.
"""
import json
import os
import sys

import numpy as np

PROMPT, NEW_TOKENS, LOGITS = [3, 14, 15, 92], 8, 16
DTYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def read_tensors(path):
    """The tensors of a safetensors file: the length of the header in 8 bytes, the header in JSON, and the numbers."""
    with open(path, "rb") as file:
        content = file.read()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = np.frombuffer(content[start + begin:start + end], DTYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":  # the upper half of a float32
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = numbers.reshape(entry["shape"]).astype(np.float64)
    return tensors


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


class Llama:
    def __init__(self, directory):
        self.directory = directory
        with open(os.path.join(directory, "config.json")) as file:
            self.config = json.load(file)
        self.tensors = read_tensors(os.path.join(directory, "model.safetensors"))

    def weight(self, path):
        """The weight of a Linear, [outputs, inputs]."""
        return self.tensors[path + ".weight"]

    def linear(self, path, x):
        return x @ self.weight(path).T

    def norm(self, path, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["rms_norm_eps"]) * self.tensors[path + ".weight"]

    def rotate(self, heads):
        """Rotary positions, [tokens, heads, head_dim]."""
        half = heads.shape[-1] // 2
        angles = np.outer(np.arange(len(heads)), self.config["rope_theta"] ** (-np.arange(half) / half))[:, None]
        a, b = heads[..., :half], heads[..., half:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)

    def attention(self, path, x):
        tokens, size = len(x), self.config["head_dim"]
        q, k, v = (self.linear(f"{path}.{name}_proj", x).reshape(tokens, -1, size) for name in "qkv")
        group = q.shape[1] // k.shape[1]  # heads of queries that share one of keys and values
        q, k, v = self.rotate(q), np.repeat(self.rotate(k), group, 1), np.repeat(v, group, 1)
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(size)
        scores[:, ~np.tri(tokens, dtype=bool)] = -np.inf
        return self.linear(path + ".o_proj", np.einsum("hqk,khd->qhd", softmax(scores), v).reshape(tokens, -1))

    def mlp(self, path, x):
        gate = self.linear(path + ".gate_proj", x)
        return self.linear(path + ".down_proj", gate / (1 + np.exp(-gate)) * self.linear(path + ".up_proj", x))

    def layer(self, path, x):
        x = x + self.attention(path + ".self_attn", self.norm(path + ".input_layernorm", x))
        return x + self.mlp(path + ".mlp", self.norm(path + ".post_attention_layernorm", x))

    def logits(self, ids):
        """Those of the last token."""
        x = self.tensors["model.embed_tokens.weight"][ids]
        for i in range(self.config["num_hidden_layers"]):
            x = self.layer(f"model.layers.{i}", x)
        return self.linear("lm_head", self.norm("model.norm", x))[-1]

    def scores(self, logits):
        """What the next id is chosen by."""
        return logits


def main(oracle):
    model = oracle(*sys.argv[1:])
    ids = list(PROMPT)
    for _ in range(NEW_TOKENS):
        ids.append(int(model.scores(model.logits(ids)).argmax()))
    print("ids", ",".join(map(str, ids[len(PROMPT):])))
    print("logits", " ".join(f"{number:.6f}" for number in model.logits(PROMPT)[:LOGITS]))
