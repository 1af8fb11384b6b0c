#!/bin/sh
# What a process says last when a plugin crashes, and how it ends. Reports in TAP.
# usage: crash.sh HOST MODEL CRASH_PROBE     CRASH_PROBE is tests/e2e/crash_probe.c
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$3" "$scratch/plugins/" && cp "$3" "$scratch/probe.so" && cd "$scratch" || exit 1
# shellcheck disable=SC3045 # where there is none, core files are just left
ulimit -S -c 0 2>/dev/null || :

crash() { # crash WHERE HOW [OPTION...]: err and $status. What the shell says of a signal is not in err.
    status=0 where=$1 how=$2
    shift 2
    # shellcheck disable=SC2016 # the inner shell's
    sh -c 'exec timeout 120 "$@" >out 2>err </dev/null' sh "$host" --plugins-dir plugins --model "$model" --quiet \
        --input-ids 5,6,7 --max-new-tokens 2 --threads 2 --plugin-option "crash_probe.where=$where" \
        --plugin-option "crash_probe.how=$how" "$@" 2>/dev/null || status=$?
}

says() { # says WHAT STATUS LINE: the last line on standard error, and the signal that ended the process
    check "$1: the last line" "$3" "$(tail -n 1 err)"
    check "$1: the signal" "$2" "$status"
}

of='(CrashingMLP of plugin crash_probe, plugins/crash_probe.so)'
mlp=model.layers.1.mlp
segv=139 abort=134 ill=132 bus=135 fpe=136
for where in forward worker after; do
    crash "$where" segv
    says "$where" "$segv" "${host##*/}: SIGSEGV in forward of $mlp $of"
done
# Whichever thread it is, and where both crash, as they do the same.
for where in worker workers; do
    lost=0
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        crash "$where" segv
        [ "$(cat err)" = "${host##*/}: SIGSEGV in forward of $mlp $of" ] || lost=$((lost + 1))
    done
    check "$where: one line, each time" 0 "$lost"
done
for where in describe create destroy; do
    crash "$where" segv
    says "$where" "$segv" "${host##*/}: SIGSEGV in $where of $mlp $of"
done
for where in init deinit; do
    crash "$where" segv
    says "$where" "$segv" "${host##*/}: SIGSEGV in $where (plugin crash_probe, plugins/crash_probe.so)"
done
for where in is_fusable make_fused_class make_transforms; do
    for how in segv exit; do
        crash "$where" "$how" --fusion crashing
        [ "$how" = segv ] && what=SIGSEGV ends=$segv || what='exit() was called' ends=3
        says "$where, $how" "$ends" "${host##*/}: $what in $where of $mlp (crashing of plugin crash_probe, plugins/crash_probe.so)"
    done
done
crash shape exit --quantize crash
has 'a format that is asked for shapes' \
    "${host##*/}: exit() was called in shape of model.layers.0.self_attn.q_proj.weight (crash of plugin crash_probe, " err
crash get_extension exit
says 'an extension that is asked for' 3 \
    "${host##*/}: exit() was called in get_extension (plugin crash_probe, plugins/crash_probe.so)"
crash forward abort
says 'abort' "$abort" "${host##*/}: SIGABRT in forward of $mlp $of"
crash forward illegal
says 'a signal that was sent' "$ill" "${host##*/}: SIGILL in forward of $mlp $of"
crash forward bus
says 'a page that is gone' "$bus" "${host##*/}: SIGBUS in forward of $mlp $of"
crash forward division
says 'a division by zero' "$fpe" "${host##*/}: SIGFPE in forward of $mlp $of"
crash forward stack
says 'a stack that overflows' "$segv" "${host##*/}: SIGSEGV in forward of $mlp $of"
# Files that are overwritten while they are in use. The plugin's own code goes with its file, wherever it is.
cp -r "$model" own && chmod -R u+w own
overwrite() { # overwrite FILE WHERE: err and $status
    cp probe.so plugins/crash_probe.so
    cp "$model/model.safetensors" own/
    # shellcheck disable=SC2016 # the inner shell's
    sh -c 'exec timeout 120 "$@" >out 2>err </dev/null' sh "$host" --plugins-dir plugins --model own --quiet \
        --input-ids 5,6,7 --max-new-tokens 2 --threads 2 --plugin-option "crash_probe.where=$2" \
        --plugin-option crash_probe.how=overwrite --plugin-option "crash_probe.file=$1" 2>/dev/null || status=$?
    cp probe.so plugins/crash_probe.so
}
for where in forward create; do
    status=0
    overwrite plugins/crash_probe.so "$where"
    says "its own file, in $where" "$bus" "${host##*/}: SIGBUS in $where of $mlp: $scratch/plugins/crash_probe.so was overwritten or cut while it was in use"
done
status=0
overwrite own/model.safetensors forward
check 'the weights: the signal' "$bus" "$status"
check 'the weights: the last line names the file' 1 \
    "$(tail -n 1 err | grep -c "^${host##*/}: SIGBUS in .*: $scratch/own/model.safetensors was overwritten or cut while it was in use\$")"
# Ending is not success.
for where in describe create forward after destroy; do
    crash "$where" exit
    [ "$where" = after ] && where=forward
    says "exit in $where" 3 "${host##*/}: exit() was called in $where of $mlp $of"
done
for where in init deinit; do
    crash "$where" exit
    says "exit in $where" 3 "${host##*/}: exit() was called in $where (plugin crash_probe, plugins/crash_probe.so)"
done
# What a plugin changes outside a forward is put back; in a forward it is an error, whichever thread it is.
crash nowhere segv
before=$(cat out)
for where in init describe create; do
    crash "$where" rounding
    check "rounding changed in $where: the status" 0 "$status"
    check "rounding changed in $where: the text" "$before" "$(cat out)"
done
for where in forward after worker workers; do
    crash "$where" rounding
    check "rounding changed in $where: the status" 3 "$status"
    check "rounding changed in $where: the line" \
        "${host##*/}: $mlp: forward of CrashingMLP of plugin crash_probe changed the floating-point environment: another rounding mode; functions of plugins leave it as they find it (graft/abi.h)" \
        "$(tail -n 1 err)"
done
crash nowhere segv
check 'no crash: nothing is said' 0 "$(wc -c <err | tr -d ' ')"
check 'no crash: the status' 0 "$status"

# The core is that of the crash, not of what we do about it.
# shellcheck disable=SC3045 # where there is none, there is no core
if command -v gdb >/dev/null && [ "$(cat /proc/sys/kernel/core_pattern 2>/dev/null)" = core ] &&
    (ulimit -S -c unlimited) 2>/dev/null; then
    (ulimit -S -c unlimited && crash forward segv)
    gdb -q -batch -ex 'backtrace 2' "$host" core* >trace 2>&1
    check 'a core: it ends where the plugin crashed' 'crash (' "$(grep '^#0 ' trace | head -n 1 | grep -o 'crash (')"
else
    number=$((number + 1))
    echo "ok $number # SKIP a core: there is no gdb, or cores go elsewhere"
fi
echo "1..$number"
exit "$failed"
