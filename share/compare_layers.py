#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare a model with transformers, module by module, and name the first one whose output differs.

usage: compare_layers.py [--host PROGRAM] [--plugins-dir DIR]... [--ids 1,2,3] [--new-tokens N] [--tolerance X] [--all]
                         MODEL
   or: graft compare-hf with the same options

Both run the same token ids in float32, and whatever a module of transformers returns is compared with what `--module-outputs`
has under its path. Modules are looked at in the order in which they return, so the one that is named was the first to give
something else; what lies before it is right. Then the logits are compared, and the ids that both choose from there on. It needs Python with torch and transformers. The exit status is 0 if
everything agrees, 1 if something differs, 2 if nothing could be compared.
"""
import argparse
import os
import subprocess
import sys
import tempfile

IDS = "5,17,33,9,71,44,12,60,3,8,21,90,14,2,77,31"


def fail(text):
    print(f"compare_layers.py: {text}", file=sys.stderr)
    sys.exit(2)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model directory")
    parser.add_argument("--host", default="graft", help="the program (default: graft)")
    parser.add_argument("--plugins-dir", action="append", default=[], help="passed on; repeatable")
    parser.add_argument("--plugins", help="passed on")
    parser.add_argument("--ids", default=IDS, help=f"the token ids (default: {IDS}, as far as the vocabulary goes)")
    parser.add_argument("--enable", action="append", default=[], help="passed on; repeatable")
    parser.add_argument("--new-tokens", type=int, default=8, help="how many ids both choose after these (default: 8)")
    parser.add_argument("--tolerance", type=float, default=1e-4,
                        help="how far numbers may differ, relative to the largest of their module (default: 1e-4)")
    parser.add_argument("--all", action="store_true", help="print every module")
    parser.add_argument("--trust-remote-code", action="store_true", help="let transformers run code of the model directory")
    return parser.parse_args()


def first_tensor(value, torch):
    """What a module returns, or the first tensor in it; None if there is none of numbers."""
    if isinstance(value, (tuple, list)):
        return next((found for found in (first_tensor(part, torch) for part in value) if found is not None), None)
    if isinstance(value, dict):
        return first_tensor(list(value.values()), torch)
    return value if torch.is_tensor(value) and value.is_floating_point() else None


def run_reference(options, ids, torch, transformers):
    """Outputs and class names of all modules by path, in the order in which they return, and the logits."""
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            options.model, dtype=torch.float32, trust_remote_code=options.trust_remote_code).eval()
    except Exception as error:  # whatever it is, it is said
        fail(f"transformers cannot load {options.model}: {type(error).__name__}: {str(error).splitlines()[0][:300]}")
    outputs, classes = {}, {}

    def keep(path):
        def hook(module, _, output):
            tensor = first_tensor(output, torch)
            if tensor is not None:
                outputs.pop(path, None)  # of several calls the last
                outputs[path] = tensor.detach().clone()
                classes[path] = type(module).__name__
        return hook

    hooks = [module.register_forward_hook(keep(path)) for path, module in model.named_modules() if path]
    with torch.no_grad():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0]
        for hook in hooks:
            hook.remove()
        chosen = model.generate(torch.tensor([ids]), do_sample=False, num_beams=1, max_new_tokens=options.new_tokens)
    return outputs, classes, logits, chosen[0, len(ids):].tolist()


def run_host(options, ids, folder, load_file):
    files = {"--module-outputs": f"{folder}/outputs", "--logits": f"{folder}/logits"}
    command = [options.host, "run", "--model", options.model, "--dtype", "float32", "--report", "none", "--input-ids",
               ",".join(map(str, ids)), "--max-new-tokens", str(options.new_tokens), "--temperature", "0", "--output-ids"]
    for folder_of_plugins in options.plugins_dir:
        command += ["--plugins-dir", folder_of_plugins]
    for plugin in options.enable:
        command += ["--enable", plugin]
    if options.plugins:
        command += ["--plugins", options.plugins]
    for name, path in files.items():
        command += [name, path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{options.host}: {error.strerror}")
    if done.returncode != 0:
        fail(f"the program ends with {done.returncode}: {done.stderr.strip()}")
    recorded = load_file(files["--module-outputs"])
    ours = {name[len("outputs."):]: tensor for name, tensor in recorded.items()}
    return ours, next(iter(load_file(files["--logits"]).values())), [int(word) for word in done.stdout.split(",")]


def difference(ours, theirs):
    """The largest difference, relative to the largest number, and the token of it."""
    theirs = theirs.reshape(ours.shape).float()
    apart = (ours - theirs).abs().nan_to_num(nan=float("inf")).amax(dim=-1)
    scale = max(theirs.abs().max().item(), 1e-6)
    return apart.max().item() / scale, int(apart.argmax())


def compare(options, ids, reference, host):
    (theirs, classes, their_logits, their_ids), (ours, our_logits, our_ids) = reference, host
    agreed, last = 0, None
    left_out = [path for path, tensor in theirs.items() if path in ours and tensor.numel() != ours[path].numel()]
    for path, tensor in theirs.items():
        if path not in ours or path in left_out:
            continue
        apart, token = difference(ours[path], tensor)
        if options.all:
            print(f"{apart:9.1e}  {path} ({classes[path]})")
        if apart > options.tolerance:
            print(f"{path} ({classes[path]}) is the first module that differs: by {apart:.1e} of its largest number, most at "
                  f"token {token}")
            print(f"  {agreed} modules before it agree" + (f", the last of them {last}" if last else ""))
            if classes[path] in ("Linear", "Conv1D"):
                parent = path.rpartition(".")[0]
                print(f"  its weights are the checkpoint's, so look at what {parent} ({classes.get(parent, '?')}) gives it")
            return 1
        agreed, last = agreed + 1, path
    if agreed == 0:
        fail("no module has the same path in both: do their names differ?")
    apart, token = difference(our_logits, their_logits)
    if apart > options.tolerance:
        print(f"all {agreed} modules agree, the logits do not: by {apart:.1e}, most at token {token}")
        print("  look at what is done between the last module and the logits: a scale, a softcap")
        return 1
    if our_ids != their_ids:
        place = next((i for i, pair in enumerate(zip(our_ids, their_ids)) if pair[0] != pair[1]),
                     min(len(our_ids), len(their_ids)))
        print(f"all {agreed} modules and the logits agree, the ids chosen after them do not, from number {place} on: "
              f"{our_ids}, but transformers chooses {their_ids}")
        print("  look at what a second forward finds: the cache, positions, states")
        return 1
    alone = [path for path in theirs if path not in ours and not path.rpartition(".")[2].isdigit()]
    print(f"all {agreed} modules that both have agree, and so do the logits ({apart:.1e}), on {len(ids)} tokens, "
          f"and {len(our_ids)} ids chosen after them")
    if alone:
        print(f"  {len(alone)} modules are transformers' alone, such as {alone[0]} ({classes[alone[0]]})")
    return 0


def main():
    options = parse()
    try:
        import torch
        import transformers
        from safetensors.torch import load_file
    except ImportError as error:
        fail(f"needs Python with torch and transformers: {error}")
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if not os.path.isfile(os.path.join(options.model, "config.json")):
        fail(f"{options.model}: expected a model directory")
    try:
        ids = [int(word) for word in options.ids.split(",")]
    except ValueError:
        fail(f"--ids: expected numbers with commas between them, got {options.ids}")
    config = transformers.AutoConfig.from_pretrained(options.model, trust_remote_code=options.trust_remote_code)
    vocab_size = getattr(config.get_text_config(), "vocab_size", max(ids) + 1)
    if options.ids == IDS:
        ids = [i % vocab_size for i in ids]
    reference = run_reference(options, ids, torch, transformers)
    with tempfile.TemporaryDirectory() as folder:
        host = run_host(options, ids, folder, load_file)
    return compare(options, ids, reference, host)


if __name__ == "__main__":
    sys.exit(main())
