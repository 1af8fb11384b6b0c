#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Clients of all kinds at once for two seconds (scripts/load-serve does it for longer). Reports in TAP.
# usage: many.sh HOST LOAD GOLDENS
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/fixture.sh"
program=$(realpath "$1")
load=$(realpath "$2")
scratch=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
model=$(realpath "$3")/plain/llama
cd "$scratch" || exit 1
start --model "$model" --max-running 8
status=0
"$load" "$port" 16 2 >said 2>&1 || status=$?
sed 's/^/# /' said
check 'all get what they get alone' 0 "$status"
stop
check 'the end' 0 "$ended"
echo "1..$number"
exit "$failed"
