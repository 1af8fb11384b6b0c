mkdir -p plugins/junk && echo junk >plugins/junk/junk.so
