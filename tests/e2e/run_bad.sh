#!/bin/sh
# Runs the program on broken model directories and arguments, one fault each, and looks at how it fails. Reports in TAP.
# usage: run_bad.sh HOST TESTS GOLDENS AREA [CASE...]     GOLDENS is tests/goldens/models in the build folder
#
# TESTS/data/bad/AREA.cases is a table of cases:
#   case NAME STATUS    begins one, and says which exit status is wanted
#   says TEXT           a part of the message; one at least that is not already in the arguments
#   with ARGUMENTS      as written in a shell; before the first case: those of all cases without any
#       COMMAND         indented by four: puts the fault in, in a folder with a sound model in model/ (recipe.sh has
#                       words for it); exit 77 after saying why skips the case
# Whatever the fault, the program says one line, "PROGRAM: ...", without control characters, prints nothing to stdout, and
# leaves no file behind.
set -u
host=$(realpath "$1")
program=$(basename "$1")
tests=$(realpath "$2")
goldens=$(realpath "$3")
table=$tests/data/bad/$4.cases
shift 4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo '--quiet --model model --input-ids 1,2,3 --max-new-tokens 1 --output-ids' >"$scratch/args"

for folder in "$tests"/data/bad/*/; do
    [ ! -d "$folder" ] || {
        echo "Bail out! $folder is a folder: cases stand in the tables beside it (CONTRIBUTING.md)"
        exit 1
    }
done

# Takes the table apart: a folder for each case with the files status, parts, args and fault; their names in order.
LC_ALL=C awk -v scratch="$scratch" '
    function wrong(what) { print FILENAME ":" FNR ": " what >"/dev/stderr"; exit 2 }
    /^#/ || /^$/ { next }
    /^case [a-z0-9_]+ [0-9]+$/ {
        if (seen[$2]++) wrong("there is a case of that name")
        folder = scratch "/cases/" $2
        system("mkdir -p " folder)
        print $3 >(folder "/status")
        printf "" >(folder "/parts")
        print $2 >(scratch "/names")
        next
    }
    /^with( |$)/ { print substr($0, 6) >((folder != "" ? folder : scratch) "/args"); next }
    /^says / && folder != "" { print substr($0, 6) >(folder "/parts"); next }
    /^    / && folder != "" { print substr($0, 5) >(folder "/fault"); next }
    { wrong("expected case NAME STATUS, says, with, or a line that is indented by four") }
' "$table" || exit 1

# Whether some part is not in the arguments, which usage errors repeat.
tells() { # tells CASE-FOLDER ARGUMENTS
    while IFS= read -r part; do
        case $2 in
        *"$part"*) ;;
        *) return 0 ;;
        esac
    done <"$1/parts"
    return 1
}

# Fails with reasons on stdout; 77 with a reason skips.
try() { # try CASE
    case=$scratch/cases/$1
    mkdir "$scratch/work"
    cd "$scratch/work" || exit 1
    host=$host goldens=$goldens/plain sh -eu -c '. "$1"; start_from llama; [ ! -f "$2" ] || . "$2"' sh "$tests/e2e/recipe.sh" \
        "$case/fault" 2>&1 || return
    [ -f "$case/args" ] || cp "$scratch/args" "$case/args"
    args=$(cat "$case/args")
    find . | sort >../before
    eval "set -- $args"
    status=0
    timeout 60 "$host" "$@" </dev/null >../out 2>../err || status=$?
    find . | sort >../after
    wanted=$(cat "$case/status")

    good=0
    complain() {
        echo "$1"
        good=1
    }
    tells "$case" "$args" || complain "each of the parts is in the arguments, so it would be in any message"
    [ "$status" = "$wanted" ] || complain "exit status $status instead of $wanted"
    [ "$(wc -l <../err)" = 1 ] || complain "not one line"
    grep -q "^$program: " ../err || complain "does not start with \"$program: \""
    tr -d '\n' <../err | LC_ALL=C grep -q '[[:cntrl:]]' && complain "control characters"
    while IFS= read -r part; do
        grep -qF -e "$part" ../err || complain "does not say: $part"
    done <"$case/parts"
    [ ! -s ../out ] || complain "prints to stdout"
    cmp -s ../before ../after || complain "leaves files: $(diff ../before ../after | tr '\n' ' ')"
    [ "$good" = 0 ] || head -n 20 ../err
    return "$good"
}

# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $(cat "$scratch/names")
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
