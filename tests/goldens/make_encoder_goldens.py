"""Make the small encoders and recorded outputs listed in README.md under "Encoders".

    python make_encoder_goldens.py [--out DIR] [NAME ...]

Everything comes from fixed seeds. Pooled vectors are computed here from the reference's hidden states, as the files of
sentence-transformers define them. Modules that do nothing at inference (Dropout) are not recorded.
"""
import argparse
import json
import os
import shutil

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertModel

import weights

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ("the a board table leg saw plane joiner carpenter sands planes cuts oak pine is are on in with and of who what , . ? ! "
         "good bad smooth rough ##s ##ed ##ing ##er wood nail ##ly one two three old new very not it he she they").split()
LETTERS = [p + c for c in "bcdfgkmnoprtuvwy" for p in ("", "##")]
VOCAB = list(dict.fromkeys(SPECIAL + WORDS + LETTERS))
SMALL = dict(vocab_size=len(VOCAB), hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, max_position_embeddings=24,
             pad_token_id=0)
PROMPTS = [[2, 5, 12, 4, 6, 7, 3], [2, 26, 9, 5, 8, 10, 30, 3, 13, 14, 4, 15, 3], [2, 3]]
TYPES = [[0] * 7, [0] * 8 + [1] * 5, [0] * 2]
TEXTS = ["The joiner planes a board.", "who saws?", "Oak and pine are rough; the carpenter cuts the old table leg with a saw, and it is good."]


def tokenizer():
    out = Tokenizer(models.WordPiece({t: i for i, t in enumerate(VOCAB)}, unk_token="[UNK]"))
    out.normalizer = normalizers.BertNormalizer(lowercase=True)
    out.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    out.decoder = decoders.WordPiece()
    out.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                       special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    out.add_special_tokens(SPECIAL)
    return out


def legacy(tensors):
    return {n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t for n, t in tensors.items()}


def spread(name, shape):
    """Larger weights than the initial ones, so that a mistake shows."""
    norm = name.endswith(("LayerNorm.weight", "LayerNorm.gamma"))
    return 1 if norm else 0, 0.3 if len(shape) == 2 else 0.2


CASES = {
    "bert_mlm": (BertForMaskedLM, {}, 701, {"rename": legacy}, "LayerNorm's older names gamma and beta; decoder tied to the word embeddings"),
    "bert_mlm_untied": (BertForMaskedLM, dict(tie_word_embeddings=False, hidden_act="relu", layer_norm_eps=1e-5, type_vocab_size=3), 702, {},
                        "decoder with a weight and a bias of its own; relu"),
    "bert_classifier": (BertForSequenceClassification, dict(id2label={0: "bad", 1: "middling", 2: "good"}, label2id={"bad": 0, "middling": 1, "good": 2}),
                        703, {"dtype": torch.bfloat16}, "three labels; bfloat16 on disk"),
    "bert_sentence": (BertModel, {}, 704, {"sentence": True}, "names without `bert.`; files of sentence-transformers: cls and mean, normalised"),
}


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=1, ensure_ascii=False)
        f.write("\n")


def sentence_files(folder):
    kind = "sentence_transformers.models."
    write_json(f"{folder}/modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind + "Transformer"},
                                          {"idx": 1, "name": "1", "path": "1_Pooling", "type": kind + "Pooling"},
                                          {"idx": 2, "name": "2", "path": "2_Normalize", "type": kind + "Normalize"}])
    write_json(f"{folder}/1_Pooling/config.json", {"word_embedding_dimension": SMALL["hidden_size"], "pooling_mode_cls_token": True,
                                                   "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
                                                   "pooling_mode_mean_sqrt_len_tokens": False})
    write_json(f"{folder}/sentence_bert_config.json", {"max_seq_length": 10, "do_lower_case": False})


def pooled(hidden):
    vector = torch.cat([hidden[0], hidden.mean(0)])
    return torch.nn.functional.normalize(vector, dim=0)


def run(model, ids, types):
    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types]), output_hidden_states=True)
    got = {"last_hidden_state": out.hidden_states[-1][0]}
    if "logits" in out:
        got["logits"] = out.logits[0] if out.logits.ndim == 3 else out.logits
    if out.get("pooler_output") is not None:
        got["pooler_output"] = out.pooler_output
    return got


def record(folder, cls, note, seed, sentence):
    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").eval()
    tensors = {f"{name}.{i}": t.contiguous().clone() for i, (ids, types) in enumerate(zip(PROMPTS, TYPES)) for name, t in run(model, ids, types).items()}
    eager = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    golden = {"class": cls.__name__, "seed": seed, "note": note, "dtype_on_disk": "float32", "prompts": PROMPTS, "token_type_ids": TYPES,
              "input_ids": PROMPTS[0],
              "eager_vs_sdpa": max((t - tensors[f"{n}.{i}"]).abs().max().item() for i, (a, b) in enumerate(zip(PROMPTS, TYPES))
                                   for n, t in run(eager, a, b).items()),
              "runtime": {"modules": {p or "<root>": type(m).__name__ for p, m in model.named_modules() if type(m).__name__ != "Dropout"},
                          "parameters": [{"name": n, "shape": list(p.shape)} for n, p in model.named_parameters(remove_duplicate=False)]}}
    if sentence:
        cut = Tokenizer.from_file(f"{folder}/tokenizer.json")
        cut.enable_truncation(10)
        golden["texts"], golden["text_ids"] = TEXTS, [cut.encode(t).ids for t in TEXTS]
        for i, ids in enumerate(golden["text_ids"]):
            tensors[f"vector.{i}"] = pooled(run(model, ids, [0] * len(ids))["last_hidden_state"])
    weights.write_json(f"{folder}/golden.json", golden)
    save_file(tensors, f"{folder}/golden.safetensors")


def make(name, out):
    cls, config, seed, options, note = CASES[name]
    folder = f"{out}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(seed)
    model = cls(BertConfig(**{**SMALL, **config})).to(options.get("dtype", torch.float32))
    model.save_pretrained(folder)
    path = f"{folder}/model.safetensors"
    tensors = load_file(path)
    save_file(options.get("rename", lambda t: t)(tensors), path, metadata={"format": "pt"})
    weights.refill(folder, seed, spread)
    tokenizer().save(f"{folder}/tokenizer.json")
    write_json(f"{folder}/tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "[MASK]", "cls_token": "[CLS]",
                                                   "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"})
    if options.get("sentence"):
        sentence_files(folder)
    record(folder, cls, note, seed, options.get("sentence"))
    weights.drop(folder)
    for parent, _, files in os.walk(folder):
        for file in files:
            os.chmod(f"{parent}/{file}", 0o644)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=f"{HERE}/encoders")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for case in args.names or CASES:
        make(case, args.out)
        print(case)
