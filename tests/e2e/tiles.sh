#!/bin/sh
# Prompts in tiles, over the model in plain C (GRAFT_ISA=amx_model): the demo model is as good as with other instructions,
# and gives the same bits whatever the threads and plugins. And what the compiler made of the processor's instructions: a
# processor without them cannot be relied on to find that out. Reports in TAP.
# usage: tiles.sh HOST ROOT PLUGINS LIBRARY SANITIZERS     PLUGINS has the folders of plugins; LIBRARY is libgraft.a
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
root=$(realpath "$2")
plugins=$(realpath "$3")
library=$(realpath "$4")
if [ "$(uname -m)" != x86_64 ]; then
    echo '1..0 # SKIP only x86-64 has tiles'
    exit 0
fi
model=$root/demo/tiny-qwen2-moe
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# Tile instructions of each object, in the order of addresses: c(onfigure), l(oad), m(ultiply), r(elease).
objdump -d --no-show-raw-insn "$library" | awk '
    /file format/ { object = $1 }
    /\tldtilecfg/ { of[object] = of[object] "c" }
    /\ttileload/ { of[object] = of[object] "l" }
    /\ttdpbf16ps/ { of[object] = of[object] "m" }
    /\ttilerelease/ { of[object] = of[object] "r" }
    END { for (object in of) print object, of[object] }' >code
check 'tile instructions are in the kernels and where the peak is measured, nowhere else' \
    'peak_bf16.c.o tiles_attention.c.o tiles_gemv.c.o tiles_product.c.o tiles_transposed.c.o' \
    "$(sed 's/[: ].*//; s/.*tiles_amx.*tiles_/tiles_/; s/.*peak_bf16/peak_bf16/' code | sort | tr '\n' ' ' | sed 's/ $//')"
# A compiler may place the end of a function before its loops.
check 'each configures tiles once and releases them once' 'cr cr cr cr cr' \
    "$(sed 's/.* //; s/[lm]//g; s/^rc$/cr/' code | tr '\n' ' ' | sed 's/ $//')"
if [ "$5" = none ]; then # else checks stand between the instructions
    check 'four loads come before four products' 3 "$(grep -c 'tiles_.* .*llllmmmm' code)"
fi

if ! grep -qw avx512_bf16 /proc/cpuinfo || ! grep -qw avx512vbmi /proc/cpuinfo ||
    ! grep -qw avx512_vnni /proc/cpuinfo; then
    echo "1..$number"
    exit "$failed"
fi

perplexity() { # perplexity ISA
    GRAFT_ISA=$1 "$host" perplexity --quiet --model "$model" --text "$root/tests/data/perplexity/stories.txt" \
        --window 200 --json | sed -n 's/.*"perplexity": \([0-9.]*\).*/\1/p'
}
tiles=$(perplexity amx_model)
pairs=$(perplexity avx512_bf16)
check "perplexity $tiles is that of pairs, $pairs, but for rounding" yes \
    "$(awk -v a="$tiles" -v b="$pairs" 'BEGIN { d = a / b - 1; print (d * d < 1e-6 ? "yes" : "no") }')"

prompt=$(awk 'BEGIN { for (i = 0; i < 90; i++) printf "%s%d", i ? "," : "", (i * 37 + 11) % 1000 }')
logits() { # logits ISA OPTIONS...: a hash of those of the prompt
    isa=$1
    shift
    GRAFT_ISA=$isa "$host" --quiet --model "$model" --input-ids "$prompt" --max-new-tokens 1 --output-ids \
        --logits out.safetensors "$@" >/dev/null && sha256sum out.safetensors
}
once=$(logits amx_model --threads 1)
check 'logits are not those of pairs: tiles were used' no "$([ "$once" = "$(logits avx512_bf16)" ] && echo yes || echo no)"
for threads in 2 3; do
    check "$threads threads: the same bits" "$once" "$(logits amx_model --threads "$threads")"
done
for plugin in fused_qkv sequential_experts; do
    check "$plugin: the same bits" "$once" "$(logits amx_model --plugins-dir "$plugins/$plugin")"
done

echo "1..$number"
exit "$failed"
