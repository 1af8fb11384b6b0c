/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <errno.h>
#include <string.h>

int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number) {
    char words[128];
    code = number == ENOMEM ? GRAFT_ERROR_INTERNAL : number == EMFILE || number == ENFILE ? GRAFT_ERROR_IO : code;
    if (strerror_r(number, words, sizeof words) != 0) {
        (void)snprintf(words, sizeof words, "error %d", number);
    }
    return graft_error_set(error, code, source, "%s: %s", what, words);
}

int graft_fail_with(struct graft_error *error, const struct graft_error *own, int status) {
    if (error != NULL && error->code == GRAFT_OK && own->code != GRAFT_OK) {
        *error = *own;
    }
    return status;
}

int graft_check_given(const void *given, size_t size_1_0, const char *name, struct graft_error *error) {
    uint32_t struct_size = (uint32_t)size_1_0;
    if (given != NULL) {
        memcpy(&struct_size, given, sizeof struct_size);
    }
    return struct_size >= size_1_0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, name, "struct_size: expected at least %zu, got %u", size_1_0,
                                 (unsigned)struct_size);
}

int graft_check_structs(const void *array, size_t n, size_t size_1_0, const char *name, struct graft_error *error) {
    int status = n > 0 ? graft_check_given(array, size_1_0, name, error) : GRAFT_OK;
    uint32_t first = 0;
    if (status == GRAFT_OK && n > 0) {
        memcpy(&first, array, sizeof first);
        if (n > 1 && first % sizeof(void *) != 0) { /* elements would not be aligned to words */
            status = graft_error_set(error, GRAFT_ERROR_USAGE, name, "struct_size: expected a multiple of %zu, got %u",
                                     sizeof(void *), (unsigned)first);
        }
    }
    for (size_t i = 1; i < n && status == GRAFT_OK; i++) {
        uint32_t size;
        memcpy(&size, graft_struct_at(array, i), sizeof size);
        if (size != first) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, name,
                                     "struct_size of number %zu: expected %u, as the first one has, got %u", i + 1,
                                     (unsigned)first, (unsigned)size);
        }
    }
    return status;
}

int graft_check_given_path(const char *path, const char *name, struct graft_error *error) {
    return path[0] != '\0' ? GRAFT_OK
                           : graft_error_set(error, GRAFT_ERROR_USAGE, name, "expected a path, got an empty string");
}
