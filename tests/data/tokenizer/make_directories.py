"""Makes directories/NAME: a tokenizer's files as model directories have them, and tokenizer_golden.json beside them, which
holds what transformers' AutoTokenizer answers.

    pip install transformers==5.23.0 sentencepiece && python make_directories.py [NAME...]
"""
import json
import logging
import os
import shutil
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
from transformers import AutoTokenizer

import make_cases
from make_cases import added, bytes_tokenizer, dump, template, with_added, word_tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTORIES = {}


def directory(name, strings=None, pairs=(), **files):
    """Files by name, with __ for the dot; dictionaries become JSON, strings and bytes stand as they are."""
    DIRECTORIES[name] = ({key.replace("__", "."): value for key, value in files.items()}, strings, pairs)


def marked(content, **rule):
    return {"__type": "AddedToken", "content": content, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False, **rule}


def plain(content, **rule):
    token = marked(content, **rule)
    del token["__type"]
    return token


ADDED_STRINGS = ["", "the hat", "a <e> the  [M]  hat[M]", "<s>the</s> </s>", "[N] xx[N]x aaXX -XX xXXx", "the<e><e>  <b>a-<c>", "a [T] - [T]hat[U]", "[V]  [V]",
                 "<|im_end|>the hat", "it's . do n't 've ! ' ,", "The [M]. [T]?", "\u00e9\u00e9 caf\u00e9 \u6728[W]\u6728"]


def make_added():
    fast = {"tokenizer_class": "PreTrainedTokenizerFast"}
    small = lambda: bytes_tokenizer(list("!',-.?aehntsx\u0120\u00c3\u00a9\u00e6\u013e\u00a8"), 7)
    # Ids leave gaps, so that tokens get others; one token is in the vocabulary.
    directory("added_decoder", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={**fast, "added_tokens_decoder": {
        "900": plain("<|im_end|>", special=True), "30": plain("[M]", lstrip=True, rstrip=True), "31": plain("<e>", special=True), "3": plain("hat")}})
    # Rules replace those of tokenizer.json, whose normalizer changes what is normalized.
    directory("added_rules", ADDED_STRINGS, tokenizer__json={**with_added(small(), ("[M]", {"special": True}), ("XX", {"normalized": True}), (
        "[N]", {"normalized": True, "lstrip": True}), ("[T]", {"single_word": True})), "normalizer": {"type": "Lowercase"}},
        tokenizer_config__json={**fast, "eos_token": "[T]", "added_tokens_decoder": {
            "21": plain("[M]", lstrip=True), "22": plain("XX", single_word=True), "23": plain("[N]", normalized=True, rstrip=True, special=True), "24": plain("[T]")}})
    directory("added_named", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={
        **fast, "mask_token": "[M]", "image_token": "[T]", "eos_token": "<e>", "bos_token": "<b>", "unk_token": None, "cls_token": marked("<c>", lstrip=True),
        "audio_token": marked("[V]", rstrip=True, special=False), "pad_token": "<e>", "add_bos_token": True, "model_specific_special_tokens": {"x_token": "lost"}})
    directory("added_lists", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={
        **fast, "eos_token": "</s>", "additional_special_tokens": ["[M]", marked("[T]", rstrip=True), marked("[U]", special=True, normalized=True), "hat"]})
    directory("added_both_lists", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={
        **fast, "additional_special_tokens": ["[M]", "[V]"], "extra_special_tokens": ["[T]", marked("[U]", lstrip=True)]})
    directory("added_names", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={
        **fast, "additional_special_tokens": ["[V]"], "extra_special_tokens": {"boi_token": "[T]", "other": "[U]"}})
    directory("added_older_files", ADDED_STRINGS, tokenizer__json=with_added(small(), ("[V]", {"lstrip": True}), ("[U]", {})), tokenizer_config__json={
        **fast, "eos_token": "<e>", "bos_token": "<b>", "pad_token": "[U]", "extra_special_tokens": ["[N]"]},
        special_tokens_map__json={"eos_token": plain("[T]", rstrip=True), "mask_token": "[M]", "extra_special_tokens": ["<c>", "[M]"], "additional_special_tokens": ["[W]"]},
        added_tokens__json={"[M]": 24, "[V]": 23, "[N]": 25, "XX": 26, "[W]": 40})
    directory("added_split_special", ADDED_STRINGS, tokenizer__json=with_added(small(), ("[T]", {}), ("[T][U]", {"special": True})), tokenizer_config__json={
        **fast, "eos_token": "<e>", "split_special_tokens": True})
    directory("clean_up_words", ADDED_STRINGS, tokenizer__json=word_tokenizer(), tokenizer_config__json={**fast, "clean_up_tokenization_spaces": True})
    directory("clean_up_bytes", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={**fast, "clean_up_tokenization_spaces": True})
    directory("clean_up_bytes_too", ADDED_STRINGS, tokenizer__json=small(), tokenizer_config__json={
        **fast, "clean_up_tokenization_spaces": True, "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": True})


def golden(tokenizer, strings, pairs):
    def answer(text):
        ids = tokenizer(text)["input_ids"]
        return {"text": text, "ids": ids, "ids_no_special": tokenizer(text, add_special_tokens=False)["input_ids"],
                "decoded": tokenizer.decode(ids), "decoded_skip_special": tokenizer.decode(ids, skip_special_tokens=True)}
    answers = []
    for first, second in pairs:
        both = tokenizer(first, second, return_token_type_ids=True)
        answers.append({"first": first, "second": second, "ids": both["input_ids"], "type_ids": both["token_type_ids"]})
    return {"strings": [answer(text) for text in strings], "pairs": answers}


def main():
    make_added()
    for name, (files, strings, pairs) in DIRECTORIES.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        folder = os.path.join(HERE, "directories", name)
        shutil.rmtree(folder, ignore_errors=True)
        for file, content in files.items():
            content = dump(content) if isinstance(content, dict) else content
            make_cases.write(folder, file, content.encode() if isinstance(content, str) else content)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        make_cases.write(folder, "tokenizer_golden.json", dump(golden(tokenizer, strings, pairs)).encode())


if __name__ == "__main__":
    main()
