#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: plugin_calls.sh SOURCE: whether the host says what runs (base/crash_context.h) whenever it calls a function of a
# plugin's. Else a crash or an `exit` there has no name, and what it does to the floating-point environment stays.
set -eu
. "$1/tests/tap.sh"

# Functions that plugins bring, but for `forward`: modules' are in struct graft_crash_context, and the loops around them look at the
# environment. Folders that call functions of the host's own by such names do not call plugins'.
slots='describe|create|destroy|init|deinit|get_extension|infer|apply|reverse|shape|quantize|is_fusable|make_fused_class'
slots="$slots|make_transforms|ignores|start|stop|process|accept|fork"

# What is called further than three lines after the beginning of a task, or after none.
bare_calls() { # bare_calls FILE...
    awk -v slots="(->|[.])($slots)[(]|[^_a-z]entry[(]" '
        FNR == 1 || /^}/ { began = -9 }
        /graft_crash_context_begin[(]|= begin[(]|[(]item, before,/ { began = FNR }
        $0 ~ slots && !/graft_host_get[(][)]->/ && FNR - began > 3 { print FILENAME ":" FNR ": " $0 }' "$@"
}

# The child of a trial is there to be harmed (plugin/trial_child.c).
# shellcheck disable=SC2046 # one word a file
check "functions of plugins are called as tasks" "" "$(bare_calls $(find "$1/host/bind" "$1/host/chains" "$1/host/generate" \
    "$1/host/library" "$1/host/model" "$1/host/plan" "$1/host/plugin" "$1/host/registry" "$1/host/save" "$1/host/value" \
    -name '*.c' ! -name trial_child.c))"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/fault.c" <<'C'
static void good(void) {
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    family->is_fusable(family);
    graft_crash_context_end(before);
}
static void bad(void) {
    family->make_transforms(family);
}
C
check "a call outside a task is found" "$scratch/fault.c:7:     family->make_transforms(family);" \
    "$(bare_calls "$scratch/fault.c")"
echo "1..$number"
exit "$failed"
