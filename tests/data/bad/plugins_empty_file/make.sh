mkdir -p plugins/empty && : >plugins/empty/empty.so
