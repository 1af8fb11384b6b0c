/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one file of a folder under construction. */
#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mapped_file.h"
#include "save/staging.h"

/* Bytes written before the disk is told to begin with them. */
enum { BEGUN_AT_ONCE = 32 << 20 };

static void file_finish(struct save_file *file) {
    graft_free(file->path);
    graft_free(file->shown);
    *file = (struct save_file){.fd = -1};
}

int graft_save_file_begin(const struct save_staging *staging, const char *name, struct save_file *file,
                          struct graft_error *error) {
    *file = (struct save_file){
        .path = graft_path_join(staging->path, name), .shown = graft_path_join(staging->final, name), .fd = -1};
    if (file->path == NULL || file->shown == NULL) {
        file_finish(file);
        return graft_fail_memory(error, name);
    }
    int number = graft_disk_create(file->path, &file->fd);
    if (number != 0) {
        (void)graft_fail_errno(error, GRAFT_ERROR_IO, file->shown, "cannot be created", number);
        file_finish(file);
        return GRAFT_ERROR_IO;
    }
    return GRAFT_OK;
}

/* If a write fails because a mapped source file was truncated, blames that file, not the one written. */
static int write_failed(const struct save_file *file, const void *bytes, int number, struct graft_error *error) {
    char source[512];
    if (number == EFAULT && graft_mapped_file(bytes, source, sizeof source)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source, "was overwritten or cut while it was being saved");
    }
    return graft_fail_errno(error, GRAFT_ERROR_IO, file->shown, "cannot be written", number);
}

int graft_save_file_write(struct save_file *file, const void *bytes, size_t size, struct graft_error *error) {
    int number = graft_disk_write(file->fd, bytes, size);
    file->written += (int64_t)size;
    if (number == 0 && file->written - file->begun >= BEGUN_AT_ONCE) {
        graft_disk_begin(file->fd, file->begun, file->written - file->begun);
        file->begun = file->written;
    }
    return number == 0 ? GRAFT_OK : write_failed(file, bytes, number, error);
}

int graft_save_file_end(struct save_file *file, int status, struct graft_error *error) {
    if (status != GRAFT_OK) {
        (void)close(file->fd);
    } else {
        int number = graft_disk_finish(file->fd);
        if (number != 0) {
            status = graft_fail_errno(error, GRAFT_ERROR_IO, file->shown, "cannot be written", number);
        }
    }
    file_finish(file);
    return status;
}
