# Makes each line of a file an element of a C array of strings.
s/\\/\\\\/g
s/"/\\"/g
s/.*/"&",/
