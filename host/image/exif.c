/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the orientation, the one field of EXIF and XMP that is used. Both are hints: a block that cannot be read counts
 * as absent. */
#include <string.h>

#include "image/orientation.h"

/* A TIFF structure (TIFF 6.0, section 2), in either byte order. */
struct tiff {
    const uint8_t *bytes;
    size_t length;
    int little;
};

/* An unsigned number of `size` bytes (2 or 4); 0 outside the block. */
static uint32_t number(const struct tiff *tiff, size_t at, size_t size) {
    uint32_t value = 0;
    if (at > tiff->length || tiff->length - at < size) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | tiff->bytes[at + (tiff->little ? size - 1 - i : i)];
    }
    return value;
}

int32_t graft_exif_orientation(const uint8_t *bytes, size_t length) {
    enum { TAG = 274, SHORT = 3, LONG = 4, ENTRY = 12 };
    while (length >= 6 && memcmp(bytes, "Exif\0\0", 6) == 0) {
        bytes += 6;
        length -= 6;
    }
    struct tiff tiff = {bytes, length, length >= 2 && bytes[0] == 'I'};
    if (length < 8 || (memcmp(bytes, "II\x2a\0", 4) != 0 && memcmp(bytes, "MM\0\x2a", 4) != 0)) {
        return GRAFT_ORIENTATION_NONE;
    }
    size_t directory = number(&tiff, 4, 4);
    uint32_t entries = number(&tiff, directory, 2);
    for (uint32_t i = 0; i < entries; i++) {
        size_t entry = directory + 2 + (size_t)i * ENTRY;
        uint32_t type = number(&tiff, entry + 2, 2);
        if (number(&tiff, entry, 2) == TAG && number(&tiff, entry + 4, 4) == 1 && (type == SHORT || type == LONG)) {
            uint32_t value = number(&tiff, entry + 8, type == SHORT ? 2 : 4);
            return value <= 8 && value > 0 ? (int32_t)value : GRAFT_ORIENTATION_UPRIGHT;
        }
    }
    return GRAFT_ORIENTATION_NONE;
}

int32_t graft_xmp_orientation(const uint8_t *bytes, size_t length) {
    static const char name[] = "tiff:Orientation";
    size_t size = sizeof name - 1;
    for (size_t i = 0; length >= size && i <= length - size; i++) {
        const uint8_t *after = bytes + i + size;
        size_t left = length - i - size;
        if (memcmp(bytes + i, name, size) != 0) {
            continue;
        }
        size_t skip = left >= 2 && after[0] == '=' && after[1] == '"' ? 2 : left >= 1 && after[0] == '>' ? 1 : 0;
        if (skip > 0 && left > skip && after[skip] >= '0' && after[skip] <= '9') {
            return after[skip] - '0';
        }
    }
    return GRAFT_ORIENTATION_NONE;
}
