#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs below a folder of its own, then uses what is there and nothing else of the tree: the helpers of the SDK, the
# examples, a plugin in C++, a program with the shared library and with the static one, the program. Reports
# in TAP.
# usage: install.sh MESON BUILD MODEL SANITIZE    SANITIZE as in -fsanitize=, or none
# shellcheck disable=SC2046,SC2086,SC2317,SC2012 # words of pkg-config; functions called by `runs`; our names
set -u
. "$(dirname "$0")/../tap.sh"
here=$(realpath "$(dirname "$0")")
meson=$1
build=$(realpath "$2")
model=$(realpath "$3")
sanitize=
[ "$4" = none ] || sanitize=-fsanitize=$4
scratch=$(mktemp -d "$build/install-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

"$meson" install -C "$build" --no-rebuild --destdir "$scratch/root" >install.log 2>&1 || {
    tail -n 20 install.log
    exit 1
}
# Found by PKG_CONFIG_PATH alone: the files lead to the folder they are in. (Not so where pkgconfig.relocatable was set to
# false: then the folder is a root for pkg-config.) What meson sets for tests would lead into the build folder.
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/root" -name graft-sdk.pc)")
libdir=$(realpath "$PKG_CONFIG_PATH/..")
prefix=$(realpath "$(find "$scratch/root" -type d -path '*/include/graft')/../..")
plugins=$libdir/graft/plugins
export PKG_CONFIG_PATH
unset PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
if ! grep -q pcfiledir "$PKG_CONFIG_PATH/graft.pc"; then
    PKG_CONFIG_SYSROOT_DIR=$scratch/root
    export PKG_CONFIG_SYSROOT_DIR
fi

runs() { # runs WHAT COMMAND...: it succeeds
    what=$1
    shift
    if "$@" >log 2>&1; then
        check "$what" good good
    else
        check "$what" good "$(head -c 2000 log)"
    fi
}

# That they compile is tests/abi/standards.sh's to know.
check 'headers are installed, all of them' "$(cd "$here/../.." && find sdk/include host/include -name '*.h*' | sed 's/.*include\///' | sort)" \
    "$(cd "$prefix/include" && find . -name '*.h*' | sed 's/^..//' | sort)"

# A helper called by its symbol, without a header.
echo 'unsigned graft_flags_unknown(unsigned, unsigned); int main(void) { return (int)graft_flags_unknown(7, 0); }' >foreign.c
foreign() {
    cc $sanitize foreign.c $(pkg-config --libs graft-sdk) -o foreign && ./foreign
}
runs 'helpers are symbols of the library of graft-sdk' foreign

# Plugins: each exports its entry and nothing else without being told to.
mkdir -p own/outside examples
plugin() { # plugin SOURCE OUTPUT
    cc -std=c11 -Wall -Wextra -Werror -shared -fPIC "$1" $(pkg-config --cflags graft-sdk) -o "$2" -lm
}
exports() {
    nm -D --defined-only "$1" | sed 's/.* //'
}
for source in "$prefix"/share/graft/examples/*/*.c "$here/outside.c"; do
    grep -q graft_plugin_entry "$source" || continue
    name=$(basename "$source" .c)
    [ "$name" = outside ] && output=own/outside/outside.so || output=examples/$name.so
    runs "$name builds" plugin "$source" "$output"
    check "$name exports its entry" graft_plugin_entry "$(exports "$output")"
done

# Families' folders, whose classes are parts of the library of graft-sdk.
mkdir family
family() { # family NAME
    cc -std=c11 -Wall -Wextra -Werror -shared -fPIC "$prefix/share/graft/examples/families/$1"/*.c \
        $(pkg-config --cflags --libs graft-sdk) -o "family/$1.so" -lm
}
for name in olmo2 starcoder2; do
    runs "$name builds" family "$name"
    check "$name exports its entry" graft_plugin_entry "$(exports "family/$name.so")"
done
check 'families are installed without their tests' '' \
    "$(find "$prefix/share/graft/examples/families" -name goldens -o -name meson.build -o -name test.sh)"
starcoder2=$build/plugins/families/starcoder2
ids() { # ids PLUGINS: what the program generates with the plugin of that folder
    "$prefix/bin/graft" --model "$starcoder2/goldens/starcoder2" --plugins-dir "$1" --input-ids 5,6,7 \
        --max-new-tokens 8 --output-ids --quiet
}
check 'starcoder2 generates what the one of the build does' "$(ids "$starcoder2")" "$(ids family 2>&1)"

in_cpp() {
    c++ -std=c++11 -Wall -Wextra -Werror -shared -fPIC "$here/outside.cc" $(pkg-config --cflags graft-sdk) -o cpp/outside.so
}
if command -v c++ >/dev/null; then
    mkdir cpp
    runs 'outside.cc builds' in_cpp
fi

# A program around the library, by the two commands of its README.
source=$prefix/share/graft/examples/generate/generate.c
shared() {
    cc -std=c11 -Wall -Wextra -Werror "$source" $(pkg-config --cflags --libs graft) -o shared
}
static() {
    cc -std=c11 -Wall -Wextra -Werror $sanitize "$source" $(pkg-config --cflags graft) \
        $(pkg-config --static --libs graft | sed 's/-lgraft/-l:libgraft.a/') -o static
}
program=$prefix/bin/graft
ids() { # ids ARGUMENT...: what the program generates
    "$program" --model "$model" --input-ids 580,573,88 --output-ids --quiet "$@"
}
wanted=$(ids) || echo "# graft fails: $wanted"
replaced=$(ids --plugins-dir own)
if [ -d cpp ]; then
    check 'a plugin in C++11 does what the one in C does' "$replaced" "$(ids --plugins-dir cpp)"
else
    number=$((number + 1))
    echo "ok $number # SKIP a plugin in C++11 does what the one in C does: there is no C++ compiler"
fi
runs 'generate.c builds with the static library' static
check 'it does not need the shared one' '' "$(readelf -d static | grep libgraft)"
check 'it generates what the program does' "$wanted" "$(./static "$model" 580,573,88 2>report)"
has 'and knows the modules' 'model.layers.0.mlp: LlamaMLP' report
check 'also with a plugin' "$replaced" "$(./static "$model" 580,573,88 own 2>report)"
has 'which replaces a class' 'model.layers.0.mlp: OutsideMLP' report
if [ -z "$sanitize" ]; then
    runs 'generate.c builds with the shared library' shared
    readelf -d shared >needed
    has 'it needs it by its soname' '[libgraft.so.1]' needed
    check 'it generates the same' "$wanted" "$(LD_LIBRARY_PATH=$libdir ./shared "$model" 580,573,88 2>report)"
    check 'also with a plugin' "$replaced" "$(LD_LIBRARY_PATH=$libdir ./shared "$model" 580,573,88 own 2>report)"
else
    number=$((number + 1))
    echo "ok $number # SKIP the shared library needs a sanitizer that is loaded first"
fi

# The documents' links lead somewhere.
check 'links of the documents' '' "$(cd "$prefix/share/doc/graft" && for document in *.md docs/*.md docs/guide/*.md; do
    grep -o '](\([^)#]*\)' "$document" | sed 's/](//' | grep -v : | while read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$document")/$link" ] || echo "$document: $link"
    done
done)"

# They call the program as it is called there, and what they show without a model of the reader's works.
documents=$prefix/share/doc/graft
check 'documents say graft' '' "$(grep -rnE '^ {4,}(\$ )?(\./)?host( |:)|`host [a-z]' "$documents" --include='*.md')"
grep -rhE '^ {4}graft (list|plan|verify|family|validate) ' "$documents" --include='*.md' | grep -v -e '[A-Z<|[]' -e '\.\.\.' >shown
check "documents show commands" yes "$(if [ "$(wc -l <shown)" -ge 6 ]; then echo yes; else cat shown; fi)"
echo "PATH=$prefix/bin:\$PATH XDG_DATA_HOME=$scratch model=$prefix/share/graft/models/qwen2_moe" >commands
cat shown >>commands
runs 'and these work' sh -ec '. ./commands'

# The plugins that ship.
check 'plugins are installed' "$(basename -a "$build"/graft/plugins/*)" "$(basename -a "$plugins"/*)"
check 'pkg-config knows where' "$plugins" "$(realpath "$(pkg-config --variable=pluginsdir graft)")"
"$program" list --plugins-dir "$plugins" >listed 2>&1
has 'and are found there' fused_qkv listed

"$program" list --plugins-dir default >asked 2>&1
check 'default is where they were installed, wherever the prefix was moved to' "$(cat listed)" "$(cat asked)"
"$build/graft/host" list --plugins-dir default >asked 2>&1
check 'beside the program in the folder that the build makes' "$(sed 's/ (.*)//' listed)" "$(sed 's/ (.*)//' asked)"
"$program" --plugins-dir "$plugins" --model "$model" --input-ids 580,573,88 --max-new-tokens 1 --output-ids >ids 2>report
has 'they take effect' fused_qkv report
"$program" --model "$model" --input-ids 580,573,88 --max-new-tokens 1 --output-ids >ids 2>report
check 'and only when asked for' '' "$(grep fused_qkv report)"
mkdir alone && cp "$program" alone/other
configured=/$(echo "$plugins" | sed "s,^$scratch/root/,,")
if [ -d "$configured" ]; then
    number=$((number + 1))
    echo "ok $number # SKIP no plugins are installed: there is $configured"
else
    alone/other list --plugins-dir default >out 2>err
    check 'no plugins are installed: exit status' 2 $?
    has 'no plugins are installed: it says where they should be, under its own name' \
        "other: --plugins-dir default: no plugins are installed; expected the folder $configured" err
fi

# The program calls itself what it was called.
"$program" --help >help
has 'graft calls itself graft' '  graft inspect ' help
check 'graft does not call itself host' '' "$(grep '^ *host ' help)"
alone/other --help >help
has 'other calls itself other' '  other inspect ' help
"$program" inspect Unheard >out 2>err
has 'hints, too' 'graft list --classes' err

# The manual and the completions know what the program knows.
commands=$("$program" --help | sed -n 's/^  graft \[*\([a-z-]*\)\]*.*/\1/p')
for command in $commands; do
    "$program" "$command" --list-options | sed 's/^--//; s/ .*//'
done | sort -u >options
check 'there are commands with options' 1 $(($(wc -l <options) > 40))
sed -n 's/\(.*Fl .*\)/\1/p' "$prefix/share/man/man1/graft.1" | grep -o 'Fl -[a-z0-9-]*' | sed 's/Fl -//' | sort -u >manual
check 'options that the manual does not have' '' "$(comm -23 options manual)"
check 'the manual has options' 1 $(($(wc -l <manual) > 40))
listed=$(echo "$commands" | tr '\n' ' ' | sed 's/ $//')
for file in bash-completion/completions/graft zsh/site-functions/_graft fish/vendor_completions.d/graft.fish; do
    has "$file has the commands" "$listed" "$prefix/share/$file"
done
completed() { # completed WORD...: what bash offers for the last of the words
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _graft; echo "${COMPREPLY[*]}"' \
        "$prefix/share/bash-completion/completions/graft" "$@"
}
if command -v bash >/dev/null; then
    check 'bash: commands' 'plan perplexity pack' "$(completed "$program" p)"
    check 'bash: options of a command' '--window' "$(completed "$program" perplexity --w)"
    check 'bash: options of run' '--prompt --prompt-file --prompt-adapter' "$(completed "$program" --p | tr ' ' '\n' | grep prompt | xargs)"
    check 'bash: values' 'float32' "$(completed "$program" plan --dtype f)"
else
    number=$((number + 1))
    echo "ok $number # SKIP bash completes: there is no bash"
fi
for shell in zsh fish; do
    file=$(find "$prefix/share/$shell" -type f)
    if command -v "$shell" >/dev/null; then
        runs "$shell reads its completions" "$shell" -n "$file"
    else
        number=$((number + 1))
        echo "ok $number # SKIP $shell reads its completions: it is not installed"
    fi
done

# What is beside the program, and needs what may not be there.
if command -v python3 >/dev/null; then
    "$program" compare-hf --help >out 2>err
    check 'compare-hf: its script is found' 0 $?
    has 'compare-hf: it says what it does' 'name the first one whose output differs' out
fi
GRAFT_PYTHON=nowhere/python "$program" compare-hf "$model" >out 2>err
check 'compare-hf without Python: exit status' '2 1' "$? $(wc -l <err)"
has 'compare-hf without Python: what is needed' 'needs Python with torch and transformers' err
"$program" new plugin --quiet --class LlamaMLP installed_mlp >out 2>err
check 'new plugin: written' '0 ' "$? $(cat err)"

# Nothing is where nobody looks for it.
# Where libraries lie is meson's choice: lib or lib64, as the system has it.
check 'what lies in the prefix' 'bin include lib share' "$(ls "$prefix" | sed 's/^lib64$/lib/' | tr '\n' ' ' | sed 's/ $//')"
check 'nothing of the tests or the build' '' "$(find "$prefix" -name meson.build -o -name 'test[._]*' -o -name 'tests' -o -name '*.o')"
echo "1..$number"
exit "$failed"
