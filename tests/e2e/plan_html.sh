#!/bin/sh
# plan --html: the page's own data, its text, what a browser makes of it. Reports in TAP.
# usage: plan_html.sh HOST ROOT PLUGINS...
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
root=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$@" "$scratch/plugins/" && cd "$scratch" || exit 1
demo=$root/demo/tiny-qwen2-moe

host() {
    status=0
    timeout 60 "$host" "$@" >out 2>err </dev/null || status=$?
}

# What stands between the tags of the data: JSON, in which "<" is an escape.
data() { # data PAGE
    sed -n '/<script type="application\/json" id="plan">/,/<\/script>/p' "$1" | sed '1d;$d' | sed 's/\\u003c/</g'
}

count() { # count PATTERN FILE
    grep -o -e "$1" "$2" | wc -l | tr -d ' '
}

host plan --model "$demo" --plugins-dir plugins --html page.html --json
check 'exit status' 0 "$status"
data page.html >data.json
cmp -s out data.json
check 'the data in the page are those of --json' 0 $?
check 'a row for each parameter' "$(count '"sources":' out)" "$(count '<div class="par">' page.html)"
check 'an element for each module' "$(count '"path":' out)" "$(count '<li><details\|<li><div class="leaf">' page.html)"
check 'each replaced module is marked' "$(count '"original_class": "' out)" "$(count '>[A-Z][A-Z]*: replaces ' page.html)"
check 'what cannot be told by colour is written' "$(count '"original_class": "' out)" \
    "$(count 'by <b>[a-z_]*</b></span>' page.html)"
check 'operations are told' "$(count '"operations": "Concatenate' out)" "$(count '<code>Concatenate' page.html)"
check 'nothing is fetched' '' "$(grep -o -i 'https\?:[^ ]*\|src=\|href=\|@import\|url(' page.html)"
check 'no script that runs' 1 "$(count '<script' page.html)"
for tag in details summary li ul code div span; do
    check "<$tag> is closed" "$(count "<${tag}[ >]" page.html)" "$(count "</$tag>" page.html)"
done
host plan --model "$demo" --html page.html
check 'with the text report, over an older page' 0 "$status"
check 'the text report' 1 "$(grep -c 'replaced   nothing' out)"

# Names from files are text, whatever they look like.
cp -r "$root/tests/goldens/plain/qwen3" hostile
name='</script><script>alert(1)</script><b id=x>\"&'
header=$(printf '{"%s":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' "$name")
length=${#header}
# shellcheck disable=SC2059 # the format is the bytes
{
    printf "\\$(printf %03o "$length")\\0\\0\\0\\0\\0\\0\\0"
    printf '%s\0\0\0\0' "$header"
} >hostile/model.safetensors
host plan --model hostile --html hostile.html --json
check 'a hostile name: exit status' 0 "$status"
check 'a hostile name: no tag of its own' '0:1:1' \
    "$(count '<b id' hostile.html):$(count '<script' hostile.html):$(count '</script' hostile.html)"
check 'a hostile name: it is shown' 1 "$(grep -c '<li>&lt;/script&gt;&lt;script&gt;alert(1)' hostile.html)"
data hostile.html >data.json
cmp -s out data.json
check 'a hostile name: the data are whole' 0 $?

host plan --model "$demo" --html no/such/folder.html
check 'nowhere to write: exit status' 5 "$status"
check 'nowhere to write: one line' 1 "$(wc -l <err | tr -d ' ')"
if [ -c /dev/full ]; then
    host plan --model "$demo" --html /dev/full
    check 'not a file: exit status' 5 "$status"
fi
host run --model "$demo" --html page.html
check 'only of plan' 2 "$status"

# In a browser: the document it makes has the data, the tree, and no width beyond the window.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
browse() { # browse OPTIONS...
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$scratch/browser" \
        "$@" 2>browser.err
}
host plan --model "$demo" --plugins-dir plugins --html page.html
if [ -z "$browser" ]; then
    number=$((number + 1))
    echo "ok $number - in a browser # SKIP there is no chromium here"
else
    browse --dump-dom "file://$scratch/page.html" >dom.html
    check 'browser: it reads the page as it is written' \
        "$(count '<li>' page.html):$(count '<details' page.html):$(count '<div class="par">' page.html)" \
        "$(count '<li>' dom.html):$(count '<details' dom.html):$(count '<div class="par">' dom.html)"
    # The same page with a script: what it measures becomes its title.
    for width in 360 1280; do
        sed -e '/Content-Security-Policy/d' -e 's|</body>|<script>document.querySelectorAll("details").forEach(d => d.open = true); document.title = "fits:" + (document.documentElement.scrollWidth <= innerWidth) + " modules:" + JSON.parse(document.getElementById("plan").textContent).modules.length;</script></body>|' \
            page.html >measured.html
        browse --window-size=$width,900 --dump-dom "file://$scratch/measured.html" >dom.html
        check "browser, $width wide: everything fits, and the data can be read" \
            "fits:true modules:$("$host" plan --model "$demo" --plugins-dir plugins --json | grep -c '"path":')" \
            "$(sed -n 's|.*<title>\(fits[^<]*\)</title>.*|\1|p' dom.html)"
    done
    browse --window-size=390,1200 --screenshot="$scratch/shot.png" "file://$scratch/page.html" >/dev/null
    check 'browser: a picture' 1 "$(find . -name shot.png -size +4k | wc -l | tr -d ' ')"
fi
echo "1..$number"
exit "$failed"
