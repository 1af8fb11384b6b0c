/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "bind/copy.h"
#include "runner.h"
#include "weights/safetensors.h"

static struct graft_safetensors *file;

int tensors_open_beside(const char *cases) {
    struct graft_error error = graft_error_none();
    char path[4096];
    const char *dot = strrchr(cases, '.');
    (void)snprintf(path, sizeof path, "%.*s.safetensors", (int)(dot != NULL ? (size_t)(dot - cases) : strlen(cases)),
                   cases);
    if (access(path, F_OK) != 0 || graft_safetensors_open(path, &file, &error) == GRAFT_OK) {
        return 0;
    }
    (void)printf("%s: failed: %s\n", path, error.message);
    return -1;
}

void tensors_close(void) {
    graft_safetensors_close(file);
    file = NULL;
}

const struct graft_tensor_view *tensors_find(const char *label) {
    return file != NULL && label != NULL ? graft_safetensors_find(file, label) : NULL;
}

int tensors_same(const struct graft_value *value, const struct graft_tensor_view *wanted, const char *what,
                 struct graft_text *why) {
    char expected[GRAFT_SHAPE_TEXT], got[GRAFT_SHAPE_TEXT];
    if (value->rank != wanted->rank || memcmp(value->shape, wanted->shape, sizeof value->shape) != 0) {
        (void)fail(why, "%s: expected the shape %s, got %s", what,
                   graft_shape_text(wanted->shape, wanted->rank, expected),
                   graft_shape_text(value->shape, value->rank, got));
        return 0;
    }
    for (size_t i = 0; i < value->n_parts; i++) {
        if (value->parts[i].tensor->dtype != wanted->dtype) {
            (void)fail(why, "%s: expected the type %s", what, graft_dtype_name(wanted->dtype));
            return 0;
        }
    }
    char *bytes = graft_alloc((size_t)wanted->bytes + 1, 1);
    int same = bytes != NULL;
    if (same && wanted->bytes > 0) {
        graft_copy_value(value, wanted->dtype, bytes);
        same = memcmp(bytes, wanted->data, (size_t)wanted->bytes) == 0;
    }
    graft_free(bytes);
    if (!same) {
        (void)fail(why, "%s: the bytes differ", what);
    }
    return same;
}

int tensors_equal(const struct graft_tensor_view *a, const struct graft_tensor_view *b) {
    return a->dtype == b->dtype && a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
           a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->data, b->data, (size_t)a->bytes) == 0);
}
