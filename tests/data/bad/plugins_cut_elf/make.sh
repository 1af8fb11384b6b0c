mkdir plugins && head -c 300 /bin/sh >plugins/cut.so
