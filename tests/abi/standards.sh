#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: standards.sh SOURCE: compilers have nothing to say about the public headers, in any standard of C from C99 on and of
# C++ from C++11 on: all together in each of them, with a source that uses them, and each alone in the oldest, twice, so that
# a missing include guard shows.
set -u
source=$1
. "$source/tests/tap.sh"
headers=$(cd "$source" && find sdk/include host/include -name '*.h' | sed 's/.*include\///' | LC_ALL=C sort)

compile() { # compile COMPILER LANGUAGE STANDARD FILE HEADER...
    compiler=$1 language=$2 standard=$3 file=$4
    shift 4
    for header; do
        set -- "$@" -include "$header"
        shift
    done
    "$compiler" "-std=$standard" -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only \
        -I "$source/sdk/include" -I "$source/host/include" "$@" -x "$language" "$file" 2>&1
}

# The names of the newest standards from before they were published: compilers, old and new, know them.
standards() { # standards LANGUAGE
    [ "$1" = c ] && echo c99 c11 c17 c2x || echo c++11 c++14 c++17 c++20 c++2b
}

for language in c c++; do
    first=yes
    [ "$language" = c ] && compilers='gcc clang' || compilers='g++ clang++'
    [ "$language" = c ] && user=outside.c || user=outside.cc
    for compiler in $compilers; do
        if ! command -v "$compiler" >/dev/null; then
            number=$((number + 1))
            echo "ok $number # SKIP $compiler is not installed"
            continue
        fi
        for standard in $(standards "$language"); do
            # shellcheck disable=SC2086 # a list of words
            check "all headers with $compiler in $standard" '' "$(compile "$compiler" "$language" "$standard" "$source/tests/e2e/$user" $headers)"
        done
        [ "$first" = yes ] || continue
        first=no
        for header in $headers; do
            standard=$(standards "$language" | cut -d ' ' -f 1)
            check "$header alone with $compiler in $standard" '' "$(compile "$compiler" "$language" "$standard" /dev/null "$header" "$header")"
        done
    done
done
echo "1..$number"
exit "$failed"
