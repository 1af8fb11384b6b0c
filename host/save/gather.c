/* SPDX-License-Identifier: Apache-2.0 */
#include "save/gather.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "bind/copy_box.h"
#include "bind/exact.h"
#include "kernels/threads.h"

/* The bytes gathered at a time, and the elements below which another thread does not pay. */
enum { WINDOW_BYTES = 8 << 20, GRAIN = 1 << 16 };

struct window {
    const struct save_tensor *tensor;
    char *bytes;
    int64_t begin; /* the first element of the tensor in the window */
    int64_t end;
    atomic_int inexact; /* set when a number does not fit the tensor's type */
};

/* Contiguous elements in memory, starting at element `first` of the source. */
struct memory {
    struct window *window;
    const char *bytes;
    graft_dtype dtype;
    int64_t first;
};

static int convert(void *data, int64_t at, int64_t begin, int64_t count) {
    const struct memory *memory = data;
    graft_dtype to = memory->window->tensor->form.dtype;
    int64_t from_size = graft_dtype_size(memory->dtype), to_size = graft_dtype_size(to);
    for (int64_t i = 0; i < count; i++) {
        const char *from = memory->bytes + (begin + i) * from_size;
        char *target = memory->window->bytes + (at + i) * to_size;
        uint32_t bits;
        if (to == GRAFT_DTYPE_F32) {
            bits = graft_exact_widen_at(from, memory->dtype);
            memcpy(target, &bits, sizeof bits);
            continue;
        }
        memcpy(&bits, from, sizeof bits);
        if (!graft_exact_narrow_at(bits, to, target)) {
            return 1;
        }
    }
    return 0;
}

/* Copies a piece of the window whose elements are all in this memory. */
static int take_piece(const struct memory *memory, const struct graft_box *piece) {
    struct graft_box box = *piece;
    graft_dtype to = memory->window->tensor->form.dtype;
    box.at -= memory->window->begin;
    box.begin -= memory->first;
    if (memory->dtype == to) {
        graft_copy_box(&box, graft_stored_dtype_unit(to), memory->bytes, memory->window->bytes);
        return 0;
    }
    if ((graft_exact_is_narrow(memory->dtype) && to == GRAFT_DTYPE_F32) ||
        (memory->dtype == GRAFT_DTYPE_F32 && graft_exact_is_narrow(to))) {
        return graft_box_stretches(&box, convert, (void *)(uintptr_t)memory);
    }
    return 1;
}

static int take_inverse(void *data, const struct graft_box *piece) {
    struct graft_box box = graft_box_inverse(piece);
    return take_piece(data, &box);
}

struct gathering {
    struct window *window;
    const struct save_source *source;
};

/* Copies a piece of the window from every row block that has some of its elements. */
static int take_part(void *data, const struct graft_box *piece) {
    const struct gathering *gathering = data;
    const struct graft_weight *weight = gathering->source->weight;
    const struct graft_tensor_view *view = gathering->source->view;
    struct memory memory = {.window = gathering->window};
    int result = 0;
    if (weight == NULL) {
        memory.bytes = view->data;
        memory.dtype = view->dtype;
        return take_piece(&memory, piece);
    }
    const struct graft_box inverse = graft_box_inverse(piece);
    for (int32_t i = 0; i < weight->n_blocks && result == 0; i++) {
        const struct graft_row_block *block = graft_weight_block(weight, i);
        memory.bytes = block->data;
        memory.dtype = block->dtype;
        int64_t end = memory.first + block->rows * weight->columns;
        result = graft_box_cut(&inverse, memory.first, end, take_inverse, &memory);
        memory.first = end;
    }
    return result;
}

/* Fills elements [begin, end) of the window. Parts are copied from last to first, so that the first part that has an
 * element decides. */
static void fill(void *data, int64_t begin, int64_t end) {
    struct window *window = data;
    const struct save_tensor *tensor = window->tensor;
    for (size_t i = tensor->n_parts; i > 0; i--) {
        struct gathering gathering = {window, tensor->parts[i - 1].source};
        if (graft_box_cut(&tensor->parts[i - 1].box, window->begin + begin, window->begin + end, take_part,
                          &gathering) != 0) {
            atomic_store(&window->inexact, 1);
        }
    }
}

int graft_save_gather(const struct save_tensor *tensor, save_emit emit, void *data, struct graft_error *error) {
    int64_t size = graft_stored_dtype_unit(tensor->form.dtype), step = WINDOW_BYTES / size;
    struct window window = {.tensor = tensor};
    step = step < tensor->form.count ? step : tensor->form.count;
    window.bytes = graft_alloc((size_t)step, (size_t)size);
    int status = window.bytes != NULL ? GRAFT_OK : graft_fail_memory(error, tensor->form.name);
    while (status == GRAFT_OK && window.end < tensor->form.count) {
        window.begin = window.end;
        window.end += tensor->form.count - window.end < step ? tensor->form.count - window.end : step;
        graft_threads_get()->parallel_for(window.end - window.begin, GRAIN, fill, &window);
        status = atomic_load(&window.inexact)
                     ? graft_error_set(error, GRAFT_ERROR_MODEL, tensor->form.name,
                                       "a number no longer fits the tensor's type %s",
                                       graft_stored_dtype_name(tensor->form.dtype))
                     : emit(data, window.bytes, (size_t)((window.end - window.begin) * size), error);
    }
    graft_free(window.bytes);
    return status;
}
