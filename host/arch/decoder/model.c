/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder without its head: embeddings, layers, and a final norm. */
#include "arch/decoder/model.h"

#include <stdio.h>
#include <string.h>

#include "arch/decoder/roles.h"
#include "arch/role.h"

enum { MAX_NAME = 256, MAX_LAYER_ARGS = 24 };

/* Checks config.json's types of layers: there must be as many as layers, all of them types that the family has. */
static void check_types(struct graft_outline *of, int64_t layers) {
    static const char field[] = "layer_types";
    const struct graft_config *config = of->reader.config;
    if (graft_description_never(of->reader.description, D_LAYER_TYPE) || !graft_config_has(config, field)) {
        return;
    }
    if (config->kind(config->data, field) != GRAFT_FIELD_ARRAY) {
        (void)graft_config_expected(config, field, "an array", of->error);
    } else if (config->size(config->data, field) != layers) {
        (void)graft_error_set(
            of->error, GRAFT_ERROR_MODEL, config->file, "%s: expected num_hidden_layers (%lld) entries, got %lld",
            graft_config_spelling(config, field), (long long)layers, (long long)config->size(config->data, field));
    }
    for (int64_t i = 0; i < layers && of->error->code == GRAFT_OK; i++) {
        char path[MAX_NAME];
        (void)snprintf(path, sizeof path, "%s.%lld", field, (long long)i);
        if (config->kind(config->data, path) != GRAFT_FIELD_STRING) {
            (void)graft_config_expected(config, path, "a string", of->error);
        }
    }
}

/* Reads the window of the reader's layer, and checks it against the layer's type. */
static int64_t read_window(struct graft_outline *of) {
    struct graft_reader *reader = &of->reader;
    const char *types = graft_outline_name(of, D_LAYER_TYPES);
    const char *type = graft_read_text(reader, D_LAYER_TYPE);
    const int64_t window = graft_read_int(reader, D_WINDOW);
    if (reader->status != GRAFT_OK || type == NULL) {
        return window;
    }
    if (types != NULL && graft_choice_word(types, type) < 0) {
        char quoted[MAX_NAME];
        graft_choice_list(types, quoted, sizeof quoted);
        graft_reader_fail(reader, D_LAYER_TYPE, "expected %s, got \"%.60s\"", quoted, type);
    } else if (window == 0 && strcmp(type, "sliding_attention") == 0) {
        graft_reader_fail(reader, D_LAYER_TYPE,
                          "\"sliding_attention\" needs a window, but sliding_window is null or not used");
    }
    return window;
}

/* Reads the chunk of the reader's layer. A chunk together with a window, or with bidirectional attention, is an error.
 */
static int64_t read_chunk(struct graft_outline *of, const struct graft_decoder_model *self, int64_t window) {
    const int64_t chunk = graft_read_int(&of->reader, D_CHUNK);
    if (chunk > 0 && (window > 0 || self->bidirectional)) {
        graft_reader_fail(&of->reader, D_CHUNK, "not supported beside %s",
                          window > 0 ? "a window" : "attention in both directions");
    }
    return chunk;
}

/* The window of layer `i` from the arguments of a derived class, which may read other fields of config.json for them.
 */
static int64_t take_window(struct graft_outline *of, const struct graft_arg *given, int64_t layers, int64_t i) {
    if (given->count != layers) {
        (void)graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                              "argument windows: expected a number for each of %lld layers, got %d", (long long)layers,
                              (int)given->count);
        return 0;
    }
    if (given->integers[i] < 0 || given->integers[i] > GRAFT_MASK_UNLIMITED) {
        (void)graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                              "argument windows: layer %lld: expected 0 or more keys, got %lld", (long long)i,
                              (long long)given->integers[i]);
    }
    return given->integers[i];
}

/* The attention mask of a layer with a window or a chunk; 0: it has none. */
static struct graft_mask mask_of(const struct graft_decoder_model *self, int64_t window, int64_t chunk) {
    struct graft_mask mask = {.struct_size = sizeof mask};
    if (self->bidirectional) {
        mask.kind = window > 0 ? GRAFT_MASK_WINDOW : GRAFT_MASK_NONE;
        mask.left = window;
        mask.right = window;
    } else {
        mask.kind = chunk > 0 ? GRAFT_MASK_CHUNKED : window > 0 ? GRAFT_MASK_SLIDING : GRAFT_MASK_CAUSAL;
        mask.window = chunk > 0 ? chunk : window;
    }
    return mask;
}

static void read_layers(struct graft_outline *of, struct graft_decoder_model *self,
                        const struct graft_rotary_kind *kinds) {
    struct graft_reader *reader = &of->reader;
    const struct graft_arg *windows = graft_args_find(of->args, "windows", GRAFT_ARG_INTS);
    const int32_t typed = graft_args_int(of->args, "typed_rotary", 0) != 0;
    for (int64_t i = 0; i < self->n_layers && of->error->code == GRAFT_OK; i++) {
        struct graft_model_layer *layer = &self->layers[i];
        reader->layer = i;
        const int64_t window = windows != NULL ? take_window(of, windows, self->n_layers, i) : read_window(of);
        layer->mask = mask_of(self, window, windows != NULL ? 0 : read_chunk(of, self, window));
        layer->uses_rotary = graft_read_bool(reader, D_ROTARY_USE);
        graft_sharing_read(reader, self->n_layers, &layer->sharing);
        self->shares_keys |= layer->sharing.kv_layer >= 0;
        layer->type = !typed       ? graft_rotary_find(reader, kinds)
                      : window > 0 ? GRAFT_LAYER_SLIDING_ATTENTION
                                   : GRAFT_LAYER_FULL_ATTENTION;
    }
    reader->layer = -1;
}

/* Finds the widths of cos and sin, from the arguments of a derived class or from the rotary choices. */
static void read_rotary(struct graft_outline *of, struct graft_decoder_model *self, struct graft_rotary_kind *kinds) {
    struct graft_reader *reader = &of->reader;
    const int64_t given = graft_args_int(of->args, "rotary_width", 0);
    const int32_t typed = graft_args_int(of->args, "typed_rotary", 0) != 0;
    self->n_rotary_kinds = 1;
    if (graft_outline_name(of, D_CLASS_ROTARY) == NULL) {
        return;
    }
    self->typed_rotary = typed || graft_read_bool(reader, D_ROTARY_TYPED) || graft_read_bool(reader, D_ROTARY_BY_LAYER);
    if (given == 0 && !typed) {
        graft_rotary_kinds(reader, of->sink->host, kinds);
    }
    reader->layer = 0;
    for (int32_t i = 0; i < (given > 0 || typed ? GRAFT_ROTARY_TYPES : GRAFT_ROTARY_KINDS); i++) {
        self->rotary_widths[i] = given > 0 ? given : typed ? graft_read_int(reader, D_HEAD_DIM) : kinds[i].width;
        self->n_rotary_kinds = self->rotary_widths[i] > 0 ? i + 1 : self->n_rotary_kinds;
    }
    reader->layer = -1;
}

/* Appends an argument of a derived class, or what a choice says if it is not null; returns the new number. */
static int32_t add_real(struct graft_outline *of, const char *name, int32_t choice, struct graft_arg *items,
                        int32_t n) {
    const int is_given = graft_args_find(of->args, name, GRAFT_ARG_REAL) != NULL;
    if (is_given || !graft_read_is_null(&of->reader, choice)) {
        items[n++] = graft_real_arg(name, graft_args_real(of->args, name, graft_read_real(&of->reader, choice)));
    }
    return n;
}

/* Appends a layer's arguments for its attention to the `n` of `items`; returns the new number. */
static int32_t add_attention_args(struct graft_outline *of, const struct graft_decoder_model *self, int64_t layer,
                                  struct graft_arg *items, int32_t n) {
    struct graft_reader *reader = &of->reader;
    const int64_t head_dim = graft_read_int(reader, D_HEAD_DIM);
    const int64_t heads = graft_read_int(reader, D_HEADS);
    const int64_t kv_heads = graft_read_int(reader, D_KV_HEADS);
    if (reader->status == GRAFT_OK && heads % kv_heads != 0) {
        graft_reader_fail(reader, D_KV_HEADS, "%lld does not divide num_attention_heads (%lld)", (long long)kv_heads,
                          (long long)heads);
    }
    items[n++] = graft_int_arg("num_attention_heads", heads);
    items[n++] = graft_int_arg("num_key_value_heads", kv_heads);
    items[n++] = graft_int_arg("head_dim", head_dim);
    items[n++] = graft_int_arg("qkv_bias", graft_read_bool(reader, D_QKV_BIAS));
    items[n++] = graft_int_arg("o_proj_bias", graft_read_bool(reader, D_O_BIAS));
    n = add_real(of, "scaling", D_ATTENTION_SCALE, items, n);
    n = add_real(of, "softcap", D_ATTENTION_SOFTCAP, items, n);
    if (self->layers[layer].sharing.kv_layer >= 0) {
        items[n++] = graft_int_arg("kv_layer_idx", self->layers[layer].sharing.kv_layer);
    }
    const int64_t width = self->rotary_widths[self->layers[layer].type];
    if (width != 0 && width != head_dim) {
        items[n++] = graft_int_arg("rotary_width", width);
    }
    if (graft_args_int(of->args, "rope_interleave", graft_read_bool(reader, D_ROTARY_INTERLEAVED)) != 0) {
        items[n++] = graft_int_arg("rope_interleave", 1);
    }
    return n;
}

/* The arguments of a layer, for its attention, MLP and norms, if it has them; returns their number. */
static int32_t read_layer_args(struct graft_outline *of, const struct graft_decoder_model *self, int64_t layer,
                               struct graft_arg items[MAX_LAYER_ARGS]) {
    struct graft_reader *reader = &of->reader;
    int32_t n = 0;
    reader->layer = layer;
    const int32_t mixed = graft_read_bool(reader, D_LAYER_MIXED) && !graft_read_bool(reader, D_LAYER_BESIDE);
    items[n++] = graft_int_arg("layer_idx", layer);
    items[n++] = graft_int_arg("hidden_size", self->hidden_size);
    if (graft_outline_name(of, D_LAYER_MLP) != NULL && graft_read_bool(reader, D_LAYER_HAS_MLP)) {
        items[n++] = graft_int_arg("intermediate_size", graft_read_int(reader, D_MLP_SIZE));
        items[n++] = graft_int_arg("mlp_bias", graft_read_bool(reader, D_MLP_BIAS));
        items[n++] = graft_string_arg("hidden_act", graft_read_text(reader, D_MLP_ACT));
    }
    items[n++] = graft_real_arg("eps", graft_read_real(reader, D_NORM_EPS));
    if (graft_read_word(reader, D_NORM_KIND) == D_NORM_LAYER && !graft_read_bool(reader, D_NORM_BIAS)) {
        items[n++] = graft_int_arg("bias", 0);
    }
    if (graft_read_bool(reader, D_LAYER_HAS_ATTENTION) && !mixed) {
        n = add_attention_args(of, self, layer, items, n);
    }
    if (graft_args_int(of->args, "cross", 0) != 0) {
        items[n++] = graft_int_arg("cross_layer_idx", self->n_layers + layer);
    }
    const double residual_scale = graft_read_real(reader, D_LAYER_RESIDUAL_SCALE);
    if (residual_scale != 1.0) {
        items[n++] = graft_real_arg("residual_scale", residual_scale);
    }
    reader->layer = -1;
    return n;
}

/* Lays out the layers, of which each that is stored is declared once. */
static void outline_layers(struct graft_outline *of, struct graft_decoder_model *self) {
    const char *layers = graft_outline_name(of, D_MODEL_LAYERS);
    int64_t declared = 0;
    for (int64_t i = 0; i < self->n_layers && of->error->code == GRAFT_OK; i++) {
        of->index = i * self->n_stored / self->n_layers;
        if (of->index < declared) {
            graft_outline_find_child(of, &self->layers[i].module, layers);
            continue;
        }
        struct graft_arg items[MAX_LAYER_ARGS];
        const int32_t n = read_layer_args(of, self, declared++, items);
        graft_outline_child(of, &self->layers[i].module, layers, graft_outline_name(of, D_CLASS_LAYER),
                            GRAFT_INTERFACE_DECODER_LAYER, items, n);
    }
    of->index = -1;
}

/* Lays out the embeddings of distances, and ties those of all attention modules to them. */
static void outline_distances(struct graft_outline *of, struct graft_decoder_model *self) {
    const char *attention = graft_outline_name(of, D_LAYER_ATTENTION);
    graft_distances_outline(of, &self->distances, graft_outline_name(of, D_DISENTANGLED_NAME),
                            graft_outline_name(of, D_DISENTANGLED_NORM), self->hidden_size);
    for (int64_t i = 0; self->distances.rows > 0 && attention != NULL && i < self->n_stored; i++) {
        char path[MAX_NAME];
        (void)snprintf(path, sizeof path, "%s.%lld.%s", graft_outline_name(of, D_MODEL_LAYERS), (long long)i,
                       attention);
        graft_distances_tie(of->reader.description, &self->distances, path, of->sink, of->error);
    }
}

static void outline_outputs(struct graft_outline *of, struct graft_decoder_model *self) {
    const double eps = graft_read_real(&of->reader, D_NORM_EPS);
    const int32_t bias = graft_read_bool(&of->reader, D_NORM_BIAS);
    const int is_normed = graft_read_bool(&of->reader, D_MODEL_NORMED);
    graft_outline_norm_biased(of, &self->norm, is_normed ? graft_outline_name(of, D_MODEL_NORM) : NULL,
                              graft_decoder_class_name(of->reader.description, D_CLASS_LAST_NORM), self->hidden_size,
                              eps, bias);
    if (self->output_size != self->hidden_size) {
        graft_outline_linear(of, &self->project_out, graft_outline_name(of, D_EMBEDDING_PROJECT_OUT), self->hidden_size,
                             self->output_size, 0);
    }
    if (graft_outline_name(of, D_CLASS_ROTARY) != NULL) {
        graft_outline_child(of, &self->rotary_emb, graft_outline_name(of, D_MODEL_ROTARY),
                            graft_outline_name(of, D_CLASS_ROTARY), GRAFT_INTERFACE_ROTARY, NULL, 0);
    }
}

static void outline(struct graft_outline *of, struct graft_decoder_model *self) {
    const int has_pooler =
        graft_outline_name(of, D_MODEL_POOLER) != NULL &&
        graft_args_int(of->args, "add_pooling_layer",
                       of->sink->path[0] == '\0' && graft_read_bool(&of->reader, D_MODEL_POOLED)) != 0;
    struct graft_rotary_kind kinds[GRAFT_ROTARY_KINDS] = {{0}};
    if (graft_args_find(of->args, "windows", GRAFT_ARG_INTS) == NULL) {
        check_types(of, self->n_layers);
    }
    if (of->error->code == GRAFT_OK) {
        read_rotary(of, self, kinds);
        read_layers(of, self, kinds);
    }
    graft_inputs_outline(of, &self->inputs);
    self->hidden_size = self->inputs.hidden_size;
    self->output_size = graft_inputs_output_size(&of->reader);
    graft_inputs_outline_numbers(of, graft_inputs_token_types(&of->reader)); /* the model may be the root */
    if (has_pooler) {
        graft_outline_number(of, "has_pooler", 1);
    }
    outline_layers(of, self);
    of->reader.layer = 0;
    graft_relative_outline(of, &self->relative, 0);
    of->reader.layer = -1;
    if (of->error->code == GRAFT_OK) {
        graft_relative_tie(of->reader.description, self->n_layers, of->sink, of->error);
    }
    outline_distances(of, self);
    outline_outputs(of, self);
    graft_layer_inputs_outline(of, &self->layer_inputs);
    graft_streams_outline(of, &self->streams);
    graft_transform_outline(of, &self->pooler, has_pooler ? graft_outline_name(of, D_MODEL_POOLER) : NULL,
                            graft_outline_name(of, D_MODEL_POOLER_ACT_NAME), "tanh", NULL, self->output_size,
                            self->output_size, 1);
}

int graft_decoder_model_describe(const struct graft_class *cls, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    struct graft_outline of;
    struct graft_reader *reader = &of.reader;
    graft_reader_start(reader, cls->data, config, -1, error);
    const int64_t n_layers = graft_read_int(reader, D_LAYERS);
    if (reader->status != GRAFT_OK) {
        return reader->status;
    }
    struct graft_decoder_model *self =
        graft_outline_start(&of, cls, config, args, sink, sizeof *self + (size_t)n_layers * sizeof self->layers[0],
                            GRAFT_OUTLINE_MEMBERS + 2 * GRAFT_STREAMS_MAX + n_layers, error);
    if (self == NULL) {
        return error->code;
    }
    reader->layer = -1;
    self->n_layers = n_layers;
    self->n_stored =
        graft_read_is_null(reader, D_MODEL_STORED_LAYERS) ? n_layers : graft_read_int(reader, D_MODEL_STORED_LAYERS);
    if (self->n_stored > n_layers) {
        graft_reader_fail(reader, D_MODEL_STORED_LAYERS, "expected 1 to num_hidden_layers (%lld), got %lld",
                          (long long)n_layers, (long long)self->n_stored);
    }
    self->bidirectional = graft_args_int(args, "bidirectional", !graft_read_bool(reader, D_CAUSAL)) != 0;
    if (self->n_stored != n_layers && !self->bidirectional) {
        graft_reader_fail(
            reader, D_MODEL_STORED_LAYERS,
            "expected num_hidden_layers (%lld) in a causal model, whose layers have keys of their own, got %lld",
            (long long)n_layers, (long long)self->n_stored);
    }
    reader->layer = 0;
    (void)graft_read_int(reader, D_MOE_EXPERTS); /* read so that its bounds are checked, even if no layer has experts */
    reader->layer = -1;
    (void)graft_read_bool(reader,
                          D_HEAD_TIED); /* read so that the field counts as used, though there is no head here */
    outline(&of, self);
    return error->code;
}
