# Usage: layout.sh SOURCE sdk | flat_layout.awk: the same as lines that any language can print: "STRUCT SIZE",
# "STRUCT.MEMBER OFFSET SIZE" and "CONSTANT VALUE".

function member(text) {
    if (match(text, /\(\*[a-z_0-9]+\)\(/))
        return substr(text, RSTART + 2, RLENGTH - 4)
    sub(/\[.*/, "", text)
    sub(/^.*[ *]/, "", text)
    return text
}

/^struct [a-z_0-9]+: [0-9]+$/ { owner = $2; sub(/:$/, "", owner); print owner, $3 }
/^ / { print owner "." member($0), $1, $2 }
/^GRAFT_[A-Z0-9_]+ = / { print $1, $3 }
/^GRAFT_[A-Z0-9_]+ [0-9]/ { print $1, $2 }
