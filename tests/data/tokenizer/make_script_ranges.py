"""Writes host/tokenizer/script_ranges.c: which characters are of one script, as the reference's UnicodeScripts answers.

    pip install tokenizers==0.23.3 && python make_script_ranges.py && clang-format -i ../../../host/tokenizer/script_ranges.c
"""
import os

from tokenizers import pre_tokenizers

scripts = pre_tokenizers.UnicodeScripts()


def pieces(text):
    return scripts.pre_tokenize_str(text)


def runs():
    """Neighbours, among the characters that have a script, that are not cut apart."""
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    with_script = [c for c in characters if pieces(c)]
    return [text for text, _ in pieces("".join(with_script))]


def ranges():
    """Each as its first and last character and a number for the script, from 1 on in order of appearance."""
    examples = []
    for run in runs():
        number = next((i for i, example in enumerate(examples) if len(pieces(example + run[0])) == 1), len(examples))
        if number == len(examples):
            examples.append(run[0])
        start = 0
        for i in range(1, len(run) + 1):
            if i == len(run) or ord(run[i]) != ord(run[i - 1]) + 1:
                yield ord(run[start]), ord(run[i - 1]), number + 1
                start = i


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../host/tokenizer/script_ranges.c")
    rows = list(ranges())
    with open(path, "w") as file:
        file.write("/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by tests/data/tokenizer/make_script_ranges.py. */\n")
        file.write('#include "tokenizer/script_ranges.h"\n\n')
        file.write("const struct graft_script_range graft_script_ranges[] = {\n")
        file.write("".join("{0x%04X, 0x%04X, %d}, " % row for row in rows))
        file.write("\n};\n\nconst size_t graft_n_script_ranges = sizeof graft_script_ranges / sizeof graft_script_ranges[0];\n")


if __name__ == "__main__":
    main()
