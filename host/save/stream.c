/* SPDX-License-Identifier: Apache-2.0 */
#include "save/stream.h"

#include <string.h>

#include "base/dtype.h"
#include "base/fail.h"
#include "bind/exact.h"
#include "save/gather.h"

enum { CONVERTED_AT_ONCE = 4096 };

struct stream {
    const struct save_tensor *tensor;
    save_emit emit;
    void *data;
};

static int inexact(const struct stream *stream, graft_dtype from, struct graft_error *error) {
    const struct journal_tensor *form = &stream->tensor->form;
    return graft_error_set(error, GRAFT_ERROR_MODEL, form->name,
                           "a number of type %s does not fit the tensor's type %s", graft_stored_dtype_name(from),
                           graft_stored_dtype_name(form->dtype));
}

/* Emits elements of a narrower type as f32. */
static int emit_widened(const struct stream *stream, graft_dtype from, const char *bytes, int64_t count,
                        struct graft_error *error) {
    const int64_t size = graft_dtype_size(from);
    uint32_t wide[CONVERTED_AT_ONCE];
    int status = GRAFT_OK;
    while (count > 0 && status == GRAFT_OK) {
        int64_t step = count < CONVERTED_AT_ONCE ? count : CONVERTED_AT_ONCE;
        for (int64_t i = 0; i < step; i++) {
            wide[i] = graft_exact_widen_at(bytes + size * i, from);
        }
        status = stream->emit(stream->data, wide, (size_t)step * sizeof wide[0], error);
        bytes += size * step;
        count -= step;
    }
    return status;
}

/* Emits f32 elements in the narrower type that they originally had. */
static int emit_narrowed(const struct stream *stream, const char *bytes, int64_t count, struct graft_error *error) {
    const graft_dtype to = stream->tensor->form.dtype;
    const int64_t size = graft_dtype_size(to);
    uint16_t narrow[CONVERTED_AT_ONCE]; /* elements of any 16-bit type */
    int status = GRAFT_OK;
    while (count > 0 && status == GRAFT_OK) {
        int64_t step = count < CONVERTED_AT_ONCE ? count : CONVERTED_AT_ONCE;
        for (int64_t i = 0; i < step; i++) {
            uint32_t bits;
            memcpy(&bits, bytes + 4 * i, sizeof bits);
            if (!graft_exact_narrow_at(bits, to, (char *)narrow + size * i)) {
                return inexact(stream, GRAFT_DTYPE_F32, error);
            }
        }
        status = stream->emit(stream->data, narrow, (size_t)(step * size), error);
        bytes += 4 * step;
        count -= step;
    }
    return status;
}

/* Emits `count` contiguous elements. */
static int emit_elements(const struct stream *stream, graft_dtype from, const char *bytes, int64_t count,
                         struct graft_error *error) {
    graft_dtype to = stream->tensor->form.dtype;
    if (from == to) {
        return stream->emit(stream->data, bytes, (size_t)(count * graft_stored_dtype_unit(from)), error);
    }
    if (graft_exact_is_narrow(from) && to == GRAFT_DTYPE_F32) {
        return emit_widened(stream, from, bytes, count, error);
    }
    return from == GRAFT_DTYPE_F32 && graft_exact_is_narrow(to) ? emit_narrowed(stream, bytes, count, error)
                                                                : inexact(stream, from, error);
}

/* Emits elements [begin, begin + count) of a weight, block by block. */
static int emit_weight(const struct stream *stream, const struct graft_weight *weight, int64_t begin, int64_t count,
                       struct graft_error *error) {
    int status = GRAFT_OK;
    int64_t first = 0; /* index of the block's first element */
    for (int32_t i = 0; i < weight->n_blocks && first < begin + count && status == GRAFT_OK; i++) {
        const struct graft_row_block *block = graft_weight_block(weight, i);
        int64_t there = block->rows * weight->columns;
        int64_t from = begin > first ? begin - first : 0;
        int64_t to = begin + count - first < there ? begin + count - first : there;
        if (from < to) {
            const char *bytes = (const char *)block->data + from * graft_dtype_size(block->dtype);
            status = emit_elements(stream, block->dtype, bytes, to - from, error);
        }
        first += there;
    }
    return status;
}

/* Whether the parts are contiguous and in order, so that nothing has to be gathered. */
static int is_sequential(const struct save_tensor *tensor) {
    int64_t at = 0;
    for (size_t i = 0; i < tensor->n_parts; i++) {
        const struct graft_box *box = &tensor->parts[i].box;
        int64_t count = graft_box_count(box);
        if (box->at != at || graft_box_together(box) != count) {
            return 0;
        }
        at += count;
    }
    return at == tensor->form.count;
}

static int emit_part(const struct stream *stream, const struct save_part *part, struct graft_error *error) {
    const struct graft_tensor_view *view = part->source->view;
    int64_t count = graft_box_count(&part->box);
    if (part->source->weight != NULL) {
        return emit_weight(stream, part->source->weight, part->box.begin, count, error);
    }
    const char *bytes = (const char *)view->data + part->box.begin * graft_stored_dtype_unit(view->dtype);
    return emit_elements(stream, view->dtype, bytes, count, error);
}

int graft_save_stream(const struct save_tensor *tensor, save_emit emit, void *data, struct graft_error *error) {
    const struct stream stream = {tensor, emit, data};
    int status = GRAFT_OK;
    if (!is_sequential(tensor)) {
        return graft_save_gather(tensor, emit, data, error);
    }
    for (size_t i = 0; i < tensor->n_parts && status == GRAFT_OK; i++) {
        status = emit_part(&stream, &tensor->parts[i], error);
    }
    return status;
}
