#!/bin/sh
# Installs the SDK, builds a plugin outside the tree with the one command that its documentation gives, and runs it.
# usage: sdk_outside_tree.sh HOST ROOT BUILD MESON
set -eu
host=$(realpath "$1")
root=$(realpath "$2")
build=$(realpath "$3")
meson=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Installed below a folder of ours, as packagers do.
"$meson" install -C "$build" --no-rebuild --tags devel --destdir "$scratch/installed" >install.log || {
    cat install.log
    exit 1
}
file=$(find installed -name graft-sdk.pc)
[ -n "$file" ] || {
    echo "no graft-sdk.pc was installed"
    exit 1
}
PKG_CONFIG_PATH=$scratch/$(dirname "$file")
PKG_CONFIG_SYSROOT_DIR=$scratch/installed
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# The plugins to copy build in the same way.
for source in "$root"/sdk/examples/*/*.c "$root"/sdk/template/*.c; do
    # shellcheck disable=SC2046 # words
    cc -shared -fPIC "$source" $(pkg-config --cflags graft-sdk) -o example.so
done

cp "$root/tests/e2e/my.c" .
# shellcheck disable=SC2046 # words
cc -shared -fPIC my.c $(pkg-config --cflags graft-sdk) -o my.so
mkdir plugins
mv my.so plugins/
[ "$(nm -D --defined-only plugins/my.so | sed 's/.* //')" = graft_plugin_entry ] || {
    echo "my.so exports more than the entry, without any option: $(nm -D --defined-only plugins/my.so)"
    exit 1
}

run() {
    "$host" --model "$root/tests/goldens/plain/llama" --input-ids 580,573,88 --max-new-tokens 1 --output-ids "$@"
}
wanted=$(run --quiet)
got=$(run --plugins-dir plugins/ 2>report) || {
    cat report
    exit 1
}
cat report
grep 'LlamaMLP' report | grep -F 'my.so' | grep -F OutsideMLP | grep -qF outside_the_tree || {
    echo "the report does not say that LlamaMLP was replaced by outside_the_tree"
    exit 1
}
# The plugin doubles what the original does, so the result is another: it did run.
run --plugins-dir plugins/ --quiet --logits replaced.safetensors >/dev/null
run --quiet --logits original.safetensors >/dev/null
if cmp -s replaced.safetensors original.safetensors; then
    echo "the plugin was named, but did not run"
    exit 1
fi
echo "original: $wanted, replaced: $got"
