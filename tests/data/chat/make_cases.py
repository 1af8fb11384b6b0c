#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.json and expressions.json: what transformers 5.23 makes of templates/*.jinja and of single expressions.

A case is the arguments of apply_chat_template and its text, or, where it raises, the beginning of the message (refused
by the template itself: `refused`; else `fails`). Run it with the reference Python (tests/goldens/README.md).
"""
import datetime
import json
import pathlib

import jinja2
import transformers.utils.chat_template_utils as chat

HERE = pathlib.Path(__file__).parent
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
NOW = 1735689600  # 2025-01-01 00:00:00 UTC

TOOLS = [
    {"type": "function", "function": {
        "name": "weather", "description": "Weather in a city, \"Zürich\" 🌦\nand others",
        "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Its\nname"},
            "unit": {"type": "string", "enum": ["°C", "°F"], "default": "°C"},
            "days": {"type": "integer"}, "depth": {"type": ["number", "null"], "default": 1.5},
            "spots": {"type": "array", "items": {"type": "object", "properties": {
                "lat": {"type": "number"}, "lon": {"type": "number", "default": -1e-07}}}},
            "more": {"type": "array"}, "free": {}, "empty": {"type": "object", "properties": {}}}}}},
    {"type": "function", "function": {
        "name": "ping", "description": "", "parameters": {"type": "object", "properties": {}, "required": []}}},
]


def user(content, **more):
    return {"role": "user", "content": content, **more}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


CALL = [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Paris", "days": 2, "x": 1.0,
                                                                          "none": None, "yes": True}}},
        {"function": {"name": "ping", "arguments": "{}"}}]

CASES = [
    ("turns", {"messages": [user("Hi <|end|> {{ 7 }}\n")]}),
    ("turns", {"messages": [system("  Be kind. "), user("Hi"), assistant("Hello."), user("日本語 🎉")]}),
    ("turns", {"messages": [user("Hi"), assistant("Hello.")], "add_generation_prompt": False}),
    ("turns", {"messages": [user("Weather?")], "tools": TOOLS}),
    ("turns", {"messages": [user("Weather?"), assistant("", tool_calls=CALL), {"role": "tool", "content": "20 °C"}]}),
    ("turns", {"messages": [user([{"type": "image"}, {"type": "text", "text": "What?"}, {"type": "video"},
                                  {"type": "image_url", "image_url": {"url": "x"}}])]}),
    ("turns", {"messages": [user("2+2?")], "enable_thinking": False}),
    ("turns", {"messages": [user("2+2?")], "enable_thinking": True, "bos_token": "<bos>"}),
    ("turns", {"messages": [assistant("I begin")]}),
    ("turns", {"messages": [user("a"), user("b")]}),
    ("turns", {"messages": [user("a"), {"role": "user"}]}),
    ("turns", {"messages": [user(5)]}),
    ("turns", {"messages": [{"content": "no role"}]}),
    ("turns", {"messages": [user("Hi"), assistant("Once upon ")], "continue_final_message": True}),
    ("turns", {"messages": [user("Hi"), assistant([{"type": "text", "text": "Once upon "}])],
               "continue_final_message": True}),
    ("turns", {"messages": [user("Hi"), assistant("Well", thinking="Hm")], "continue_final_message": True}),
    ("turns", {"messages": [user("Hi"), assistant("x")], "continue_final_message": "reasoning_content"}),
    ("turns", {"messages": [user("Hi"), {"role": "assistant"}], "continue_final_message": True}),
    ("thinking", {"messages": [user("2+2?"), assistant("<think>\nEasy.\n</think>\n\n4"), user("3+3?"),
                               assistant("6", reasoning_content=" Three twice. ")]}),
    ("thinking", {"messages": [user("a"), assistant("b", thinking="c"), user("<result>d</result>"),
                               assistant("e", reasoning="f")]}),
    ("thinking", {"messages": [user("a"), assistant("x"), {"role": "tool", "content": "1"},
                               {"role": "tool", "content": 2.0}, assistant("y"), {"role": "tool", "content": None}]}),
    ("thinking", {"messages": [user("Hi"), assistant(" End ")], "continue_final_message": True}),
    ("schemas", {"messages": [user("x")], "tools": TOOLS}),
    ("schemas", {"messages": [user("x")]}),
    ("blocks", {"messages": [system("Be kind"), user("Hello"), assistant("Hi"), user("äöü ß"), assistant("z")]}),
    ("spaces", {"messages": [user("x")]}),
]

VARIABLES = {
    "s": "Hello, wörld", "e": "", "t": " \t two  words \n", "n": 7, "f": 2.5, "yes": True, "no": False, "nil": None,
    "l": [3, 1, 2], "w": ["b", "A", "c"], "d": {"b": 1, "a": [1, {"x": None}], "C": "q'\"\\\n"},
    "u": "日本🎉é", "q": "it's", "qq": "a\"b'c", "m": [{"r": "a", "v": 1}, {"r": "b", "v": 2}, {"r": "a", "v": 3}],
    "big": 1e22, "small": 1.5e-7, "csv": "a,b,,c", "lines": "one\ntwo\r\n\nfour", "html": "<b> & 'x'",
}




def record(render):
    try:
        return {"text": render()}
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        kind = "refused" if type(error) is jinja2.exceptions.TemplateError else "fails"
        return {kind: str(error)[:60] if kind == "refused" else True}


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)


def render_case(template, arguments):
    arguments = dict(arguments)
    messages = [{k: v for k, v in m.items() if v is not None} for m in arguments.pop("messages")]
    prompt = arguments.pop("add_generation_prompt", not arguments.get("continue_final_message"))
    source = (HERE / "templates" / f"{template}.jinja").read_text(encoding="utf-8")
    return chat.render_jinja_template([messages], chat_template=source, add_generation_prompt=prompt,
                                      **{"tools": None, "documents": None, **SPECIAL, **arguments})[0][0]


def main():
    chat.datetime = Fixed
    cases = [{"template": name, "arguments": arguments, **record(lambda: render_case(name, arguments))}
             for name, arguments in CASES]
    (HERE / "cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    expressions = []
    for line in (HERE / "expressions.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            expressions.append([line, record(lambda: chat.render_jinja_template(
                [[]], chat_template="{{ " + line + " }}", **VARIABLES)[0][0])])
    document = {"variables": VARIABLES, "expressions": expressions}
    text = json.dumps(document["variables"], ensure_ascii=False)
    lines = ",\n".join(json.dumps(e, ensure_ascii=False) for e in expressions)
    (HERE / "expressions.json").write_text('{"variables": ' + text + ',\n"expressions": [\n' + lines + "\n]}\n",
                                           encoding="utf-8")


if __name__ == "__main__":
    main()
