#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: kept.sh SOURCE: everything that the headers of an earlier version promised (tests/abi/VERSION/*.abi) is still there.
set -u
source=$1
. "$source/tests/tap.sh"
here=$source/tests/abi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

lost() { # lost RECORD: what it has and $scratch/now has not
    awk -f "$here/kept.awk" "$1" "$scratch/now"
}

for part in host sdk; do
    "$here/layout.sh" "$source" "$part" >"$scratch/now"
    for record in "$here"/[1-9]*/"$part.abi"; do
        check "${record#"$here"/} holds" '' "$(lost "$record")"
    done
done

# What the comparison has to find, and what it has to let pass: the record of today made an earlier one.
sed -e 's/^\(struct graft_host\): 80$/\1: 88/' -e 's/^\( *16 .*\) \*version$/\1 *release/' \
    -e 's/^GRAFT_KEY_PATTERN = 2$/GRAFT_KEY_PATTERN = 3/' -e 's/^\(struct graft_plugin\): .*/\1: 8/' \
    -e 's/^GRAFT_ABI_MINOR .*/GRAFT_ABI_MINOR 77/' -e 's/^struct graft_parts_mlp: .*/struct graft_parts_mlp: 8000/' \
    "$scratch/now" >"$scratch/other"
check 'what is lost is found' "graft/host.h: struct graft_host: 88 bytes, now 80
graft/host.h: struct graft_host    16    8  const char *release is gone
graft/plugin.h: GRAFT_KEY_PATTERN = 3 is gone" "$(lost "$scratch/other")"
echo "1..$number"
exit "$failed"
