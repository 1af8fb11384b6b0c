/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder that tells which class a sequence belongs to: a Linear after the pooler. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"

int graft_sequence_classifier_describe(const struct graft_class *self, const struct graft_config *config,
                                       const struct graft_args *args, const struct graft_sink *sink,
                                       struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    struct graft_encoder_config encoder;
    (void)args;
    int status = graft_encoder_config_read(config, traits, &encoder, error);
    const struct graft_parts_encoder_root part = {
        .model = traits->child, .model_class = traits->model, .decoder = "classifier"};
    struct graft_parts_encoder_sizes sizes = graft_encoder_config_sizes(&encoder);
    sizes.pooling = GRAFT_POOLING_POOLER;
    if (status == GRAFT_OK) {
        status = graft_parts_read_num_labels(config, &sizes.logits, error);
    }
    return status == GRAFT_OK ? graft_parts_encoder_root_declare(&part, &sizes, sink, error) : status;
}
