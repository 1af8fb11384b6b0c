#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: headers.sh SOURCE LIBRARY: the public headers say what each thing in them is, assert the sizes of the SDK's structs,
# and lay out structs as tests/abi/*.abi have on record; LIBRARY, which is libgraft-sdk.a, has each helper of the SDK.
set -u
source=$1 library=$2
. "$source/tests/tap.sh"
here=$source/tests/abi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

unset MALLOC_PERTURB_ # as in layout.sh
declarations() { # declarations FILE...
    awk -f "$here/declarations.awk" "$@"
}
names() { # names KIND <LINES: of things of a kind
    awk -F '\t' -v kind="$1" '$2 == kind { print $4 }' | LC_ALL=C sort
}
declarations "$source"/sdk/include/graft/*.h >"$scratch/sdk"
declarations "$source"/host/include/graft/host/*.h >"$scratch/host"

for part in sdk host; do
    check "headers of $part: each member and function has words, and a tag where it can be called" '' \
        "$(awk -f "$here/documented.awk" "$scratch/$part")"
done
check 'the size of each struct of the SDK is asserted' "$(names struct <"$scratch/sdk")" "$(names assert <"$scratch/sdk")"

if [ "$(getconf LONG_BIT)" = 64 ]; then
    for part in sdk host; do
        check "tests/abi/$part.abi: layouts are those on record (scripts/renew-abi writes it anew)" '' \
            "$("$here/layout.sh" "$source" "$part" 2>&1 | diff "$here/$part.abi" -)"
    done
else
    number=$((number + 1))
    echo "ok $number # SKIP layouts are on record for pointers of 8 bytes"
fi

helpers=$(awk -F '\t' '$2 == "function" && $5 ~ /^GRAFT_INLINE / { print $4 }' "$scratch/sdk" | LC_ALL=C sort)
nm -g --defined-only "$library" | awk 'NF == 3 && $3 ~ /^graft_/ { print $3 }' |
    LC_ALL=C sort >"$scratch/symbols"
check 'each helper of the SDK is a symbol of libgraft-sdk.a' '' "$(echo "$helpers" | LC_ALL=C comm -23 - "$scratch/symbols")"
check 'there are helpers' yes "$([ "$(echo "$helpers" | wc -l)" -gt 90 ] && echo yes || echo no)"
# The other symbols are those of the parts.
sed -n -e 's/^extern const char \*const /extern const struct string /' -e 's/^const struct [a-z_]* \*/int /' \
    -e 's/^\(int\|void\|graft_parts_[a-z]*\|extern const struct [a-z_]*\) \(graft_parts_[a-z_]*\)[[(;].*/\2/p' \
    "$source/sdk/include/graft/parts.h" "$source/sdk/include/graft/expert_parts.h" | LC_ALL=C sort >"$scratch/parts"
check 'and each part that their headers declare' "$(cat "$scratch/parts")" \
    "$(echo "$helpers" | LC_ALL=C comm -13 - "$scratch/symbols")"
check 'none is inline in another way' '' "$(grep -nE '^(static|inline)' "$source"/sdk/include/graft/*.h)"

# What the scripts have to find.
cat >"$scratch/fault.h" <<'END'
/* All of this is wrong. */
#ifndef FAULT_H
#define FAULT_H
struct graft_fault {
    uint32_t struct_size;
    int32_t silent;
    int32_t told; /* but this one is fine */
    /* A function. */
    int (*untagged)(void *self,
                    int32_t i);
};

/* [any] About what follows, not about what comes then. */
int graft_fault(void);
GRAFT_INLINE int graft_silent(void) {
    return 0;
}
#endif
END
check 'what is missing is found' "$scratch/fault.h: struct graft_fault: silent has no comment
$scratch/fault.h: struct graft_fault: untagged has no tag: when may it be called?
$scratch/fault.h: graft_silent has no comment
$scratch/fault.h: graft_silent has no tag: when may it be called?" \
    "$(declarations "$scratch/fault.h" | awk -f "$here/documented.awk")"
echo "1..$number"
exit "$failed"
