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
    const int32_t attends = graft_read_bool(&reader, D_LAYER_HAS_ATTENTION);
    const int32_t feeds = graft_read_bool(&reader, D_LAYER_HAS_MLP);
    const int32_t mixed = attends && graft_read_bool(&reader, D_LAYER_MIXED);
    const int32_t beside = attends && graft_read_bool(&reader, D_LAYER_BESIDE);
    const int32_t sparse = graft_read_bool(&reader, D_LAYER_EXPERTS);
    const char *mixer =
        graft_args_string(args, "mixer", mixed || beside ? graft_description_name(description, D_LAYER_MIXER) : NULL);
    const int32_t parallel = graft_read_bool(&reader, D_LAYER_PARALLEL);
    const int32_t shared_norm = parallel && graft_read_bool(&reader, D_LAYER_SHARED_NORM);
    const int32_t before = graft_read_bool(&reader, D_LAYER_NORMS_BEFORE);
    const int32_t after = graft_read_bool(&reader, D_LAYER_NORMS_AFTER);
    if ((mixed || beside) && (graft_description_name(description, D_LAYER_MIXER) == NULL ||
                              graft_description_name(description, D_CLASS_MIXER) == NULL ||
                              graft_description_word(description, D_MIXER_KIND) <= D_MIXER_NONE)) {
        graft_reader_fail(&reader, mixed ? D_LAYER_MIXED : D_LAYER_BESIDE,
                          "a mixer needs layer.mixer and class.mixer, and mixer.kind as a word");
    }
    const int32_t crosses = graft_args_find(args, "cross_layer_idx", GRAFT_ARG_INT) != NULL;
    if (crosses && parallel) {
        graft_reader_fail(&reader, D_LAYER_PARALLEL, "not supported with an encoder");
    }
    const struct graft_parts_layer part = {
        .attention =
            attends && (mixer == NULL || beside) ? graft_description_name(description, D_LAYER_ATTENTION) : NULL,
        .attention_class = graft_description_name(description, D_CLASS_ATTENTION),
        .mixer = mixer,
        .mixer_class = graft_args_string(args, "mixer_class", graft_description_name(description, D_CLASS_MIXER)),
        .mlp = feeds ? graft_description_name(description, D_LAYER_MLP) : NULL,
        .mlp_class = graft_description_name(description, sparse ? D_CLASS_MOE : D_CLASS_MLP),
        .norm_class = graft_description_name(description, D_CLASS_NORM),
        .attention_norm = attends && before && graft_read_bool(&reader, D_LAYER_ATTENTION_NORMED)
                              ? graft_description_name(description, D_LAYER_ATTENTION_NORM)
                              : NULL,
        .attention_output_norm =
            attends && after ? graft_description_name(description, D_LAYER_ATTENTION_OUTPUT_NORM) : NULL,
        .mlp_norm = feeds && before && !shared_norm ? graft_description_name(description, D_LAYER_MLP_NORM) : NULL,
        .mlp_output_norm = feeds && after ? graft_description_name(description, D_LAYER_MLP_OUTPUT_NORM) : NULL,
        .cross = crosses ? graft_description_name(description, D_LAYER_CROSS) : NULL,
        .cross_class = graft_description_name(description, D_CLASS_CROSS_ATTENTION),
        .cross_norm = graft_description_name(description, D_LAYER_CROSS_NORM),
        .parallel = parallel,
        .mlp_mixes = graft_description_word(description, D_MIXER_KIND) == D_MIXER_RWKV,
        .attention_residual = graft_description_name(description, D_LAYER_ATTENTION_RESIDUAL),
        .mlp_residual = graft_description_name(description, D_LAYER_MLP_RESIDUAL),
        .norm_after_add = graft_read_bool(&reader, D_LAYER_NORM_AFTER_ADD),
        .residual_normed = graft_read_bool(&reader, D_LAYER_RESIDUAL_NORMED),
        .attention_skip = graft_read_real(&reader, D_LAYER_ATTENTION_SKIP),
        .attention_scale = graft_read_real(&reader, D_LAYER_ATTENTION_SCALE),
        .mlp_skip = graft_read_real(&reader, D_LAYER_MLP_SKIP),
        .mlp_scale = graft_read_real(&reader, D_LAYER_MLP_SCALE),
    };
    return reader.status == GRAFT_OK ? graft_parts_layer_declare(&part, config, args, sink, error) : reader.status;
}
