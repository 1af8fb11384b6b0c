/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder without its head: embedding, layers, a last norm. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"

/* windows [num_hidden_layers]: what config.json says, or a derived class, which may know other fields. */
static int read_windows(const struct graft_config *config, const struct graft_decoder_traits *traits,
                        const struct graft_decoder_config *decoder, const struct graft_args *args, const char *path,
                        int64_t *windows, struct graft_error *error) {
    const struct graft_arg *given = graft_args_find(args, "windows", GRAFT_ARG_INTS);
    int64_t layers = decoder->num_hidden_layers;
    if (given == NULL) {
        return graft_decoder_config_windows(config, traits, decoder, windows, error);
    }
    if (given->count != layers) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "argument windows: expected a number for each of %lld layers, got %d", (long long)layers,
                               (int)given->count);
    }
    for (int64_t i = 0; i < layers; i++) {
        windows[i] = given->integers[i];
        if (windows[i] < 0 || windows[i] > GRAFT_MASK_UNLIMITED) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                   "argument windows: layer %lld: expected 0 or more keys, got %lld", (long long)i,
                                   (long long)windows[i]);
        }
    }
    return GRAFT_OK;
}

/* Layers are given all that their attention, MLP and norms are. `given` is what the model was given itself. */
static int declare(const struct graft_decoder_traits *traits, const struct graft_decoder_config *decoder,
                   const int64_t *windows, const struct graft_args *given, const struct graft_sink *sink,
                   struct graft_error *error) {
    const char *const reals_passed_on[] = {"scaling", "softcap"};
    const struct graft_parts_model part = {
        .embeddings = "embed_tokens",
        .layers = "layers",
        .layer_class = traits->decoder_layer,
        .norm = "norm",
        .norm_class = traits->rms_norm,
        .rotary_class = traits->rotary_embedding,
    };
    struct graft_arg items[14] = {
        graft_int_arg("hidden_size", decoder->hidden_size),
        graft_int_arg("intermediate_size", decoder->intermediate_size),
        graft_int_arg("num_attention_heads", decoder->num_attention_heads),
        graft_int_arg("num_key_value_heads", decoder->num_key_value_heads),
        graft_int_arg("head_dim", decoder->head_dim),
        graft_int_arg("qkv_bias", decoder->qkv_bias),
        graft_int_arg("o_proj_bias", traits->o_proj_bias && decoder->qkv_bias),
        graft_int_arg("mlp_bias", decoder->mlp_bias),
        graft_string_arg("hidden_act", decoder->hidden_act),
        graft_real_arg("eps", decoder->rms_norm_eps),
    };
    int32_t count = 10;
    int64_t rotary_width = graft_args_int(given, "rotary_width", decoder->head_dim);
    for (size_t i = 0; i < sizeof reals_passed_on / sizeof reals_passed_on[0]; i++) {
        if (graft_args_find(given, reals_passed_on[i], GRAFT_ARG_REAL) != NULL) {
            items[count++] = graft_real_arg(reals_passed_on[i], graft_args_real(given, reals_passed_on[i], 0.0));
        }
    }
    if (rotary_width != decoder->head_dim) {
        items[count++] = graft_int_arg("rotary_width", rotary_width);
    }
    if (graft_args_int(given, "rope_interleave", 0) != 0) {
        items[count++] = graft_int_arg("rope_interleave", 1);
    }
    const struct graft_args layer_args = graft_args_of(items, count);
    const struct graft_parts_model_sizes sizes = {
        .vocab_size = decoder->vocab_size,
        .hidden_size = decoder->hidden_size,
        .num_hidden_layers = decoder->num_hidden_layers,
        .rotary_width = rotary_width,
        .eps = decoder->rms_norm_eps,
        .windows = windows,
        .layer_args = &layer_args,
        .typed_rotary = graft_args_int(given, "typed_rotary", 0) != 0,
        .bidirectional = graft_args_int(given, "bidirectional", decoder->bidirectional) != 0,
    };
    return graft_parts_model_declare(&part, &sizes, sink, error);
}

int graft_decoder_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    struct graft_decoder_config decoder;
    int64_t windows[GRAFT_MAX_LAYERS];
    int status = graft_decoder_config_read(config, traits, &decoder, error);
    if (status == GRAFT_OK) {
        status = read_windows(config, traits, &decoder, args, sink->path, windows, error);
    }
    return status == GRAFT_OK ? declare(traits, &decoder, windows, args, sink, error) : status;
}
