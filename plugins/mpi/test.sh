#!/bin/sh
# Processes that were started otherwise than rank 0 are told apart; one that fails ends all; what mpirun binds is noticed.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS TEST_CLAIM
set -eu
host=$1 plugins=$2 goldens=$3 test_claim=$4
scratch=$(mktemp -d)
busy=''
clean_up() {
    # shellcheck disable=SC2086 # numbers
    [ -z "$busy" ] || kill $busy 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
# shellcheck source=ranks.sh
. "$(dirname "$0")/ranks.sh"
model=$goldens/llama

# They agree on options, plugins, config.json, and what becomes of the tensors.
ask="--parallel mpi --plugins mpi,fused_qkv --input-ids 5,6,7 --output-ids --max-new-tokens 5 --quiet"
one="$host --plugins-dir $plugins $ask"
unlike() { # unlike WORDS COMMAND...: two ranks, of which rank 1 runs the command
    words=$1
    shift
    # shellcheck disable=SC2086 # words
    refused 2 "$words" -n 1 $one --model "$model" : -n 1 "$@"
}
mkdir "$scratch/plugins"
cp -r "$plugins/mpi" "$plugins/fused_qkv" "$scratch/plugins"
echo >>"$scratch/plugins/fused_qkv/fused_qkv.so"
copy() { # copy NAME: of the model, to be changed
    mkdir "$scratch/$1"
    cp "$model"/*.json "$model"/*.safetensors "$scratch/$1"
    chmod u+w "$scratch/$1"/*
}
copy eps
sed -i 's/"rms_norm_eps": [0-9.e-]*/"rms_norm_eps": 0.5/' "$scratch/eps/config.json"
copy beams
echo '{"num_beams": 2, "eos_token_id": [581, 582]}' >"$scratch/beams/generation_config.json"
copy turned
sed -i 's/\[64,112\]/[112,64]/' "$scratch/turned/model.safetensors"
cmp -s "$model/model.safetensors" "$scratch/turned/model.safetensors" && fail "no shape was turned"
# shellcheck disable=SC2086 # words
{
    unlike "the options of rank 1 are not those of rank 0: --speculate is 3, on rank 0 not given" $one --speculate 3 --model "$model"
    unlike "the plugins of rank 1 are not those of rank 0: fused_qkv is version" \
        "$host" --plugins-dir "$scratch/plugins" $ask --model "$model"
    unlike "the fields of config.json of rank 1 are not those of rank 0: rms_norm_eps is 0.5, on rank 0 " \
        $one --model "$scratch/eps"
    unlike "the fields of generation_config.json of rank 1 are not those of rank 0: num_beams is 2, on rank 0 0" \
        $one --model "$scratch/beams"
    unlike "mlp.down_proj.weight is F32 [112, 64], on rank 0 F32 [64, 112]" $one --model "$scratch/turned"
}

# Rank 0 or another fails, before the others or together with them.
# shellcheck disable=SC2086 # words
{
    refused 4 "$scratch/none" -n 1 $one --model "$model" : -n 1 $one --model "$scratch/none"
    refused 4 "$scratch/none" -n 1 $one --model "$scratch/none" : -n 1 $one --model "$model"
    refused 2 "token id 100000 is outside" -n 2 $one --model "$model" --input-ids 100000
}

# Of ranks that fail alike one tells, also where the processor has more to do, and where rank 0 is stuck; from another
# machine the others cannot know whether that is so.
refused 3 "tells why" -n 4 "$test_claim" 1 1
refused 3 "tells why" -n 2 "$test_claim" 0 1
for _ in $(seq "$(nproc)"); do
    (while :; do :; done) &
    busy="$busy $!"
done
for n in 2 3 4 5 6 7; do
    refused 3 "tells why" -n "$n" "$test_claim" 1 0
    refused 3 "tells why" -n "$n" "$test_claim" 0 0
    # shellcheck disable=SC2086 # words
    refused 4 "$scratch/none" -n "$n" $one --model "$scratch/none"
done
# shellcheck disable=SC2086 # numbers
kill $busy
busy=''

# Sampling without a seed differs from run to run, not from rank to rank. Each token is one of the two likeliest after
# those before it, as one process sees it; had the first layers been given others, it would not be.
ids=$(ranks 2 --quiet --plugins pipeline_parallel --model "$model" --temperature 5 --top-k 2 --input-ids 5,6,7 --output-ids \
    --max-new-tokens 24)
"$host" --quiet --model "$model" --input-ids "5,6,7,$ids" --logits "$scratch/logits" --output-ids --max-new-tokens 1 >/dev/null
od -An -v -w4 -tf4 -j $(($(od -An -tu8 -N8 "$scratch/logits") + 8)) "$scratch/logits" | awk -v ids="5,6,7,$ids" '
    { logits[n++] = $1 }
    END {
        rows = split(ids, id, ","); size = n / rows
        for (row = 2; row + 1 < rows; row++) {
            place = 1
            for (i = 0; i < size; i++) { place += logits[row * size + i] > logits[row * size + id[row + 2]] }
            seconds += place == 2; wrong += place > 2
        }
        exit rows < 10 || wrong > 0 || seconds == 0
    }' || fail "unseeded: ranks went on with other tokens: $ids"

# A rank that is killed takes the others with it.
long="$host bench --plugins-dir $plugins --parallel mpi --model $model --repeat 10000"
# shellcheck disable=SC2016,SC2086 # the shell that is started knows the process's number; words
launch -n 1 $long : -n 1 sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" $long >/dev/null 2>&1 &
run=$!
while [ ! -s "$scratch/pid" ]; do
    kill -0 "$run" || fail "mpirun ended before the rank began"
    sleep 0.1
done
sleep 1
kill -KILL "$(cat "$scratch/pid")" || fail "it ended by itself"
before=$(date +%s)
status=0
wait "$run" || status=$?
[ "$status" = 137 ] || fail "a rank was killed, and mpirun ended with $status"
[ $(($(date +%s) - before)) -le 3 ] || fail "the others went on for more than 3 seconds"

# mpirun binds processes to a core each unless it is told not to.
cores=$(nproc)
warning="each process may use one core of $cores; mpirun's --bind-to none gives it more"
if [ "$cores" -gt 1 ] && [ "$(mpirun --bind-to core -n 1 nproc 2>/dev/null)" = 1 ]; then
    # shellcheck disable=SC2086 # words
    (timeout 60 mpirun --bind-to core -n 1 $host --plugins-dir "$plugins" --parallel mpi --model "$model" \
        --input-ids 5 --output-ids --max-new-tokens 1 --report none) 2>"$scratch/err" >/dev/null
    grep -qxF "$warning" "$scratch/err" || fail "no warning of one core: $(cat "$scratch/err")"
else
    echo "mpirun cannot bind here: its warning was not tested"
fi
