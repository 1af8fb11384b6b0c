#!/bin/sh
# Two machines: network namespaces with names of their own, joined by a cable. mpirun reaches the other one as docs/scale-out.md
# has it, but for ssh.
# usage: test_machines.sh HOST PLUGINS_FOLDER GOLDENS TEST_CLAIM
set -eu
host=$1 plugins=$2 goldens=$3 test_claim=$4
scratch=$(mktemp -d)
first=graft${$}a second=graft${$}b
clean_up() {
    ip netns delete "$first" 2>/dev/null || true
    ip netns delete "$second" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
# shellcheck source=ranks.sh
. "$(dirname "$0")/ranks.sh"
export OMPI_MCA_btl=self,tcp
if ! { ip netns add "$first" && ip netns add "$second" && ip netns exec "$first" unshare --uts true; } 2>/dev/null; then
    echo "skipped: no permission to make network namespaces, or no ip"
    exit 77
fi

ip link add "$first" netns "$first" type veth peer name "$second" netns "$second"
for number in 1 2; do
    machine=$first
    [ "$number" = 1 ] || machine=$second
    ip -n "$machine" address add "10.77.0.$number/24" dev "$machine"
    ip -n "$machine" link set "$machine" up
    ip -n "$machine" link set lo up
    echo "10.77.0.$number slots=1" >>"$scratch/machines"
done

# In the place of ssh: `agent [OPTIONS] ADDRESS COMMAND`, on the other machine, which has another name.
cat >"$scratch/agent" <<END
#!/bin/sh
while [ "\$1" != 10.77.0.2 ]; do shift; done
shift
exec ip netns exec $second unshare --uts sh -c "hostname machine2 && \$*"
END
chmod +x "$scratch/agent"

machines() { # machines COMMAND...: a rank of it on each
    timeout 120 ip netns exec "$first" unshare --uts sh -c 'hostname machine1 && exec "$@"' sh mpirun -n 2 \
        --hostfile "$scratch/machines" --bind-to none --mca plm_rsh_agent "$scratch/agent" \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@"
}

[ "$(machines sh -c 'hostname' | sort | tr '\n' ' ')" = "machine1 machine2 " ] || fail "ranks are not on two machines"
"$host" --quiet --model "$goldens/qwen2_moe" --input-ids 5,6,7 --input-ids 8,9 --output-ids --logits "$scratch/one" \
    --dtype float32 >"$scratch/one.ids"
across() { # across PLUGIN: the ids of one process
    machines "$host" --quiet --plugins-dir "$plugins" --parallel mpi --plugins "$1" --model "$goldens/qwen2_moe" \
        --input-ids 5,6,7 --input-ids 8,9 --output-ids --logits "$scratch/many" --dtype float32 >"$scratch/many.ids"
    cmp "$scratch/one.ids" "$scratch/many.ids" || fail "$1 on two machines: other ids"
}
across expert_parallel
across pipeline_parallel
cmp "$scratch/one" "$scratch/many" || fail "pipeline_parallel on two machines: other logits"

ended() { # ended STATUS WORDS COMMAND...: told once, whatever Open MPI says of connections
    wanted=$1 words=$2 status=0
    shift 2
    machines "$@" 2>"$scratch/err" || status=$?
    [ "$status" = "$wanted" ] || fail "exit status $status instead of $wanted: $(cat "$scratch/err")"
    [ "$(grep -cF "$words" "$scratch/err")" = 1 ] || fail "not told once: $(cat "$scratch/err")"
}

# A rank that fails over there ends all here.
# shellcheck disable=SC2016 # for the shell over there
ended 4 "$scratch/none" sh -c 'model=$1 other=$2; shift 2; [ "$(hostname)" = machine1 ] || model=$other; exec "$@" --model "$model"' sh \
    "$goldens/qwen2_moe" "$scratch/none" "$host" --quiet --plugins-dir "$plugins" --parallel mpi --plugins mpi \
    --input-ids 5 --output-ids
[ "$(grep -vc '\] plm:rsh: Warning: setpgid' "$scratch/err")" = 1 ] || fail "more than one line: $(cat "$scratch/err")"

# Where both fail one tells, and so does the other where rank 0 is stuck.
for _ in 1 2 3; do
    ended 3 "tells why" "$test_claim" 0 0
done
ended 3 "tells why" "$test_claim" 0 1
