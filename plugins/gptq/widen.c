/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes lie one behind the other in a stream of bits, the first in the lowest bits of the first word: a code may begin
 * in one word and end in the next. 32 of them fill as many words as they have bits. The stream of `qweight` goes down
 * its columns, that of `qzeros` along its rows.
 */
#include "widen.h"

#include <string.h>

/* The `data` of an operation. */
struct widening {
    int32_t bits;
    int32_t along_rows; /* of qzeros */
};

int32_t gptq_wide(int64_t bits) {
    return bits <= 4 ? 4 : 8;
}

/* A stream of codes, whose words lie `stride` apart. */
struct stream {
    uint32_t *words;
    int64_t stride;
    int32_t bits;
};

static uint32_t read_code(const struct stream *stream, int64_t i) {
    const int64_t first = i * stream->bits, word = first / 32;
    const int32_t shift = (int32_t)(first % 32);
    uint64_t pair = stream->words[word * stream->stride];
    if (shift + stream->bits > 32) {
        pair |= (uint64_t)stream->words[(word + 1) * stream->stride] << 32;
    }
    return (uint32_t)(pair >> shift) & ((1U << stream->bits) - 1);
}

/* Into words that are 0 there. */
static void write_code(const struct stream *stream, int64_t i, uint32_t code) {
    const int64_t first = i * stream->bits, word = first / 32;
    const int32_t shift = (int32_t)(first % 32);
    stream->words[word * stream->stride] |= code << shift;
    if (shift + stream->bits > 32) {
        stream->words[(word + 1) * stream->stride] |= code >> (32 - shift);
    }
}

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct widening *widening = self->data;
    const struct graft_value_info *input = graft_value_info_at(shapes->inputs, shapes->info_stride, 0);
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    const int32_t dim = widening->along_rows;
    if (input->dtype != GRAFT_DTYPE_I32 || input->rank != 2 || input->shape[dim] % widening->bits != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name,
                               "expected a matrix of words (I32), a multiple of %d %s", (int)widening->bits,
                               dim == 0 ? "in each column" : "in each row");
    }
    output->dtype = GRAFT_DTYPE_I32;
    output->rank = 2;
    memcpy(output->shape, input->shape, sizeof output->shape);
    output->shape[dim] = input->shape[dim] / widening->bits * gptq_wide(widening->bits);
    return GRAFT_OK;
}

/* From codes of some bits to codes of others; both matrices [rows, columns], whose size differs along the streams. */
static void recode(const struct widening *widening, const struct graft_value_info *from_info, const void *from,
                   int32_t from_bits, const struct graft_value_info *to_info, void *to, int32_t to_bits) {
    const int32_t dim = widening->along_rows;
    const int64_t streams = from_info->shape[1 - dim], codes = from_info->shape[dim] * 32 / from_bits;
    const int64_t step_from = dim == 0 ? 1 : from_info->shape[1], step_to = dim == 0 ? 1 : to_info->shape[1];
    memset(to, 0, (size_t)(to_info->shape[0] * to_info->shape[1]) * sizeof(uint32_t));
    for (int64_t k = 0; k < streams; k++) {
        const struct stream source = {(uint32_t *)(uintptr_t)from + k * step_from, dim == 0 ? from_info->shape[1] : 1,
                                      from_bits};
        const struct stream target = {(uint32_t *)to + k * step_to, dim == 0 ? to_info->shape[1] : 1, to_bits};
        for (int64_t i = 0; i < codes; i++) {
            write_code(&target, i, read_code(&source, i));
        }
    }
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const struct widening *widening = self->data;
    (void)error;
    recode(widening, work->inputs, work->from[0], widening->bits, work->outputs, work->to[0],
           gptq_wide(widening->bits));
    return GRAFT_OK;
}

static int reverse(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                   struct graft_error *error) {
    const struct widening *widening = self->data;
    (void)error;
    recode(widening, work->outputs, work->from[0], gptq_wide(widening->bits), work->inputs, work->to[0],
           widening->bits);
    return GRAFT_OK;
}

#define WIDENINGS(n) \
    {n, 0}, {        \
        n, 1         \
    }
static const struct widening widenings[GPTQ_OPERATIONS] = {WIDENINGS(2), WIDENINGS(3), WIDENINGS(5), WIDENINGS(6),
                                                           WIDENINGS(7)};

#define OPERATION(operation_name, i)                                                                           \
    {                                                                                                          \
        .struct_size = sizeof(struct graft_custom_operation), .name = (operation_name), .data = &widenings[i], \
        .infer = infer, .apply = apply, .reverse = reverse                                                     \
    }
const struct graft_custom_operation gptq_operations[GPTQ_OPERATIONS] = {
    OPERATION("codes_of_2_bits", 0), OPERATION("zeros_of_2_bits", 1), OPERATION("codes_of_3_bits", 2),
    OPERATION("zeros_of_3_bits", 3), OPERATION("codes_of_5_bits", 4), OPERATION("zeros_of_5_bits", 5),
    OPERATION("codes_of_6_bits", 6), OPERATION("zeros_of_6_bits", 7), OPERATION("codes_of_7_bits", 8),
    OPERATION("zeros_of_7_bits", 9)};

static const struct graft_custom_operation *find_operation(int64_t bits, int along_rows) {
    int i = along_rows;
    while (widenings[i].bits != bits) {
        i += 2;
    }
    return &gptq_operations[i];
}

int gptq_describe_widening(const struct graft_sink *sink, int64_t bits, struct graft_error *error) {
    static const char *const tensors[] = {"qweight", "qzeros"};
    int status = GRAFT_OK;
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        const struct graft_operation operation = {
            .struct_size = sizeof operation, .kind = GRAFT_OP_CUSTOM, .custom = find_operation(bits, i)};
        const struct graft_conversion conversion = {
            .struct_size = sizeof conversion,
            .n_sources = 1,
            .sources = &tensors[i],
            .targets = &tensors[i],
            .operations = &operation,
            .n_targets = 1,
            .n_operations = 1,
            .operation_stride = sizeof operation,
        };
        status = sink->conversion(sink->data, &conversion, error);
    }
    return status;
}
