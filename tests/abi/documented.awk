# From the lines of declarations.awk those things that a reader of the headers is left alone with. What abi.h says of every
# struct (its size, features, what is reserved, counts and strides of arrays) need not be said again.
BEGIN { FS = "\t" }
function lacks(what) { print $1 ": " ($3 != "" ? "struct " $3 ": " : "") $4 " has no " what }

{ sub(/.*include\//, "", $1) }
# "All functions are [any]" holds for the whole header.
$2 == "header" {
    if ($6 == "")
        lacks("comment")
    tagged = $6 ~ /All (functions )?are \[/
}
$2 == "member" && $4 ~ /^(struct_size|features|required_features|reserved(_[a-z0-9]+)?|n_[a-z_]+)$/ { next }
$2 == "member" && $5 ~ /^uint32_t [a-z_]+_stride$/ { next }
$2 ~ /^(member|function|type)$/ {
    if ($6 == "")
        lacks("comment")
    if ($5 ~ /\(/ && !tagged && $6 !~ /\[(load|forward|any)[],]/)
        lacks("tag: when may it be called?")
}
