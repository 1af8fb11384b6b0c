#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: include_order.sh SOURCE [HOST]: whether the folders of HOST (SOURCE/host) include each other in the order that
# docs/architecture.md gives, downwards only, and libraries are included only where they may be; and whether each plugin's
# folder can be copied: what is in it needs the SDK, and nothing of its neighbours. The last tests are of the script
# itself: made-up trees with one fault each.
set -eu
source=$1
host=${2:-$source/host}
. "$source/tests/tap.sh"

# The indented lines after the sentence that introduces them.
order=$(awk '/^A file includes its own folder/ { on = 1; next } on && /^    / { printf "%s ", $0; seen = 1; next } seen { exit }' \
    "$source/docs/architecture.md")

# Each quoted or bracketed include: FOLDER FILE HEADER.
includes() { # includes TREE
    (cd "$1" && find . -name '*.[ch]' -exec grep -HoE '^ *# *include *["<][^">]+' {} + |
        sed -E 's|^\./([^:]*): *# *include *["<](.*)|\1 \2|')
}

upward() { # upward TREE: what goes against the order
    includes "$1" | awk -v order="$order" '
        BEGIN { n = split(order, names, " "); for (i = 1; i <= n; i++) place[names[i]] = i }
        { from = $1; to = $2; if (!sub("/.*", "", from)) next; if (!sub("/.*", "", to)) next }
        from == "include" { if (to != "graft") print $1 " includes " $2 ": public headers include public headers only"; next }
        !(from in place) { print $1 ": its folder is not in the order of docs/architecture.md"; next }
        to in place && place[to] > place[from] { print $1 " includes " $2 ", which is above it" }' | sort -u
}

over_walls() { # over_walls TREE: includes that belong to one folder, elsewhere
    includes "$1" | awk '
        function only(header, where) {
            if ($2 ~ header && $1 !~ where) print $1 " includes " $2 ", which is for " where
        }
        {
            only("^ltdl\\.h$", "^plugin/")
            only("^pcre2", "^base/regex\\.c$")
            only("^jansson", "^base/json[a-z_]*\\.c$")
            only("^utf8proc", "^(tokenizer|jinja)/unicode\\.c$")
            only("^(png|jpeglib|jerror|jmorecfg)\\.h$", "^image/")
            only("^event2/", "^serve/")
            only("^(immintrin|cpuid)\\.h$", "^kernels/")
            only("^dlfcn\\.h$", "^plugin/")
            from = $1; to = $2
            sub("/.*", "", from)
            if (from ~ /^(base|kernels|tokenizer|image|grammar|jinja|weights)$/ && to ~ "/" && to !~ "^(graft|base|sys|" from ")/")
                print $1 " includes " to ": its folder needs base only"
            if ((from == "cli" || $1 == "main.c") && to ~ "\\.h$" && to ~ "/" && to !~ "^(graft|base|cli|sys)/")
                print $1 " includes " to ": the program uses the library as others do, through graft/ (and base/)"
            if (from == "arch" && to ~ "/" && (to !~ "^(graft|arch)/" || to ~ "^graft/host/"))
                print $1 " includes " to ": host/arch includes headers of the SDK only"
        }' | sort -u
}

# A plugin's tests, and what makes data for them, may look around.
neighbours() { # neighbours TREE: what a plugin takes from outside its folder
    includes "$1" | awk '$1 !~ "(^|/)(test|make)_[a-z0-9_]*\\.c$" && $2 ~ "/" && $2 !~ "^(graft|sys)/" {
        print $1 " includes " $2 ": it is not in the folder of its plugin"
    }' | sort -u
    (cd "$1" && find . -name meson.build -exec grep -HoE "'(\.\./)+[^']*'|include_directories\('\.\.'\)" {} +) |
        grep -vE "'\.\./\.\.(/tests/.*)?'" || true
}

# The order names each folder once, and no other.
folders=$(cd "$host" && find . -mindepth 1 -maxdepth 1 -type d ! -name include | sed 's|^\./||' | sort)
check "the order of docs/architecture.md names the folders of host/" "$folders" \
    "$(printf '%s\n' "$order" | tr ' ' '\n' | sed '/^$/d' | sort)"
# Each folder's README says what it does, where to start and what it may include, and names files that exist.
unexplained() { # unexplained TREE: folders without such a README, and files that one names and that are not there
    for folder in $folders; do
        readme=$1/$folder/README.md
        if [ "$(grep -cE '^- (What it does|Where to start|May include): ' "$readme" 2>/dev/null)" != 3 ]; then
            echo "$folder: expected a README.md with What it does, Where to start and May include"
            continue
        fi
        # shellcheck disable=SC2016 # the backquotes are those of Markdown
        grep -oE '`[a-z0-9_/]+\.(c|h|inc)`' "$readme" | tr -d '`' | while read -r file; do
            [ -e "$1/$folder/$file" ] || echo "$folder/README.md names $file, which does not exist"
        done
    done
}
check "each folder says what it does" "" "$(unexplained "$host")"
check "no folder includes upwards" "" "$(upward "$host")"
check "each library is included in its own folder only" "" "$(over_walls "$host")"

check "a plugin's folder needs no other" "" "$(neighbours "$source/plugins")"

# A fault in each rule is found.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
fault() { # fault WHAT FILE INCLUDE SCAN
    rm -rf "$made/host"
    mkdir -p "$(dirname "$made/host/$2")"
    printf '#include %s\n' "$3" >"$made/host/$2"
    number=$((number + 1))
    if [ -n "$($4 "$made/host")" ]; then
        echo "ok $number - found: $1"
    else
        echo "not ok $number - found: $1"
        failed=1
    fi
}
fault "an upward include" value/box.c '"plan/plan.h"' upward
fault "an upward include of a folder in a folder" base/a/b.c '"library/library.h"' upward
fault "a folder that is not in the order" elsewhere/a.c '"base/alloc.h"' upward
fault "a public header that includes the host's" include/graft/host/graft.h '"base/alloc.h"' upward
fault "ltdl" registry/a.c '<ltdl.h>' over_walls
fault "PCRE2" tokenizer/a.c '<pcre2.h>' over_walls
fault "jansson" weights/a.c '<jansson.h>' over_walls
fault "libevent" library/a.c '<event2/event.h>' over_walls
fault "instructions of a processor" bind/a.c '<immintrin.h>' over_walls
fault "libpng" library/a.c '<png.h>' over_walls
fault "the host in host/arch" arch/a.c '"base/alloc.h"' over_walls
fault "a header of the library in host/arch" arch/moe/a.c '"graft/host/graft.h"' over_walls
fault "the inside of the library in a command" cli/commands/a.c '"library/library.h"' over_walls
fault "the inside of the library in main.c" main.c '"model/tree.h"' over_walls
fault "utf8proc" jinja/run.c '<utf8proc.h>' over_walls
fault "tokenizers in host/jinja" jinja/run.c '"tokenizer/unicode.h"' over_walls
fault "tokenizers in host/grammar" grammar/trie.c '"tokenizer/unicode.h"' over_walls
fault "models in host/weights" weights/a.c '"config/config.h"' over_walls
fault "a header of another plugin" mine/a.c '"../yours/a.h"' neighbours
fault "the same without dots" mine/a.c '"yours/a.h"' neighbours
fault "the host in a plugin" mine/a.c '"base/alloc.h"' neighbours
echo "shared_module('mine', '../yours/a.c')" >"$made/host/mine/meson.build"
: >"$made/host/mine/a.c"
check "found: a source of another plugin" "./mine/meson.build:'../yours/a.c'" "$(neighbours "$made/host")"
echo "1..$number"
exit "$failed"
