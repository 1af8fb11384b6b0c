/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/l3_cache.h"

#include <stdio.h>

#include "base/alloc.h"

/* The number that a file about a processor's third-level cache begins with; -1 if there is none. */
static int64_t read_number(const char *folder, int64_t processor, const char *name) {
    long long number = -1;
    char *path = graft_format("%s/cpu%lld/cache/index3/%s", folder, (long long)processor, name);
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%lld", &number) != 1) {
            number = -1;
        }
        (void)fclose(file);
    }
    graft_free(path);
    return number;
}

int64_t graft_l3_cache_bytes(const char *folder, int64_t processors) {
    int64_t kibibytes = 0;
    for (int64_t i = 0; i < processors; i++) {
        /* the list is such as "0-7,64-71"; a cache is counted at the first processor in it */
        if (read_number(folder, i, "shared_cpu_list") == i) {
            const int64_t size = read_number(folder, i, "size"); /* such as "32768K" */
            kibibytes += size > 0 ? size : 0;
        }
    }
    return kibibytes << 10;
}
