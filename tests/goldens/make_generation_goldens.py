# SPDX-License-Identifier: Apache-2.0
"""Writes generation/scores.json and generation/ids.json: what transformers makes of the fields of
generation_config.json. scores.json: logits in, processed scores out (null: -inf). ids.json: what `generate` gives on
plain/llama, as long as f32 and f64 agree.

    python make_generation_goldens.py [--out DIR]
"""

import argparse
import json
import os

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, LlamaConfig, LlamaForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
VOCABULARY = 32
HISTORY = [5, 9, 2, 5, 9, 7, 30, 2, 5, 9]
PROMPT = 6

# Fields; how many of HISTORY are there, of which PROMPT are the prompt.
PROCESSORS = [
    ({"sequence_bias": [[[3], -4.5], [[9, 11], 2.25], [[5, 9, 11], 1.5], [[2, 9, 12], 9.0]]}, 10),
    ({"sequence_bias": [[[3], 1.0], [[7], -100.0]]}, 6),
    ({"encoder_repetition_penalty": 1.7}, 10),
    ({"encoder_repetition_penalty": 0.5}, 8),
    ({"repetition_penalty": 1.3}, 10),
    ({"repetition_penalty": 0.7}, 6),
    ({"no_repeat_ngram_size": 1}, 10),
    ({"no_repeat_ngram_size": 2}, 10),
    ({"no_repeat_ngram_size": 3}, 10),
    ({"no_repeat_ngram_size": 12}, 10),
    ({"encoder_no_repeat_ngram_size": 2}, 10),
    ({"encoder_no_repeat_ngram_size": 3}, 10),
    ({"bad_words_ids": [[4], [9, 13], [5, 9, 14], [1, 9, 15], [1]], "eos_token_id": 1}, 10),
    ({"bad_words_ids": [[2, 5, 9, 5, 9, 2, 5, 9, 2, 5, 9, 3]]}, 10),
    ({"min_length": 11, "eos_token_id": [1, 4]}, 10),
    ({"min_length": 10, "eos_token_id": [1, 4]}, 10),
    ({"min_length": 99}, 10),
    ({"min_new_tokens": 5, "eos_token_id": 1}, 10),
    ({"min_new_tokens": 4, "eos_token_id": 1}, 10),
    ({"min_new_tokens": 2, "min_length": 30, "eos_token_id": 1}, 10),
    ({"forced_bos_token_id": 8}, 1),
    ({"forced_bos_token_id": 8}, 2),
    ({"forced_eos_token_id": 7, "max_length": 11}, 10),
    ({"forced_eos_token_id": [7, 3], "max_length": 12}, 10),
    ({"forced_eos_token_id": [7, 3], "max_new_tokens": 5}, 10),
    ({"remove_invalid_values": True, "suppress_tokens": [3]}, 10),
    ({"remove_invalid_values": True, "bad_words_ids": [[3]]}, 10),
    ({"exponential_decay_length_penalty": [2, 1.5], "eos_token_id": [1, 4]}, 10),
    ({"exponential_decay_length_penalty": [4, 1.5], "eos_token_id": [1, 4]}, 10),
    ({"suppress_tokens": [0, 31, 400]}, 7),
    ({"begin_suppress_tokens": [0, 31, 400]}, 6),
    ({"begin_suppress_tokens": [0, 31]}, 7),
    ({"begin_suppress_tokens": [0, 31], "forced_bos_token_id": 31}, 1),
    ({"begin_suppress_tokens": [0, 31], "forced_bos_token_id": 31}, 2),
    ({"renormalize_logits": True, "suppress_tokens": [2]}, 6),
    ({"repetition_penalty": 1.2, "encoder_repetition_penalty": 1.4, "no_repeat_ngram_size": 2, "min_length": 20,
      "sequence_bias": [[[5], 3.0]], "bad_words_ids": [[9, 6]], "suppress_tokens": [10], "eos_token_id": 1}, 10),
]
# What is listed twice.
TWICE = [
    ({"sequence_bias": [[[3], 1.0], [[9, 11], 2.25], [[3], 4.0], [[5, 9, 11], 1.5], [[9, 11], -8.0]]}, 10),
    ({"exponential_decay_length_penalty": [2, 1.5], "eos_token_id": [1, 4, 1]}, 10),
]
CHANCE = [
    {"temperature": 0.7}, {"temperature": 3.5}, {"top_k": 5}, {"top_k": 1}, {"top_k": 100}, {"top_p": 0.9}, {"top_p": 0.35},
    {"top_p": 0.01}, {"min_p": 0.05}, {"min_p": 0.6}, {"min_p": 1.0}, {"min_p": 0.0}, {"typical_p": 0.2},
    {"typical_p": 0.6}, {"typical_p": 0.95}, {"typical_p": 1.0}, {"epsilon_cutoff": 0.02}, {"epsilon_cutoff": 0.5},
    {"epsilon_cutoff": 0.0}, {"eta_cutoff": 0.02}, {"eta_cutoff": 0.6}, {"top_h": 0.3}, {"top_h": 0.8}, {"top_h": 0.97},
    {"temperature": 1.6, "top_h": 0.9, "top_k": 12, "top_p": 0.95, "min_p": 0.02, "typical_p": 0.9,
     "epsilon_cutoff": 0.01, "eta_cutoff": 0.03},
    {"temperature": 2.0, "top_k": 10, "top_p": 0.8, "repetition_penalty": 1.5, "suppress_tokens": [2, 3]},
    {"top_k": 7, "typical_p": 0.5, "renormalize_logits": True},
]
BEAMS = [{"num_beams": 2, "eos_token_id": eos, **fields} for eos in (None, [1, 4]) for fields in (
    {"top_k": 1}, {"top_p": 0.05}, {"min_p": 0.99}, {"typical_p": 0.05}, {"epsilon_cutoff": 0.9}, {"eta_cutoff": 0.9})]


def logits_of(seed):
    """Numbers that are exact as text, no two alike."""
    generator = np.random.default_rng(seed)
    return (generator.permutation(np.arange(-512, 512))[:VOCABULARY] / 64).tolist()


def make_scores():
    config = LlamaConfig(vocab_size=VOCABULARY, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                         num_attention_heads=1, num_key_value_heads=1)
    model = LlamaForCausalLM(config)
    cases = []
    wanted = [(fields, count) for fields, count in PROCESSORS]
    wanted += [({"do_sample": True, "top_k": 0, **fields}, 10) for fields in CHANCE + BEAMS]
    wanted += TWICE
    for seed, (fields, count) in enumerate(wanted):
        model.generation_config = GenerationConfig()
        generation, _ = model._prepare_generation_config(None, **{"pad_token_id": 0, **fields})
        prompt = min(PROMPT, count) if count > 2 else 1
        ids = torch.tensor([HISTORY[:count]])
        model._prepare_special_tokens(generation, True, device="cpu", batch_size=1)
        generation = model._prepare_generated_length(generation, "max_length" not in fields, "min_length" not in fields,
                                                     "input_ids", prompt, ids[:, :prompt])
        processors = model._get_logits_processor(generation, prompt, ids[:, :prompt], device="cpu", model_kwargs={})
        logits = logits_of(seed)
        scores = processors(ids, torch.tensor([logits], dtype=torch.float32))[0]
        cases.append({"fields": fields, "ids": HISTORY[:count], "prompt": prompt, "logits": logits,
                      "scores": [None if s == float("-inf") else float(str(np.float32(s))) for s in scores]})
    return cases



# Fields, and the number of the prompt.
N = {"max_new_tokens": 12}
IDS = [
    ({**N}, 0),
    ({**N, "suppress_tokens": [427, 107]}, 0),
    ({**N, "begin_suppress_tokens": [427]}, 0),
    ({**N, "bad_words_ids": [[427, 39], [107]]}, 0),
    ({**N, "sequence_bias": [[[427, 39], -9.0], [[293], 1.0]]}, 0),
    ({**N, "no_repeat_ngram_size": 1}, 1),
    ({**N, "repetition_penalty": 1.8}, 0),
    ({**N, "encoder_repetition_penalty": 2.5}, 0),
    ({**N, "encoder_no_repeat_ngram_size": 1}, 0),
    ({**N, "sequence_bias": [[[581], 9.0]]}, 0),
    ({**N, "sequence_bias": [[[581], 9.0]], "min_new_tokens": 4}, 0),
    ({**N, "sequence_bias": [[[581], 9.0]], "min_length": 28}, 0),
    ({**N, "exponential_decay_length_penalty": [3, 1.9]}, 0),
    ({**N, "forced_eos_token_id": [581, 582]}, 0),
    ({**N, "forced_bos_token_id": 17, "begin_suppress_tokens": [400]}, 2),
    ({"max_length": 30}, 0),
    ({"max_length": 29, "forced_eos_token_id": 300}, 0),
    ({**N, "temperature": 9.0, "top_p": 0.1, "min_p": 0.5, "typical_p": 0.3}, 0),
    ({**N, "length_penalty": 3.0, "early_stopping": True}, 0),
    ({**N, "do_sample": True, "top_k": 1}, 0),
    ({**N, "do_sample": True, "top_k": 0, "min_p": 1.0}, 0),
    ({**N, "do_sample": True, "top_k": 0, "epsilon_cutoff": 0.999}, 0),
    ({**N, "do_sample": True, "top_k": 0, "eta_cutoff": 0.999, "temperature": 0.05}, 0),
    ({**N, "do_sample": True, "top_k": 0, "top_h": 0.01}, 0),
    ({**N, "prompt_lookup_num_tokens": 3}, 0),
]
# The greedy text is "...🙂aintH", bytes, " thG", bytes, " un".
STOPS = [["H"], "intH", ["qqq", "tH"], [" un"], "🙂ai", ["🙂"], ["hG"], ["a", "H"], "doors"]
BEAM_IDS = [
    ({**N, "num_beams": 2}, 0),
    ({**N, "num_beams": 5}, 0),
    ({**N, "num_beams": 3}, 2),
    ({**N, "num_beams": 4, "num_return_sequences": 3}, 0),
    ({**N, "num_beams": 3, "sequence_bias": [[[581], 6.0]]}, 0),
    ({**N, "num_beams": 3, "sequence_bias": [[[581], 6.0]], "early_stopping": True}, 0),
    ({**N, "num_beams": 3, "sequence_bias": [[[581], 6.0]], "early_stopping": "never"}, 0),
    ({**N, "num_beams": 4, "sequence_bias": [[[581], 4.5]], "length_penalty": 2.0, "num_return_sequences": 4}, 0),
    ({**N, "num_beams": 4, "sequence_bias": [[[581], 4.5]], "length_penalty": -1.0, "num_return_sequences": 4}, 0),
    ({**N, "num_beams": 4, "sequence_bias": [[[581], 4.5]], "length_penalty": 0.0, "early_stopping": "never"}, 0),
    ({**N, "num_beams": 4, "sequence_bias": [[[581], 4.5]], "length_penalty": 1.5, "early_stopping": "never"}, 1),
    ({**N, "num_beams": 3, "no_repeat_ngram_size": 2, "renormalize_logits": True}, 1),
    ({**N, "num_beams": 3, "repetition_penalty": 1.5, "min_new_tokens": 6, "sequence_bias": [[[582], 5.0]]}, 0),
    ({"max_length": 31, "num_beams": 3, "num_return_sequences": 2}, 0),
    ({**N, "num_beams": 2, "forced_eos_token_id": 581}, 0),
    ({**N, "num_beams": 300}, 1),
    ({**N, "num_beams": 2, "sequence_bias": [[[581], 3.0]], "length_penalty": 2.0}, 2),
    ({**N, "num_beams": 2, "sequence_bias": [[[581], 3.0]], "length_penalty": 2.0, "early_stopping": "never"}, 2),
]
GUIDED_IDS = [
    ({**N, "guidance_scale": 1.5}, 0),
    ({**N, "guidance_scale": 3.0}, 1),
    ({**N, "guidance_scale": 0.4}, 0),
    ({**N, "guidance_scale": 2.0, "repetition_penalty": 1.4, "suppress_tokens": [107]}, 0),
    ({**N, "guidance_scale": 1.5}, 2),
]


def make_ids(out):
    folder = f"{out}/plain/llama"
    models = [AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval() for dtype in (torch.float32, torch.float64)]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with open(f"{folder}/golden.json", encoding="utf-8") as f:
        prompts = [json.load(f)["input_ids"], [580, 12, 44, 301], [9]]
    cases = []
    for fields, which in IDS + [({**N, "stop_strings": stop}, 0) for stop in STOPS] + BEAM_IDS + GUIDED_IDS:
        rows = []
        for model in models:
            model.generation_config = GenerationConfig.from_pretrained(folder)
            ids = torch.tensor([prompts[which]])
            rows.append(model.generate(ids, attention_mask=torch.ones_like(ids), tokenizer=tokenizer, **fields).tolist())
        if rows[0] != rows[1]:
            raise SystemExit(f"{fields}: f32 and f64 differ")
        new = [row[len(prompts[which]):] for row in rows[0]]
        cases.append({"fields": fields, "prompt": prompts[which], "ids": [cut(row) for row in new]})
    return cases


def cut(ids):
    """What follows the end of a sequence is padding."""
    ends = [i for i, token in enumerate(ids) if token in (581, 582)]
    return ids[:ends[0] + 1] if ends else ids


def write(path, cases):
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=HERE)
    out = parser.parse_args().out
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    write(f"{out}/generation/scores.json", make_scores())
    write(f"{out}/generation/ids.json", make_ids(out))
