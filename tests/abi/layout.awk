# From the lines of declarations.awk a program in C that prints what binaries rely on: the size of each struct, offset and
# size of each member, the values of constants, and everything as it is declared.

function quoted(text) {
    sub(/^GRAFT_(INLINE|EXPORT) /, "", text)
    gsub(/[\\"]/, "\\\\&", text) # a backslash before each: awks agree on what that many of them are
    return "\"" text "\""
}

function print_text(text) { body = body "    puts(" quoted(text) ");\n" }

BEGIN {
    FS = "\t"
    print "#include <stddef.h>\n#include <stdio.h>"
}
{ sub(/.*include\//, "", $1) }
$1 != header {
    header = $1
    print "#include \"" header "\""
    print_text("")
    print_text(header)
}
$2 == "struct" { body = body sprintf("    printf(\"struct %s: %%zu\\n\", sizeof(struct %s));\n", $4, $4) }
$2 == "member" {
    body = body sprintf("    printf(\"%%6zu %%4zu  %%s\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s), %s);\n",
        $3, $4, $3, $4, quoted($5))
}
$2 == "constant" { body = body sprintf("    printf(\"%s = %%lld\\n\", (long long)%s);\n", $4, $4) }
$2 == "macro" { print_text($4 " " $5) }
$2 == "function" || $2 == "type" { print_text($5) }
END { print "int main(void) {\n" body "    return 0;\n}" }
