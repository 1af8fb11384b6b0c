#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what Python has to know of Graft's headers: constants, structs, prototypes and interfaces as ctypes, or a C
program that prints how a compiler lays the same structs out. It reads our headers as clang-format leaves them, not C.

usage: generate_abi.py --python|--layout INCLUDE-FOLDER...
"""

import os
import re
import sys

SCALARS = {
    "int": "c_int", "unsigned": "c_uint", "char": "c_char", "double": "c_double", "float": "c_float",
    "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16", "int32_t": "c_int32",
    "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "size_t": "c_size_t",
}  # fmt: skip


class Headers:
    """What a set of headers declares."""

    def __init__(self):
        self.constants = {}  # name: value
        self.types = dict(SCALARS)  # typedefs of scalars
        self.functions_as_types = {}  # typedef name: (result, [parameter])
        self.structs = {}  # name: [(field, declaration, comment)]
        self.prototypes = {}  # name: (result, [parameter])
        self.interfaces = {}  # id: name of its vtable's struct
        self.seen = set()

    def read(self, folders, name):
        if name in self.seen:
            return
        self.seen.add(name)
        path = next(p for p in (os.path.join(f, "graft", name) for f in folders) if os.path.exists(p))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for other in re.findall(r'^#include "(?:graft/)?([^"]+)"', text, re.M):
            self.read(folders, other)
        self._macros(text)
        self._declarations(text)

    def _macros(self, text):
        for macro, value in re.findall(r"^#define (GRAFT_\w+) ([^\\\n]+)$", text, re.M):
            value = re.sub(r"\s*/\*.*", "", value).strip()
            if re.fullmatch(r"-?(0x)?[0-9a-fA-F]+u?", value):
                self.constants[macro] = int(value.rstrip("u"), 0)
            elif re.fullmatch(r'"[^"]*"', value):
                self.constants[macro] = value[1:-1].encode()
                if macro.startswith("GRAFT_INTERFACE_"):
                    self.interfaces[value[1:-1]] = value[1:-1].replace(".", "_").split("/")[0]

    def _declarations(self, text):
        text = re.sub(r"^#define (?:.*\\\n)*.*\n", "", text, flags=re.M)
        text = re.sub(r"^#.*\n", "", text, flags=re.M)
        text = re.sub(r"^__attribute__\(\(.*\)\)$", "", text, flags=re.M)
        text = re.sub(r'^extern "C" \{$|^}$(?=\s*\Z)', "", text, flags=re.M)
        text = re.sub(r"^(?:GRAFT_INLINE|static inline)\b[^{;]*\{.*?^}$", "", text, flags=re.M | re.S)
        text = re.sub(r"^GRAFT_(?:ASSERT|STATIC)\w+\(.*?\);$", "", text, flags=re.M | re.S)
        for enum in re.findall(r"^enum(?: \w+)? \{(.*?)\};?$", text, re.M | re.S):
            self._enum(enum)
        for name, body in re.findall(r"^struct (graft_\w+) \{(.*?)^};$", text, re.M | re.S):
            self.structs[name] = list(self._fields(body))
        plain = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        plain = re.sub(r"^struct graft_\w+ \{.*?^};$", "", plain, flags=re.M | re.S)
        for declaration in re.findall(r"^(?:typedef )?[a-z][^{};]*;", plain, re.M):
            self._declaration(" ".join(declaration.rstrip(";").split()))

    def _enum(self, body):
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        last = -1
        for item in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = (part.strip() for part in item.partition("="))
            last = self.number(value) if value else last + 1
            self.constants[name] = last

    def number(self, text):
        """The value of an expression of integers and constants."""
        text = re.sub(r"\b(\d+|0x[0-9a-f]+)[uU]\b", r"\1", text)
        return eval(text, {"__builtins__": {}}, self.constants)  # our own headers

    @staticmethod
    def _fields(body):
        """Each member with the comment that is about it: above it, or after it."""
        above = ""
        for match in re.finditer(r"/\*(.*?)\*/|([^;/]+(?:/(?!\*)[^;/]*)*);([ \t]*/\*(.*?)\*/)?", body, re.S):
            comment, declaration, _, after = match.groups()
            if declaration is None or not declaration.strip():
                above = comment or ""
                continue
            declaration = " ".join(declaration.split())
            yield declaration, " ".join((after or above).split())
            above = ""

    def _declaration(self, text):
        if text.startswith("typedef "):
            function = re.fullmatch(r"typedef (.+?)\(\*(\w+)\)\((.*)\)", text)
            if function:
                result, name, parameters = function.groups()
                self.functions_as_types[name] = (result.strip(), split(parameters))
            else:
                scalar = re.fullmatch(r"typedef (\w+) (\w+)", text)
                self.types[scalar[2]] = self.types[scalar[1]]
            return
        function = re.fullmatch(r"(.+?)(graft_\w+)\((.*)\)", text)
        if function and not text.startswith(("struct graft_", "enum ")) or (function and "*" in function[1]):
            result, name, parameters = function.groups()
            self.prototypes[name] = (result.strip(), split(parameters))

    # --- As ctypes ---

    def type_of(self, text):
        """The ctypes expression for a type: 'const struct graft_module *'."""
        is_const = "const" in text
        text = re.sub(r"\b(?:const|enum)\b", " ", text)
        stars = text.count("*")
        base = " ".join(text.replace("*", " ").split())
        if base in self.functions_as_types and stars == 0:
            return base
        if base.startswith("struct "):
            name = base[7:]
            if name not in self.structs:  # a handle
                name, stars = "c_void_p", stars - 1
        elif base == "void":
            if stars == 0:
                return "None"
            name, stars = "c_void_p", stars - 1
        elif base == "char" and stars:
            name, stars = "c_char_p" if is_const else "c_void_p", stars - 1
        elif base in self.types:
            if stars == 1:  # an array of numbers: its address
                return "c_void_p"
            name = self.types[base]
        else:
            name = "c_int"  # an enum of the host's
        return "POINTER(" * stars + name + ")" * stars

    def parameter(self, text):
        """The type of a parameter, whose name goes."""
        array = re.fullmatch(r"(.+?)(\w+)\[[^\]]*\]", text)
        if array:
            return self.type_of(array[1] + "*")
        pointer = re.fullmatch(r"(.+?)\(\*\w*\)\((.*)\)", text)
        if pointer:
            return self.function(pointer[1].strip(), split(pointer[2]))
        named = re.fullmatch(r"(.*[\s*])(\w+)", text)
        if named and named[1].strip() not in ("struct", "const struct", "enum", "const"):
            return self.type_of(named[1])
        return self.type_of(text)

    def function(self, result, parameters):
        kinds = [self.parameter(p) for p in parameters if p != "void"]
        return "CFUNCTYPE(" + ", ".join([self.type_of(result), *kinds]) + ")"

    def members(self, name):
        """(field, ctypes expression) of a struct."""
        for declaration, _ in self.structs[name]:
            yield from self._member(declaration)

    def _member(self, declaration):
        function = re.fullmatch(r"(.+?)\(\*(?:const )?(\w+)\)\((.*)\)", declaration)
        if function:
            yield function[2], self.function(function[1].strip(), split(function[3]))
            return
        array = re.fullmatch(r"(.+?)(\w+)\[([^\]]+)\]", declaration)
        if array:
            yield array[2], f"{self.type_of(array[1])} * {self.number(array[3])}"
            return
        kind, names = re.fullmatch(r"(.*?[\s*])(\w+(?:, \*?\w+)*)", declaration).groups()
        for name in names.split(", "):
            yield name, self.type_of(kind)

    def order(self):
        """Structs, those that others contain first."""
        done, result = set(), []

        def visit(name):
            if name in done:
                return
            done.add(name)
            for declaration, _ in self.structs[name]:
                inner = re.match(r"(?:const )?struct (graft_\w+) \w+", declaration)
                if inner:
                    visit(inner[1])
            result.append(name)

        for name in self.structs:
            visit(name)
        return result

    def arrays(self, name):
        """(field, type, shape, direction) of the arrays that the args of an interface lead to."""
        for declaration, comment in self.structs.get(name + "_args", ()):
            pointer = re.fullmatch(r"(const )?(float|int32_t) \*(\w+)", declaration)
            shape = re.search(r"\[([^\]]+)\]", comment)
            if pointer and shape:
                dims = tuple(part.strip() for part in shape[1].split(","))
                optional = "NULL" in comment
                yield pointer[3], pointer[2], dims, "in" if pointer[1] else "out", optional


def split(parameters):
    """Parameters at their commas, but not at those of functions among them."""
    parts, depth, at = [], 0, ""
    for character in parameters:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(at.strip())
            at = ""
        else:
            at += character
    return [part for part in [*parts, at.strip()] if part]


def read(folders):
    headers = Headers()
    headers.read(folders, "host/graft.h")
    for folder in folders:
        for name in sorted(os.listdir(os.path.join(folder, "graft"))):
            path = os.path.join(folder, "graft", name)
            if name.endswith(".h") and "#define GRAFT_INTERFACE_" in open(path, encoding="utf-8").read():
                headers.read(folders, name)
    return headers


def write_python(headers, out):
    out("# Written by generate_abi.py from the headers of Graft: not to be edited.")
    out("from ctypes import *  # noqa: F403")
    out("")
    for name, value in headers.constants.items():
        out(f"{name} = {value!r}")
    out("")
    out("# Structs are empty until all are known.")
    for name in headers.order():
        out(f"class {name}(Structure): pass")
    for name, (result, parameters) in headers.functions_as_types.items():
        out(f"{name} = {headers.function(result, parameters)}")
    for name in headers.order():
        fields = ", ".join(f'("{field}", {kind})' for field, kind in headers.members(name))
        out(f"{name}._fields_ = [{fields}]")
    out("")
    out("# What libgraft exports: results and parameters.")
    out("PROTOTYPES = {")
    for name, (result, parameters) in headers.prototypes.items():
        if name in ("graft_plugin_entry",):
            continue
        kinds = ", ".join(headers.parameter(p) for p in parameters if p != "void")
        out(f'    "{name}": ({headers.type_of(result)}, [{kinds}]),')
    out("}")
    out("")
    out("# Interfaces: vtable, args, and the arrays of those: name, type, shape, direction, whether it may be NULL.")
    out("INTERFACES = {")
    for interface, name in sorted(headers.interfaces.items()):
        if name in headers.structs and name + "_args" in headers.structs:
            out(f'    "{interface}": ({name}, {name}_args, {list(headers.arrays(name))!r}),')
    out("}")


def write_layout(headers, out):
    out("/* Written by generate_abi.py. */")
    out("#include <stdio.h>")
    for name in sorted(headers.seen):
        out(f'#include "graft/{name}"')
    out("int main(void) {")
    for name in headers.order():
        out(f'    printf("{name} %zu\\n", sizeof(struct {name}));')
        for field, _ in headers.members(name):
            out(f'    printf("{name}.{field} %zu\\n", offsetof(struct {name}, {field}));')
    out("    return 0;")
    out("}")


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("--python", "--layout"):
        sys.exit(__doc__.strip())
    headers = read(arguments[1:])
    (write_python if arguments[0] == "--python" else write_layout)(headers, print)


if __name__ == "__main__":
    main(sys.argv[1:])
