# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/real_models.txt: what transformers computes with the models that scripts/fetch-test-models fetches.

usage: make_real_models_golden.py FOLDER > tests/data/real_models.txt
"""
import sys

import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, logging

logging.set_verbosity_error()
torch.set_num_threads(1)
folder = sys.argv[1]


def line(*parts):
    print("\t".join(parts))


def numbers(values, form="{}"):
    return ",".join(form.format(value) for value in values)


def mean_of(model, inputs):
    """The mean of the last hidden states over all tokens."""
    with torch.no_grad():
        return model(**inputs).last_hidden_state.mean(1)


def go_on(model, ids, n):
    with torch.no_grad():
        made = model.generate(torch.tensor([ids]), max_new_tokens=n, do_sample=False, pad_token_id=0)
    return made[0][len(ids):].tolist()


line("# Made by tests/goldens/make_real_models_golden.py: kind, model, what goes in, what comes out")
name = "all-MiniLM-L6-v2"
tokenizer = AutoTokenizer.from_pretrained(f"{folder}/{name}")
model = AutoModel.from_pretrained(f"{folder}/{name}").eval()
for text in ("hello world", "The quick brown fox jumps over the lazy dog.", "Größe, 東京 and a naïve café"):
    vector = torch.nn.functional.normalize(mean_of(model, tokenizer(text, return_tensors="pt")), dim=-1)
    line("vector", name, text, numbers(vector[0].tolist(), "{:.6f}"))

name = "rxnfp"
model = AutoModel.from_pretrained(f"{folder}/{name}").eval()
for ids in ([12, 16, 16, 17, 22, 13], list(range(12, 60)) + [13]):
    line("vector_of_ids", name, numbers(ids), numbers(mean_of(model, {"input_ids": torch.tensor([ids])})[0].tolist(), "{:.6f}"))

name = "SmolLM2-135M-Instruct"
tokenizer = AutoTokenizer.from_pretrained(f"{folder}/{name}")
model = AutoModelForCausalLM.from_pretrained(f"{folder}/{name}", dtype=torch.float32).eval()
for text in ("The capital of France is", "def fibonacci(n):", "Es war einmal"):
    ids = tokenizer(text)["input_ids"]
    line("encode", name, text, numbers(ids))
    line("ids", name, numbers(ids), numbers(go_on(model, ids, 24)))
chat = tokenizer.apply_chat_template([{"role": "user", "content": "What is the capital of France?"}], tokenize=False,
                                     add_generation_prompt=True)
ids = tokenizer(chat, add_special_tokens=False)["input_ids"]
line("chat", name, numbers(ids), tokenizer.decode(go_on(model, ids, 24), skip_special_tokens=True))

name = "IgLM"
tokenizer = AutoTokenizer.from_pretrained(f"{folder}/{name}")
model = AutoModelForCausalLM.from_pretrained(f"{folder}/{name}", dtype=torch.float32).eval()
text = "E V Q L V E S G"
ids = tokenizer(text, add_special_tokens=False)["input_ids"]
line("encode", name, text, numbers(ids))
heavy_human = [31, 26] + ids  # what the model was trained to begin with
line("ids", name, numbers(heavy_human), numbers(go_on(model, heavy_human, 48)))
