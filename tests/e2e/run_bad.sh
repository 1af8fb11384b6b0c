#!/bin/sh
# Runs the program on broken model directories and arguments, one fault each, and looks at how it fails. Reports in TAP.
# usage: run_bad.sh HOST TESTS GOLDENS [CASE...]     GOLDENS is tests/goldens/models in the build folder
#
# TESTS/data/bad/CASE/ holds
#   make.sh    (optional) puts the fault in: sourced in a folder with a copy of a sound model in model/ (recipe.sh);
#              exit 77 after saying why skips the case
#   args       (optional) the arguments, as written in a shell
#   expected   "exit STATUS", then lines that must each be a part of the message
# Whatever the fault, the program says one line, "PROGRAM: ...", without control characters, prints nothing to stdout, and
# leaves no file behind.
set -u
host=$(realpath "$1")
program=$(basename "$1")
tests=$(realpath "$2")
goldens=$(realpath "$3")
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
default_args='--quiet --model model --input-ids 1,2,3 --max-new-tokens 1 --output-ids'

# Fails with reasons on stdout; 77 with a reason skips.
try() { # try CASE
    case=$tests/data/bad/$1
    mkdir "$scratch/work"
    cd "$scratch/work" || exit 1
    if [ -f "$case/make.sh" ]; then
        goldens=$goldens/plain sh -eu -c '. "$1"; start_from llama; . "$2"' sh "$tests/e2e/recipe.sh" \
            "$case/make.sh" 2>&1 || return
    fi
    args=$default_args
    [ ! -f "$case/args" ] || args=$(cat "$case/args")
    find . | sort >../before
    eval "set -- $args"
    status=0
    timeout 60 "$host" "$@" </dev/null >../out 2>../err || status=$?
    find . | sort >../after
    wanted=$(sed -n '1s/^exit //p' "$case/expected")

    good=0
    complain() {
        echo "$1"
        good=1
    }
    [ "$status" = "$wanted" ] || complain "exit status $status instead of $wanted"
    [ "$(wc -l <../err)" = 1 ] || complain "not one line"
    grep -q "^$program: " ../err || complain "does not start with \"$program: \""
    tr -d '\n' <../err | LC_ALL=C grep -q '[[:cntrl:]]' && complain "control characters"
    sed 1d "$case/expected" >../parts
    while IFS= read -r part; do
        grep -qF -e "$part" ../err || complain "does not say: $part"
    done <../parts
    [ ! -s ../out ] || complain "prints to stdout"
    cmp -s ../before ../after || complain "leaves files: $(diff ../before ../after | tr '\n' ' ')"
    [ "$good" = 0 ] || head -n 20 ../err
    return "$good"
}

# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $(ls "$tests/data/bad")
echo "1..$#"
number=0 failed=0
for name; do
    number=$((number + 1))
    status=0
    said=$(try "$name") || status=$?
    case $status in
    0) echo "ok $number - $name" ;;
    77) echo "ok $number - $name # SKIP $said" ;;
    *)
        echo "not ok $number - $name"
        printf '%s\n' "$name" "$said" | tr -d '\033' >&2
        failed=1
        ;;
    esac
    rm -rf "$scratch/work"
done
exit "$failed"
