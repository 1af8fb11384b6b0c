[ -c /dev/full ] || skip "no /dev/full here"
