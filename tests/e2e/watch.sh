#!/bin/sh
# --check-finite and --trace. Reports in TAP.
# usage: watch.sh HOST MODEL CRASH_PROBE     CRASH_PROBE is tests/e2e/crash_probe.c
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$3" "$scratch/plugins/" && cd "$scratch" || exit 1

run() { # run WHERE OPTION...: out, err and $status
    where=$1
    shift
    status=0
    timeout 120 "$host" --plugins-dir plugins --model "$model" --quiet --output-ids --input-ids 5,6,7 --max-new-tokens 2 \
        --plugin-option "crash_probe.where=$where" "$@" >out 2>err </dev/null || status=$?
}

run nowhere
wanted=$(cat out)
run nowhere --check-finite --trace trace.json
check 'both change no results' "$wanted" "$(cat out)"
check 'an event for each call: the prompt, and one more token' 2 \
    "$(tr '{' '\n' <trace.json | grep -c '"name": *"model.layers.0.mlp"')"
has 'the trace names plugins' '"crash_probe"' trace.json
run nan
check 'NaN without being asked: it runs' 0 "$status"
run nan --check-finite
check 'NaN: the exit status' 6 "$status"
has 'NaN: the module and the place' \
    'model.layers.1.mlp: CrashingMLP of plugin crash_probe: output[0, 3] of [3, 64] is nan; the inputs are finite' err
run nan --check-finite --trace part.json
has 'a run that failed has a trace up to there' '"name"' part.json
run nowhere --trace missing/trace.json
check 'a trace that cannot be written' 5 "$status"
has 'it is named' 'missing/trace.json' err
run nowhere --trace t.json --hidden-states h.safetensors
check 'refused beside recording' 2 "$status"
run nowhere --check-finite --fuse 'model.layers.*.mlp,model.layers.*.mlp'
check 'refused beside --fuse' 2 "$status"
echo "1..$number"
exit "$failed"
