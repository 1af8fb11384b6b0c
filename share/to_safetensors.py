#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts the weights of a model directory to safetensors, the format that Graft reads.

usage: to_safetensors.py MODEL [OUTPUT] [--dtype float32|float16|bfloat16]

MODEL is a directory with pytorch_model.bin (or its shards and their index) or with one GGUF file, or such a file.
The result goes into OUTPUT, or without it into MODEL's directory. Files that are there already stay as they are.

pytorch_model.bin needs the Python packages torch and safetensors; a GGUF file needs torch, transformers, accelerate and gguf.
Tensors are stored as they are. What a GGUF file holds quantized becomes float32, which loses nothing; --dtype makes it
smaller. A tensor that has two names in pytorch_model.bin, as tied weights have, is stored under both.
"""
import argparse
import glob
import json
import os
import shutil
import sys
import tempfile

BIN, INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"


def fail(text):
    sys.exit(f"to_safetensors.py: {text}")


def need(*names):
    """The modules of these names; a missing one ends the program with the command that installs them."""
    import importlib

    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        fail(f"{error}; install what is needed: python3 -m pip install {' '.join(n.split('.')[0] for n in names)}")


def find(model):
    """The directory of MODEL and the name of the file in it to begin with."""
    if os.path.isfile(model):
        return os.path.split(model) if os.path.dirname(model) else (".", model)
    if not os.path.isdir(model):
        fail(f"{model}: no such directory or file")
    for name in (INDEX, BIN):
        if os.path.exists(os.path.join(model, name)):
            return model, name
    found = sorted(os.path.basename(path) for path in glob.glob(os.path.join(glob.escape(model), "*.gguf")))
    if len(found) != 1:
        fail(f"{model}: expected {BIN}, {INDEX} or one GGUF file, found " + (", ".join(found) or "none of them"))
    return model, found[0]


def save_shard(source, target, names=None):
    """Writes the tensors of one file that torch wrote; returns their bytes. `names`: the only ones wanted."""
    torch, safetensors = need("torch", "safetensors.torch")
    state = torch.load(source, map_location="cpu", weights_only=True)
    tensors, storages = {}, set()
    for name, tensor in state.items():
        if not isinstance(tensor, torch.Tensor):
            fail(f"{source}: {name}: expected a tensor, got {type(tensor).__name__}")
        if names is not None and name not in names:
            continue
        tensor = tensor.detach()
        place = tensor.untyped_storage().data_ptr()
        # A safetensors file has no two names for one tensor, and no tensor that is a part of another: copies instead.
        alone = tensor.is_contiguous() and place not in storages and tensor.untyped_storage().nbytes() == tensor.nbytes
        tensors[name] = tensor if alone else tensor.clone(memory_format=torch.contiguous_format)
        storages.add(place)
    if names is not None and (lacking := set(names) - set(tensors)):
        fail(f"{source}: has no tensor {min(lacking)}, which the index says it has")
    safetensors.save_file(tensors, target, metadata={"format": "pt"})
    return sum(tensor.nbytes for tensor in tensors.values())


def convert_bin(directory, name, folder):
    """pytorch_model.bin, or its index and shards: into `folder`."""
    path = os.path.join(directory, name)
    if not name.endswith(".index.json"):
        save_shard(path, os.path.join(folder, "model.safetensors"))
        return
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    shards = sorted(set(index["weight_map"].values()))
    renamed = {shard: f"model-{i + 1:05}-of-{len(shards):05}.safetensors" for i, shard in enumerate(shards)}
    size = 0
    for shard in shards:
        if shard != os.path.basename(shard):
            fail(f"{path}: weight_map: expected names of files in the directory, got {shard}")
        names = {tensor for tensor, file in index["weight_map"].items() if file == shard}
        print(f"{shard} -> {renamed[shard]}")
        size += save_shard(os.path.join(directory, shard), os.path.join(folder, renamed[shard]), names)
    weight_map = {tensor: renamed[shard] for tensor, shard in index["weight_map"].items()}
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": size}, "weight_map": weight_map}, file, indent=2)


def convert_gguf(directory, name, folder, dtype):
    """Weights, config and tokenizer of a GGUF file, as transformers reads it."""
    torch, transformers, _, _ = need("torch", "transformers", "gguf", "accelerate")
    options = {"dtype": getattr(torch, dtype)}
    if hasattr(transformers, "GgufConfig"):  # where it does not exist, they are always unpacked
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(directory, gguf_file=name, **options)
    # The weights are plain now. What says otherwise would keep transformers from saving them.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(directory, gguf_file=name).save_pretrained(folder)


def place(folder, output):
    """Moves the new files to OUTPUT, the weights' index last: until then nothing there looks complete."""
    mask = os.umask(0)
    os.umask(mask)
    for name in sorted(os.listdir(folder), key=lambda name: (name.endswith(".index.json"), name)):
        target = os.path.join(output, name)
        if os.path.exists(target):
            print(f"{target} is there already and stays as it is")
            continue
        os.chmod(os.path.join(folder, name), 0o666 & ~mask)
        os.replace(os.path.join(folder, name), target)
        print(f"wrote {target}")


def copy_others(directory, output):
    """Config and tokenizer, so that OUTPUT is a whole model directory."""
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), "*"))):
        name = os.path.basename(path)
        wanted = name.endswith((".json", ".txt", ".jinja", ".model")) and not name.endswith(".index.json")
        if wanted and not os.path.exists(os.path.join(output, name)):
            shutil.copyfile(path, os.path.join(output, name))
    for path in glob.glob(os.path.join(glob.escape(directory), "*_*", "config.json")):  # such as 1_Pooling
        folder = os.path.join(output, os.path.basename(os.path.dirname(path)))
        os.makedirs(folder, exist_ok=True)
        if not os.path.exists(os.path.join(folder, "config.json")):
            shutil.copyfile(path, os.path.join(folder, "config.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("output", metavar="OUTPUT", nargs="?")
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="float32")
    arguments = parser.parse_args()
    directory, name = find(arguments.model)
    output = arguments.output or directory
    for existing in ("model.safetensors", "model.safetensors.index.json"):
        if os.path.exists(os.path.join(output, existing)):
            fail(f"{os.path.join(output, existing)} exists already")
    try:
        os.makedirs(output, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output, prefix=".to_safetensors-") as folder:
            if name.endswith(".gguf"):
                convert_gguf(directory, name, folder, arguments.dtype)
            else:
                convert_bin(directory, name, folder)
            place(folder, output)
        if not os.path.samefile(directory, output):
            copy_others(directory, output)
    except PermissionError as error:
        fail(f"{error}; name another directory for the result: to_safetensors.py {arguments.model} OUTPUT")


if __name__ == "__main__":
    main()
