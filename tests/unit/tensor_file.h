/* SPDX-License-Identifier: Apache-2.0 */
/* Safetensors files for tests, made byte by byte. */
#ifndef GRAFT_TEST_TENSOR_FILE_H
#define GRAFT_TEST_TENSOR_FILE_H

#include <stdint.h>

#include "folder.h"

/* Writes a length, a header and the `data_bytes` bytes 0, 1, 2, ... after it. */
static inline void tensor_file_put_length(const char *folder, const char *name, uint64_t length, const char *header,
                                          size_t header_bytes, size_t data_bytes) {
    unsigned char *bytes = malloc(8 + header_bytes + data_bytes);
    if (bytes == NULL) {
        abort();
    }
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(length >> (8 * i));
    }
    memcpy(bytes + 8, header, header_bytes);
    for (size_t i = 0; i < data_bytes; i++) {
        bytes[8 + header_bytes + i] = (unsigned char)i;
    }
    folder_put(folder, name, bytes, 8 + header_bytes + data_bytes);
    free(bytes);
}

static inline void tensor_file_put(const char *folder, const char *name, const char *header, size_t data_bytes) {
    tensor_file_put_length(folder, name, strlen(header), header, strlen(header), data_bytes);
}

#endif
