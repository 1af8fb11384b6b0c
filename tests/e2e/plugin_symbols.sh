#!/bin/sh
# A plugin exports its entry and nothing else: symbols of two plugins, or of a plugin and the host, cannot meet. And it
# has no table of the host's inside: which class an activation's name stands for it asks.
# usage: plugin_symbols.sh FOLDER...    all .so files below
set -eu
count=0 failed=0
# shellcheck disable=SC2044 # no spaces in our names
for file in $(find "$@" -name '*.so' ! -name ranks.so); do # which is no plugin, but lies beside one
    count=$((count + 1))
    exported=$(nm -D --defined-only "$file" | sed 's/.* //' | tr '\n' ' ')
    if [ "$exported" != 'graft_plugin_entry ' ]; then
        echo "$file exports: $exported"
        failed=$((failed + 1))
    elif grep -q NewGELUActivation "$file"; then
        echo "$file answers by itself what the host is to be asked"
        failed=$((failed + 1))
    fi
done
echo "$((count - failed)) of $count plugins export graft_plugin_entry alone, and ask the host"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
