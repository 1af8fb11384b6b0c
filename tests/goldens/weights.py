"""Weights by recipe: what `weights.txt` of a case says, written as safetensors files.

A recipe is lines of words. `seed TEXT`, then for each file `file NAME` and a line for each of its tensors, in the order in
which they lie in the file:

    DTYPE BASE BITS EXPONENT NAME DIMENSION...

A tensor's numbers are BASE + k * 2^EXPONENT, row by row. Each k is the sum of four fields of one 64-bit number, less what
makes it symmetric about zero: of each 16 bits the upper BITS. The 64-bit numbers are those of splitmix64 (Steele, Lea,
Flood 2014), whose state starts as the 64-bit FNV-1a hash of the bytes `SEED/NAME`. BASE, BITS and EXPONENT are such that
every number is exact in DTYPE. models/weights.c is the same in C.
"""
import json
import math
import os
import struct

import numpy as np

# Bits of a field: with base 0 the sum fits the significand, with base 1 it fits what a number from 1 to 2 leaves of it.
BITS = {"F32": (16, 16), "F16": (10, 7), "BF16": (7, 4), "I64": (1, 1)}
FIELD_DEVIATION = 2 / math.sqrt(12)  # of the sum of four numbers that are uniform in [0, 1)


def random_words(key, count):
    state = 0xCBF29CE484222325
    for byte in key.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    words = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(state)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def numbers(key, count, base, bits, exponent):
    words = random_words(key, count)
    fields = [(words >> np.uint64(48 - 16 * i)) & np.uint64(0xFFFF) for i in range(4)]
    k = sum((field >> np.uint64(16 - bits)).astype(np.int64) for field in fields) - 2 * (2**bits - 1)
    return base + np.ldexp(k.astype(np.float64), exponent)


def encode(values, dtype):
    if dtype == "I64":
        return values.astype(np.int64).tobytes()
    single = values.astype(np.float32)
    assert (single == values).all()
    if dtype == "F32":
        return single.tobytes()
    if dtype == "F16":
        half = single.astype(np.float16)
        assert (half == single).all()
        return half.tobytes()
    pattern = single.view(np.uint32)
    assert not (pattern & 0xFFFF).any()
    return (pattern >> 16).astype(np.uint16).tobytes()


def write(folder):
    """The files that weights.txt in the folder describes."""
    files, seed = {}, None
    with open(f"{folder}/weights.txt", encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[0] == "seed":
                seed = words[1]
            elif words[0] == "file":
                tensors = files.setdefault(words[1], [])
            else:
                tensors.append((words[0], *map(int, words[1:4]), words[4], [int(d) for d in words[5:]]))
    for name, tensors in files.items():
        header, data = {"__metadata__": {"format": "pt"}}, b""
        for dtype, base, bits, exponent, tensor, shape in tensors:
            start = len(data)
            data += encode(numbers(f"{seed}/{tensor}", math.prod(shape), base, bits, exponent), dtype)
            header[tensor] = {"dtype": dtype, "shape": shape, "data_offsets": [start, len(data)]}
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(f"{folder}/{name}", "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text + data)


def weight_files(folder):
    return sorted(f for f in os.listdir(folder) if f.startswith(("model", "adapter_model")) and f.endswith(".safetensors"))


def refill(folder, seed, spread):
    """Write weights.txt for the weight files in the folder, and their data anew. `spread(name, shape)` gives base and deviation."""
    lines = [f"seed {seed}"]
    for file in weight_files(folder):
        with open(f"{folder}/{file}", "rb") as f:
            header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        assert header.pop("__metadata__") == {"format": "pt"}
        lines.append(f"file {file}")
        for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            base, deviation = spread(name, tensor["shape"])
            bits = BITS[tensor["dtype"]][base != 0]
            exponent = round(math.log2(deviation / FIELD_DEVIATION)) - bits
            lines.append(" ".join(map(str, [tensor["dtype"], base, bits, exponent, name, *tensor["shape"]])))
    with open(f"{folder}/weights.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    write(folder)


def drop(folder):
    """Remove the weight files: models/ makes them from the recipe."""
    for file in weight_files(folder):
        os.remove(f"{folder}/{file}")


def lines(value, indent=0):
    """JSON text: a value that fits is one line, as are the rows of a table."""
    text = json.dumps(value, ensure_ascii=False)
    if indent + len(text) <= 120 or not isinstance(value, (dict, list)):
        return text
    space, end = " " * (indent + 1), " " * indent
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{space}{json.dumps(k)}: {lines(v, indent + 1)}" for k, v in value.items()) + f"\n{end}}}"
    if not any(isinstance(v, (dict, list)) for v in value):
        return text
    return "[\n" + ",\n".join(space + lines(v, indent + 1) for v in value) + f"\n{end}]"


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as f:
        f.write(lines(value) + "\n")


def edit_json(path, change):
    """Writes the document again once `change` has been at it."""
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    change(document)
    write_json(path, document)
