/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/weights.h"

double graft_bits_per_weight(const struct graft_weight_use *use) {
    return use->weights > 0 ? 8.0 * (double)use->bytes / (double)use->weights : 0.0;
}

void graft_weights_json(struct graft_writer *writer, graft_json *object, const struct graft_weight_use *use) {
    graft_writer_set_int(writer, object, "weights", use->weights);
    graft_writer_set_real(writer, object, "bits_per_weight", graft_bits_per_weight(use));
    graft_writer_set_int(writer, object, "bytes_per_token", use->bytes_per_token);
}
