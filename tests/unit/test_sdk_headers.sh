#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: test_sdk_headers.sh FOLDER STANDARD LANGUAGE COMPILER...: compiles each FOLDER/graft/*.h alone, warnings being
# errors. Twice in one file, so that a missing include guard shows.
set -u
folder=$1 standard=$2 language=$3
shift 3
if [ -z "${1:-}" ]; then
    echo "skipped: no C++ compiler found"
    exit 77
fi
count=0 failed=0
for header in "$folder"/graft/*.h; do
    name=graft/${header##*/}
    count=$((count + 1))
    printf '#include "%s"\n#include "%s"\nint graft_test_header;\n' "$name" "$name" |
        "$@" "$standard" "$language" -Wall -Wextra -Werror -pedantic -fsyntax-only -I "$folder" - || {
        echo "$name does not compile alone with $standard"
        failed=$((failed + 1))
    }
done
echo "$((count - failed)) of $count headers compile with $standard"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
