/* SPDX-License-Identifier: Apache-2.0 */
/* x in the form that panels want. */
#include <string.h>

#include "kernels/few.h"
#include "kernels/product.h"
#include "kernels/table.h"

struct conversion {
    const struct graft_loops *loops;
    const struct graft_product_input *input;
    void *data; /* [padded_tokens, stride] */
    int64_t stride;
};

static int is_bf16(const struct graft_product_input *input) {
    return input->form == GRAFT_INPUT_BF16 || input->form == GRAFT_INPUT_PAIRS || input->form == GRAFT_INPUT_FEW;
}

static int64_t stride_of(const struct graft_product_input *input) {
    switch (input->form) {
    case GRAFT_INPUT_PAIRS:
        return input->columns + input->columns % 2;
    case GRAFT_INPUT_FEW:
        return graft_few_stride(input->columns);
    default:
        return input->columns;
    }
}

static void convert_row(const struct graft_loops *loops, const struct graft_product_input *input, int64_t t,
                        char *out) {
    const float *x = input->x + t * input->x_stride;
    if (is_bf16(input)) {
        loops->narrow(x, input->columns, (uint16_t *)(void *)out);
    } else {
        loops->widen(GRAFT_READ_F32_AS_BF16, x, input->columns, (float *)(void *)out);
    }
}

static int64_t element_size(const struct graft_product_input *input) {
    return is_bf16(input) ? 2 : 4;
}

static void convert_rows(void *data, int64_t begin, int64_t end) {
    const struct conversion *conversion = (const struct conversion *)data;
    const struct graft_product_input *input = conversion->input;
    int64_t bytes = conversion->stride * element_size(input);
    int64_t used = input->columns * element_size(input);
    for (int64_t t = begin; t < end; t++) {
        char *out = (char *)conversion->data + t * bytes;
        if (t < input->tokens) {
            convert_row(conversion->loops, input, t, out);
            memset(out + used, 0, (size_t)(bytes - used));
        } else {
            memset(out, 0, (size_t)bytes);
        }
    }
}

static int is_same(const struct graft_product_input *a, const struct graft_product_input *b) {
    return a->x == b->x && a->x_stride == b->x_stride && a->tokens == b->tokens && a->columns == b->columns &&
           a->padded_tokens == b->padded_tokens && a->form == b->form;
}

const struct graft_product_input *graft_product_input_get(const struct graft_call *call,
                                                          const struct graft_product_input *wanted,
                                                          struct graft_product_input *inputs, int64_t *n_inputs) {
    for (int64_t i = *n_inputs - 1; i >= 0; i--) { /* mostly it is that of the panel before */
        if (is_same(&inputs[i], wanted)) {
            return &inputs[i];
        }
    }
    struct graft_product_input *input = &inputs[*n_inputs];
    *input = *wanted;
    if (input->form == GRAFT_INPUT_AS_GIVEN) {
        input->data = input->x;
        input->data_stride = input->x_stride;
    } else {
        int64_t stride = stride_of(input);
        void *data = call->scratch_alloc(call->scratch, input->padded_tokens * stride * element_size(input));
        if (data == NULL) {
            return NULL;
        }
        struct conversion conversion = {graft_loops_get(), input, data, stride};
        call->threads->parallel_for(input->padded_tokens, graft_grain_rows(input->columns), convert_rows, &conversion);
        input->data = data;
        input->data_stride = stride;
    }
    *n_inputs += 1;
    return input;
}
