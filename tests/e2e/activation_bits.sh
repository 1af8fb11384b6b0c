#!/bin/sh
# Quantized weights with activations of prompts rounded to 8 bits: near what they give with 16, the same whatever the
# number of threads, and out of the way of --dtype float32 and of a few tokens. Reports in TAP.
# usage: activation_bits.sh HOST PLUGINS_FOLDER GOLDENS
set -u
. "$(dirname "$0")/../tap.sh"
host=$1 plugins=$2 goldens=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
many=5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
few=5,6,7,8,9

logits() { # logits FILE IDS OPTIONS: on stdout, too, a number for each line
    file=$scratch/$1 ids=$2
    shift 2
    timeout 120 "$host" --quiet --plugins-dir "$plugins" --plugins-dir "$plugins/families" --input-ids "$ids" \
        --max-new-tokens 1 --output-ids --logits "$file" "$@" >"$scratch/ids" 2>"$scratch/err" || cat "$scratch/err"
    od -An -v -w4 -tf4 -j $((8 + $(od -An -tu8 -N8 "$file"))) "$file"
}

off() { # off FILE FILE: the largest difference, as a share of the largest number, in thousandths
    paste "$1" "$2" | awk '{ d = $1 - $2; d = d < 0 ? -d : d; s = $1 < 0 ? -$1 : $1
        most = s > most ? s : most; far = d > far ? d : far }
        END { printf "%.2f\n", (most > 0 ? 1000 * far / most : 1000) }'
}

# Which builds have loops for bytes, by what codes have of bits; the others round nothing.
rounds() { # rounds ISA CODES: yes or no; integers of 4 or 8 bits, or float4
    case $1-$2 in
    avx2-4 | avx512-4 | *_vnni-* | avx512_bf16-*) echo yes ;;
    *) echo no ;;
    esac
}

try_isa() { # try_isa WHAT ID CODES OPTIONS...
    what=$1 id=$2 codes=$3
    shift 3
    set -- "$@" --plugin-option
    logits 16 "$many" "$@" "$id.activation_bits=16" >"$scratch/of16"
    logits 8 "$many" "$@" "$id.activation_bits=8" --threads 1 >"$scratch/of8"
    off=$(off "$scratch/of16" "$scratch/of8")
    echo "# $what: off by $off thousandths"
    check "$what: rounds" "$(rounds "$isa" "$codes")" "$(awk -v off="$off" 'BEGIN { print (off > 0 ? "yes" : "no") }')"
    check "$what: not far" yes "$(awk -v off="$off" 'BEGIN { print (off < 50 ? "yes" : "no") }')"
    logits threads "$many" "$@" "$id.activation_bits=8" --threads 3 >/dev/null
    check "$what: threads" yes "$(cmp -s "$scratch/8" "$scratch/threads" && echo yes)"
    logits 16 "$few" "$@" "$id.activation_bits=16" >/dev/null
    logits 8 "$few" "$@" "$id.activation_bits=8" >/dev/null
    check "$what: few tokens" yes "$(cmp -s "$scratch/8" "$scratch/16" && echo yes)"
    logits 16 "$many" "$@" "$id.activation_bits=16" --dtype float32 >/dev/null
    logits 8 "$many" "$@" "$id.activation_bits=8" --dtype float32 >/dev/null
    check "$what: float32" yes "$(cmp -s "$scratch/8" "$scratch/16" && echo yes)"
}

try() { # try PLUGIN CODES CASE OPTIONS...
    id=$1 codes=$2 case=$3
    shift 3
    for isa in $isas; do
        flag=$(echo "$isa" | sed 's/512$/512f/; s/avx2_/avx_/')
        if grep -qw "$flag" /proc/cpuinfo; then
            export GRAFT_ISA="$isa"
            try_isa "$case, $isa${*:+, $*}" "$id" "$codes" --model "$goldens/quantized/$case" "$@"
            unset GRAFT_ISA
        else
            number=$((number + 1))
            echo "ok $number # SKIP $case: this processor has no $isa"
        fi
    done
}

isas='avx2 avx512 avx512_bf16'
try gptq 4 gptq_int4_asym_qwen3
try gptq 8 gptq_int8_qwen2
try awq 4 awq_int4_llama
try compressed_tensors 4 ct_w4a16_asym_qwen3
isas="$isas avx2_vnni avx512_vnni"
try mxfp4 float4 mxfp4_gpt_oss
try compressed_tensors float4 ct_mxfp4_llama
try compressed_tensors 8 ct_w8a16_qwen2
try compressed_tensors 8 ct_w8a8_int8_llama
echo "1..$number"
exit "$failed"
