/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/package/ustar.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

enum { BLOCK = 512 };

/* The header of a file (POSIX, pax: ustar interchange format); numbers are octal digits. */
struct header {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link_name[100];
    char magic[6];
    char version[2];
    char user[32];
    char group[32];
    char device_major[8];
    char device_minor[8];
    char prefix[155];
    char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* The header's checksum: the sum of its bytes, with spaces in the checksum's own field. */
static unsigned sum_of(const struct header *header) {
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        const int is_sum = i >= offsetof(struct header, checksum) && i < offsetof(struct header, type);
        sum += is_sum ? ' ' : bytes[i];
    }
    return sum;
}

static void add_padding(struct graft_text *archive, size_t length) {
    static const char zeros[BLOCK];
    graft_text_add(archive, zeros, (BLOCK - length % BLOCK) % BLOCK);
}

/* --- Writing --- */

void ustar_add(struct graft_text *archive, const char *folder, const char *name, const char *bytes, size_t length) {
    struct header header = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    (void)snprintf(header.name, sizeof header.name, "%s/%s", folder, name);
    (void)snprintf(header.mode, sizeof header.mode, "%07o", 0644U);
    (void)snprintf(header.uid, sizeof header.uid, "%07o", 0U);
    (void)snprintf(header.gid, sizeof header.gid, "%07o", 0U);
    (void)snprintf(header.size, sizeof header.size, "%011llo", (unsigned long long)length);
    (void)snprintf(header.mtime, sizeof header.mtime, "%011o", 315532800U); /* 1980, so that tar has no complaint */
    (void)snprintf(header.user, sizeof header.user, "root");
    (void)snprintf(header.group, sizeof header.group, "root");
    (void)snprintf(header.checksum, sizeof header.checksum, "%06o", sum_of(&header));
    header.checksum[7] = ' ';
    graft_text_add(archive, (const char *)&header, sizeof header);
    graft_text_add(archive, bytes, length);
    add_padding(archive, length);
}

void ustar_end(struct graft_text *archive) {
    static const char zeros[2 * BLOCK];
    graft_text_add(archive, zeros, sizeof zeros);
}

/* --- Reading --- */

int ustar_is_name(const char *text) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    return text[0] != '\0' && text[0] != '.' && text[0] != '-' && text[strspn(text, allowed)] == '\0';
}

/* An octal number, which a NUL or blanks end. Returns 0, or -1 for anything else. */
static int read_octal(const char *digits, size_t width, size_t *number) {
    size_t i = 0;
    *number = 0;
    for (; i < width && digits[i] >= '0' && digits[i] <= '7'; i++) {
        if (*number > ((size_t)-1 >> 3)) {
            return -1;
        }
        *number = *number * 8 + (size_t)(digits[i] - '0');
    }
    const size_t n_digits = i;
    while (i < width && (digits[i] == ' ' || digits[i] == '\0')) {
        i++;
    }
    return n_digits > 0 && i == width ? 0 : -1;
}

static int is_zero(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\0') {
            return 0;
        }
    }
    return 1;
}

/* "FOLDER/NAME" of a header to the two parts. Returns 0, or -1 for a name that leads elsewhere. */
static int read_name(const struct header *header, struct ustar_file *file) {
    char name[sizeof header->name + 1] = {0};
    memcpy(name, header->name, sizeof header->name);
    char *slash = strchr(name, '/');
    if (slash == NULL || !is_zero(header->prefix, sizeof header->prefix)) {
        return -1;
    }
    *slash = '\0';
    if (!ustar_is_name(name) || !ustar_is_name(slash + 1)) {
        return -1;
    }
    (void)snprintf(file->folder, sizeof file->folder, "%s", name);
    (void)snprintf(file->name, sizeof file->name, "%s", slash + 1);
    return 0;
}

static int fail(const char *source, size_t at, const char *what, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, source, "no package: at byte %zu: %s", at, what);
}

static int is_taken(const struct ustar_file *files, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(files[i].name, files[n].name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Reads the file whose header is at `*at`, which becomes the place after it. */
static int read_file(const char *archive, size_t length, const char *source, size_t *at, struct ustar_file *files,
                     size_t n, struct graft_error *error) {
    struct header header;
    struct ustar_file *file = &files[n];
    size_t sum = 0;
    memcpy(&header, archive + *at, sizeof header);
    if (memcmp(header.magic, "ustar", 5) != 0) {
        return fail(source, *at, "expected the header of a file in a tar archive (ustar)", error);
    }
    if (read_octal(header.checksum, sizeof header.checksum, &sum) != 0 || sum != sum_of(&header)) {
        return fail(source, *at, "the header's checksum is wrong", error);
    }
    if (header.type != '0' && header.type != '\0') {
        return fail(source, *at, "expected a regular file: a link, a folder, a device or an extension is not taken",
                    error);
    }
    if (read_name(&header, file) != 0) {
        return fail(source, *at, "expected a name FOLDER/FILE of letters, digits, '.', '_', '+' and '-'", error);
    }
    if (read_octal(header.size, sizeof header.size, &file->length) != 0 || file->length > length - *at - BLOCK) {
        return fail(source, *at, "the file's size goes beyond the archive", error);
    }
    if (strcmp(file->folder, files[0].folder) != 0) {
        return fail(source, *at, "expected all files in one folder", error);
    }
    if (is_taken(files, n)) {
        return fail(source, *at, "a file of this name comes twice", error);
    }
    file->bytes = archive + *at + BLOCK;
    *at += BLOCK + (file->length + BLOCK - 1) / BLOCK * BLOCK;
    return GRAFT_OK;
}

int ustar_read(const char *archive, size_t length, const char *source, struct ustar_file *files, size_t *n,
               struct graft_error *error) {
    size_t at = 0;
    int status = GRAFT_OK;
    *n = 0;
    if (length == 0) {
        return fail(source, 0, "it is empty", error);
    }
    if (length % BLOCK != 0) {
        return fail(source, length, "an archive has blocks of 512 bytes: is it compressed, or cut?", error);
    }
    while (status == GRAFT_OK && at < length && !is_zero(archive + at, BLOCK)) {
        if (*n == USTAR_MAX_FILES) {
            return fail(source, at, "it has more than 64 files", error);
        }
        status = read_file(archive, length, source, &at, files, *n, error);
        *n += status == GRAFT_OK;
    }
    if (status == GRAFT_OK && (at + 2 * (size_t)BLOCK > length || !is_zero(archive + at, length - at))) {
        status =
            fail(source, at, "expected the end of the archive: two blocks of zeros, and nothing after them", error);
    }
    return status == GRAFT_OK && *n == 0 ? fail(source, 0, "it has no files", error) : status;
}
