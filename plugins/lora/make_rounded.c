/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds an adapter's tensors (F32, F16 or BF16) to bf16, so that a test can compare with rounding while loading.
 *
 * usage: make_rounded FROM.safetensors TO.safetensors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/convert.h"
#include "weights/safetensors.h"
#include "weights/safetensors_write.h"

static void need(int condition, const char *what) {
    if (!condition) {
        (void)fprintf(stderr, "make_rounded: %s\n", what);
        exit(2);
    }
}

static void round_tensor(struct graft_tensor_view *view) {
    const int64_t n = view->bytes / (view->dtype == GRAFT_DTYPE_F32 ? 4 : 2);
    uint16_t *to = graft_alloc((size_t)n, sizeof *to);
    need(to != NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        to[i] = graft_bf16_from_f32(graft_f32_at(view->data, view->dtype, i));
    }
    view->dtype = GRAFT_DTYPE_BF16;
    view->data = to;
    view->bytes = n * (int64_t)sizeof *to;
}

int main(int argc, char **argv) {
    struct graft_error error = graft_error_none();
    struct graft_safetensors *file;
    need(argc == 3, "usage: make_rounded FROM.safetensors TO.safetensors");
    need(graft_safetensors_open(argv[1], &file, &error) == GRAFT_OK, error.message);
    const size_t n = graft_safetensors_count(file);
    struct graft_tensor_view *tensors = graft_alloc(n, sizeof *tensors);
    need(tensors != NULL, "out of memory");
    for (size_t i = 0; i < n; i++) {
        tensors[i] = *graft_safetensors_at(file, i);
        if (strstr(tensors[i].name, ".base_layer.weight") == NULL) { /* belongs to the model, so it is not rounded */
            round_tensor(&tensors[i]);
        }
    }
    need(graft_safetensors_write(argv[2], tensors, n, NULL, &error) == GRAFT_OK, error.message);
    for (size_t i = 0; i < n; i++) {
        if (tensors[i].data != graft_safetensors_at(file, i)->data) {
            graft_free((void *)(uintptr_t)tensors[i].data);
        }
    }
    graft_free(tensors);
    graft_safetensors_close(file);
    return 0;
}
