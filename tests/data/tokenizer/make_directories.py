"""Makes directories/NAME: a tokenizer's files as model directories have them, and tokenizer_golden.json beside them, which
holds what transformers' AutoTokenizer answers.

    pip install transformers==5.23.0 sentencepiece && python make_directories.py [NAME...]

The trainers of tokenizers choose among equals at random: what is made anew may be another vocabulary.
"""
import io
import json
import os
import shutil
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
import sentencepiece
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
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


TEXT = """The joiner planes a board of oak. The apprentice sweeps the workshop, and the master's hands are old.
Der Tischler \u00f6ffnet die T\u00fcr; gr\u00f6\u00dfere Ma\u00dfe. L'artisan r\u00e9pare la chaise ab\u00eem\u00e9e.
\u0421\u0442\u043e\u043b\u044f\u0440 \u043e\u0442\u043a\u0440\u044b\u0432\u0430\u0435\u0442 \u0434\u0432\u0435\u0440\u044c. \u6728\u5320\u6253\u5f00\u95e8\u3002 \ubaa9\uc218\uac00 \ubb38\uc744 \uc5f0\ub2e4.
\u0928\u0915\u094d\u0915\u093e\u0936\u0940. \u0e0a\u0e48\u0e32\u0e07\u0e44\u0e21\u0e49. \u0627\u0644\u0639\u0627\u0645\u0644 \u064a\u0641\u062a\u062d \u0627\u0644\u0628\u0627\u0628. \u05d4\u05e0\u05d2\u05e8. \u0391\u03bd\u03bf\u03af\u03b3\u03b5\u03b9. 12 345 boards, 67.8 % done!
the the the hat hat that what where there then these those them they thin thick this planes plane boards board"""
LINES = [" ".join(TEXT.split()[i:i + n]) for n in (1, 3, 7) for i in range(len(TEXT.split()))]
VOCABULARY_STRINGS = [
    "", " the  hat ", "The joiner planes a board of oak.", "gr\u00f6\u00dfere Ma\u00dfe, T\u00dcR", "\u0421\u0442\u043e\u043b\u044f\u0440 \u6728\u5320\u6253\u5f00 \ubaa9\uc218",
    "\u0928\u0915\u094d\u0915\u093e\u0936\u0940 \u0e0a\u0e48\u0e32\u0e07 \u0627\u0644\u0628\u0627\u0628 \u05d4\u05e0\u05d2\u05e8 \u0391\u03bd", "12 345,67", "a\tb\n\n c\r\n", "<s>the</s> <unk> <mask>x",
    "<|x|>the [INST] <ctl>hat [MASK]", "\U0001f642\u200d\U0001f469 \ufb01 \u2460 \uff21", "\u2581the\u2581 hat", "[CLS] a [SEP]<pad>", "``quote'' x  y.",
    "<extra_id_1><madeupword3> hi<|endoftext|><|im_start|><end_of_turn>", "it's don't . n't", "x" * 30]
VOCABULARY_PAIRS = [("the hat", "a board"), ("", "x"), ("<s> a", "[SEP] b")]
# What a normalizer of SentencePiece may do, in a map of a few bytes: it is 240 KB where the trainer makes it.
RULES = "FB01\t66 69\n2460\t31\nFF21\t41\n9\t20\nA\t20\nD\t20\n3000\t20\nDC\tFC\n"


def pieces(kind, size, **settings):
    model, rules = io.BytesIO(), os.path.join(HERE, "rules.tsv")
    make_cases.write(HERE, "rules.tsv", RULES.encode())
    if not settings.pop("identity", False):
        settings["normalization_rule_tsv"] = rules
    else:
        settings["normalization_rule_name"] = "identity"
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LINES), model_writer=model, model_type=kind, vocab_size=size, minloglevel=2,
                                             hard_vocab_limit=False, num_threads=1, **settings)
    os.unlink(rules)
    return model.getvalue()


def trained(model, trainer, **parts):
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(LINES, trainer)
    return json.loads(tokenizer.to_str())["model"]


def bytes_vocabulary(*specials, **suffix):
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    model = trained(models.BPE(**suffix), trainers.BpeTrainer(vocab_size=350, special_tokens=list(specials), initial_alphabet=alphabet,
                                                              show_progress=False, **suffix),
                    pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))
    return {"vocab__json": model["vocab"], "merges__txt": "#version: 0.2\n" + "".join(" ".join(m) + "\n" for m in model["merges"])}


def words_vocabulary(*specials):
    model = trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=220, special_tokens=list(specials), show_progress=False),
                    normalizer=normalizers.BertNormalizer(), pre_tokenizer=pre_tokenizers.BertPreTokenizer())
    return {"vocab__txt": "".join(token + "\n" for token in sorted(model["vocab"], key=model["vocab"].get))}


def vocabulary(name, files, config=None, model_type=None):
    files = dict(files)
    if config is not None:
        files["tokenizer_config__json"] = config
    if model_type is not None:
        files["config__json"] = {"model_type": model_type}
    directory(name, VOCABULARY_STRINGS, VOCABULARY_PAIRS, **files)


def make_pieces():
    bpe = {"tokenizer__model": pieces("bpe", 420, byte_fallback=True, identity=True, remove_extra_whitespaces=False, split_digits=True,
                                      user_defined_symbols=["<|x|>", "[INST]"], control_symbols=["<ctl>"])}
    plain_bpe = pieces("bpe", 180)
    unigram = pieces("unigram", 180)
    unigram_bytes = {"tokenizer__model": pieces("unigram", 400, byte_fallback=True, user_defined_symbols=["<|x|>"], control_symbols=["<ctl>"])}
    bert_like = pieces("unigram", 180, pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]"], user_defined_symbols=["[MASK]", '"', "-"])
    gemma = {"tokenizer__model": pieces(
        "bpe", 430, byte_fallback=True, identity=True, pad_id=0, eos_id=1, bos_id=2, unk_id=3, pad_piece="<pad>", eos_piece="<eos>", bos_piece="<bos>",
        user_defined_symbols=["<mask>", "<start_of_turn>", "<end_of_turn>", "\n", "\n\n", "\u2581\u2581"], remove_extra_whitespaces=False, add_dummy_prefix=False,
        allow_whitespace_only_pieces=True)}
    t5 = {"spiece__model": pieces("unigram", 180, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)}
    llama = {"tokenizer_class": "LlamaTokenizer"}
    vocabulary("llama_around", bpe, {**llama, "add_bos_token": True, "add_eos_token": True, "pad_token": "<pad>", "legacy": True}, "llama")
    vocabulary("llama_no_prefix", bpe, {**llama, "add_prefix_space": False, "additional_special_tokens": ["<|x|>", "<new>"], "added_tokens_decoder": {
        "0": plain("<unk>", special=True), "1": plain("<s>", special=True, lstrip=True), "600": plain("<|im_end|>", special=True)}}, "llama")
    vocabulary("mistral", bpe, {**llama, "add_bos_token": True}, "mistral")
    vocabulary("backend_renamed", bpe, {"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {
        "4": plain("<renamed>", special=True)}}, "granite")
    vocabulary("backend_unigram", unigram_bytes, {"tokenizer_class": "PreTrainedTokenizerFast", "extra_special_tokens": ["<q>"]}, "granite")
    vocabulary("backend_unk", {"tokenizer__model": bert_like}, {"tokenizer_class": "PreTrainedTokenizerFast"}, "granite")
    vocabulary("code_llama", bpe, {"tokenizer_class": "CodeLlamaTokenizer"}, "llama")
    vocabulary("gemma", gemma, {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True}, "gemma2")
    vocabulary("t5", t5, {"tokenizer_class": "T5Tokenizer", "extra_ids": 7}, "t5")
    vocabulary("t5_listed", t5, {"additional_special_tokens": ["<extra_id_%d>" % i for i in range(100)]}, "t5")
    vocabulary("xlm_roberta", {"sentencepiece__bpe__model": unigram}, None, "xlm-roberta")
    vocabulary("albert", {"spiece__model": bert_like}, {"tokenizer_class": "AlbertTokenizer"}, "albert")
    vocabulary("albert_cased", {"spiece__model": bert_like}, {"do_lower_case": False, "keep_accents": True}, "albert")
    vocabulary("camembert", {"sentencepiece__bpe__model": unigram}, {"tokenizer_class": "CamembertTokenizer"}, "camembert")
    vocabulary("barthez", {"sentencepiece__bpe__model": unigram}, {"tokenizer_class": "BarthezTokenizer"})
    vocabulary("xlnet", {"spiece__model": unigram}, None, "xlnet")
    vocabulary("big_bird", {"spiece__model": unigram}, None, "big_bird")
    vocabulary("rembert", {"sentencepiece__model": bert_like}, {"do_lower_case": True}, "rembert")
    vocabulary("deberta_v2", {"spm__model": unigram}, {"split_by_punct": True, "do_lower_case": True}, "deberta-v2")
    vocabulary("xglm", {"tokenizer__model": unigram}, None, "xglm")
    vocabulary("reformer", {"spiece__model": plain_bpe}, None, "reformer")


def make_vocabularies():
    end = "<|endoftext|>"
    gpt2, roberta = bytes_vocabulary(end, "<|im_start|>", "<|im_end|>"), bytes_vocabulary("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    bert = words_vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    vocabulary("gpt2", gpt2, {"add_prefix_space": True, "add_bos_token": True}, "gpt2")
    vocabulary("gpt_neox", gpt2, {"tokenizer_class": "GPTNeoXTokenizer", "add_eos_token": True})
    vocabulary("qwen2", gpt2, {"tokenizer_class": "Qwen2TokenizerFast", "eos_token": "<|im_end|>", "additional_special_tokens": ["<|im_start|>"], "added_tokens_decoder": {
        "0": plain(end, special=True), "1": plain("<|im_start|>", special=True, lstrip=True), "2": plain("<|im_end|>")}}, "qwen2")
    vocabulary("roberta", {**roberta, "special_tokens_map__json": {"mask_token": plain("<mask>", lstrip=True), "additional_special_tokens": ["[INST]"]},
                           "added_tokens__json": {"[MASK]": 700, "<mask>": 4}}, {"add_prefix_space": True}, "roberta")
    vocabulary("deberta", roberta, None, "deberta")
    vocabulary("blenderbot", roberta, None, "blenderbot")
    vocabulary("cohere", gpt2, {"add_bos_token": True}, "cohere")
    vocabulary("clip", bytes_vocabulary("<|startoftext|>", end, end_of_word_suffix="</w>"), None, "clip")
    vocabulary("bert", bert, {"clean_up_tokenization_spaces": True}, "bert")
    vocabulary("bert_cased", {"vocab__txt": bert["vocab__txt"] + "the\nhat \n\n\u00a0\n"}, {
        "tokenizer_class": "DistilBertTokenizer", "do_lower_case": False, "tokenize_chinese_chars": False, "strip_accents": True})
    vocabulary("mpnet", words_vocabulary("<s>", "<pad>", "</s>", "[UNK]", "<mask>"), None, "mpnet")
    vocabulary("funnel", words_vocabulary("<unk>", "<sep>", "<pad>", "<cls>", "<mask>", "<s>", "</s>", "[UNK]"), None, "funnel")


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
    make_pieces()
    make_vocabularies()
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
