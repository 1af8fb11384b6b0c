/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include "sums.h"

int lora_base_open(const struct graft_module *module, struct graft_product *base) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    return graft_linear_as_product(module, &none, base) &&
           (base->weight->codec != NULL || lora_are_floats(base->weight));
}

void lora_base_read(const struct graft_product *base, int64_t first, int64_t n, float *weight, float *bias) {
    const struct graft_codec *codec = base->weight->codec;
    if (codec != NULL) {
        codec->read_rows(base->weight, base->first_row + first, n, weight);
    }
    for (int64_t r = 0; r < n; r++) {
        const int64_t row = base->first_row + first + r;
        if (codec == NULL) {
            lora_read_row(base->weight, row, weight + r * base->weight->columns);
        }
        bias[r] = 0.0F;
        if (base->bias != NULL) {
            lora_read_row(base->bias, row, &bias[r]);
        }
    }
}
