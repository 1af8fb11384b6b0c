"""Makes the small tokenizers of this folder.

variants/NAME/tokenizer.json has one setting or part each, and tokenizer_golden.json beside it what the reference
(tokenizers 0.23.3) answers. bad/NAME/tokenizer.json has one fault each, and error.txt beside it what Graft says.

    pip install tokenizers==0.23.3 && python make_cases.py
"""
import json
import os
import shutil

from tokenizers import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))

STRINGS = [
    "", " ", "  ", "a", "the hat", "The Hat", " the  hat ", "the hat's heel", "a-b-c", "--", "-a b-", "a\tb\n\n c", "he 12 345",
    "caf\u00e9 cafe\u0301", "\u212b \ufb01 \u2460", "\u6728\u5320", "\u0130\u00df", "\ud55c \u1112\u1161\u11ab", "\U0001f642", "<s>the</s>",
    "x<s> a <s>", "the[M]hat [M] the", "\u2581the\u2581", "\u3000wide\u00a0space\u2028", "it's don't", "word.Word!word ?", "\x00\x01\x7f\ufffd",
    "aa aaa aaaa aaaaa", "a\u0301\u0323\u0300", "12\u00bd\u00b2_x", "thehat", "hathe [M][M]", "\t\t-\t",
]
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
    bad("unknown_field", 'the field "tokens" is not known', b(), path=["tokens"], value=1)
    bad("version", 'version: "2.0" is not supported, only "1.0"', b(), path=["version"], value="2.0")
    bad("pretokenizer_unknown", 'pre_tokenizer.pretokenizers[1].type: "Whitespaces" is not supported', b(), path=["pre_tokenizer"], value=unknown)
    bad("pretokenizer_type_missing", "pre_tokenizer.type: missing, expected a string", b(), path=["pre_tokenizer"], value={"use_regex": True})
    bad("pretokenizer_is_list", "pre_tokenizer.type: missing, expected a string", b(), path=["pre_tokenizer"], value=[])
    bad("pretokenizer_field", 'pre_tokenizer: the field "regex" is not known', b(), path=["pre_tokenizer", "regex"], value=1)
    bad("behavior", 'pre_tokenizer.pretokenizers[0].behavior: "Merged" is not supported', b(), path=["pre_tokenizer"],
        value=split({"String": " "}, "Merged"))
    bad("pattern_empty", "pre_tokenizer.pretokenizers[0].pattern: the string has 0 bytes, expected 1 to 1024", b(), path=["pre_tokenizer"],
        value=split({"String": ""}, "Removed"))
    bad("pattern_kind", 'pre_tokenizer.pretokenizers[0].pattern: expected either "String" or "Regex"', b(), path=["pre_tokenizer"],
        value=split({}, "Removed"))
    bad("pattern_dialect", "pre_tokenizer.pretokenizers[0].pattern: an intersection of classes, at byte 4 of the expression, is not supported",
        b(), path=["pre_tokenizer"], value=split({"Regex": "[a-z&&[^b]]"}, "Removed"))
    bad("normalizer_unknown", 'normalizer.normalizers[0].type: "Precompiled" is not supported', b(), path=["normalizer"],
        value={"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": "AA=="}]})
    bad("normalizer_nested", ".".join(["normalizer"] + ["normalizers[0]"] * 8) + ": sequences nested deeper than 8", b(), path=["normalizer"],
        value=nested)
    bad("decoder_unknown", 'decoder.type: "CTC" is not supported', b(), path=["decoder"], value={"type": "CTC"})
    bad("decoder_behind_fuse", 'decoder.decoders[1].type: "ByteFallback" behind a decoder that fuses is not supported', b(), path=["decoder"],
        value={"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]})
    bad("strip_end", "decoder.stop: only 0 is supported", b(), path=["decoder"], value={"type": "Strip", "content": " ", "start": 0, "stop": 1})
    bad("processor_unknown", 'post_processor.processors[0].type: "Pad" is not supported', b(), path=["post_processor"],
        value={"type": "Sequence", "processors": [{"type": "Pad"}]})
    bad("template_token", 'post_processor.single[0].SpecialToken.id: "<x>" is not among special_tokens', sentence_tokenizer(),
        path=["post_processor", "single", 0, "SpecialToken", "id"], value="<x>")
    bad("template_id", "post_processor: the special token's id 4000 is no token", sentence_tokenizer(),
        path=["post_processor", "special_tokens", "<s>", "ids"], value=[4000])
    bad("template_sequence", 'post_processor.single[1].Sequence.id: "B" is no sequence of this template', sentence_tokenizer(),
        path=["post_processor", "single", 1, "Sequence", "id"], value="B")
    bad("template_without_text", "post_processor.single: the text has no place in the template", sentence_tokenizer(),
        path=["post_processor", "single"], value=[])


def make_bad_tokens():
    b = tiny_tokenizer
    bad("model_missing", "model: missing", b(), path=["model"], drop=True)
    bad("model_is_text", "model: expected an object", b(), path=["model"], value="BPE")
    bad("model_unknown", 'model.type: "Unigram" is not supported', b(), path=["model", "type"], value="Unigram")
    bad("model_field", 'model: the field "rank" is not known', b(), path=["model", "rank"], value=1)
    bad("dropout", "model.dropout: only null is supported", b(), path=["model", "dropout"], value=0.1)
    bad("suffix", 'model.end_of_word_suffix: "</w>" is not supported, only null or ""', b(), path=["model", "end_of_word_suffix"], value="</w>")
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
    bad("wordpiece_unk", 'model.unk_token: "[X]" is not in the vocabulary', word_tokenizer(), path=["model", "unk_token"], value="[X]")
    bad("wordpiece_longest", "model.max_input_chars_per_word: 1001 is not between 0 and 1000", word_tokenizer(),
        path=["model", "max_input_chars_per_word"], value=1001)
    bad("added_not_list", "added_tokens: expected an array, got an object", b(), path=["added_tokens"], value={})
    bad("added_field", 'added_tokens[0]: the field "word" is not known', b(), path=["added_tokens", 0, "word"], value=1)
    bad("added_no_content", "added_tokens[0].content: missing, expected a string", b(), path=["added_tokens", 0, "content"], drop=True)
    bad("added_id_negative", "added_tokens[0].id: -2 is not between 0 and 2147483647", b(), path=["added_tokens", 0, "id"], value=-2)
    bad("added_id_taken", 'added_tokens[0]: "!" and "<new>" have the same id 2', b(), path=["added_tokens", 0], value=added(2, "<new>"))
    bad("added_other_id", 'added_tokens[0]: "<s>" has the id 900 here and 0 in model.vocab', b(), path=["added_tokens", 0, "id"], value=900)
    bad("added_twice", 'added_tokens[1]: "<s>" is there twice', b(), path=["added_tokens", 1], value=added(0, "<s>"))
    bad("added_control", 'added_tokens[0]: "!" and "?[2J" have the same id 2', b(), path=["added_tokens", 0], value=added(2, "\x1b[2J"))
    bad("added_long", "added_tokens[0]: the content has 1025 bytes, at most 1024 are supported", b(), path=["added_tokens", 0, "content"],
        value="x" * 1025)


def make_bad_bytes():
    text = dump(tiny_tokenizer()).encode()
    vocab = text.index(b'"vocab":{') + len(b'"vocab":{')
    bad("empty", "not valid JSON, line 1 column 0: unexpected token near end of file", raw=b"")
    bad("not_utf8", "not UTF-8 at byte 14", raw=b'{"version": "1\xff"}')
    bad("list", "expected an object, got an array", raw=b"[]")
    bad("vocab_token_twice", 'model.vocab: "</s>" is there twice', raw=text[:vocab] + b'"</s>": 800, ' + text[vocab:])
    bad("vocab_number_key", "model.vocab: expected a token, 1 bytes in", raw=text[:vocab] + b"5: 800, " + text[vocab:])
    bad("vocab_bad_escape", "model.vocab: expected a token, 3 bytes in", raw=text[:vocab] + b'"a\\q": 800, ' + text[vocab:])
    bad("vocab_lone_surrogate", "model.vocab: expected a token, 8 bytes in", raw=text[:vocab] + b'"\\ud800": 800, ' + text[vocab:])
    bad("vocab_comma", "model.vocab: expected a comma or an end, 11 bytes in", raw=text[:vocab] + b'"ab": 800 "ac": 801, ' + text[vocab:])


def write(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def golden(tokenizer):
    def answer(text):
        ids = tokenizer.encode(text).ids
        return {"text": text, "ids": ids, "ids_no_special": tokenizer.encode(text, add_special_tokens=False).ids,
                "decoded": tokenizer.decode(ids, skip_special_tokens=False), "decoded_skip_special": tokenizer.decode(ids)}
    pairs = []
    for first, second in PAIRS:
        both = tokenizer.encode(first, second)
        pairs.append({"first": first, "second": second, "ids": both.ids, "type_ids": both.type_ids})
    # Ids that no text gives: characters cut short, special tokens in the middle, ids without a token.
    cut = [tokenizer.encode("\u6728\u5320\u00e9", add_special_tokens=False).ids[n:] for n in range(1, 4)]
    odd = cut + [[1, 20, 2, 21], [200, 30, 31], [90000, 5], [i for i in range(0, 300, 7)], []]
    return {"strings": [answer(text) for text in STRINGS], "pairs": pairs,
            "decode_only": [{"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)} for ids in odd]}


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
        write(folder, "tokenizer_golden.json", dump(golden(Tokenizer.from_str(text))).encode())
    for name, (raw, error) in BAD.items():
        write(os.path.join(HERE, "bad", name), "tokenizer.json", raw)
        write(os.path.join(HERE, "bad", name), "error.txt", error.encode())


if __name__ == "__main__":
    main()
