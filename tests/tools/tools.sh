#!/bin/sh
# inspect, verify, bench: what they find, what they print, how they end.
# usage: tools.sh HOST GOLDENS WRONG_SILU ECHO PLUGINS...     PLUGINS are fused_qkv.so and sequential_experts.so
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$2
wrong=$(realpath "$3")
echo=$(realpath "$4")
shift 4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" "$scratch/wrong" "$scratch/nested"
cp "$@" "$scratch/plugins/" && cp "$wrong" "$scratch/wrong/" && cp "$@" "$echo" "$scratch/nested/" && cd "$scratch" || exit 1
llama=$goldens/patched/llama_fused_qkv
moe=$goldens/patched/qwen2_moe_doc_example

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

# verify: both plugins give the bits of the original.
for case in "$goldens"/patched/*/; do
    name=$(basename "$case")
    host verify --model "$case" --plugins-dir plugins --max-new-tokens 4 --json
    check "verify $name: exit status" 0 "$status"
    check "verify $name: nothing on stderr" '' "$(cat err)"
    has "verify $name: passes" '"passed": true' out
    check "verify $name: every difference is 0" '' "$(grep '"largest_difference"' out | grep -v ': 0.0')"
    check "verify $name: every module is compared" '' "$(grep -F '"compared": false' out)"
done
host verify --model "$moe" --plugins-dir plugins --dtype auto --input-ids 1,2,3 --input-ids 4,5 --max-new-tokens 3
check 'verify: a batch in auto' 0 "$status"
has 'verify: text names module and classes' \
    'model.layers.1.self_attn: Qwen2MoeAttention -> FusedQKVAttention by fused_qkv: largest difference 0' out
has 'verify: text tells the logits' 'logits: largest difference 0' out
has 'verify: text tells the positions' 'over 5 positions' out
has 'verify: text tells the ids' 'greedy ids: the same, 3 tokens per sequence' out

# A fault is found and named.
host verify --model "$llama" --plugins-dir wrong --json
check 'verify, wrong: exit status' 6 "$status"
check 'verify, wrong: one line' 1 "$(wc -l <err)"
has 'verify, wrong: names a module' 'mlp.act_fn (WrongSiLU by wrong_silu)' err
has 'verify, wrong: names the original' 'SiLUActivation' err
has 'verify, wrong: as JSON' '"passed": false' out
host verify --model "$llama" --plugins-dir wrong --tolerance 100 --max-new-tokens 0
check 'verify, wrong: a tolerance that allows it' 0 "$status"
host verify --model "$moe" --plugins-dir wrong --max-new-tokens 1 --tolerance 0
check 'verify, wrong: inside experts' 6 "$status"

host plan --model "$llama" --plugins-dir wrong
has 'plan: parameters that no checkpoint has' \
    "  initial    $(grep -o '"num_hidden_layers": *[0-9]*' "$llama/config.json" | tr -dc 0-9) parameters (ones): model.layers.*.mlp.act_fn.gain" out
host plan --model "$llama" --plugins-dir wrong --json
has 'plan, JSON: what they start from' '"initial": "ones"' out

# Modules in modules, groups, and what has no counterpart.
host verify --model "$moe" --plugins-dir nested --max-new-tokens 3 --json
check 'verify, nested: exit status' 0 "$status"
check 'verify, nested: every difference is 0' '' "$(grep '"largest_difference"' out | grep -v ': 0.0')"
has 'verify, nested: no counterpart' 'no module at this path' out
host verify --model "$llama" --plugins-dir nested --max-new-tokens 3
check 'verify, group: exit status' 0 "$status"
has 'verify, group: members alone are not compared' 'EchoNorm by echo: not compared: it is replaced together' out
check 'verify, group: what is above them is, once' 1 "$(grep -c '^model.layers.0: .* largest difference 0 ' out)"
# A model compared with itself would pass, whatever was meant.
host verify --model "$goldens/plain/llama" --plugins-dir plugins --plugins sequential_experts
check 'verify, nothing is replaced: exit status' 6 "$status"
has 'verify, nothing is replaced: says so' 'nothing is replaced' err
has 'verify, nothing is replaced: notes why' 'note: plugin sequential_experts' err
check 'verify, nothing is replaced: no result' '' "$(cat out)"
host verify --model "$goldens/plain/llama" --plugins-dir plugins --plugins sequential_experts --quiet
check 'verify, nothing is replaced: quiet' 1 "$(wc -l <err)"
mkdir empty
host verify --model "$goldens/plain/llama" --plugins-dir empty
check 'verify, no plugins there: exit status' 6 "$status"
has 'verify, no plugins there: a note' 'note: empty: contains no plugins' err
host verify --model "$llama" --attn-implementation sdpa
check 'verify: the usual attention is nothing to compare' 6 "$status"
host verify --model "$llama"
check 'verify: nothing asked for' 2 "$status"
has 'verify: nothing asked for: says what it takes' 'expected --plugins-dir, --fuse' err

# Without plugins: what is fused, and what is chosen by name.
host verify --model "$goldens/plain/llama" --max-new-tokens 2 \
    --fuse 'model.layers.*.post_attention_layernorm,model.layers.*.mlp'
check 'verify: modules fused by the host' 0 "$status"
has 'verify: modules fused by the host: compared' 'greedy ids: the same' out
host verify --model "$goldens/plain/llama" --attn-implementation eager --max-new-tokens 2
check 'verify: an attention of the host' 0 "$status"

# The saved layout is that of the plugin: without it nothing fits.
host save --quiet --model "$llama" --plugins-dir plugins --runtime-layout --output runtime
host verify --model runtime --plugins-dir plugins
check 'verify, the original fails: exit status' 4 "$status"
has 'verify, the original fails: says so' 'the original model, without replacements, fails: ' err

# inspect a file
host inspect plugins/fused_qkv.so
check 'inspect: exit status' 0 "$status"
for text in 'id: fused_qkv' 'version: 1.0.0' 'license: Apache-2.0' 'target: LlamaAttention' 'key: name' \
    'class: LlamaFusedAttention' 'interface: graft.self_attention/1' 'operations: Concatenate(dim=0)' \
    'sources: q_proj.weight, k_proj.weight, v_proj.weight' 'targets: qkv_proj.weight' 'brings: describe'; do
    has "inspect: $text" "$text" out
done
host inspect --json plugins/sequential_experts.so --model "$moe"
for text in '"class": "MoeMLP"' '"operations": "Chunk(dim=1), SplitModulelist(dim=0)"' '"private_classes"' \
    '"first": "model.layers.0.mlp.experts"'; do
    has "inspect JSON: $text" "$text" out
done
host inspect "$echo" --model "$llama"
has 'inspect: a group' 'group: feed_forward' out
has 'inspect: super' 'calls_super: true' out
has 'inspect: a warning of classes elsewhere' 'warning: "RMSNorm$" matches classes that it does not replace in this model' err
has 'inspect: names them' 'Qwen2MoeRMSNorm' err
host inspect "$echo" --quiet
check 'inspect, quiet: no warning' '' "$(cat err)"
host inspect "$llama/config.json"
check 'inspect: no plugin' 3 "$status"
check 'inspect: no plugin, one line' 1 "$(wc -l <err)"

# inspect a class
host inspect Qwen2MoeExperts --model "$moe" --plugins-dir plugins
check 'inspect class: exit status' 0 "$status"
for text in 'interface: graft.experts/1' 'modules: 2' 'path: model.layers.0.mlp.experts' 'name: gate_up_proj' \
    'plugin: sequential_experts' 'class: ModuleListExperts' 'operations: MergeModulelist(dim=0), Concatenate(dim=1)'; do
    has "inspect class: $text" "$text" out
done
host inspect FusedQKVAttention --model "$moe" --plugins-dir plugins --json
has 'inspect class: a child' '"name": "qkv_proj"' out
host inspect LlamaModel --model "$moe"
has 'inspect class: not in this model' 'modules: 0' out
host inspect LlamaAttentio
check 'inspect class: unknown' 2 "$status"
has 'inspect class: a suggestion' 'LlamaAttention' err
host inspect
check 'inspect: nothing' 2 "$status"

# bench
host bench --model "$moe" --plugins-dir plugins --prompt-tokens 8 --new-tokens 3 --repeat 2 --modules --json
check 'bench: exit status' 0 "$status"
for key in threads prompt_tokens new_tokens repeat load_seconds prompt_tokens_per_second generation_tokens_per_second \
    median minimum maximum weights bits_per_weight bytes_per_token bytes_per_step cache_bytes_per_token \
    state_bytes_per_token machine processor read_bandwidth matrix_peak matrix_instructions class sequences \
    cache_bytes_read_per_token read_bytes_per_step operations_per_token bandwidth_share read_share matrix_share modules replaced original_milliseconds \
    original_bytes; do
    has "bench: has $key" "\"$key\":" out
done
check 'bench: numbers are positive' '' "$(grep -E '"(load_seconds|median|minimum|maximum|weights|bits_per_weight|bytes_per_token|cache_bytes_per_token|cache_bytes_read_per_token|read_bytes_per_step|read_bandwidth|bandwidth_share|read_share|matrix_peak|matrix_share|operations_per_token)": (0|0\.0|-.*|null),?$' out)"
has 'bench: a replaced class' '"original_class": "Qwen2MoeExperts"' out
host bench --model "$moe" --prompt-tokens 4 --new-tokens 2 --repeat 1
check 'bench: as text' 0 "$status"
has 'bench: bytes of weights' 'MB read per token' out
has 'bench: bytes of the cache' 'MB read per token on average' out
has 'bench: bytes and bandwidth' 'MB read per token in all: ' out
# 3 tokens after 8: each measurement, which takes long, is looked at by several checks.
measured() { # measured MODEL SEQUENCES: the file with it
    file=measured.$1.$2
    [ -e "$file" ] || "$host" bench --model "$goldens/plain/$1" --prompt-tokens 8 --new-tokens 3 --repeat 1 \
        --sequences "$2" --json >"$file"
    echo "$file"
}
# What weights take: packed ones with their scales, merged adapters once, of experts those chosen.
weights() { # weights MODEL: count, bits of each, bytes read per token
    sed -n 's/^ *"\(weights\|bits_per_weight\|bytes_per_token\)": \([0-9.]*\),$/\2/p' "$(measured "$1" 1)" | tr '\n' ' '
}
check 'bench: bf16, all but an embedding for a token' '37872 16.0 63552 ' "$(weights llama_bf16)"
check 'bench: tied weights count once' '15104 32.0 60544 ' "$(weights llama_tied)"
check 'bench: two of six experts' '212544 32.0 506368 ' "$(weights qwen2_moe)"
# Five tokens of a step share the weights, but each may have its own row of the embedding (96 bytes), and experts;
# no more than sixteen share a forward.
step_bytes() { # step_bytes MODEL SEQUENCES LEAST MOST: whether a step reads so much
    bytes=$(sed -n 's/^ *"bytes_per_step": \([0-9]*\),$/\1/p' "$(measured "$1" "$2")")
    [ "$bytes" -ge "$3" ] && [ "$bytes" -le "$4" ] && echo yes || echo "$bytes bytes"
}
check 'bench: a step of one' yes "$(step_bytes llama_bf16 1 63552 63552)"
check 'bench: a step of five' yes "$(step_bytes llama_bf16 5 63553 $((63552 + 4 * 96)))"
check 'bench: a step of sixty-four' yes "$(step_bytes llama_bf16 64 $((4 * 63552)) $((4 * 63552 + 60 * 96)))"
check 'bench: experts of sixteen' yes "$(step_bytes qwen2_moe 16 $((506368 + 15 * 256 + 1)) $((212544 * 4)))"
# What is read of earlier tokens: the mean of 3 after 8 is 10, for layers with a window of 8 no more than that.
cache_bytes() { # cache_bytes MODEL SEQUENCES: of a token, and what a step reads beside weights
    sed -n 's/^ *"\(bytes_per_step\|cache_bytes_read_per_token\|read_bytes_per_step\)": \([0-9]*\),$/\2/p' \
        "$(measured "$1" "$2")" | paste -sd ' ' | awk '{ print $2, $3 - $1 }'
}
check 'bench: the cache' '1920 1920' "$(cache_bytes llama_bf16 1)"
check 'bench: that of five sequences' '1920 9600' "$(cache_bytes llama_bf16 5)"
check 'bench: that of windows' '1536 1536' "$(cache_bytes mistral_sliding 1)"
check 'bench: that of windows in two of three layers' '3328 3328' "$(cache_bytes qwen2_moe_sliding_alternate 1)"
# Two for each weight, but for those of the last product, which only the last token of a prompt needs.
check 'bench: operations of a token' '"operations_per_token": 51264,' \
    "$(grep -o '"operations_per_token.*' "$(measured llama_bf16 1)")"
# Several sequences, and another measurement to compare with.
bench_small() { host bench --model "$goldens/plain/llama_bf16" --prompt-tokens 4 --new-tokens 3 --repeat 1 "$@"; }
bench_small --sequences 5 --json
check 'bench: sequences' '"sequences": 5,' "$(grep -o '"sequences.*' out)"
cp out measured.json
bench_small --sequences 5 --compare measured.json
check 'bench: compared' 0 "$status"
check 'bench: eight ratios' 8 "$(sed '1,/^compared/d' out | grep -cE '  [0-9.]+ +[0-9.]+ +[0-9.]+  ')"
check 'bench: the same bytes' '1.000' "$(awk '/^bytes per token/ { print $6 }' out)"
has 'bench: speed of one sequence' 'for each sequence' out
bench_small --sequences 4 --compare measured.json
check 'bench: other work: exit status' 2 "$status"
has 'bench: other work' 'measured.json: sequences: the file was measured with 5, this run with 4' err
sed 's/"matrix_peak": .*/"matrix_peak": "fast",/' measured.json >faulty.json
bench_small --sequences 5 --compare faulty.json
check 'bench: a field of another type: exit status' 4 "$status"
has 'bench: a field of another type' 'faulty.json: machine.matrix_peak: expected a number, got a string' err
echo '[]' >faulty.json
bench_small --compare faulty.json
has 'bench: not a measurement' 'expected an object, got an array; is this what bench --json wrote?' err
bench_small --compare absent.json
has 'bench: nothing to compare with' 'absent.json' err
bench_small --compare measured.json --json
check 'bench: a comparison is text' 2 "$status"
bench_small --sequences 65
check 'bench: too many sequences' 2 "$status"
for option in prompt-tokens new-tokens repeat sequences; do
    host bench --model "$moe" --$option 0
    check "bench: no $option" 2 "$status"
done
echo "1..$number"
exit "$failed"
