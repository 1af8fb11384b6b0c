/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: attention or a mixer, and an MLP, dense or with experts, with their norms. */
#include "arch/decoder/choices.h"
#include "arch/role.h"

int graft_decoder_layer_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    graft_reader_start(&reader, description, config, graft_args_int(args, "layer_idx", 0), error);
    const int32_t mixed = graft_read_bool(&reader, D_LAYER_MIXED);
    const int32_t sparse = graft_read_bool(&reader, D_LAYER_EXPERTS);
    const char *mixer =
        graft_args_string(args, "mixer", mixed ? graft_description_name(description, D_LAYER_MIXER) : NULL);
    const int32_t parallel = graft_read_bool(&reader, D_LAYER_PARALLEL);
    const int32_t shared_norm = parallel && graft_read_bool(&reader, D_LAYER_SHARED_NORM);
    const struct graft_parts_layer part = {
        .attention = mixer == NULL ? graft_description_name(description, D_LAYER_ATTENTION) : NULL,
        .attention_class = graft_description_name(description, D_CLASS_ATTENTION),
        .mixer = mixer,
        .mixer_class = graft_args_string(args, "mixer_class", graft_description_name(description, D_CLASS_MIXER)),
        .mlp = graft_description_name(description, D_LAYER_MLP),
        .mlp_class = graft_description_name(description, sparse ? D_CLASS_MOE : D_CLASS_MLP),
        .norm_class = graft_description_name(description, D_CLASS_NORM),
        .attention_norm = graft_description_name(description, D_LAYER_ATTENTION_NORM),
        .attention_output_norm = graft_description_name(description, D_LAYER_ATTENTION_OUTPUT_NORM),
        .mlp_norm = shared_norm ? NULL : graft_description_name(description, D_LAYER_MLP_NORM),
        .mlp_output_norm = graft_description_name(description, D_LAYER_MLP_OUTPUT_NORM),
        .parallel = parallel,
        .norm_after_add = graft_read_bool(&reader, D_LAYER_NORM_AFTER_ADD),
    };
    return reader.status == GRAFT_OK ? graft_parts_layer_declare(&part, config, args, sink, error) : reader.status;
}
