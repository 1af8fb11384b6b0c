/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/predictors.h"

#include <stdlib.h>
#include <string.h>

static int64_t count(const struct graft_config *config) {
    static const char *const names[] = {"num_nextn_predict_layers", "num_mtp_layers"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (config->kind(config->data, names[i]) == GRAFT_FIELD_INT) {
            return config->integer(config->data, names[i]);
        }
    }
    return 1;
}

int32_t graft_decoder_is_predictor(const struct graft_config *config, const char *tensor) {
    const int64_t layers = config->integer(config->data, "num_hidden_layers");
    const char *name = strncmp(tensor, "model.", 6) == 0 ? tensor + 6 : tensor;
    char *end = NULL;
    if (strncmp(name, "layers.", 7) != 0) {
        return 0;
    }
    const int64_t layer = strtoll(name + 7, &end, 10);
    return *end == '.' && layer >= layers && layer - layers < count(config);
}
