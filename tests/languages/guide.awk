# Usage: guide.awk FOLDER=... DOCUMENT.md: the commands of a document as a script for sh, and its files. A command is an indented line
# after "$ ", continued after a backslash or "> "; what is indented below it is what it prints. A file is the
# block of code below "this is `NAME`". Into FOLDER go the files, and N.wanted, what command N prints. The script calls
# `section TITLE` at each heading, and `ran N STATUS` after each command, whose output is in N.got.

function finish() {
    if (command != "") {
        n++
        printf "{ %s\n} >%s/%d.got 2>&1 </dev/null\nran %d $?\n", command, FOLDER, n, n
        printf "%s", output >(FOLDER "/" n ".wanted")
        printf "%s\n", command >(FOLDER "/" n ".command")
        command = output = ""
    }
}

/^```/ {
    if (inside && file != "")
        close(FOLDER "/" file)
    if (inside)
        file = ""
    inside = !inside
    next
}
inside {
    if (file != "")
        print >(FOLDER "/" file)
    next
}
match($0, /[Tt]his is `[^`\/]+`/) { file = substr($0, RSTART + 9, RLENGTH - 10) }
/^##* / {
    finish()
    title = $0
    gsub(/'/, "", title)
    printf "section '%s'\n", title
}
/^    \$ / { finish(); command = substr($0, 7); next }
/^    > / && command != "" { command = command "\n" substr($0, 7); next }
/^    / && command ~ /\\$/ { command = command "\n" $0; next }
/^    / && command != "" { output = output substr($0, 5) "\n"; next }
{ finish() }
END { finish() }
