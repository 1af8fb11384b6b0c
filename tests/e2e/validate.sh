#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: validate.sh HOST SOURCE PLUGINS GOLDENS EVERY SHIPPED...: `host validate` finds nothing in the plugins that ship,
# and in each plugin with a fault the one that it has. SOURCE is tests/plugins, PLUGINS where they were built, GOLDENS
# where golden models were; each EVERY-th of the plugins with a fault is tried. Reports in TAP.
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
source=$2
plugins=$3
goldens=$4
every=$5
shift 5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$host" validate --list >"$scratch/list"
check 'there are at least 40 checks' yes "$([ "$(wc -l <"$scratch/list")" -ge 40 ] && echo yes || echo no)"
check 'each has a name of its own' "" "$(awk '{ print $1 }' "$scratch/list" | sort | uniq -d)"

first_found() { # the check that fails first: what is wrong with a plugin that no host loads
    sed -n 's/^not ok [0-9]* - \([a-z_.]*\): .*/\1/p' "$scratch/out" | head -n 1 >>"$scratch/found"
}

count=0
next() { # whether the next plugin is tried
    count=$((count + 1))
    [ $((count % every)) -eq 0 ]
}

validate_faulty() { # NAME: the check made for it, on tiny models or on the checkpoint that it names
    only=$(cat "$source/$1/check.txt")
    if [ -e "$source/$1/model.txt" ]; then
        timeout 300 "$host" validate "$plugins/$1/$1.so" --quiet --only "$only" \
            --model "$goldens/$(cat "$source/$1/model.txt")"
    else
        timeout 300 "$host" validate "$plugins/$1/$1.so" --quiet --only "$only" --fuzz 6
    fi
}

# Valid plugins that misbehave: the check that was made for it fails.
for file in "$source"/*/check.txt; do
    next || continue
    name=$(basename "$(dirname "$file")")
    status=0
    validate_faulty "$name" >"$scratch/out" 2>"$scratch/err" || status=$?
    check "$name: exit status" 6 "$status"
    has "$name: $(cat "$file") finds it" "- $(cat "$file"):" "$scratch/out"
    cat "$file" >>"$scratch/found"
done

# Those that no host loads: whatever is wrong, some check says so that needs no model.
for file in "$source"/*/expected.txt; do
    name=$(basename "$(dirname "$file")")
    if grep -q '^error' "$file" && next; then
        status=0
        timeout 300 "$host" validate "$plugins/$name/$name.so" --quiet --only file --only descriptor \
            --only life.starts >"$scratch/out" 2>"$scratch/err" || status=$?
        check "$name: is found" 6 "$status"
        first_found
    fi
done
for name in trial_abort trial_exit trial_crash trial_child trial_closes; do
    status=0
    timeout 300 "$host" validate "$plugins/$name/$name.so" --quiet --only file >"$scratch/out" 2>"$scratch/err" ||
        status=$?
    check "$name: exit status" 6 "$status"
    has "$name: file.harmless finds it" '- file.harmless:' "$scratch/out"
    has "$name: names the plugin" "# $plugins/$name/$name.so: file.harmless: when it was opened, it " "$scratch/out"
    first_found
done
cut -s -d '|' -f 2 "$source/../mistakes/mistakes.cases" >>"$scratch/found"
[ "$every" -gt 1 ] || check 'each check has a plugin whose fault it is made for' '' \
    "$(awk 'NR == FNR { found[$1] = 1; next } !($1 in found) { print $1 }' "$scratch/found" "$scratch/list")"

# A disk that is full is no fault of the plugin's: there is no verdict, and nothing is left.
mkdir "$scratch/temporary"
{
    (
        ulimit -f 1
        TMPDIR=$scratch/temporary exec "$host" validate "$1"
    ) 2>&1
    echo "exit status $?"
} | cat >"$scratch/out"
check 'no room for models: exit status' 'exit status 5' "$(tail -n 1 "$scratch/out")"
has 'no room for models: says so' 'build.describes could not be made: ' "$scratch/out"
has 'no room for models: and why' ': cannot be written: File too large' "$scratch/out"
check 'no room for models: no check fails' 0 "$(grep -c '^not ok' "$scratch/out")"
check 'no room for models: nothing is left' '' "$(ls "$scratch/temporary")"

for plugin; do
    if [ "${plugin%.family.json}" != "$plugin" ]; then # a family in a file
        timeout 300 "$host" validate "$plugin" >"$scratch/out" 2>"$scratch/err"
        check "$(basename "$plugin"): passes" 0 $?
        continue
    fi
    status=0
    timeout 300 "$host" validate "$plugin" --fuzz 3 >"$scratch/out" 2>"$scratch/err" || status=$?
    check "$(basename "$plugin"): passes" "0 $(wc -l <"$scratch/list" | sed 's/^/1../; s/ //g')" \
        "$status $(grep -v -e '^ok ' -e '^# not made with ' -e ' asks config.json for ' -e '^# [0-9]* passed' "$scratch/out")"
    # What is not checked is not passed.
    case $plugin in
    */quantized_linear.so)
        has 'quantized_linear: what is lossy is not compared' 'llama: it is lossy' "$scratch/out"
        ;;
    */lora.so | */low_rank_adapter*.so)
        check "$(basename "$plugin"): modules of adapters are called" '' \
            "$(grep '^ok.* - \(build\|call\|sequ\|mem\).*SKIP' "$scratch/out")"
        ;;
    */fused_qkv.so)
        "$host" validate "$plugin" --thorough --quiet --only memory --model "$goldens/plain/llama_bias" \
            >"$scratch/out" 2>"$scratch/err"
        check 'thorough' 0 $?
        ;;
    esac
done

# Classes for quantized checkpoints do nothing in tiny models: with a checkpoint nothing that runs them is skipped, but
# calls where all of a plugin's classes have the forward of the host's.
inherited='call.bounds call.kept call.again call.inputs call.writes_all call.scratch call.unknown_feature '
on_checkpoint() { # MODEL CALLS [OPTION...]: $plugin on it; CALLS are the checks of calls that are skipped
    model=$1 calls=$2
    shift 2
    status=0
    timeout 300 "$host" validate "$plugin" --model "$goldens/quantized/$model" "$@" >"$scratch/out" 2>"$scratch/err" ||
        status=$?
    check "$model: exit status" 0 "$status"
    check "$model: skipped are" "${calls}call.bfloat16 forward.agrees forward.choices forward.larger fuzz.sizes" \
        "$(sed -n 's/^ok [0-9]* - \(\(build\|conv\|life.shared\|forw\|call\|sequ\|mem\|fuzz\)[a-z0-9_.]*\): .* # SKIP.*/\1/p' \
            "$scratch/out" | paste -sd ' ')"
    has "$model: why" "# SKIP $model: there is no original: " "$scratch/out"
    check "$model: nothing passes in part" '' "$(grep '^#' "$scratch/out" | grep -v -e ' asks config.json for ' -e '^# [0-9]* passed')"
}
sums() {
    find "$goldens/quantized" -type f -exec cksum {} + | sort
}
sums >"$scratch/sums"
for plugin; do
    calls=
    case $plugin in
    */gptq.so) model=gptq_int4_desc_act_llama calls=$inherited ;;
    */awq.so) model=awq_int4_qwen2_moe ;;
    */compressed_tensors.so) model=ct_mixed_qwen3 calls=$inherited ;;
    */fp8.so) model=fp8_block_qwen3_moe ;;
    */bitsandbytes.so) model=bnb_nf4_mixtral ;;
    */modelopt.so) model=modelopt_nvfp4_qwen3_moe ;;
    */hqq.so) model=hqq_mixed_qwen2 calls=$inherited ;;
    */quanto.so) model=quanto_int2_qwen2 calls=$inherited ;;
    */bitlinear.so) model=bitnet_bias_norm_qwen2 ;;
    *) model= ;;
    esac
    [ -z "$model" ] || on_checkpoint "$model" "$calls"
    case $plugin in
    */mxfp4.so) on_checkpoint mxfp4_gpt_oss "$inherited" ;;
    */gptq.so) on_checkpoint gptq_int4_asym_qwen3 "$inherited" --plugins-dir "$(dirname "$plugin")" ;; # finds the plugin itself, too
    */fused_qkv.so)
        check 'a model that is not quantized is compared with its original' 'ok' \
            "$("$host" validate "$plugin" --model "$goldens/plain/llama" 2>&1 | sed -n 's/^\(.*\) [0-9]* - forward.agrees: [^#]*$/\1/p')"
        ;;
    esac
done
check 'checkpoints are only read' "$(cat "$scratch/sums")" "$(sums)"
faulty=$plugins/does_crash/does_crash.so
names_of() { # the checks made with these options
    "$host" validate "$faulty" "$@" 2>"$scratch/err" |
        sed -n 's/^\(not \)\{0,1\}ok [0-9]* - \([a-z_.]*\):.*/\2/p' | paste -sd ' '
}
check 'a check alone: with the one that makes its models' 'build.describes call.bounds' "$(names_of --only call.bounds)"
check 'one that needs none' 'descriptor.entry' "$(names_of --only descriptor.entry)"
check 'a group' "$(awk '/^build/ { print $1 }' "$scratch/list" | paste -sd ' ')" "$(names_of --only build)"
check 'several, in the order of all' 'file.exports options.defaults' \
    "$(names_of --only options.defaults --only file.exports)"
"$host" validate "$faulty" --only call --only cal >"$scratch/out" 2>"$scratch/err"
check 'a name that there is not: exit status' "2 0 1" "$? $(wc -l <"$scratch/out") $(wc -l <"$scratch/err")"
has 'it is named' 'graft: cal: no check' "$scratch/err"
faulty=$plugins/unpacks_partly/unpacks_partly.so
"$host" validate "$faulty" --quiet >"$scratch/out" 2>"$scratch/err"
check 'a fault in what only checkpoints have is not found without one' 0 $?
has 'but nobody takes that for a success' \
    ' skipped: it has no effect on any of the tiny models; --model names one that meets its conditions' "$scratch/out"
"$host" validate "$faulty" --model /nowhere >"$scratch/out" 2>"$scratch/err"
check 'a model that is not there: exit status' "4 0 1" "$? $(wc -l <"$scratch/out") $(wc -l <"$scratch/err")"
has 'it is named' '/nowhere: no such directory' "$scratch/err"
"$host" validate "$faulty" --plugins-dir /nowhere --model "$goldens/plain/llama" >"$scratch/out" 2>"$scratch/err"
check 'a directory of plugins that is not there: exit status' "3 0 1" "$? $(wc -l <"$scratch/out") $(wc -l <"$scratch/err")"
"$host" validate "$faulty" --plugins-dir "$plugins" >"$scratch/out" 2>"$scratch/err"
check 'plugins beside it without a model: exit status' 2 $?
"$host" validate "$faulty" --model "$goldens/plain/llama" --quiet >"$scratch/out" 2>"$scratch/err"
check 'a model in which it does nothing: exit status' 6 $?
has 'it says so' 'build.describes: llama: it has no effect on this model' "$scratch/out"
"$host" validate "$plugins/brings_unknown/brings_unknown.so" >"$scratch/out" 2>"$scratch/err"
check 'models that cannot be made: exit status' 0 $?
has 'they are skipped, and why' \
    '# SKIP it has no effect on any of the tiny models; winged: num_wings: ' "$scratch/out"
check 'nothing is computed' '' "$(grep '^ok.* - \(call\|forward\|sequence\)' "$scratch/out" | grep -v SKIP)"
"$host" validate "$plugins/does_threads/does_threads.so" >"$scratch/out" 2>"$scratch/err"
has 'a part that is not there is skipped' 'options have valid names, kinds, defaults and choices # SKIP it has none' "$scratch/out"

"$host" validate --quiet "$plugins/pattern_bad/pattern_bad.so" >"$scratch/out" 2>"$scratch/err"
check 'one fault fails many checks' yes "$([ "$(grep -c '^not ok' "$scratch/out")" -gt 5 ] && echo yes || echo no)"
check 'each cause is said once' '' "$(sed -n 's/^# [^ ]*: [a-z_.]*: //p' "$scratch/out" | grep -v '^the same as ' | sort | uniq -d)"
check 'and named after that' yes "$([ "$(grep -c ': the same as descriptor\.' "$scratch/out")" -gt 3 ] && echo yes)"
"$host" validate --quiet "$plugins/does_otherwise/does_otherwise.so" >"$scratch/out" 2>"$scratch/err"
check 'where the tiny models lie is nothing to tell' '' "$(grep 'graft-validate-' "$scratch/out")"

# A family file has no code. What it describes is checked as what a plugin does. Norms of heads with a weight each give
# another result for a row that is given alone, which is not a fault.
family=$scratch/acme.family.json
cat >"$family" <<'EOF'
{"model_type": "acme", "like": "llama", "prefix": "Acme", "aliases": {"hidden_size": "n_embd"},
 "decoder": {"attention": {"head_norm": "each"}}}
EOF
"$host" validate "$family" >"$scratch/out" 2>"$scratch/err"
check 'a family file: exit status' 0 $?
check 'it is found sound, and a miniature of it is made and run' 'ok ok ok ok' \
    "$(sed -n 's/^\(ok\) [0-9]* - \(file.object\|build.describes\|conversion.back\|forward.repeats\): [^#]*$/\1/p' "$scratch/out" | paste -sd ' ')"
has 'what is of code is skipped' 'opens, with all symbols and libraries that it needs # SKIP a family file has no code' "$scratch/out"
sed 's/"n_embd"/7/' "$family" >"$scratch/bad.family.json"
"$host" validate --quiet "$scratch/bad.family.json" >"$scratch/out" 2>"$scratch/err"
check 'one with a wrong value: exit status' 6 $?
has 'it is named' "$scratch/bad.family.json: file.object: aliases.hidden_size: " "$scratch/out"
check 'once' 1 "$(grep -c aliases "$scratch/out")"
"$host" validate --json "$plugins/does_partly/does_partly.so" >"$scratch/json" 2>"$scratch/err"
check 'json: exit status' 6 $?
has 'json: the check' '"name": "call.writes_all"' "$scratch/json"
has 'json: its outcome' '"outcome": "failed"' "$scratch/json"
has 'the error counts' 'checks failed' "$scratch/err"
"$host" validate 2>"$scratch/err"
check 'without a file: exit status' 2 $?
"$host" validate /nowhere/x.so --quiet >"$scratch/out" 2>"$scratch/err"
check 'a file that is not there: exit status' 6 $?
# The models are in memory or on a disk: nothing of them is left, however the process ends.
mkdir "$scratch/tmp"
begin() { # begin ARGUMENTS...: in the background, until there are models; $pid
    TMPDIR=$scratch/tmp "$host" validate --quiet "$plugins/good/good.so" "$@" >"$scratch/out" 2>"$scratch/err" &
    pid=$!
    while kill -0 "$pid" 2>/dev/null && [ -z "$(find "$scratch/tmp" -name config.json 2>/dev/null)" ]; do
        sleep 0.05
    done
}
emptied() { # emptied: within a minute
    tries=0
    while [ -n "$(ls "$scratch/tmp")" ] && [ "$tries" -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    ls "$scratch/tmp"
}
for signal in INT TERM HUP KILL; do
    begin --fuzz 300
    kill -s "$signal" "$pid"
    wait "$pid" 2>/dev/null
    check "ended by SIG$signal: nothing is left" '' "$(emptied)"
done
TMPDIR=$scratch/tmp "$host" validate "$plugins/good/good.so" 2>/dev/null | head -n 1 >/dev/null
check 'a reader that goes: nothing is left' '' "$(emptied)"
begin --only fuzz --fuzz $((320 / every))
most=0
while kill -0 "$pid" 2>/dev/null; do
    now=$(find "$scratch/tmp" -name config.json 2>/dev/null | wc -l)
    [ "$now" -gt "$most" ] && most=$now
    sleep 0.05
done
check 'hundreds of models: they go as they come' yes "$([ "$most" -lt 60 ] && echo yes || echo "$most")"
# One that hangs is waited for once. Its processor time counts, and so does the time in which it sleeps.
"$host" validate --quiet "$plugins/trial_hang/trial_hang.so" --only file.harmless >"$scratch/out" 2>"$scratch/err"
has 'one that hangs: the cause' 'did not come back: it slept for 10 seconds' "$scratch/out"

echo "1..$number"
exit "$failed"
