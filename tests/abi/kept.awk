# kept.awk RECORD NOW: two outputs of layout.sh, of an earlier version and of today; prints what was and is not any more.
# What was there stays there, to the letter, but a struct may be larger and the minor version later. Headers whose functions
# are linked into a plugin promise nothing (docs/abi.md).

FNR == 1 { reading++ }
/^$/ { next }
/^graft\/[a-z_\/]*\.hp*$/ {
    header = $0
    owner = ""
    linked = header ~ /^graft\/(parts|encoder_parts|expert_parts|quantizer|quant_format|word_codes|auto_round)\.h$/
    next
}
linked || $1 == "GRAFT_ABI_MINOR" { next }
/^struct [a-z_]*: [0-9]*$/ {
    owner = substr($2, 1, length($2) - 1)
    if (reading == 1) {
        n++
        was[n] = ""
        place[n] = header ": struct " owner
        size[n] = $3
    } else
        sizes[header ": struct " owner] = $3
    next
}
# Members are indented; anything else ends a struct.
!/^ / { owner = "" }
{ at = header ": " (owner == "" ? "" : "struct " owner) }
reading == 1 {
    n++
    was[n] = $0
    place[n] = at
}
reading == 2 { now[at $0] = 1 }
END {
    for (i = 1; i <= n; i++)
        if (was[i] != "" && !((place[i] was[i]) in now))
            print place[i] was[i] " is gone"
        else if (was[i] == "" && sizes[place[i]] + 0 < size[i] + 0)
            print place[i] ": " size[i] " bytes, now " sizes[place[i]] + 0
}
