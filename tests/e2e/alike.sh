#!/bin/sh
# Modules that are alike are described once, and yet each is what it would be alone: whatever a rule, a description or a
# checkpoint says of one expert of one layer holds there and nowhere else. Reports in TAP.
# usage: alike.sh HOST MODEL SEQUENTIAL PROBES...     MODEL is a qwen3_moe checkpoint of two layers with six experts
# each, SEQUENTIAL is sequential_experts.so, PROBES are those of expert_probe.c
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"
. "$here/recipe.sh"
host=$(realpath "$1")
model=$(realpath "$2")
sequential=$(realpath "$3")
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins"
cp "$@" "$scratch/plugins/"
cd "$scratch" || exit 1
chosen=model.layers.1.mlp.experts.2

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 60 "$host" "$@" >out 2>err </dev/null || status=$?
}

only() { # only PROBES...: beside sequential_experts
    rm -rf some
    mkdir some
    cp "$sequential" some/
    for probe; do
        cp "plugins/expert_$probe.so" some/
    done
}

extras() { # the parameters that probes add, of a plan's JSON in out
    sed -n 's/.*"name": "\([^"]*\.extra[^"]*\)".*/\1/p' out
}

planned() { # planned OPTIONS...: as JSON
    host plan --json --model model --plugins-dir some "$@"
}

copy() {
    rm -rf model
    mkdir model
    cp "$model/config.json" "$model/model.safetensors" model/
}
copy
chmod +w model/*

only
planned
check 'experts are modules' 12 "$(grep -c '"class": "MoeMLP"' out)"
sed -n 's/.*"path": "\([^"]*\)".*/\1/p' out >paths
check 'each path is there once' '' "$(sort paths | uniq -d)"
check 'with those of the last expert' 5 "$(grep -c '^model\.layers\.1\.mlp\.experts\.5' paths)"
check 'each parameter takes the tensor of its own name' 36 "$(tr -d ' \n' <out | sed 's/},{/\n/g' |
    grep -c '"name":"\(model\.layers\.[01]\.mlp\.experts\.[0-5]\.[a-z]*_proj\.weight\)".*"sources":\["\1"\]')"
host save --quiet --model model --plugins-dir some --output whole
check 'saved as it was' same "$(cmp model/model.safetensors whole/model.safetensors && echo same)"

# Rules and descriptions that look at one module.
for probe in at asking; do
    only "$probe"
    planned
    check "$probe: the one module" "$chosen.up_proj.extra" "$(extras)"
    check "$probe: the modules are the same" '' "$(sed -n 's/.*"path": "\([^"]*\)".*/\1/p' out | diff - paths)"
    host verify --model model --plugins-dir some --input-ids 1,2,3,4 --max-new-tokens 3 --tolerance 0
    check "$probe: computes the same" 0 "$status"
done
only patched
cat >patch.json <<'JSON'
{"classes": {"Linear": {"class": "ProbeLinear", "module_path": "layers\\.1\\..*\\.experts\\.2\\.up_proj"}}}
JSON
planned --patch patch.json
check 'patch file: the one module' "$chosen.up_proj.extra" "$(extras)"

# A class that says that it is the same anywhere is described once for the same arguments, and others each time.
only counting
planned
check 'counting: gate and up are alike, down is not' 2 "$(extras | grep experts | sed 's/.*\.//' | sort -u | wc -l)"
check 'counting: each Linear has it' 36 "$(extras | grep -c experts)"

# One tensor of one expert: missing, in which the rule sees a condition that is met; of another shape; of Mixtral's name.
header "s/$chosen\\.up_proj\\.weight/$chosen.up_proj.lost/"
only without
planned
check 'without: the one module' "$chosen.up_proj.extra" "$(extras)"
only
host run --quiet --model model --plugins-dir some --input-ids 1,2 --max-new-tokens 1
check 'a missing tensor: exit status' 4 "$status"
has 'a missing tensor: its name' "$chosen.up_proj.weight: missing" err
planned
check 'a missing tensor: no other' "$chosen.up_proj.weight" "$(sed -n '/"missing": \[/,/\]/s/^ *"\(model[^"]*\)".*/\1/p' out)"

copy
chmod +w model/*
header "s/\\(\"$chosen\\.up_proj\\.weight\"[^}]*\"shape\": *\\[\\)\\([0-9]*\\), *\\([0-9]*\\)\\]/\\1\\3,\\2]/"
host run --quiet --model model --plugins-dir some --input-ids 1,2 --max-new-tokens 1
check 'another shape: exit status' 4 "$status"
has 'another shape: of which tensor' "$chosen.up_proj.weight" err
has 'another shape: which one is expected' '[8, 24]' err

copy
chmod +w model/*
host run --quiet --model model --plugins-dir some --input-ids 1,2,3 --max-new-tokens 4 --output-ids
cp out wanted
header "s/$chosen\\.gate_proj/$chosen.w1/;s/$chosen\\.up_proj/$chosen.w3/;s/$chosen\\.down_proj/$chosen.w2/"
host run --quiet --model model --plugins-dir some --input-ids 1,2,3 --max-new-tokens 4 --output-ids
check 'one expert under other names: runs' 0 "$status"
check 'one expert under other names: the same ids' "$(cat wanted)" "$(cat out)"
only asking
planned
check 'one expert under other names: known by both' "$chosen.gate_proj.extra_w1 $chosen.up_proj.extra" \
    "$(extras | tr '\n' ' ' | sed 's/ $//')"
echo "1..$number"
exit "$failed"
