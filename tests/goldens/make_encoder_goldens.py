"""Make the small models and recorded outputs listed in README.md under "Encoders", and those of families that plugins bring: encoders,
and decoders without a head or with one that classifies.

    python make_encoder_goldens.py [--out DIR] [NAME ...]

Everything comes from fixed seeds. Pooled vectors are computed here from the reference's hidden states, as the files of
sentence-transformers define them. Modules that do nothing at inference (Dropout) are not recorded.
"""
import argparse
import json
import os
import re
import shutil

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (BertConfig, BertForMaskedLM, BertForQuestionAnswering, BertForSequenceClassification, BertForTokenClassification, BertModel,
                          DeepseekV3ForTokenClassification, Gemma2ForSequenceClassification, Gemma3TextModel, GPT2ForQuestionAnswering,
                          GPT2ForSequenceClassification, GPT2ForTokenClassification, GPTNeoXForTokenClassification, GptOssForTokenClassification,
                          LlamaForQuestionAnswering, LlamaForSequenceClassification, LlamaModel, MistralForSequenceClassification,
                          MixtralForTokenClassification, ModernBertConfig, ModernBertForMaskedLM, ModernBertForQuestionAnswering,
                          ModernBertForSequenceClassification, ModernBertModel, Phi3ForTokenClassification,
                          Qwen2ForCausalLM, Qwen2ForTokenClassification, Qwen2MoeForQuestionAnswering, Qwen3ForSequenceClassification,
                          Qwen3NextForQuestionAnswering, RobertaConfig, RobertaForMaskedLM, RobertaForQuestionAnswering,
                          RobertaForSequenceClassification, RobertaForTokenClassification, RobertaModel, Starcoder2ForSequenceClassification)
from transformers.models.gemma3.modeling_gemma3 import Gemma3TextForSequenceClassification
from transformers.models.gemma4.modeling_gemma4 import Gemma4TextModel
from transformers.models.olmo2.modeling_olmo2 import Olmo2ForSequenceClassification

import weights
from make_goldens import as_described

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "../../plugins/families")  # whose cases lie beside the plugins
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ("the a board table leg saw plane joiner carpenter sands planes cuts oak pine is are on in with and of who what , . ? ! "
         "good bad smooth rough ##s ##ed ##ing ##er wood nail ##ly one two three old new very not it he she they").split()
LETTERS = [p + c for c in "bcdfgkmnoprtuvwy" for p in ("", "##")]
VOCAB = list(dict.fromkeys(SPECIAL + WORDS + LETTERS))
SIZES = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20)
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


def byte_level(special, post_processor, normalizer=None):
    """Pieces of bytes as GPT-2 has them, of few letters: others are unknown. A mask takes the space before it."""
    merges = ["t h", "th e", "Ġ the", "e r", "i n", "in er", "a r", "ar d", "o ard", "b oard", "Ġ board", "Ġ a", "n d", "Ġa nd"]
    pieces = special + list("abcdefghijklmnopqrstuvwxyzO.,;?Ġ") + [m.replace(" ", "") for m in merges]
    out = Tokenizer(models.BPE({p: i for i, p in enumerate(pieces)}, [tuple(m.split(" ")) for m in merges], unk_token=special[3]))
    if normalizer is not None:
        out.normalizer = normalizer
    out.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    out.decoder = decoders.ByteLevel()
    out.post_processor = post_processor
    out.add_special_tokens([AddedToken(t, lstrip=t == special[4]) for t in special])
    return out


def roberta_tokenizer():
    return byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False))


def modernbert_tokenizer():
    template = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 0), ("[SEP]", 2)])
    return byte_level(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"], template, normalizers.NFC())


def legacy(tensors):
    return {n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t for n, t in tensors.items()}


def spread(name, shape):
    """Larger weights than the initial ones, so that a mistake shows."""
    norm = name.lower().endswith(("norm.weight", "norm.gamma", "layer_scalar"))
    return 1 if norm else 0, 0.3 if len(shape) == 2 else 0.2


def published(config):
    """ModernBERT's config.json in the spelling of its first checkpoints, with a field that nobody reads."""
    rope = config.pop("rope_parameters")
    del config["layer_types"]
    config.update(global_attn_every_n_layers=3, global_rope_theta=rope["full_attention"]["rope_theta"], local_rope_theta=rope["sliding_attention"]["rope_theta"], layer_norm_eps=0.5)


LABELS = dict(id2label={0: "bad", 1: "middling", 2: "good"}, label2id={"bad": 0, "middling": 1, "good": 2})
BYTE_PROMPTS = [[0, 9, 4, 20, 31, 2], [0, 12, 6, 1, 25, 40, 5, 17, 2, 2, 33, 8, 44, 21, 2], [0, 2]]  # with a token called padding
# Sizes, tokenizer, prompts and their types of each model type.
KINDS = {
    "bert": (dict(SIZES, vocab_size=len(VOCAB), max_position_embeddings=24, pad_token_id=0), tokenizer, PROMPTS, TYPES),
    "roberta": (dict(SIZES, vocab_size=51, max_position_embeddings=26, type_vocab_size=1, layer_norm_eps=1e-5), roberta_tokenizer, BYTE_PROMPTS, None),
    "modernbert": (dict(SIZES, vocab_size=51, max_position_embeddings=64, num_hidden_layers=4, local_attention=6, attention_dropout=0.1, pad_token_id=1,
                        bos_token_id=0, cls_token_id=0, eos_token_id=2, sep_token_id=2), modernbert_tokenizer, BYTE_PROMPTS, None),
}
# Of decoders: a prompt ends with what some of them call padding.
DECODER_PROMPTS = [[5, 9, 4, 20, 31, 2, 17], [7, 12, 6, 25, 40, 5, 17, 2, 33, 8, 44, 21, 0, 0], [11]]
DECODER = dict(vocab_size=48, hidden_size=24, intermediate_size=20, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
               max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)
EXPERTS = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=8, shared_expert_intermediate_size=12)
DECODERS = {
    "llama": {}, "mistral": {"sliding_window": 4}, "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 8}, "qwen2": {},
    "qwen2_moe": EXPERTS, "qwen3": {"head_dim": 8}, "olmo2": {}, "phi3": {"sliding_window": 4}, "starcoder2": {"sliding_window": 4},
    "gemma2": {"head_dim": 8, "query_pre_attn_scalar": 12, "sliding_window": 4, "attn_logit_softcapping": 2.0},
    "gemma3_text": {"head_dim": 8, "query_pre_attn_scalar": 12, "sliding_window": 4},
    "gemma4_text": {"head_dim": 8, "global_head_dim": 12, "sliding_window": 4, "num_hidden_layers": 4, "num_kv_shared_layers": 2,
                    "layer_types": ["sliding_attention", "full_attention"] * 2, "hidden_size_per_layer_input": 6, "vocab_size_per_layer_input": 48},
    "gpt_oss": {"head_dim": 8, "num_local_experts": 5, "num_experts_per_tok": 2, "intermediate_size": 12, "sliding_window": 4},
    "qwen3_next": {**EXPERTS, "num_hidden_layers": 4, "head_dim": 8, "linear_num_key_heads": 2, "linear_key_head_dim": 6, "linear_num_value_heads": 4,
                   "linear_value_head_dim": 10},
    "deepseek_v3": {"num_key_value_heads": 4, "kv_lora_rank": 16, "q_lora_rank": 12, "qk_nope_head_dim": 6, "qk_rope_head_dim": 8, "v_head_dim": 5,
                    "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 8, "n_group": 4, "topk_group": 2, "first_k_dense_replace": 1},
    "gpt2": {"n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 32}, "gpt_neox": {"hidden_size": 32},
}
for kind, own in DECODERS.items():
    KINDS[kind] = ({**DECODER, **own}, None, DECODER_PROMPTS, None)
EAGER = ("gemma2", "gpt_oss")  # which have no other attention
PLUGINS = {"gpt2": "gpt2", "olmo2": "olmo2", "starcoder2": "starcoder2"}
BOTH_WAYS = {"is_causal": False}
YARN = {"rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0, "original_max_position_embeddings": 16}
CASES = {
    "bert_mlm": (BertForMaskedLM, {}, 701, {"rename": legacy}, "LayerNorm's older names gamma and beta; decoder tied to the word embeddings"),
    "bert_mlm_untied": (BertForMaskedLM, dict(tie_word_embeddings=False, hidden_act="relu", layer_norm_eps=1e-5, type_vocab_size=3), 702, {},
                        "decoder with a weight and a bias of its own; relu"),
    "bert_classifier": (BertForSequenceClassification, LABELS, 703, {"dtype": torch.bfloat16}, "three labels; bfloat16 on disk"),
    "bert_sentence": (BertModel, {}, 704, {"sentence": True}, "names without `bert.`; files of sentence-transformers: cls and mean, normalised"),
    "roberta_mlm": (RobertaForMaskedLM, dict(hidden_act="relu"), 711, {"rename": legacy},
                    "LayerNorm's older names gamma and beta; relu, but in the head; a padding token in a prompt"),
    "roberta_mlm_untied_sharded": (RobertaForMaskedLM, dict(tie_word_embeddings=False), 712, {"shard": "8KB"},
                                   "decoder with a weight and a bias of its own; several files and an index"),
    "roberta_classifier_bf16": (RobertaForSequenceClassification, LABELS, 713, {"dtype": torch.bfloat16}, "three labels; bfloat16 on disk"),
    "roberta_sentence": (RobertaModel, {}, 714, {"sentence": True}, "names without `roberta.`; files of sentence-transformers"),
    "modernbert_mlm": (ModernBertForMaskedLM, {}, 721, {"config": published}, "window of 3 to both sides in layers 1 and 2 of 4; config.json as published"),
    "modernbert_classifier_bias_bf16": (ModernBertForSequenceClassification, dict(
        LABELS, norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True, hidden_activation="relu", classifier_activation="silu",
        classifier_pooling="mean", layer_types=["sliding_attention", "full_attention"] * 2), 722, {"dtype": torch.bfloat16},
        "biases everywhere, other activations, the mean of all tokens; layer_types in config.json; bfloat16 on disk"),
    "modernbert_classifier_sharded": (ModernBertForSequenceClassification, LABELS, 723, {"shard": "8KB"}, "the first token; several files and an index"),
    "modernbert_mlm_untied": (ModernBertForMaskedLM, dict(tie_word_embeddings=False, decoder_bias=False), 724, {}, "a decoder of its own, without a bias"),
    "modernbert_sentence": (ModernBertModel, dict(rope_parameters={"full_attention": YARN, "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}),
                            725, {"sentence": True}, "yarn in layers that see everything; names without `model.`; files of sentence-transformers"),
    "bert_tokens": (BertForTokenClassification, LABELS, 731, {}, "labels of tokens"),
    "bert_answers_causal": (BertForQuestionAnswering, {"is_causal": True}, 732, {}, "where an answer begins and ends; no token sees those after it"),
    "roberta_tokens_causal": (RobertaForTokenClassification, {**LABELS, "is_causal": True}, 733, {}, "labels of tokens, none of which sees those after it"),
    "roberta_answers": (RobertaForQuestionAnswering, {}, 734, {}, "where an answer begins and ends"),
    "modernbert_answers": (ModernBertForQuestionAnswering, {}, 736, {}, "where an answer begins and ends"),
    "llama_classifier": (LlamaForSequenceClassification, LABELS, 741, {}, "labels by the last token that is not padding"),
    "llama_answers": (LlamaForQuestionAnswering, {}, 742, {}, "the base model called transformer"),
    "llama_model": (LlamaModel, {}, 743, {"pooling": "mean"}, "no head, names without `model.`; the mean of tokens, not normalised"),
    "mistral_classifier": (MistralForSequenceClassification, {**LABELS, "pad_token_id": None, "problem_type": "multi_label_classification"}, 744, {},
                           "no padding token, so the last one counts whatever it is"),
    "mixtral_tokens": (MixtralForTokenClassification, LABELS, 745, {}, "labels of tokens, with experts"),
    "qwen2_tokens_both_ways": (Qwen2ForTokenClassification, {**LABELS, **BOTH_WAYS, "token_classification_bias": False}, 746, {},
                               "is_causal false; a head without a bias"),
    "qwen2_embedding_both_ways": (Qwen2ForCausalLM, BOTH_WAYS, 747, {"pooling": "lasttoken", "normalize": True},
                                  "vectors of a model that generates: its last token, normalised; is_causal false"),
    "qwen2_moe_answers": (Qwen2MoeForQuestionAnswering, {}, 748, {}, "the base model called model"),
    "qwen3_classifier": (Qwen3ForSequenceClassification, LABELS, 749, {}, "norms over the heads of queries and keys"),
    "gemma2_classifier": (Gemma2ForSequenceClassification, LABELS, 751, {}, "softcap and windows"),
    "gemma3_text_classifier": (Gemma3TextForSequenceClassification, LABELS, 752, {}, "two rotary bases"),
    "gemma3_text_embedding": (Gemma3TextModel, {"use_bidirectional_attention": True}, 753, {"pooling": ["mean", "max"], "dense": [(48, 30, False, "Identity"),
                              (30, 10, True, "Tanh")], "normalize": True}, "both ways, two poolings joined, two Dense modules, normalised"),
    "gemma4_text_embedding": (Gemma4TextModel, {"use_bidirectional_attention": "all"}, 766, {"pooling": "mean"},
                              "both ways; keys and values shared without a cache"),
    "gpt2_classifier": (GPT2ForSequenceClassification, LABELS, 754, {}, "learned positions"),
    "gpt2_tokens": (GPT2ForTokenClassification, {**LABELS, **BOTH_WAYS}, 755, {}, "is_causal false"),
    "gpt2_answers": (GPT2ForQuestionAnswering, {}, 756, {}, "where an answer begins and ends"),
    "gpt_neox_tokens": (GPTNeoXForTokenClassification, LABELS, 757, {}, "labels of tokens"),
    "gpt_oss_tokens": (GptOssForTokenClassification, LABELS, 758, {}, "labels of tokens, with sinks and windows"),
    "olmo2_classifier": (Olmo2ForSequenceClassification, LABELS, 759, {}, "labels by the last token"),
    "phi3_tokens": (Phi3ForTokenClassification, LABELS, 760, {}, "labels of tokens, with windows"),
    "starcoder2_classifier": (Starcoder2ForSequenceClassification, LABELS, 761, {}, "LayerNorms with biases"),
    "qwen3_next_answers": (Qwen3NextForQuestionAnswering, {}, 771, {}, "the base model called transformer; states of sequences"),
    "deepseek_v3_tokens": (DeepseekV3ForTokenClassification, LABELS, 763, {}, "latent attention, experts by groups"),
}


# Classes of transformers that only hold other modules, which families described by data have as a ModuleList.
HOLDERS = re.compile("(Embeddings|Encoder|SelfOutput|Intermediate|Output|Pooler|MLMHead|LMPredictionHead|PredictionHeadTransform|LMHead"
                     "|ClassificationHead|PredictionHead)$")
MOVED = [("attention.output.LayerNorm", "attention_norm"), ("intermediate", "mlp.intermediate"), ("output.dense", "mlp.output.dense")]


def moved(path):
    """The path that a family described by data has for a module of transformers' BERT."""
    layer, rest = re.match(r"((?:.*\.)?encoder\.layer\.\d+\.)?(.*)", path).groups()
    for old, new in MOVED if layer else []:
        if rest == old or rest.startswith(old + "."):
            return layer + new + rest[len(old):]
    return path


def as_data(runtime):
    """Rename modules and parameters as families described by data have them: a class that only holds others is a ModuleList,
    attention includes its output projection, the MLP and activation functions are modules, and an Identity is left out."""
    modules = {}
    for path, name in runtime["modules"].items():
        if name == "Identity":
            continue
        if path.endswith("attention.self"):
            modules[path[:-len(".self")]] = name
        if name.endswith("LMHead") and path == "lm_head":
            modules["lm_head.act"] = "GELUActivation"
        if path == "classifier" and name.endswith("ClassificationHead"):
            modules["classifier.act"] = "Tanh"
        if path.endswith(".output") and name.endswith("Output") and not name.endswith("SelfOutput"):
            layer = path[:-len("output")]
            modules.update({layer + "mlp": name[:-len("Output")] + "MLP", layer + "mlp.output": "ModuleList"})
        is_holder = HOLDERS.search(name) or path.endswith("attention.self")
        modules[moved(path)] = "ModuleList" if is_holder else name
    runtime["modules"] = modules
    for parameter in runtime["parameters"]:
        parameter["name"] = moved(parameter["name"])


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=1, ensure_ascii=False)
        f.write("\n")


def embedding_files(folder, options, hidden_size, seed):
    """The files of sentence-transformers as its version 6 writes them, and what they do to the hidden states of a text."""
    kind, modules, steps = "sentence_transformers.sentence_transformer.modules.pooling.", ["Transformer", "Pooling"], []
    names = options["pooling"] if isinstance(options["pooling"], list) else [options["pooling"]]
    of = {"mean": lambda h: h.mean(0), "max": lambda h: h.max(0).values, "lasttoken": lambda h: h[-1]}
    steps.append(lambda h: torch.cat([of[name](h) for name in names]))
    write_json(f"{folder}/1_Pooling/config.json", {"embedding_dimension": hidden_size, "pooling_mode": options["pooling"], "include_prompt": True})
    random = torch.Generator().manual_seed(seed)
    for ins, outs, bias, activation in options.get("dense", []):
        part = f"{folder}/{len(modules)}_Dense"
        linear = {"linear.weight": torch.randn(outs, ins, generator=random)} | ({"linear.bias": torch.randn(outs, generator=random)} if bias else {})
        write_json(f"{part}/config.json", {"in_features": ins, "out_features": outs, "bias": bias, "module_input_name": "sentence_embedding",
                                           "activation_function": f"torch.nn.modules.{'linear' if activation == 'Identity' else 'activation'}.{activation}"})
        save_file(linear, f"{part}/model.safetensors")
        steps.append(lambda v, linear=linear, act=getattr(torch.nn, activation)(): act(torch.nn.functional.linear(
            v, linear["linear.weight"], linear.get("linear.bias"))))
        modules.append("Dense")
    if options.get("normalize"):
        steps.append(lambda v: torch.nn.functional.normalize(v, dim=0))
        modules.append("Normalize")
    write_json(f"{folder}/modules.json", [{"idx": i, "name": str(i), "path": f"{i}_{m}" if i > 0 else "", "type": kind + m} for i, m in enumerate(modules)])
    return steps


def sentence_files(folder):
    kind = "sentence_transformers.models."
    write_json(f"{folder}/modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind + "Transformer"},
                                          {"idx": 1, "name": "1", "path": "1_Pooling", "type": kind + "Pooling"},
                                          {"idx": 2, "name": "2", "path": "2_Normalize", "type": kind + "Normalize"}])
    write_json(f"{folder}/1_Pooling/config.json", {"word_embedding_dimension": SIZES["hidden_size"], "pooling_mode_cls_token": True,
                                                   "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
                                                   "pooling_mode_mean_sqrt_len_tokens": False})
    write_json(f"{folder}/sentence_bert_config.json", {"max_seq_length": 10, "do_lower_case": False})


def pooled(hidden):
    vector = torch.cat([hidden[0], hidden.mean(0)])
    return torch.nn.functional.normalize(vector, dim=0)


def run(model, ids, types):
    inputs = {"input_ids": torch.tensor([ids])} | ({} if types is None else {"token_type_ids": torch.tensor([types])})
    with torch.no_grad():
        out = model(**inputs)
        got = {"last_hidden_state": model.base_model(**inputs).last_hidden_state[0]}
    if "start_logits" in out:
        got["logits"] = torch.stack([out.start_logits[0], out.end_logits[0]], -1)
    elif "logits" in out and not isinstance(model, Qwen2ForCausalLM):
        got["logits"] = out.logits[0] if out.logits.ndim == 3 else out.logits
    if out.get("pooler_output") is not None:
        got["pooler_output"] = out.pooler_output
    return got


def record(folder, cls, note, seed, sentence, steps):
    kind = cls.config_class.model_type
    _, _, prompts, types = KINDS[kind]
    pairs = list(zip(prompts, types or [None] * len(prompts)))
    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager" if kind in EAGER else "sdpa").eval()
    tensors = {f"{name}.{i}": t.contiguous().clone() for i, pair in enumerate(pairs) for name, t in run(model, *pair).items()}
    eager = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    golden = {"class": cls.__name__, "seed": seed, "note": note, "dtype_on_disk": "float32", "prompts": prompts,
              "token_type_ids": types or [[0] * len(ids) for ids in prompts], "input_ids": prompts[0],
              "eager_vs_sdpa": max((t - tensors[f"{n}.{i}"]).abs().max().item() for i, pair in enumerate(pairs) for n, t in run(eager, *pair).items()),
              "runtime": {"modules": {p or "<root>": type(m).__name__ for p, m in model.named_modules()},
                          "parameters": [{"name": n, "shape": list(p.shape)} for n, p in model.named_parameters(remove_duplicate=False)] +
                                        [{"name": n, "shape": list(b.shape)} for n, b in model.named_buffers() if n in model.state_dict()],
                          "buffers": [{"name": n, "shape": list(b.shape)} for n, b in model.named_buffers()]}}
    as_described(golden["runtime"])
    if kind in ("bert", "modernbert", "roberta"):
        as_data(golden["runtime"])
    del golden["runtime"]["buffers"]
    if sentence:
        cut = Tokenizer.from_file(f"{folder}/tokenizer.json")
        cut.enable_truncation(10)
        golden["texts"], golden["text_ids"] = TEXTS, [cut.encode(t).ids for t in TEXTS]
        for i, ids in enumerate(golden["text_ids"]):
            tensors[f"vector.{i}"] = pooled(run(model, ids, types and [0] * len(ids))["last_hidden_state"])
    if kind == "qwen3_next":  # whose delta rule amplifies rounding
        exact = cls.from_pretrained(folder, dtype=torch.float64, attn_implementation="sdpa", experts_implementation="eager").eval()
        golden["reference_spread"] = {"fp32_vs_fp64": max((t - tensors[f"{n}.{i}"]).abs().max().item() for i, pair in enumerate(pairs)
                                                          for n, t in run(exact, *pair).items())}
    if kind in ("gpt2", "gpt_oss"):
        golden["copies"] = True  # what is transposed on disk
    if steps:
        golden["texts"], golden["text_ids"] = [None] * len(prompts), prompts
        for i, ids in enumerate(prompts):
            vector = run(model, ids, None)["last_hidden_state"]
            for step in steps:
                vector = step(vector)
            tensors[f"vector.{i}"] = vector
    weights.write_json(f"{folder}/golden.json", golden)
    save_file(tensors, f"{folder}/golden.safetensors")


def make(name, out):
    cls, config, seed, options, note = CASES[name]
    kind = cls.config_class.model_type
    sizes, make_tokenizer, _, _ = KINDS[kind]
    folder = f"{FAMILIES}/{PLUGINS[kind]}/goldens/{name}" if kind in PLUGINS else f"{out}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(seed)
    model = cls(cls.config_class(**{**sizes, **config})).to(options.get("dtype", torch.float32))
    model.save_pretrained(folder, **({"max_shard_size": options["shard"]} if "shard" in options else {}))
    if "rename" in options:
        path = f"{folder}/model.safetensors"
        save_file(options["rename"](load_file(path)), path, metadata={"format": "pt"})
    if "config" in options:
        with open(f"{folder}/config.json", encoding="utf-8") as f:
            fields = json.load(f)
        options["config"](fields)
        write_json(f"{folder}/config.json", fields)
    weights.refill(folder, seed, spread)
    if make_tokenizer is not None:
        make_tokenizer().save(f"{folder}/tokenizer.json")
        cls_token, pad, sep, unk, mask = ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if kind == "roberta" else ("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
        write_json(f"{folder}/tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": mask, "cls_token": cls_token,
                                                       "sep_token": sep, "pad_token": pad, "unk_token": unk})
    steps = embedding_files(folder, options, model.config.hidden_size, seed) if "pooling" in options else []
    if options.get("sentence"):
        sentence_files(folder)
    record(folder, cls, note, seed, options.get("sentence"), steps)
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
