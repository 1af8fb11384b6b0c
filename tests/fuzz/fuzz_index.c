/* SPDX-License-Identifier: Apache-2.0 */
/* model.safetensors.index.json: no entry leads out of the directory. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "weights/shard_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_shard_index index;
    if (graft_shard_index_read(fuzz_file("index.json", bytes, size), &index, &error) != GRAFT_OK) {
        return error.message[0] != '\0' ? 0 : (abort(), 0);
    }
    for (size_t i = 0; i < index.count; i++) {
        const char *file = index.entries[i].file;
        if (file[0] == '/' || strcmp(file, "..") == 0 || strncmp(file, "../", 3) == 0 || strstr(file, "/../") != NULL) {
            abort();
        }
    }
    graft_shard_index_finish(&index);
    return 0;
}
