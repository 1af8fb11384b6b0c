# What headers declare, a line each, its parts separated by tabs: file, kind, struct or enum that it is part of, name,
# declaration, comment. Kinds: header (whose comment is the one on top), struct, member, constant, macro, function (declared,
# or inline with its body left out), type (a typedef), assert (of a struct's size). A comment is the one right above, or what trails the declaration on its last line.
# It reads our headers as clang-format leaves them, not C.

function emit(kind, name, declaration) {
    release()
    gsub(/[ \t]+/, " ", declaration)
    gsub(/\* /, "*", declaration)
    gsub(/^ | $/, "", declaration)
    held = FILENAME "\t" kind "\t" owner "\t" name "\t" declaration "\t"
    said = above
    above = ""
}

# Prints the declaration that is held, which waits until now for a trailing comment.
function release() {
    if (held != "") {
        gsub(/[ \t]+/, " ", said)
        gsub(/^ | $/, "", said)
        print held said
    }
    held = said = ""
}

# The name that a declaration gives: of a pointer to a function, of a function, of anything else.
function declared(text) {
    if (match(text, /\(\*[a-z_0-9]+\)\(/))
        return substr(text, RSTART + 2, RLENGTH - 4)
    sub(/\(.*/, "", text)
    sub(/\[.*/, "", text)
    gsub(/^.*[ *]/, "", text)
    return text
}

function statement(text) {
    gsub(/__attribute__\(\(.*\)\)\)/, "", text)
    sub(/^[ \t]+/, "", text)
    sub(/[ \t]+$/, "", text)
    if (text ~ /^GRAFT_ASSERT_SIZE\(/) {
        sub(/^GRAFT_ASSERT_SIZE\(struct /, "", text)
        sub(/,.*/, "", text)
        emit("assert", text, text)
    } else if (text ~ /^typedef /)
        emit("type", declared(text), text)
    else if (owner != "")
        emit("member", declared(text), text)
    else if (text ~ /\(/ && text !~ /^GRAFT_[A-Z_]*ASSERT/)
        emit("function", declared(text), text)
    else
        above = ""
}

# Code without comments, character by character; `depth` counts the braces of a body that is left out.
function code(text, i, c) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (depth > 0) {
            depth += (c == "{") - (c == "}")
            continue
        }
        if (c != " ")
            release()
        if (c == "{" && buffer ~ /^ *struct [a-z0-9_]+ *$/) {
            gsub(/^ *struct | *$/, "", buffer)
            emit("struct", buffer, "struct " buffer)
            owner = buffer
            release()
        } else if (c == "{" && buffer ~ /^ *enum/) {
            owner = "enum"
            above = ""
        } else if (c == "{" && buffer ~ /extern "C" *$/) {
            above = ""
        } else if (c == "{") {
            statement(buffer)
            depth = 1
        } else if (c == "}") {
            if (owner == "enum" && buffer ~ /[A-Z]/)
                emit("constant", declared(constant(buffer)), buffer)
            owner = ""
        } else if (c == "," && owner == "enum") {
            emit("constant", declared(constant(buffer)), buffer)
        } else if (c == ";") {
            if (buffer ~ /[^ ]/)
                statement(buffer)
        } else {
            buffer = buffer c
            continue
        }
        buffer = ""
    }
}

function constant(text) {
    sub(/ *=.*/, "", text)
    return text
}

FNR == 1 { release(); owner = buffer = above = ""; depth = commenting = directive = introduced = 0 }

# Preprocessor lines, with those that they go on in; of macros those that stand for a value are told of.
directive || /^#/ {
    if (!introduced++)
        emit("header", FILENAME, "")
    if (!directive && $0 ~ /^#define GRAFT_[A-Z0-9_]+ [^ ]/) {
        text = $0
        sub(/^#define /, "", text)
        name = text
        sub(/ .*/, "", name)
        sub(/^[A-Z0-9_]+ /, "", text)
        sub(/ *\/\*.*/, "", text)
        if (text ~ /^("[^"]*"|[0-9][0-9a-fxu]*)$/)
            emit("macro", name, text)
        else if (text ~ /^GRAFT_END_OF\(/)
            emit("constant", name, text)
    }
    directive = /\\$/
    next
}

/^[ \t]*$/ && !commenting { release(); if (buffer !~ /[^ ]/) above = "" }

{
    line = $0
    if (buffer != "")
        buffer = buffer " "
    while (line != "") {
        if (commenting) {
            end = index(line, "*/")
            text = end ? substr(line, 1, end - 1) : line
            sub(/^ *\* ?/, "", text)
            if (trailing)
                said = said " " text
            else
                above = above " " text
            if (!end)
                break
            line = substr(line, end + 2)
            commenting = 0
        } else if ((start = index(line, "/*")) > 0 && depth == 0) {
            code(substr(line, 1, start - 1))
            trailing = held != "" && substr($0, 1, index($0, "/*") - 1) ~ /[^ ]/
            if (!trailing && buffer !~ /[^ ]/)
                above = ""
            line = substr(line, start + 2)
            commenting = 1
        } else {
            code(line)
            break
        }
    }
}

END { release() }
