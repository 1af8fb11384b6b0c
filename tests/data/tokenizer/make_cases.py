"""Makes the small tokenizers of this folder.

variants/NAME/tokenizer.json has one setting or part each, and tokenizer_golden.json beside it what the reference
(tokenizers 0.23.3) answers. bad/NAME/tokenizer.json has one fault each, and error.txt beside it what Graft says.

Variants called texts_... are trained on texts.json, sentences in many scripts, and their goldens are of those.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 && python make_cases.py
"""
import base64
import io
import json
import os
import random
import shutil
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

HERE = os.path.dirname(os.path.abspath(__file__))

STRINGS = [
    "", " ", "  ", "a", "the hat", "The Hat", " the  hat ", "the hat's heel", "a-b-c", "--", "-a b-", "a\tb\n\n c", "he 12 345",
    "caf\u00e9 cafe\u0301", "\u212b \ufb01 \u2460", "\u6728\u5320", "\u0130\u00df", "\ud55c \u1112\u1161\u11ab", "\U0001f642", "<s>the</s>",
    "x<s> a <s>", "the[M]hat [M] the", "\u2581the\u2581", "\u3000wide\u00a0space\u2028", "it's don't", "word.Word!word ?", "\x00\x01\x7f\ufffd",
    "aa aaa aaaa aaaaa", "a\u0301\u0323\u0300", "12\u00bd\u00b2_x", "thehat", "hathe [M][M]", "\t\t-\t",
]
with open(os.path.join(HERE, "texts.json"), encoding="utf-8") as texts:
    TEXTS = json.load(texts)
PAIRS = [("the", "hat"), ("", "a"), ("a", ""), ("<s>", "[M] a")]


def added(id, content, **flags):
    token = {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    token.update(flags)
    return token


def byte_alphabet():
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(len(others))]


def bpe(characters, merges, specials, **model):
    tokens = [t for t in specials] + characters
    for a, b in merges:
        if a + b not in tokens:
            tokens.append(a + b)
    settings = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    settings.update(model)
    settings["vocab"] = {t: i for i, t in enumerate(tokens)}
    settings["merges"] = [list(m) for m in merges]
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(i, t, special=True) for i, t in enumerate(specials)], "normalizer": None, "pre_tokenizer": None,
            "post_processor": None, "decoder": None, "model": settings}


def bytes_tokenizer(characters=None, n_merges=None):
    merges = [("h", "e"), ("\u0120", "t"), ("t", "he"), ("\u0120t", "he"), ("a", "t"), ("h", "at"), ("a", "a"), ("aa", "aa"), ("-", "-"),
              ("1", "2"), ("\u00c3", "\u00a9"), ("\u0120", "\u0120"), ("'", "s"), ("\u010a", "\u010a")]
    document = bpe(characters or byte_alphabet(), merges[:n_merges], ["<s>", "</s>"])
    document["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    document["post_processor"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    document["decoder"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return document


def tiny_tokenizer():
    return bytes_tokenizer(list("!aeht\u0120"), 3)


def template(first, second):
    def parts(text):
        return [{"Sequence": {"id": t[1], "type_id": i}} if t[0] == "$" else {"SpecialToken": {"id": t, "type_id": i}} for t, i in text]
    tokens = {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [2, 1], "tokens": ["</s>", "<s>"]}}
    return {"type": "TemplateProcessing", "single": parts(first), "pair": parts(second), "special_tokens": tokens}


def sentence_tokenizer():
    merges = [("\u2581", "t"), ("h", "e"), ("\u2581t", "he"), ("a", "t"), ("h", "at"), ("\u2581", "hat"), ("\u2581", "\u2581"), ("a", "a")]
    characters = [f"<0x{b:02X}>" for b in range(256)] + ["\u2581"] + list("abcdefhilnorstwTHW-'.12") + ["\u00e9", "\u6728"]
    document = bpe(characters, merges, ["<unk>", "<s>", "</s>"], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    document["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    document["post_processor"] = template([("<s>", 0), ("$A", 0)], [("<s>", 0), ("$A", 0), ("</s>", 3), ("$B", 1)])
    document["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    return document


def word_tokenizer():
    tokens = ["[UNK]", "<s>", "</s>", "the", "hat", "##s", "##hat", "##he", "a", "##a", "b", "c", "t", "heel", "-", "'", ".", "?", "!", "n", "do",
              "##n", "12", "##3", "cafe", "caf\u00e9", "s", "\u6728", "\u5320", "word", "it", "don", "\u00df", "i", "##\u00df", "The", "Hat"]
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 12,
             "vocab": {t: i for i, t in enumerate(tokens)}}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(i, t, special=True) for i, t in enumerate(tokens[:3])],
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}, "model": model}


def metaspace(**fields):
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True, **fields}


def unigram_tokenizer(**model):
    """Many ways to cut a text have the same score; "a" appears twice."""
    pieces = [["<unk>", 0], ["<s>", 0.0], ["</s>", 0.0], ["\u2581", -2.5], ["a", -1], ["t", -1.0], ["h", -1.0], ["e", -1.0], ["at", -2.0],
              ["hat", -3.0], ["he", -1.5], ["the", -2.5], ["\u2581the", -2.25e0], ["\u2581t", -3.5], ["aa", -2.0], ["aaa", -2.999999999999999999999],
              ["a", -1.0], ["--", -4.0], ["-", -2.0], ["\u00e9", -3.0], ["\u6728", -5.0], ["s", -1.25], ["\u2581\u2581", -60E-1], ["xy", 12.0],
              ["12", -33333333333333333333e-19], ["1", -1.8], ["2", -1.8], ["c", -3.0], ["l", -3.0], ["n", -3.0], ["it", -3.0], ["", -1.0]]
    document = bpe([], [], ["<unk>", "<s>", "</s>"])
    document["model"] = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False, **model}
    document["pre_tokenizer"] = document["decoder"] = metaspace()
    return document


def whole_words():
    tokens = ["[UNK]", "<s>", "</s>", "the", "hat", "The", "a", "-", "aa", "caf\u00e9", "\u6728\u5320", "12", "it's", " "]
    document = bpe([], [], tokens[:3])
    document["model"] = {"type": "WordLevel", "vocab": {t: i for i, t in enumerate(tokens)}, "unk_token": "[UNK]"}
    document["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    return document


def affixed(prefix, suffix, **model):
    """Merges of tokens that say whether something comes before them or ends with them."""
    first, last = list("abcehlnostT-1.\u00e9\u6728"), [prefix + c + suffix for c in "abcehlnost-12\u00e9"]
    merges = [("t", prefix + "h"), ("th", prefix + "e" + suffix), ("h", prefix + "a"), ("ha", prefix + "t" + suffix),
              (prefix + "a", prefix + "a"), ("a", prefix + "aa"), (prefix + "a", prefix + "t" + suffix)]
    inner = [prefix + c for c in "abcehlnost-12"]
    # The set of spellings, each once: with an empty affix some of them are the same.
    characters = list(dict.fromkeys([*first, *[c + suffix for c in first], *inner, *last]))
    document = bpe(characters, [], ["<unk>", "<s>", "</s>"], unk_token="<unk>", continuing_subword_prefix=prefix or None,
                   end_of_word_suffix=suffix or None, **model)
    vocab = document["model"]["vocab"]
    for left, right in merges:
        vocab.setdefault(left + right[len(prefix):], len(vocab))
    document["model"]["merges"] = [list(m) for m in merges]
    document["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    return document


def marked_words(*steps, **fields):
    """Every byte is a token, and another one at a word's end: ids show where words end."""
    document = bpe(byte_alphabet(), [], ["<s>", "</s>"], end_of_word_suffix="$")
    vocab = document["model"]["vocab"]
    for character in byte_alphabet():
        vocab[character + "$"] = len(vocab)
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*steps, last]}
    document.update(fields)
    return document


def trained(model, trainer, pre_tokenizer=None, normalizer=None):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.WhitespaceSplit()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return json.loads(tokenizer.to_str())["model"]


def charsmap(**rule):
    """What sentencepiece compiles for a rule by name, or for one of the caller's."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["the hat the hat"]), model_writer=model, vocab_size=10, hard_vocab_limit=False,
                                             minloglevel=2, **rule)
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()}


def small_charsmap():
    rules = [("A", "a"), ("e\u0301", "\u00e9"), ("\ufb01", "fi"), ("\u00a0", " "), ("\u2460", "1"), ("\u212b", "\u00e5"), ("T", "t"), ("\x7f", ""),
             ("a\u0323\u0301", "x"), ("\u1112", "H"), ("\r\n", "-"), ("'", "\u2019")]
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        for source, target in rules:
            file.write("%s\t%s\n" % tuple(" ".join("%X" % ord(c) for c in text) for text in (source, target)))
        file.flush()
        return charsmap(normalization_rule_tsv=file.name)


VARIANTS = {}


def variant(name, document, **fields):
    document.update(fields)
    VARIANTS[name] = document


def with_added(document, *tokens):
    vocab = document["model"]["vocab"]
    free = len(vocab)
    for content, flags in tokens:
        document["added_tokens"].append(added(vocab.get(content, free), content, **flags))
        free += content not in vocab
    return document


def split(pattern, behavior, invert=False):
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}


def make_variants():
    flags = [("[M]", {"lstrip": True, "special": True}), ("the", {"single_word": True}), ("-", {"rstrip": True}), ("\t", {"lstrip": True}),
             ("hat", {"normalized": True}), ("he", {}), ("heel", {}), ("\u00e9", {"normalized": True}), ("\u6728", {}), ("12 ", {})]
    variant("bytes", bytes_tokenizer())
    variant("bytes_prefix_space", bytes_tokenizer(),
            pre_tokenizer={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True})
    variant("bytes_digits", bytes_tokenizer(), pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": False}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}]})
    variant("bytes_single_digits", bytes_tokenizer(), pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]})
    variant("added_flags", with_added(bytes_tokenizer(), *flags), normalizer={"type": "NFC"})
    variant("added_prepended", with_added(sentence_tokenizer(), *[f for f in flags if f[0] != "\t"]))
    variant("added_lowercased", with_added(word_tokenizer(), ("[M]", {"lstrip": True}), ("Hat", {"normalized": True})))
    variant("split_removed", bytes_tokenizer(), pre_tokenizer=split({"Regex": "\\s+|\\p{N}"}, "Removed"))
    variant("split_isolated_inverted", bytes_tokenizer(), pre_tokenizer=split({"Regex": "\\w+|[^\\w\\s]+"}, "Isolated", True))
    variant("split_removed_inverted", bytes_tokenizer(), pre_tokenizer=split({"Regex": "\\w+|[^\\w\\s]+"}, "Removed", True))
    variant("split_previous", bytes_tokenizer(), pre_tokenizer=split({"String": "-"}, "MergedWithPrevious"))
    variant("split_next", bytes_tokenizer(), pre_tokenizer=split({"String": " "}, "MergedWithNext"))
    variant("split_contiguous", bytes_tokenizer(), pre_tokenizer=split({"Regex": "[a-h]"}, "Contiguous"))
    variant("split_empty_matches", bytes_tokenizer(), pre_tokenizer=split({"Regex": "a*|\\b"}, "Isolated"))
    variant("split_lines", bytes_tokenizer(), pre_tokenizer=split({"Regex": "^.|.$"}, "Isolated"))
    variant("split_script", bytes_tokenizer(), pre_tokenizer=split({"Regex": "[\\p{Han}\\u0041-\\x{5A}]+|\\S\\B"}, "Isolated"))
    for name, pattern in (("intersection", "[a-z&&[^aeiou]]+|[\\p{L}&&[^\\p{Han}[a-z]]]"), ("classes", "[[:alpha:][^[:^punct:]]]|[\\w&&\\W]|[^\\w\\s]"),
                          ("repeated", "a{1,2}+|-{2}?|(?:\\d){,2}|h"), ("options", "(?im-m:THE|h.t)"), ("latin", "\\w+|[^\\w]")):
        variant("split_" + name, marked_words({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}))
    for form in ("NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"):
        variant("normalizer_" + form.lower(), bytes_tokenizer(), normalizer={"type": "Sequence", "normalizers": [{"type": form}]})
    variant("normalizer_strip_replace", bytes_tokenizer(), normalizer={"type": "Sequence", "normalizers": [
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": "\\s{2,}|n't"}, "content": " "}, {"type": "Sequence", "normalizers": []}]})
    variant("no_decoder", bytes_tokenizer(), decoder=None, pre_tokenizer=None)
    variant("sentence", sentence_tokenizer())
    for scheme in ("always", "first", "never"):
        metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": scheme != "first"}
        variant("metaspace_" + scheme, sentence_tokenizer(), normalizer=None, pre_tokenizer=metaspace, decoder=metaspace)
    for name, settings in (("unfused", {"fuse_unk": False}), ("fused", {}), ("unknown_vanish", {"unk_token": None})):
        document = sentence_tokenizer()
        document["model"].update(byte_fallback=False, **settings)
        variant("sentence_" + name, document)
    document = sentence_tokenizer()
    del document["model"]["vocab"]["<0xC3>"]
    variant("sentence_missing_byte", document)
    variant("sentence_whole_tokens", sentence_tokenizer(), decoder={"type": "Sequence", "decoders": [
        {"type": "ByteFallback"}, {"type": "Strip", "content": "\u2581", "start": 2, "stop": 0}]})
    variant("words", word_tokenizer())
    document = word_tokenizer()
    document["normalizer"].update(lowercase=False, handle_chinese_chars=False)
    document["decoder"]["cleanup"] = False
    variant("words_cased", document, pre_tokenizer={"type": "WhitespaceSplit"}, post_processor={
        "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": False})
    document = word_tokenizer()
    document["normalizer"].update(strip_accents=False, clean_text=False)
    del document["model"]["type"]
    variant("words_accents", document)
    make_model_variants()
    make_normalizer_variants()
    make_pretokenizer_variants()
    make_decoder_variants()
    make_postprocessor_variants()
    make_text_variants()


def make_model_variants():
    variant("unigram", unigram_tokenizer())
    document = unigram_tokenizer(byte_fallback=True)
    document["model"]["vocab"] += [[f"<0x{b:02X}>", -40.0 - b] for b in range(256) if b != 0x9F]
    variant("unigram_bytes", document, pre_tokenizer=metaspace(split=False, prepend_scheme="first"))
    variant("unigram_unknown_last", unigram_tokenizer(unk_id=31), pre_tokenizer=None, decoder=None)
    variant("whole_words", whole_words())
    document = word_tokenizer()
    document["model"].update(max_input_chars_per_word=10**15, continuing_subword_prefix="")
    variant("words_unbounded", document, pre_tokenizer=None, normalizer=None)
    for name, prefix, suffix in (("prefix", "##", ""), ("suffix", "", "</w>"), ("affixes", "@", "</w>")):
        variant("bpe_" + name, affixed(prefix, suffix))
    document = affixed("##", "</w>", byte_fallback=True, fuse_unk=True)
    for byte in range(256):
        document["model"]["vocab"].setdefault(f"<0x{byte:02X}>", len(document["model"]["vocab"]))
    variant("bpe_affixes_bytes", document)
    document = bytes_tokenizer()
    document["model"].update(dropout=0.0, ignore_merges=True, merges=["#version: 0.2", *[" ".join(m) for m in document["model"]["merges"]]])
    variant("bytes_merges_text", document)
    document = word_tokenizer()
    for part in ("model", "normalizer", "decoder", "post_processor"):
        del document[part]["type"]
    variant("types_missing", document)
    document = unigram_tokenizer()
    del document["model"]["type"]
    document["normalizer"] = {"normalizers": [{"strip_left": True, "strip_right": False}, {"pattern": {"String": "--"}, "content": "a"}]}
    document["decoder"] = {"type": "Sequence", "decoders": [{"pattern": {"String": "\u2581"}, "content": " "}, {"content": "s", "start": 1, "stop": 0}]}
    document["post_processor"] = template([("<s>", 0), ("$A", 0)], [("$A", 0), ("$B", 1)])
    del document["post_processor"]["type"]
    variant("types_missing_nested", document)


def make_normalizer_variants():
    variant("normalizer_nmt", bytes_tokenizer(), normalizer={"type": "Nmt"})
    variant("normalizer_bytelevel", bytes_tokenizer(), normalizer={"type": "ByteLevel"}, pre_tokenizer=None)
    variant("normalizer_precompiled", bytes_tokenizer(), normalizer=small_charsmap())
    document = word_tokenizer()
    document["normalizer"]["type"] = "Bert"
    variant("normalizer_bert", document)


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def make_pretokenizer_variants():
    for behavior in BEHAVIORS:
        variant("punctuation_" + behavior.lower(), marked_words({"type": "Punctuation", "behavior": behavior}))
    variant("punctuation", marked_words({"type": "Punctuation"}))
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"):
        variant("words_by_" + name.lower(), marked_words({"type": name}))
    variant("delimiter", marked_words({"type": "CharDelimiterSplit", "delimiter": "h"}))
    variant("delimiter_wide", marked_words({"type": "CharDelimiterSplit", "delimiter": "\u5320"}))
    variant("fixed_length", marked_words({"type": "FixedLength", "length": 3}))
    variant("fixed_length_default", marked_words({"type": "Punctuation"}, {"type": "FixedLength"}))
    variant("digits_marked", marked_words({"type": "Digits", "individual_digits": False}))
    for scheme in ("always", "first", "never"):
        variant("metaspace_words_" + scheme, marked_words({"type": "WhitespaceSplit"}, metaspace(prepend_scheme=scheme)))
        variant("metaspace_whole_" + scheme, marked_words({"type": "UnicodeScripts"}, metaspace(prepend_scheme=scheme, split=False)))
    variant("metaspace_older", marked_words({"type": "Metaspace", "replacement": "_", "add_prefix_space": True, "str_rep": "_"}))
    variant("split_nothing", marked_words({"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated", "invert": False}))
    for behavior in BEHAVIORS:
        variant("split_inverted_" + behavior.lower(), marked_words({"type": "Split", "pattern": {"String": "h"}, "behavior": behavior, "invert": True}))
    variant("bytes_twice", marked_words({"type": "Digits", "individual_digits": True},
                                        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}))


def tokens_to_decode(*decoders):
    tokens = ["[UNK]", "a", "b</w>", "</w>", "the", "##s", "##", "\u2581the", "\u2581\u2581", "\u2581", "x\u2581y", " ", "  ", "|", "<pad>", "a|b", "<0xE6>",
              "<0x9C>", "<0xA8>", "<0x41>", "<0xff>", "\u0120he", "\u00c3\u00a9", "\u00e9", "\u010a", "n't", " n't", " .", "do not", ".", "'", " ' ", "'m",
              "aa", "aaa", "aba", "<p<pad>ad>", "h\u00e9 aa", "<0x+A>", "\u6728", "\u0120"]
    document = bpe([], [], [])
    document["model"] = {"type": "WordLevel", "vocab": {t: i for i, t in enumerate(tokens)}, "unk_token": "[UNK]"}
    document["decoder"] = decoders[0] if len(decoders) == 1 else {"type": "Sequence", "decoders": list(decoders)}
    return document


def make_decoder_variants():
    bpe_decoder, fuse, fallback = {"type": "BPEDecoder", "suffix": "</w>"}, {"type": "Fuse"}, {"type": "ByteFallback"}
    ctc = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
    words, level = {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}
    replace = [{"type": "Replace", "pattern": pattern, "content": "-"} for pattern in ({"String": "\u2581"}, {"Regex": "a+ ?"}, {"String": ""})]
    strip = [{"type": "Strip", "content": content, "start": start, "stop": stop} for content, start, stop in (("a", 1, 0), ("a", 0, 1), (" ", 0, 2))]
    for name, decoders in {
            "bpe": [bpe_decoder], "bpe_everywhere": [{"type": "BPEDecoder", "suffix": ""}], "ctc": [ctc], "ctc_raw": [{**ctc, "cleanup": False}],
            "ctc_everywhere": [{**ctc, "pad_token": "", "word_delimiter_token": ""}], "strip_end": [strip[2]], "replace_everywhere": [replace[2]],
            "nothing": [], "fuse_bpe": [fuse, bpe_decoder], "fuse_ctc": [level, ctc], "fuse_words": [fuse, words], "fuse_fallback": [fuse, fallback, words],
            "fuse_level": [fuse, level], "fuse_replace": [fuse, replace[1], metaspace()], "fuse_strip": [words, fuse, strip[0], strip[1]],
            "ctc_words": [ctc, words, bpe_decoder], "bpe_metaspace": [bpe_decoder, metaspace(prepend_scheme="never"), replace[0]],
            "fallback_ctc": [fallback, ctc, fuse, replace[2]]}.items():
        variant("decode_" + name, tokens_to_decode(*decoders))


def make_postprocessor_variants():
    """Each processor of a sequence works on the texts that the one before it made."""
    first = template([("<s>", 0), ("$A", 0)], [("<s>", 0), ("$A", 0), ("</s>", 3), ("$B", 1)])
    whole = template([("$A", 5)], [("$B", 4), ("$A", 2)])
    bert = {"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]}
    roberta = {**bert, "type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    for name, processors in {"template_bert": [first, level, bert], "whole_template": [whole, first], "bert_roberta": [bert, roberta],
                             "roberta_bert": [roberta, {"type": "Sequence", "processors": [bert, bert]}], "roberta_older": [{**bert, "type": "RobertaProcessing"}],
                             "nothing": []}.items():
        variant("post_" + name, bytes_tokenizer(), post_processor={"type": "Sequence", "processors": processors})


def trained_variant(name, make):
    """Training gives another model each time, so one that is there stays. Remove its folder for a new one."""
    path = os.path.join(HERE, "variants", name, "tokenizer.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            variant(name, json.load(file))
    else:
        variant(name, make())


def make_text_variants():
    specials = ["<unk>", "<s>", "</s>"]
    tokens = [added(i, t, special=True) for i, t in enumerate(specials)]
    quiet = {"special_tokens": specials, "show_progress": False}
    suffix = {"end_of_word_suffix": "</w>"}

    def unigram():
        model = trained(models.Unigram(), trainers.UnigramTrainer(vocab_size=1800, unk_token="<unk>", **quiet), pre_tokenizers.Metaspace())
        return {**bpe([], [], specials), "model": model, "normalizer": charsmap(normalization_rule_name="nmt_nfkc"),
                "pre_tokenizer": metaspace(), "decoder": metaspace()}

    def wordpiece():
        trainer = trainers.WordPieceTrainer(vocab_size=1500, **quiet)
        model = trained(models.WordPiece(unk_token="<unk>"), trainer, pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer())
        return {**word_tokenizer(), "model": model, "added_tokens": tokens}

    def wordlevel():
        model = trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=300, **quiet), pre_tokenizers.BertPreTokenizer())
        return {**bpe([], [], specials), "model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}}

    def bpe_suffix():
        model = trained(models.BPE(unk_token="<unk>", **suffix), trainers.BpeTrainer(vocab_size=1500, limit_alphabet=500, **suffix, **quiet))
        return {**bpe([], [], specials), "model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}}

    def byte_level():
        trainer = trainers.BpeTrainer(vocab_size=1200, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **quiet)
        return {**bytes_tokenizer(), "model": trained(models.BPE(), trainer, pre_tokenizers.ByteLevel()), "added_tokens": tokens}

    for name, make in (("unigram", unigram), ("wordpiece", wordpiece), ("wordlevel", wordlevel), ("bpe_suffix", bpe_suffix), ("bytes", byte_level)):
        trained_variant("texts_" + name, make)


BAD = {}


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bad(name, error, document=None, raw=None, path=None, value=None, drop=False):
    """`document` with `value` at `path` (a list of keys), or `raw` bytes."""
    if raw is None:
        at = document
        for key in path[:-1]:
            at = at[key]
        if drop:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        raw = dump(document).encode()
    BAD[name] = (raw, error)


def make_bad_parts():
    nested = {"type": "NFC"}
    for _ in range(9):
        nested = {"type": "Sequence", "normalizers": [nested]}
    unknown = {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "Whitespaces"}]}
    b = tiny_tokenizer
    bad("unknown_field", 'tokens: unknown field', b(), path=["tokens"], value=1)
    bad("version", 'version: expected "1.0", got "2.0"', b(), path=["version"], value="2.0")
    bad("pretokenizer_unknown", 'pre_tokenizer.pretokenizers[1].type: "Whitespaces" is not supported', b(), path=["pre_tokenizer"], value=unknown)
    bad("pretokenizer_type_missing", "pre_tokenizer.type: missing, expected a string", b(), path=["pre_tokenizer"], value={"use_regex": True})
    bad("pretokenizer_is_list", "pre_tokenizer.type: missing, expected a string", b(), path=["pre_tokenizer"], value=[])
    bad("pretokenizer_field", 'pre_tokenizer.regex: unknown field', b(), path=["pre_tokenizer", "regex"], value=1)
    bad("behavior", 'pre_tokenizer.pretokenizers[0].behavior: expected "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext" or "Contiguous", got "Merged"', b(), path=["pre_tokenizer"],
        value=split({"String": " "}, "Merged"))
    bad("pattern_long", "pre_tokenizer.pretokenizers[0].pattern: the string has 1025 bytes, at most 1024 are supported", b(), path=["pre_tokenizer"],
        value=split({"String": "x" * 1025}, "Removed"))
    bad("punctuation_behavior", 'pre_tokenizer.behavior: expected "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext" or "Contiguous", got "isolated"', b(), path=["pre_tokenizer"],
        value={"type": "Punctuation", "behavior": "isolated"})
    bad("delimiter", "pre_tokenizer.delimiter: expected one character", b(), path=["pre_tokenizer"],
        value={"type": "CharDelimiterSplit", "delimiter": "ab"})
    bad("delimiter_missing", "pre_tokenizer.delimiter: missing, expected a string", b(), path=["pre_tokenizer"], value={"type": "CharDelimiterSplit"})
    bad("fixed_length", 'pre_tokenizer.length: expected an integer of at least 1, got 0', b(), path=["pre_tokenizer"], value={"type": "FixedLength", "length": 0})
    bad("fixed_length_type", "pre_tokenizer.length: expected an integer, got a string", b(), path=["pre_tokenizer"],
        value={"type": "FixedLength", "length": "5"})
    bad("metaspace_mark", "pre_tokenizer.replacement: expected one character", b(), path=["pre_tokenizer"], value=metaspace(replacement=""))
    bad("metaspace_scheme", 'pre_tokenizer.prepend_scheme: expected "never", "first" or "always", got "last"', b(), path=["pre_tokenizer"], value=metaspace(prepend_scheme="last"))
    bad("metaspace_conflict", 'decoder.add_prefix_space: false, but prepend_scheme is "always"', b(), path=["decoder"],
        value=metaspace(add_prefix_space=False))
    bad("pattern_kind", 'pre_tokenizer.pretokenizers[0].pattern: expected either "String" or "Regex"', b(), path=["pre_tokenizer"],
        value=split({}, "Removed"))
    bad("pattern_dialect", "pre_tokenizer.pretokenizers[0].pattern: a class without members, at byte 1 of the expression, is not supported",
        b(), path=["pre_tokenizer"], value=split({"Regex": "a[&&[^b]]"}, "Removed"))
    bad("normalizer_unknown", 'normalizer.normalizers[0].type: "Uppercase" is not supported', b(), path=["normalizer"],
        value={"type": "Sequence", "normalizers": [{"type": "Uppercase"}]})
    for name, text, error in (("base64", "AA=A", "expected base64"), ("short", "AAA=", "2 bytes do not hold a trie of 0"),
                              ("trie", base64.b64encode(b"\x08\0\0\0\0\0\0\0").decode(), "8 bytes do not hold a trie of 8"),
                              ("leaf", base64.b64encode(b"\x04\0\0\0\x02\0\0\x80a\0").decode(), "its replacements are not UTF-8, or end too early"),
                              ("text", base64.b64encode(b"\x04\0\0\0\0\0\0\0\xff\0").decode(), "its replacements are not UTF-8, or end too early")):
        bad("charsmap_" + name, "normalizer.precompiled_charsmap: " + error, b(), path=["normalizer"],
            value={"type": "Precompiled", "precompiled_charsmap": text})
    bad("normalizer_nested", ".".join(["normalizer"] + ["normalizers[0]"] * 8) + ": sequences nested deeper than 8", b(), path=["normalizer"],
        value=nested)
    bad("decoder_unknown", 'decoder.type: "Tape" is not supported', b(), path=["decoder"], value={"type": "Tape"})
    bad("decoder_suffix", "decoder.suffix: missing, expected a string", b(), path=["decoder"], value={"type": "BPEDecoder"})
    bad("decoder_ctc", 'decoder.delimiter: unknown field', b(), path=["decoder"],
        value={"type": "CTC", "pad_token": "", "delimiter": "|", "cleanup": True})
    bad("strip_end", "decoder.stop: expected an integer from 0 to 2147483647, got -1", b(), path=["decoder"],
        value={"type": "Strip", "content": " ", "start": 0, "stop": -1})
    bad("processor_unknown", 'post_processor.processors[0].type: "Pad" is not supported', b(), path=["post_processor"],
        value={"type": "Sequence", "processors": [{"type": "Pad"}]})
    bad("bert_sep", "post_processor.sep: expected a token and its id", b(), path=["post_processor"],
        value={"type": "BertProcessing", "sep": "</s>", "cls": ["<s>", 0]})
    bad("bert_id", "post_processor: no token has the id 400, which belongs to a special token here", b(), path=["post_processor"],
        value={"type": "BertProcessing", "sep": ["</s>", 400], "cls": ["<s>", 0]})
    bad("template_token", 'post_processor.single[0].SpecialToken.id: "<x>" is not among special_tokens', sentence_tokenizer(),
        path=["post_processor", "single", 0, "SpecialToken", "id"], value="<x>")
    bad("template_id", "post_processor: no token has the id 4000, which belongs to a special token here", sentence_tokenizer(),
        path=["post_processor", "special_tokens", "<s>", "ids"], value=[4000])
    bad("template_sequence", 'post_processor.single[1].Sequence.id: "B" is not a sequence of this template', sentence_tokenizer(),
        path=["post_processor", "single", 1, "Sequence", "id"], value="B")
    bad("template_without_text", "post_processor.single: the text has no place in the template", sentence_tokenizer(),
        path=["post_processor", "single"], value=[])


def make_bad_tokens():
    b = tiny_tokenizer
    bad("model_missing", "model: missing", b(), path=["model"], drop=True)
    bad("model_is_text", "model: expected an object", b(), path=["model"], value="BPE")
    bad("model_unknown", 'model.type: "Trigram" is not supported', b(), path=["model", "type"], value="Trigram")
    bad("model_type_missing", "model.type: missing, expected a string", b(), path=["model"], value={})
    bad("model_field", 'model.rank: unknown field', b(), path=["model", "rank"], value=1)
    bad("dropout", "model.dropout: expected null or 0, got 0.1: leaving merges out at random is not supported", b(), path=["model", "dropout"], value=0.1)
    bad("dropout_type", "model.dropout: expected a number, got a string", b(), path=["model", "dropout"], value="0")
    bad("suffix", "model.end_of_word_suffix: expected a string, got an integer", b(), path=["model", "end_of_word_suffix"], value=1)
    bad("flag_type", "model.fuse_unk: expected true or false, got an integer", b(), path=["model", "fuse_unk"], value=1)
    bad("vocab_missing", "model.vocab: expected an object that gives each token its id", b(), path=["model", "vocab"], drop=True)
    bad("vocab_is_list", "model.vocab: expected an object that gives each token its id", b(), path=["model", "vocab"], value=["a"])
    bad("id_is_text", 'model.vocab: the id of "new" is not an integer', b(), path=["model", "vocab", "new"], value="5")
    bad("id_is_real", 'model.vocab: the id of "new" is not an integer', b(), path=["model", "vocab", "new"], value=5.5)
    bad("id_negative", 'model.vocab: the id -1 of "new" is not between 0 and 2147483647', b(), path=["model", "vocab", "new"], value=-1)
    bad("id_large", 'model.vocab: the id 2147483648 of "new" is not between 0 and 2147483647', b(), path=["model", "vocab", "new"], value=1 << 31)
    bad("id_huge", 'model.vocab: the id 9223372036854775807 of "new" is not between 0 and 2147483647', b(), path=["model", "vocab", "new"],
        value=1 << 200)
    bad("id_twice", 'model.vocab: "!" and "new" have the same id 2', b(), path=["model", "vocab", "new"], value=2)
    bad("merges_missing", "model.merges: expected an array", b(), path=["model", "merges"], drop=True)
    bad("merge_unknown_left", 'model.merges[1]: "zz" is not in the vocabulary', b(), path=["model", "merges", 1], value=["zz", "a"])
    bad("merge_unknown_right", 'model.merges[0]: "zz" is not in the vocabulary', b(), path=["model", "merges", 0], value="a zz")
    bad("merge_unknown_result", 'model.merges[2]: "ah" is not in the vocabulary', b(), path=["model", "merges", 2], value=["a", "h"])
    for name, value in (("merge_three", "a a a"), ("merge_one", "aa"), ("merge_short", ["a"]), ("merge_long", ["a", "a", "a"]), ("merge_number", 1)):
        bad(name, 'model.merges[0]: expected two tokens, ["a", "b"] or "a b"', b(), path=["model", "merges", 0], value=value)
    form = "model.merges[1]: expected %s, like the merges before it: a file may have only one of the two forms"
    bad("merge_text_after_array", form % '["a", "b"]', b(), path=["model", "merges", 1], value="\u0120 t")
    document = b()
    document["model"]["merges"][0] = "h e"
    bad("merge_array_after_text", form % '"a b"', document, path=["model", "merges", 1], value=["\u0120", "t"])
    bad("wordpiece_unk", "model.unk_token: missing, expected a string", word_tokenizer(), path=["model", "unk_token"], drop=True)
    bad("wordpiece_token", "model.vocab: the token with the id 37 has 4097 bytes, at most 4096 are supported", word_tokenizer(),
        path=["model", "vocab", "x" * 4097], value=37)
    u = unigram_tokenizer
    bad("unigram_vocab", "model.vocab: expected an array of tokens and their scores", u(), path=["model", "vocab"], value={"a": 0})
    for name, value in (("number", ["a", "-1.0"]), ("short", ["a"]), ("long", ["a", 1, 2]), ("token", [1, 1]), ("text", "a")):
        bad("unigram_piece_" + name, 'model.vocab[1]: expected a token and its score, ["a", -1.5]', u(), path=["model", "vocab", 1], value=value)
    bad("unigram_unk", "model.unk_id: the id is 32, but the vocabulary has 32 tokens", u(), path=["model", "unk_id"], value=32)
    bad("unigram_field", 'model.unk_token: unknown field', u(), path=["model", "unk_token"], value="<unk>")
    bad("unigram_token", "model.vocab: the token with the id 5 has 4097 bytes, at most 4096 are supported", u(), path=["model", "vocab", 5],
        value=["x" * 4097, 0])
    bad("added_not_list", "added_tokens: expected an array, got an object", b(), path=["added_tokens"], value={})
    bad("added_field", 'added_tokens[0].word: unknown field', b(), path=["added_tokens", 0, "word"], value=1)
    bad("added_no_content", "added_tokens[0].content: missing, expected a string", b(), path=["added_tokens", 0, "content"], drop=True)
    bad("added_id_negative", "added_tokens[0].id: expected an integer from 0 to 2147483647, got -2", b(), path=["added_tokens", 0, "id"], value=-2)
    bad("added_id_taken", 'added_tokens[0]: "!" and "<new>" have the same id 2', b(), path=["added_tokens", 0], value=added(2, "<new>"))
    bad("added_other_id", 'added_tokens[0]: "<s>" has the id 900 here and 0 in model.vocab', b(), path=["added_tokens", 0, "id"], value=900)
    bad("added_twice", 'added_tokens[1]: "<s>" appears twice', b(), path=["added_tokens", 1], value=added(0, "<s>"))
    bad("added_control", 'added_tokens[0]: "!" and "?[2J" have the same id 2', b(), path=["added_tokens", 0], value=added(2, "\x1b[2J"))
    bad("added_long", "added_tokens[0]: the content has 1025 bytes, at most 1024 are supported", b(), path=["added_tokens", 0, "content"],
        value="x" * 1025)


def make_bad_bytes():
    text = dump(tiny_tokenizer()).encode()
    vocab = text.index(b'"vocab":{') + len(b'"vocab":{')
    bad("empty", "not valid JSON, line 1 column 0: unexpected token near end of file", raw=b"")
    bad("not_utf8", "not UTF-8 at byte 14", raw=b'{"version": "1\xff"}')
    bad("list", "expected an object, got an array", raw=b"[]")
    bad("vocab_token_twice", 'model.vocab: "</s>" appears twice', raw=text[:vocab] + b'"</s>": 800, ' + text[vocab:])
    bad("vocab_number_key", "model.vocab: expected a token, 1 bytes in", raw=text[:vocab] + b"5: 800, " + text[vocab:])
    bad("vocab_bad_escape", "model.vocab: expected a token, 3 bytes in", raw=text[:vocab] + b'"a\\q": 800, ' + text[vocab:])
    bad("vocab_lone_surrogate", "model.vocab: expected a token, 8 bytes in", raw=text[:vocab] + b'"\\ud800": 800, ' + text[vocab:])
    bad("vocab_comma", "model.vocab: expected a comma or the end, 11 bytes in", raw=text[:vocab] + b'"ab": 800 "ac": 801, ' + text[vocab:])


def write(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def answers(function, questions):
    """What the function makes of each, without those on which the reference panics."""
    for question in questions:
        try:
            yield function(question)
        except BaseException as panic:
            if type(panic).__name__ != "PanicException":
                raise


def golden(tokenizer, texts, pairs_of, n_random=0):
    def answer(text):
        ids = tokenizer.encode(text).ids
        return {"text": text, "ids": ids, "ids_no_special": tokenizer.encode(text, add_special_tokens=False).ids,
                "decoded": tokenizer.decode(ids, skip_special_tokens=False), "decoded_skip_special": tokenizer.decode(ids)}
    pairs = []
    for first, second in pairs_of:
        both = tokenizer.encode(first, second)
        pairs.append({"first": first, "second": second, "ids": both.ids, "type_ids": both.type_ids})
    # Ids that no text gives: characters cut short, special tokens in the middle, ids without a token.
    cut = [tokenizer.encode("\u6728\u5320\u00e9", add_special_tokens=False).ids[n:] for n in range(1, 4)]
    dice = random.Random(1)
    drawn = [[dice.randrange(tokenizer.get_vocab_size()) for _ in range(dice.randrange(1, 9))] for _ in range(n_random)]
    odd = drawn + cut + [[1, 20, 2, 21], [200, 30, 31], [90000, 5], [i for i in range(0, 300, 7)], []]

    def decoded(ids):
        return {"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)}
    return {"strings": list(answers(answer, texts)), "pairs": pairs, "decode_only": list(answers(decoded, odd))}


def main():
    make_variants()
    make_bad_parts()
    make_bad_tokens()
    make_bad_bytes()
    for folder in ("variants", "bad"):
        shutil.rmtree(os.path.join(HERE, folder), ignore_errors=True)
    for name, document in VARIANTS.items():
        text = dump(document)
        folder = os.path.join(HERE, "variants", name)
        write(folder, "tokenizer.json", text.encode())
        tokenizer = Tokenizer.from_str(text)
        if name.startswith("texts_"):
            right = golden(tokenizer, TEXTS, list(zip(TEXTS[:6], TEXTS[6:12])))
        else:
            right = golden(tokenizer, STRINGS, PAIRS, 60 if name.startswith("decode_") else 0)
        write(folder, "tokenizer_golden.json", dump(right).encode())
    for name, (raw, error) in BAD.items():
        write(os.path.join(HERE, "bad", name), "tokenizer.json", raw)
        write(os.path.join(HERE, "bad", name), "error.txt", error.encode())


if __name__ == "__main__":
    main()
