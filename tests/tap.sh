# To be sourced by tests in shell that report in TAP: `check` and `has` count in $number and note in $failed; the test
# prints "1..$number" at its end and exits with $failed.
# shellcheck shell=sh disable=SC2034 # read by the tests
number=0 failed=0

check() { # check WHAT WANTED GOT
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        printf 'wanted:\n%s\ngot:\n%s\n' "$2" "$3" | sed 's/^/#   /'
        failed=1
    fi
}

has() { # has WHAT TEXT FILE: a line of the file holds the text
    if grep -qF -e "$2" "$3"; then
        check "$1" "$2" "$2"
    else
        check "$1" "$2" "$(head -c 2000 "$3")"
    fi
}
