/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/encoder_parts.h"

enum { MAX_LABELS = 1 << 20 };

/* num_labels is not written where id2label is there. */
int graft_parts_read_num_labels(const struct graft_config *config, int64_t *num_labels, struct graft_error *error) {
    *num_labels = 2;
    int status = graft_config_int(config, "num_labels", 1, MAX_LABELS, num_labels, error);
    if (status != GRAFT_OK || !graft_config_has(config, "id2label")) {
        return status;
    }
    if (config->kind(config->data, "id2label") != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(config, "id2label", "an object", error);
    }
    *num_labels = config->size(config->data, "id2label");
    return *num_labels >= 1 && *num_labels <= MAX_LABELS
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "id2label: expected 1 to %d labels, got %lld",
                                 MAX_LABELS, (long long)*num_labels);
}
