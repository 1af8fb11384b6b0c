#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: package.sh HOST SOURCE: `pack`, `install`, `list --installed` and `remove`: a plugin from its folder to where
# `--plugins-dir default` looks; what an archive must not hold; signatures; what was changed since it was installed.
# Reports in TAP.
set -u
host=$(realpath "$1") source=$2
. "$source/tests/tap.sh"
llama=$source/tests/goldens/plain/llama
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export XDG_DATA_HOME="$scratch/data" XDG_CONFIG_HOME="$scratch/config"
home=$XDG_DATA_HOME/graft/plugins

skip() { # skip WHAT WHY
    number=$((number + 1))
    echo "ok $number # SKIP $1: $2"
}
fails() { # fails STATUS MESSAGE ARGUMENT...: one line, and nothing is installed
    wanted=$1 message=$2
    shift 2
    "$host" "$@" >out 2>err
    check "$*: exit status" "$wanted" $?
    has "$*: why" "$message" err
    check "$*: one line" 1 "$(wc -l <err)"
}
build() { # build FOLDER VERSION
    sed -i "s/\.version = \"[^\"]*\"/.version = \"$2\"/" "$1/$1.c"
    cc -std=c11 -shared -fPIC -fvisibility=hidden -I "$source/sdk/include" "$1/$1.c" -o "$1/$1.so" -lm
}
ids() { # ids OPTION...
    "$host" --model "$llama" --input-ids 3,14,15 --max-new-tokens 4 --output-ids --quiet "$@" 2>&1
}

# --- From a folder to an installed plugin ---
"$host" new plugin --class LlamaMLP --quiet acme_mlp && build acme_mlp 0.1.0 || exit 1
echo 'Do as you like.' >acme_mlp/LICENSE
"$host" pack acme_mlp >out 2>err
check 'pack' '0 ' "$? $(cat err)"
archive=acme_mlp-0.1.0-$(uname -m)-linux.tar
has 'it says what it made' "$archive: acme_mlp 0.1.0, " out
check 'the archive is one that tar reads' 'acme_mlp/manifest.json acme_mlp/acme_mlp.so acme_mlp/README.md acme_mlp/LICENSE' \
    "$(tar -tf "$archive" | xargs)"
"$host" pack --quiet --output again.tar acme_mlp
check 'it is the same each time' '' "$(cmp "$archive" again.tar 2>&1)"
tar -xf "$archive" --to-stdout acme_mlp/manifest.json >manifest.json
has 'the manifest has the hash' "\"sha256\": \"$(sha256sum <acme_mlp/acme_mlp.so | cut -d ' ' -f 1)\"" manifest.json
has 'and the ABI' '"minor_needed": 0' manifest.json
has 'and the licence' '"license": "Apache-2.0"' manifest.json

check 'nothing is installed' '0 ' "$? $("$host" list --installed 2>&1)"
"$host" install "$archive" >out 2>err
check 'install' '0 ' "$? $(cat err)"
has 'it says where' "installed acme_mlp 0.1.0 in $home/acme_mlp; its signature was not checked: no key is trusted" out
check 'nothing else is in the folder' acme_mlp "$(ls -A "$home")"
"$host" list --installed >out
has 'list --installed' "acme_mlp 0.1.0 ($home/acme_mlp): AcmeMlp in the place of LlamaMLP; Apache-2.0" out
"$host" list --installed --json >out
has 'in JSON' '"unchanged": true' out
"$host" plan --model "$llama" --plugins-dir default >out 2>&1
has '--plugins-dir default finds it' 'LlamaMLP -> AcmeMlp by acme_mlp' out
check 'the model does what it did' "$(ids)" "$(ids --plugins-dir default --enable acme_mlp)"

build acme_mlp 0.2.0
"$host" pack --quiet --output second.tar acme_mlp
"$host" install second.tar >out
has 'another version takes its place' 'installed acme_mlp 0.2.0 in '"$home"'/acme_mlp, in the place of 0.1.0' out
check 'and nothing is left of the first' acme_mlp "$(ls -A "$home")"

printf x >>"$home/acme_mlp/acme_mlp.so"
"$host" list --installed >out
has 'what was changed since is told' 'changed since it was installed' out
fails 3 "acme_mlp.so: it is not what was installed: manifest.json has the SHA-256" list --plugins-dir default
"$host" list --plugins-dir default --plugins fused_qkv >out 2>&1
check 'which does not concern others' 0 "$(grep -c 'what was installed' out)"
fails 2 'did you mean acme_mlp?' remove acme_mpl
"$host" remove acme_mlp >out
check 'remove' '0 ' "$? $(ls -A "$home")"
fails 2 'no package of this name is installed' remove acme_mlp
fails 2 'expected the id' remove ../plugins
"$host" install --quiet --plugins-dir elsewhere "$archive"
check 'another folder' acme_mlp "$(ls elsewhere)"
mkdir -p "$home/acme_mlp"
fails 2 'and was not put there by' install "$archive"
rmdir "$home/acme_mlp"

# --- A family file ---
mkdir alpaca
cat >alpaca/alpaca.family.json <<END
{"model_type": "alpaca", "like": "llama", "description": "Alpacas", "version": "2.1", "license": "Apache-2.0"}
END
echo 'Alpacas.' >alpaca/README.md
"$host" pack --quiet alpaca 2>/dev/null
check 'a family file is packed for any machine' 'alpaca/manifest.json alpaca/alpaca.family.json alpaca/README.md' \
    "$(tar -tf alpaca-2.1-any.tar | xargs)"
mkdir bare && echo '{"model_type": "vicuna", "like": "llama"}' >bare/vicuna.family.json && echo 'Vicunas.' >bare/README.md
"$host" pack bare >out 2>err
has 'one without a licence: it is missed' 'note: bare/vicuna.family.json: the package names no licence: say which in "license"' err
"$host" install alpaca-2.1-any.tar >out
has 'it is installed' "installed alpaca 2.1 in $home/alpaca; " out
mkdir model && cp "$llama"/model.safetensors model/
sed 's/"model_type": "llama"/"model_type": "alpaca"/' "$llama/config.json" >model/config.json
"$host" plan --model model --plugins-dir default >out 2>&1
has 'and found' '(alpaca, by plugin alpaca)' out
echo ' ' >>"$home/alpaca/alpaca.family.json"
"$host" list --installed >out
has 'one that was changed since is told' 'changed since it was installed' out
fails 3 'alpaca.family.json: it is not what was installed' plan --model model --plugins-dir default
"$host" remove --quiet alpaca
sed -i 's/"llama"/"lama"/' alpaca/alpaca.family.json
fails 3 'model type "lama" is not known' pack alpaca
cp acme_mlp/acme_mlp.so alpaca/
fails 2 'found 2; keep the others in another folder' pack alpaca

# --- A plugin that is not what it should be ---
sed 's/act_fn, call, gate, up/act_fn, call, up, gate/' acme_mlp/acme_mlp.c >wrong.c
mkdir wrong && mv wrong.c wrong/wrong.c && sed -i 's/"acme_mlp"/"wrong"/' wrong/wrong.c && build wrong 0.1.0
echo wrong >wrong/README.md
"$host" pack --quiet --output wrong.tar wrong 2>/dev/null
fails 6 'wrong fails the check ' install wrong.tar
check 'nothing of it is left' '' "$(ls -A "$home")"

# --- Folders that are none of a plugin ---
mkdir empty
fails 2 'expected one plugin, NAME.so or NAME.family.json, found 0; build it first' pack empty
fails 5 'cannot be read as the folder of a plugin' pack nowhere
cp acme_mlp/acme_mlp.so empty/
fails 2 'expected a README.md' pack empty
cp acme_mlp/README.md empty/ && cp acme_mlp/acme_mlp.so empty/other.so
fails 2 'found 2' pack empty
rm empty/other.so && echo text >empty/acme_mlp.so
fails 3 'acme_mlp.so' pack empty
fails 2 'expected a package' install
fails 5 'nowhere.tar' install nowhere.tar

# --- Archives of somebody else ---
refused() { # refused TITLE MESSAGE: x.tar is not taken
    "$host" install x.tar >out 2>err
    status=$?
    check "$1: it is refused" 'yes 1' "$([ "$status" -ge 3 ] && echo yes || echo "$status") $(wc -l <err)"
    has "$1: why" "$2" err
    check "$1: nothing is written" '' "$(ls -A "$home" && find . -name outside)"
}
tree() { # tree: what the archive holds, to be changed
    rm -rf tree && mkdir tree && tar -C tree -xf "$archive"
}
archive_of() { # archive_of FILE...: x.tar of them, as tar makes it
    tar -C tree --format=ustar --owner=0 --group=0 -cf x.tar "$@"
}
all='acme_mlp/manifest.json acme_mlp/acme_mlp.so acme_mlp/README.md acme_mlp/LICENSE'
tree
# shellcheck disable=SC2086 # several files
archive_of $all
"$host" install --quiet x.tar
check 'one that tar has made is as good' acme_mlp "$(ls -A "$home")"
"$host" remove --quiet acme_mlp
gzip -c "$archive" >x.tar
refused 'compressed' 'blocks of 512 bytes'
head -c 4096 "$archive" >x.tar
refused 'cut' 'beyond the archive'
: >x.tar
refused 'empty' 'empty'
tree && ln -s /etc/passwd tree/acme_mlp/link
# shellcheck disable=SC2086
archive_of $all acme_mlp/link
refused 'a link' 'expected a regular file'
tree && ln tree/acme_mlp/README.md tree/acme_mlp/hard
# shellcheck disable=SC2086
archive_of $all acme_mlp/hard
refused 'a hard link' 'expected a regular file'
tree && mkfifo tree/acme_mlp/fifo
# shellcheck disable=SC2086
archive_of $all acme_mlp/fifo
refused 'a FIFO' 'expected a regular file'
tree
archive_of acme_mlp
refused 'a folder' 'expected a regular file'
tree && echo out >outside_file
tar -C tree --format=ustar -P --transform 's,LICENSE,../../outside,' -cf x.tar acme_mlp/manifest.json acme_mlp/acme_mlp.so acme_mlp/LICENSE
refused 'a name that leads up' 'expected a name FOLDER/FILE'
tar -C tree --format=ustar -P --transform 's,^acme_mlp/LICENSE,/tmp/outside,' -cf x.tar acme_mlp/manifest.json acme_mlp/LICENSE
refused 'an absolute name' 'expected a name FOLDER/FILE'
tar -C tree --format=ustar --transform 's,LICENSE,.hidden,' -cf x.tar acme_mlp/manifest.json acme_mlp/LICENSE
refused 'a hidden name' 'expected a name FOLDER/FILE'
tar -C tree --format=ustar --transform 's,^acme_mlp/LICENSE,other/LICENSE,' -cf x.tar acme_mlp/manifest.json acme_mlp/LICENSE
refused 'two folders' 'all files in one folder'
tar -C tree --format=ustar --transform 's,LICENSE,README.md,' -cf x.tar acme_mlp/manifest.json acme_mlp/README.md acme_mlp/LICENSE
refused 'one name twice' 'comes twice'
tar -C tree --format=pax --pax-option=comment=x -cf x.tar acme_mlp/manifest.json
refused 'an extension' 'expected a regular file'
tree && for i in $(seq 70); do echo "$i" >"tree/acme_mlp/f$i"; done
# shellcheck disable=SC2046
archive_of acme_mlp/manifest.json $(cd tree && ls acme_mlp/f*)
refused 'too many files' 'more than 64'
tree && truncate -s 300M tree/acme_mlp/LICENSE
# shellcheck disable=SC2086
archive_of $all
refused 'too large' 'x.tar'
rm -rf tree
{ cat "$archive"; head -c 512 /dev/urandom; } >x.tar
refused 'something past the end' 'nothing after'
{ head -c 20 "$archive"; printf 'Z'; tail -c +22 "$archive"; } >x.tar
refused 'a header that was changed' 'checksum'
tree && printf x >>tree/acme_mlp/acme_mlp.so
# shellcheck disable=SC2086
archive_of $all
refused 'a plugin that was changed' 'acme_mlp.so: the manifest has'
tree
archive_of acme_mlp/manifest.json acme_mlp/acme_mlp.so
refused 'a file that is missing' 'the archive has 1 files, but its manifest 3'
archive_of acme_mlp/README.md acme_mlp/manifest.json
refused 'no manifest in front' 'expected manifest.json as the first file'
manifest() { # manifest TITLE MESSAGE SED: with the manifest changed
    tree && sed -i "$3" tree/acme_mlp/manifest.json
    # shellcheck disable=SC2086
    archive_of $all
    refused "$1" "$2"
}
manifest 'another ABI' 'needs the plugin ABI 2.0, but this host speaks' 's/"major": 1/"major": 2/'
manifest 'a later ABI' 'needs the plugin ABI 1.99' 's/"minor_needed": 0/"minor_needed": 99/'
manifest 'another machine' 'built for pdp11-unix, but this machine is' 's/"machine": "[^"]*"/"machine": "pdp11-unix"/'
manifest 'another version than the plugin has' 'the manifest says acme_mlp 9.9' 's/"version": "[^"]*"/"version": "9.9"/'
tree && cp alpaca/alpaca.family.json tree/acme_mlp/acme_mlp.family.json
sum=$(sha256sum <tree/acme_mlp/acme_mlp.family.json | cut -d ' ' -f 1)
sed -i "s/\"files\": \[/\"files\": [{\"name\": \"acme_mlp.family.json\", \"bytes\": 1, \"sha256\": \"$sum\"},/" \
    tree/acme_mlp/manifest.json
# shellcheck disable=SC2086
archive_of $all acme_mlp/acme_mlp.family.json
refused 'a second plugin' 'no package: acme_mlp.family.json beside acme_mlp.so'
manifest 'code for any machine' 'no package: it has no acme_mlp.family.json' 's/"machine": "[^"]*"/"machine": "any"/'
manifest 'another id' 'id: expected acme_mlp' 's/"id": "acme_mlp"/"id": "other"/'
manifest 'an id that leads elsewhere' "id: expected the plugin's id" 's,"id": "acme_mlp","id": "../x",'
manifest 'a later format' 'graft_package: expected 1' 's/"graft_package": 1/"graft_package": 2/'
manifest 'an unknown field' 'extra: unknown field' 's/"graft_package": 1/"graft_package": 1, "extra": 1/'
manifest 'no JSON' 'manifest.json' 's/{/[/'
manifest 'a version that is none' 'version: expected' 's/"version": "[^"]*"/"version": "1\/2"/'

# --- Signatures ---
"$host" pack --quiet --key nothing --output signed.tar acme_mlp >out 2>err
if grep -q 'without libsodium' err; then
    skip signatures 'this build has no libsodium'
else
    fails 5 'nothing' pack --quiet --key nothing --output signed.tar acme_mlp
    # A pair of keys, as minisign -GW makes them.
    cp "$source/tests/data/package/test.sec" secret && cp "$source/tests/data/package/test.pub" public
    cp "$source/tests/data/package/other.pub" other
    "$host" pack --quiet --key secret --output signed.tar acme_mlp
    check 'pack signs' '0 4' "$? $(wc -l <signed.tar.minisig)"
    if command -v minisign >/dev/null; then
        check 'minisign finds the signature right' 0 "$(minisign -Vqm signed.tar -p public >/dev/null 2>&1; echo $?)"
    else
        skip 'minisign finds the signature right' 'it is not installed'
    fi
    "$host" install --key public signed.tar >out
    has 'install checks it' 'signed with public' out
    fails 6 'a key that is not among the 1 trusted' install --key other signed.tar
    mkdir -p "$XDG_CONFIG_HOME/graft/trusted-keys" && cp public "$XDG_CONFIG_HOME/graft/trusted-keys/acme.pub"
    "$host" install signed.tar >out
    has 'keys in the folder are trusted' 'trusted-keys/acme.pub' out
    fails 6 'it is not signed (no again.tar.minisig), but keys are trusted' install again.tar
    cp again.tar x.tar && cp signed.tar.minisig x.tar.minisig
    fails 6 'the signature is wrong' install x.tar
    sed '3s/file:/fill:/' signed.tar.minisig >x.tar.minisig && cp signed.tar x.tar
    fails 6 'the signature is wrong' install x.tar
    echo nonsense >x.tar.minisig
    fails 6 'expected a signature of minisign' install x.tar
    fails 4 'expected a public key of minisign' install --key secret signed.tar
    fails 2 'this key has a password' pack --key "$source/tests/data/package/password.sec" --output x.tar acme_mlp
fi

# --- A Debian package ---
if command -v dpkg-deb >/dev/null; then
    fails 2 'expected the maintainer' pack --deb acme_mlp
    DEBFULLNAME='A Name' DEBEMAIL=a@example.org "$host" pack --quiet --deb --output acme.deb acme_mlp >out 2>err
    check 'pack --deb' '0 ' "$? $(cat err)"
    dpkg-deb -c acme.deb >out
    has 'the plugin is with those that come with the program' 'graft/plugins/acme_mlp/acme_mlp.so' out
    has 'its licence is where Debian has it' 'share/doc/graft-plugin-acme-mlp/copyright' out
    check 'its maintainer' 'A Name <a@example.org>' "$(dpkg-deb -f acme.deb Maintainer)"
else
    DEBFULLNAME=x DEBEMAIL=x fails 2 'needs dpkg-deb, which is not installed' pack --deb acme_mlp
fi
echo "1..$number"
exit "$failed"
