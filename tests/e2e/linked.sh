#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: linked.sh SOURCE VERSION FILE...: share/graft.spdx lists what the FILEs are linked with, and nothing else.
set -u
source=$1 version=$2
shift 2
. "$source/tests/tap.sh"
list=$source/share/graft.spdx

# Without the versions in names, which differ between distributions: libjpeg.so.62 is libjpeg.
linked=$(readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\([^]]*\)\.so.*/\1/p' | sed 's/-[0-9]*\.[0-9]*$//' |
    grep -v '^libgraft$' | LC_ALL=C sort -u)
listed=$(sed -n 's/^PackageComment: <text>Linked as \(.*\)\.<\/text>$/\1/p' "$list" | sed 's/, /\n/g' | LC_ALL=C sort)

check 'something is linked' libjansson "$(echo "$linked" | grep -x libjansson)"
check 'all that is linked is listed' '' "$(echo "$linked" | grep -vxF "$listed")"
# The first three are not found everywhere; each architecture has a dynamic linker of its own, which few files name.
check 'all that is listed is linked' '' \
    "$(echo "$listed" | grep -vxF "$linked" | grep -vx -e libedit -e libsodium -e libmpi -e 'ld-linux-.*')"
check 'each library is in a relation to graft' "$(sed -n 's/^SPDXID: \(.*\)/\1/p' "$list" | sed 1,2d)" \
    "$(sed -n 's/^Relationship: SPDXRef-graft DYNAMIC_LINK //p' "$list")"
check 'the version is that of the build' "$version" "$(sed -n 's/^PackageVersion: //p' "$list")"
echo "1..$number"
exit "$failed"
