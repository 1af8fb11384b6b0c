/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/self/maps, whose lines are "7f00-7f10 r-xp 00001000 08:01 1234 /lib/libm.so.6", without allocating,
 * locking or stdio. */
#include "base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

enum { BUFFER = 4096 };

/* A file being read. */
struct reader {
    int fd;
    char bytes[BUFFER];
    ssize_t at;
    ssize_t length;
};

/* The next byte; -1 at the end. */
static int next(struct reader *reader) {
    if (reader->at == reader->length) {
        do {
            reader->length = read(reader->fd, reader->bytes, BUFFER);
        } while (reader->length < 0 && errno == EINTR);
        reader->at = 0;
    }
    return reader->length > 0 ? (unsigned char)reader->bytes[reader->at++] : -1;
}

/* Reads a hexadecimal number; `*byte` becomes the byte after it. */
static uintptr_t read_number(struct reader *reader, int *byte) {
    uintptr_t number = 0;
    for (*byte = next(reader);; *byte = next(reader)) {
        int digit = *byte >= '0' && *byte <= '9' ? *byte - '0' : *byte >= 'a' && *byte <= 'f' ? *byte - 'a' + 10 : -1;
        if (digit < 0) {
            return number;
        }
        number = number << 4 | (uintptr_t)digit;
    }
}

/* Reads the path at the end of a line, from its first '/' on; a line may have none. Returns the path's length. */
static size_t read_path(struct reader *reader, int byte, char *path, size_t size) {
    size_t length = 0;
    while (byte >= 0 && byte != '\n') {
        if ((length > 0 || byte == '/') && length + 1 < size) {
            path[length++] = (char)byte;
        }
        byte = next(reader);
    }
    path[length] = '\0';
    return length;
}

int graft_mapped_file(const void *address, char *path, size_t size) {
    const uintptr_t wanted = (uintptr_t)address;
    struct reader reader = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    int found = 0;
    for (int byte = reader.fd >= 0 && size > 0 ? 0 : -1; byte >= 0 && !found;) {
        uintptr_t begin = read_number(&reader, &byte);
        uintptr_t end = byte == '-' ? read_number(&reader, &byte) : 0;
        size_t length = read_path(&reader, byte, path, size);
        found = begin <= wanted && wanted < end && length > 0;
    }
    if (reader.fd >= 0) {
        (void)close(reader.fd);
    }
    return found;
}
