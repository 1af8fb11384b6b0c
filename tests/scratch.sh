# To be sourced by tests: a folder $scratch that goes when the test ends, and `fail`, which ends it.
# shellcheck shell=sh
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { # fail WHY
    echo "$1" >&2
    exit 1
}
