# What tests with several processes share; sourced. Needs `host`, `plugins` and `scratch`.
# shellcheck shell=sh disable=SC2154 # set by who sources it
if ! command -v mpirun >/dev/null 2>&1 || [ ! -f "$plugins/mpi/mpi.so" ]; then
    echo "skipped: there is no mpirun, or the plugin mpi was not built"
    exit 77
fi

# A folder of its own for what mpirun keeps while it runs: of two that share one, whoever ends first may take it away from
# the other that is about to begin. Version 5 of Open MPI has another name for it.
export OMPI_MCA_orte_tmpdir_base="$scratch" PRTE_MCA_prte_tmpdir_base="$scratch"
# No text of mpirun's own when a rank fails. Version 5 prints one all the same, between two lines of dashes.
export OMPI_MCA_orte_execute_quiet=1

# As root in containers, more ranks than cores, and no waiting in spinning loops. MPI leaves memory behind when it ends.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
# All ranks are on this machine: looking for networks takes longer than most of these runs.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
if ! mpirun --oversubscribe -n 1 true : -n 1 true >/dev/null 2>&1; then
    echo "skipped: mpirun cannot start two programs (that of Debian 13, Open MPI 5.0.7, crashes)"
    exit 77
fi

fail() {
    echo "$1" >&2
    exit 1
}

launch() { # launch MPIRUN'S ARGUMENTS...
    timeout 120 mpirun --oversubscribe --bind-to none "$@"
}

ranks() { # ranks N OPTIONS...
    n=$1
    shift
    launch -n "$n" "$host" --plugins-dir "$plugins" --plugins-dir "$plugins/families" --parallel mpi "$@"
}

refused() { # refused STATUS WORDS MPIRUN'S ARGUMENTS...: within 3 seconds of the failure, with one line
    wanted=$1 words=$2 status=0
    shift 2
    launch "$@" >/dev/null 2>"$scratch/all" || status=$?
    sed '/^-----*$/,/^-----*$/d' "$scratch/all" >"$scratch/err"
    [ "$status" = "$wanted" ] || fail "exit status $status instead of $wanted: $(cat "$scratch/err")"
    [ "$(grep -c . "$scratch/err")" = 1 ] || fail "more than one line: $(cat "$scratch/err")"
    grep -qF "$words" "$scratch/err" || fail "expected \"$words\": $(cat "$scratch/err")"
}

part() { # part NAME OTHERS: $scratch/NAME becomes $scratch/whole without the files that hold nothing but tensors of others
    cp -r "$scratch/whole" "$scratch/$1"
    grep '"model-' "$scratch/whole/model.safetensors.index.json" | grep -v "$2" | sed 's/.*: "//; s/".*//' |
        sort -u >"$scratch/needed"
    for file in "$scratch/$1"/model-*.safetensors; do
        grep -qxF "${file##*/}" "$scratch/needed" || rm "$file"
    done
    [ "$(ls "$scratch/$1")" != "$(ls "$scratch/whole")" ] || fail "$1 has all files"
}
