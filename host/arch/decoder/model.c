/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder without its head: embeddings, layers, and a final norm. */
#include "arch/decoder/model.h"

#include <stdio.h>
#include <string.h>

#include "arch/decoder/distances.h"
#include "arch/decoder/roles.h"
#include "arch/role.h"
#include "graft/describe.h"

enum { MAX_NAME = 256, MAX_LAYER_ARGS = 24 };

struct kept_layer {
    int64_t window; /* how many keys a query sees; 0: all */
    int64_t chunk;  /* number of positions whose queries see only each other's keys; 0: all */
    int32_t type;   /* GRAFT_LAYER_... */
    int32_t uses_rotary;
    struct graft_sharing sharing;
};

struct kept {
    struct graft_inputs_kept inputs;
    int32_t has_norm;
    int32_t has_pooler;
    int64_t rotary_widths[GRAFT_ROTARY_KINDS];
    int32_t typed_rotary;
    int32_t bidirectional;
    struct graft_relative relative;
    int64_t n_layers;
    int64_t n_stored;           /* n_layers, or fewer, if each of them runs several times */
    struct kept_layer layers[]; /* [n_layers] */
};

/* State while a model is described. */
struct describing {
    const struct graft_description *description;
    struct graft_reader *reader;
    const struct graft_args *given; /* arguments from a derived class (graft/base_model.h) */
    const struct graft_sink *sink;
    struct kept *kept;
    struct graft_rotary_kind *kinds; /* [GRAFT_ROTARY_KINDS] */
    struct graft_error *error;
};

/* Whether `type` is one of `words`, which are separated by spaces. */
static int is_among(const char *words, const char *type) {
    const size_t length = strlen(type);
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n == length && strncmp(at, type, n) == 0) {
            return 1;
        }
        at += n;
    }
    return 0;
}

/* Turns `full_attention sliding_attention` into `"full_attention" or "sliding_attention"`. */
static void quote(const char *words, char *quoted, size_t size) {
    size_t used = 0;
    for (const char *at = words; *at != '\0' && used < size; at += strspn(at, " ")) {
        const int n = (int)strcspn(at, " ");
        const char *next = at + n + strspn(at + n, " ");
        const char *joint = at == words ? "" : *next == '\0' ? " or " : ", ";
        used += (size_t)snprintf(quoted + used, size - used, "%s\"%.*s\"", joint, n, at);
        at += n;
    }
}

/* Checks config.json's types of layers: there must be as many as layers, all of them types that the family has. */
static void check_types(const struct describing *of, int64_t layers) {
    static const char field[] = "layer_types";
    struct graft_reader *reader = of->reader;
    const struct graft_config *config = reader->config;
    if (graft_description_never(of->description, D_LAYER_TYPE) || !graft_config_has(config, field)) {
        return;
    }
    if (config->kind(config->data, field) != GRAFT_FIELD_ARRAY) {
        reader->status = graft_config_expected(config, field, "an array", of->error);
    } else if (config->size(config->data, field) != layers) {
        reader->status = graft_error_set(
            of->error, GRAFT_ERROR_MODEL, config->file, "%s: expected num_hidden_layers (%lld) entries, got %lld",
            graft_config_spelling(config, field), (long long)layers, (long long)config->size(config->data, field));
    }
    for (int64_t i = 0; i < layers && reader->status == GRAFT_OK; i++) {
        char path[MAX_NAME];
        (void)snprintf(path, sizeof path, "%s.%lld", field, (long long)i);
        if (config->kind(config->data, path) != GRAFT_FIELD_STRING) {
            reader->status = graft_config_expected(config, path, "a string", of->error);
        }
    }
}

/* Reads the window of the reader's layer, and checks it against the layer's type. */
static int64_t read_window(const struct describing *of) {
    struct graft_reader *reader = of->reader;
    const char *types = graft_description_name(of->description, D_LAYER_TYPES);
    const char *type = graft_read_text(reader, D_LAYER_TYPE);
    const int64_t window = graft_read_int(reader, D_WINDOW);
    if (reader->status != GRAFT_OK || type == NULL) {
        return window;
    }
    if (types != NULL && !is_among(types, type)) {
        char quoted[MAX_NAME];
        quote(types, quoted, sizeof quoted);
        graft_reader_fail(reader, D_LAYER_TYPE, "expected %s, got \"%.60s\"", quoted, type);
    } else if (window == 0 && strcmp(type, "sliding_attention") == 0) {
        graft_reader_fail(reader, D_LAYER_TYPE,
                          "\"sliding_attention\" needs a window, but sliding_window is null or not used");
    }
    return window;
}

/* Reads the chunk of the reader's layer. A chunk together with a window, or with bidirectional attention, is an error.
 */
static int64_t read_chunk(const struct describing *of, int64_t window) {
    const int64_t chunk = graft_read_int(of->reader, D_CHUNK);
    if (of->reader->status == GRAFT_OK && chunk > 0 && (window > 0 || of->kept->bidirectional)) {
        graft_reader_fail(of->reader, D_CHUNK, "not supported beside %s",
                          window > 0 ? "a window" : "attention in both directions");
    }
    return chunk;
}

/* Takes the windows from the arguments of a derived class, which may read other fields of config.json for them. */
static int take_windows(const struct describing *of, const struct graft_arg *given) {
    struct kept *kept = of->kept;
    if (given->count != kept->n_layers) {
        return graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                               "argument windows: expected a number for each of %lld layers, got %d",
                               (long long)kept->n_layers, (int)given->count);
    }
    for (int64_t i = 0; i < kept->n_layers; i++) {
        kept->layers[i].window = given->integers[i];
        if (given->integers[i] < 0 || given->integers[i] > GRAFT_MASK_UNLIMITED) {
            return graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                                   "argument windows: layer %lld: expected 0 or more keys, got %lld", (long long)i,
                                   (long long)given->integers[i]);
        }
    }
    return GRAFT_OK;
}

static int read_layers(const struct describing *of) {
    struct graft_reader *reader = of->reader;
    struct kept *kept = of->kept;
    const struct graft_arg *windows = graft_args_find(of->given, "windows", GRAFT_ARG_INTS);
    const int32_t typed = graft_args_int(of->given, "typed_rotary", 0) != 0;
    int status = windows != NULL ? take_windows(of, windows) : GRAFT_OK;
    for (int64_t i = 0; i < kept->n_layers && reader->status == GRAFT_OK && status == GRAFT_OK; i++) {
        struct kept_layer *layer = &kept->layers[i];
        reader->layer = i;
        layer->window = windows != NULL ? layer->window : read_window(of);
        layer->chunk = windows != NULL ? 0 : read_chunk(of, layer->window);
        layer->uses_rotary = graft_read_bool(reader, D_ROTARY_USE);
        graft_sharing_read(reader, kept->n_layers, &layer->sharing);
        layer->type = !typed              ? graft_rotary_find(reader, of->kinds)
                      : layer->window > 0 ? GRAFT_LAYER_SLIDING_ATTENTION
                                          : GRAFT_LAYER_FULL_ATTENTION;
    }
    reader->layer = -1;
    return status == GRAFT_OK ? reader->status : status;
}

/* Finds the widths of cos and sin, from the arguments of a derived class or from the rotary choices. */
static void read_rotary(const struct describing *of) {
    struct kept *kept = of->kept;
    const int64_t given = graft_args_int(of->given, "rotary_width", 0);
    const int32_t typed = graft_args_int(of->given, "typed_rotary", 0) != 0;
    if (graft_description_name(of->description, D_CLASS_ROTARY) == NULL) {
        return;
    }
    kept->typed_rotary =
        typed || graft_read_bool(of->reader, D_ROTARY_TYPED) || graft_read_bool(of->reader, D_ROTARY_BY_LAYER);
    if (given == 0 && !typed) {
        graft_rotary_kinds(of->reader, of->sink->host, of->kinds);
    }
    of->reader->layer = 0;
    for (int32_t i = 0; i < (given > 0 || typed ? GRAFT_ROTARY_TYPES : GRAFT_ROTARY_KINDS); i++) {
        kept->rotary_widths[i] = given > 0 ? given
                                 : typed   ? graft_read_int(of->reader, D_HEAD_DIM)
                                           : of->kinds[i].width;
    }
    of->reader->layer = -1;
}

/* Appends a layer's arguments for its attention to the `n` of `items`; returns the new number. */
static int32_t add_attention_args(const struct describing *of, int64_t layer, struct graft_arg *items, int32_t n) {
    struct graft_reader *reader = of->reader;
    const struct kept *kept = of->kept;
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
    if (graft_args_find(of->given, "scaling", GRAFT_ARG_REAL) != NULL ||
        !graft_read_is_null(reader, D_ATTENTION_SCALE)) {
        items[n++] = graft_real_arg("scaling",
                                    graft_args_real(of->given, "scaling", graft_read_real(reader, D_ATTENTION_SCALE)));
    }
    if (graft_args_find(of->given, "softcap", GRAFT_ARG_REAL) != NULL ||
        !graft_read_is_null(reader, D_ATTENTION_SOFTCAP)) {
        items[n++] = graft_real_arg(
            "softcap", graft_args_real(of->given, "softcap", graft_read_real(reader, D_ATTENTION_SOFTCAP)));
    }
    if (kept->layers[layer].sharing.kv_layer >= 0) {
        items[n++] = graft_int_arg("kv_layer_idx", kept->layers[layer].sharing.kv_layer);
    }
    const int64_t width = kept->rotary_widths[kept->layers[layer].type];
    if (width != 0 && width != head_dim) {
        items[n++] = graft_int_arg("rotary_width", width);
    }
    if (graft_args_int(of->given, "rope_interleave", graft_read_bool(reader, D_ROTARY_INTERLEAVED)) != 0) {
        items[n++] = graft_int_arg("rope_interleave", 1);
    }
    return n;
}

/* The arguments of a layer, for its attention, MLP and norms, if it has them. */
static struct graft_args read_layer_args(const struct describing *of, int64_t layer,
                                         struct graft_arg items[MAX_LAYER_ARGS]) {
    struct graft_reader *reader = of->reader;
    int32_t n = 0;
    reader->layer = layer;
    const int32_t mixed = graft_read_bool(reader, D_LAYER_MIXED) && !graft_read_bool(reader, D_LAYER_BESIDE);
    items[n++] = graft_int_arg("layer_idx", layer);
    items[n++] = graft_int_arg("hidden_size", of->kept->inputs.hidden_size);
    if (graft_description_name(of->description, D_LAYER_MLP) != NULL && graft_read_bool(reader, D_LAYER_HAS_MLP)) {
        items[n++] = graft_int_arg("intermediate_size", graft_read_int(reader, D_MLP_SIZE));
        items[n++] = graft_int_arg("mlp_bias", graft_read_bool(reader, D_MLP_BIAS));
        items[n++] = graft_string_arg("hidden_act", graft_read_text(reader, D_MLP_ACT));
    }
    items[n++] = graft_real_arg("eps", graft_read_real(reader, D_NORM_EPS));
    if (graft_read_word(reader, D_NORM_KIND) == D_NORM_LAYER && !graft_read_bool(reader, D_NORM_BIAS)) {
        items[n++] = graft_int_arg("bias", 0);
    }
    if (graft_read_bool(reader, D_LAYER_HAS_ATTENTION) && !mixed) {
        n = add_attention_args(of, layer, items, n);
    }
    if (graft_args_int(of->given, "cross", 0) != 0) {
        items[n++] = graft_int_arg("cross_layer_idx", of->kept->n_layers + layer);
    }
    const double residual_scale = graft_read_real(reader, D_LAYER_RESIDUAL_SCALE);
    if (residual_scale != 1.0) {
        items[n++] = graft_real_arg("residual_scale", residual_scale);
    }
    reader->layer = -1;
    return graft_args_of(items, n);
}

static void describe_layers(const struct describing *of) {
    const char *layers = graft_description_name(of->description, D_MODEL_LAYERS);
    const char *layer_class = graft_description_name(of->description, D_CLASS_LAYER);
    for (int64_t i = 0; i < of->kept->n_stored && of->reader->status == GRAFT_OK; i++) {
        struct graft_arg items[MAX_LAYER_ARGS];
        const struct graft_args args = read_layer_args(of, i, items);
        char name[MAX_NAME];
        (void)snprintf(name, sizeof name, "%s.%lld", layers, (long long)i);
        graft_describe_child(of->sink, name, layer_class, GRAFT_INTERFACE_DECODER_LAYER, items, args.count, of->error);
    }
}

/* Declares the embeddings of distances, and ties those of all attention modules to them. */
static void describe_distances(const struct describing *of) {
    const char *attention = graft_description_name(of->description, D_LAYER_ATTENTION);
    const struct graft_distances distances = graft_distances_read(of->reader);
    graft_distances_describe(&distances, graft_description_name(of->description, D_DISENTANGLED_NAME),
                             graft_description_name(of->description, D_DISENTANGLED_NORM), of->kept->inputs.hidden_size,
                             of->sink, of->error);
    for (int64_t i = 0; distances.rows > 0 && attention != NULL && i < of->kept->n_stored; i++) {
        char path[MAX_NAME];
        (void)snprintf(path, sizeof path, "%s.%lld.%s", graft_description_name(of->description, D_MODEL_LAYERS),
                       (long long)i, attention);
        graft_distances_tie(of->description, &distances, path, of->sink, of->error);
    }
}

static void describe_norm(const struct describing *of) {
    const char *child = graft_description_name(of->description, D_MODEL_NORM);
    const int32_t bias = graft_read_bool(of->reader, D_NORM_BIAS);
    const struct graft_arg args[] = {graft_int_arg("hidden_size", of->kept->inputs.hidden_size),
                                     graft_real_arg("eps", graft_read_real(of->reader, D_NORM_EPS)),
                                     graft_int_arg("bias", 0)};
    if (of->kept->has_norm) {
        graft_describe_child(of->sink, child, graft_decoder_class_name(of->description, D_CLASS_LAST_NORM),
                             GRAFT_INTERFACE_NORM, args, bias ? 2 : 3, of->error);
    }
}

/* Whether a Linear projects hidden states back to the width of the embeddings. */
static int projects_out(const struct graft_description *description, const struct graft_inputs_kept *inputs) {
    return inputs->width != inputs->hidden_size && graft_description_name(description, D_EMBEDDING_PROJECT_OUT) != NULL;
}

static void describe_outputs(const struct describing *of) {
    const struct graft_inputs_kept *inputs = &of->kept->inputs;
    const char *rotary_class = graft_description_name(of->description, D_CLASS_ROTARY);
    describe_norm(of);
    if (projects_out(of->description, inputs)) {
        graft_describe_linear(of->sink, graft_description_name(of->description, D_EMBEDDING_PROJECT_OUT),
                              inputs->hidden_size, inputs->width, 0, of->error);
    }
    if (rotary_class != NULL) {
        graft_describe_child(of->sink, graft_description_name(of->description, D_MODEL_ROTARY), rotary_class,
                             GRAFT_INTERFACE_ROTARY, NULL, 0, of->error);
    }
}

/* Declares the attributes that a root has to declare (graft/family.h), as the model may be the root. */
static void describe_numbers(const struct describing *of) {
    const struct graft_inputs_kept *inputs = &of->kept->inputs;
    const int64_t positions = graft_inputs_max_positions(of->reader);
    const int64_t types = graft_inputs_token_types(of->reader);
    graft_describe_number(of->sink, "vocab_size", graft_read_int(of->reader, D_VOCAB_SIZE), of->error);
    if (types > 0) {
        graft_describe_number(of->sink, "token_types", types, of->error);
    }
    if (of->kept->has_pooler) {
        graft_describe_number(of->sink, "has_pooler", 1, of->error);
    }
    graft_describe_number(of->sink, "hidden_size",
                          projects_out(of->description, inputs) ? inputs->width : inputs->hidden_size, of->error);
    if (positions > 0) {
        graft_describe_number(of->sink, "max_positions", positions, of->error);
    }
}

/* Declares the model's table of biases by distance, or ties those of the layers to that of the first. */
static void describe_relative(const struct describing *of) {
    of->reader->layer = 0;
    graft_relative_describe(of->reader, 0, of->sink, &of->kept->relative, of->error);
    of->reader->layer = -1;
    graft_relative_tie(of->description, of->kept->n_layers, of->sink, of->error);
}

static int declare(const struct describing *of) {
    if (graft_args_find(of->given, "windows", GRAFT_ARG_INTS) == NULL) {
        check_types(of, of->kept->n_layers);
    }
    read_rotary(of);
    int status = of->reader->status == GRAFT_OK ? read_layers(of) : of->reader->status;
    if (status == GRAFT_OK) {
        status = graft_inputs_describe(of->reader, of->sink, &of->kept->inputs, of->error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    describe_numbers(of);
    describe_layers(of);
    describe_relative(of);
    describe_distances(of);
    describe_outputs(of);
    graft_layer_inputs_describe(of->reader, of->sink, of->error);
    graft_streams_describe(of->reader, of->sink, of->error);
    if (of->kept->has_pooler) {
        const struct graft_parts_transform_info pooler =
            graft_pooler_info(of->description, of->kept->inputs.hidden_size);
        graft_parts_transform_declare(&pooler, of->sink, of->error);
    }
    return of->error->code;
}

int graft_decoder_model_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    struct graft_reader reader;
    graft_reader_start(&reader, self->data, config, -1, error);
    const int64_t n_layers = graft_read_int(&reader, D_LAYERS);
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    struct kept *kept =
        sink->keep(sink->data, (int64_t)sizeof *kept + n_layers * (int64_t)sizeof kept->layers[0], error);
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const int32_t causal = graft_read_bool(&reader, D_CAUSAL);
    kept->n_layers = n_layers;
    kept->n_stored =
        graft_read_is_null(&reader, D_MODEL_STORED_LAYERS) ? n_layers : graft_read_int(&reader, D_MODEL_STORED_LAYERS);
    if (reader.status == GRAFT_OK && kept->n_stored > n_layers) {
        graft_reader_fail(&reader, D_MODEL_STORED_LAYERS, "expected 1 to num_hidden_layers (%lld), got %lld",
                          (long long)n_layers, (long long)kept->n_stored);
    }
    kept->has_norm =
        graft_description_name(self->data, D_MODEL_NORM) != NULL && graft_read_bool(&reader, D_MODEL_NORMED);
    kept->bidirectional = graft_args_int(args, "bidirectional", !causal) != 0;
    kept->has_pooler = graft_description_name(self->data, D_MODEL_POOLER) != NULL &&
                       graft_args_int(args, "add_pooling_layer",
                                      sink->path[0] == '\0' && graft_read_bool(&reader, D_MODEL_POOLED)) != 0;
    reader.layer = 0;
    (void)graft_read_int(&reader,
                         D_MOE_EXPERTS); /* read so that its bounds are checked, even if no layer has experts */
    reader.layer = -1;
    (void)graft_read_bool(&reader,
                          D_HEAD_TIED); /* read so that the field counts as used, though there is no head here */
    struct graft_rotary_kind kinds[GRAFT_ROTARY_KINDS] = {{0}};
    const struct describing of = {self->data, &reader, args, sink, kept, kinds, error};
    return declare(&of);
}

/* The attention mask of a layer. */
static struct graft_mask mask_of(const struct kept *kept, const struct kept_layer *layer) {
    const int64_t window = layer->chunk > 0 ? layer->chunk : layer->window;
    struct graft_mask mask = {.struct_size = sizeof mask};
    if (kept->bidirectional) {
        mask.kind = window > 0 ? GRAFT_MASK_WINDOW : GRAFT_MASK_NONE;
        mask.left = window;
        mask.right = window;
    } else {
        mask.kind = layer->chunk > 0 ? GRAFT_MASK_CHUNKED : window > 0 ? GRAFT_MASK_SLIDING : GRAFT_MASK_CAUSAL;
        mask.window = window;
    }
    return mask;
}

int graft_decoder_model_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error) {
    const struct graft_description *description = cls->data;
    const struct kept *kept = build->kept;
    const int projects = projects_out(description, &kept->inputs);
    struct graft_reader reader;
    struct graft_decoder_model *self =
        graft_instance_new(build, sizeof *self + (size_t)kept->n_layers * sizeof self->layers[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->inputs.hidden_size;
    self->output_size = projects ? kept->inputs.width : kept->inputs.hidden_size;
    self->n_rotary_kinds = 1;
    for (int32_t i = 0; i < GRAFT_ROTARY_KINDS; i++) {
        self->rotary_widths[i] = kept->rotary_widths[i];
        self->n_rotary_kinds = kept->rotary_widths[i] > 0 ? i + 1 : self->n_rotary_kinds;
    }
    self->typed_rotary = kept->typed_rotary;
    self->n_layers = kept->n_layers;
    self->relative = kept->relative;
    if (kept->relative.buckets > 0) {
        self->relative_table = graft_build_child(build, graft_description_name(description, D_RELATIVE_NAME), error);
    }
    graft_inputs_create(&self->inputs, description, &kept->inputs, build, error);
    graft_reader_start(&reader, description, build->config, -1, error);
    graft_layer_inputs_find(&self->layer_inputs, &reader, build, error);
    graft_streams_find(&self->streams, &reader, build, error);
    if (kept->has_norm) {
        self->norm = graft_build_child(build, graft_description_name(description, D_MODEL_NORM), error);
    }
    if (projects) {
        self->project_out =
            graft_build_child(build, graft_description_name(description, D_EMBEDDING_PROJECT_OUT), error);
    }
    if (graft_description_name(description, D_CLASS_ROTARY) != NULL) {
        self->rotary_emb = graft_build_child(build, graft_description_name(description, D_MODEL_ROTARY), error);
    }
    if (kept->has_pooler) {
        const struct graft_parts_transform_info info = graft_pooler_info(description, self->hidden_size);
        graft_parts_transform_find(&self->pooler, &info, build, error);
    }
    for (int64_t i = 0; i < self->n_layers; i++) {
        char name[MAX_NAME];
        (void)snprintf(name, sizeof name, "%s.%lld", graft_description_name(description, D_MODEL_LAYERS),
                       (long long)(i * kept->n_stored / kept->n_layers));
        self->layers[i] = (struct graft_model_layer){
            .module = graft_build_child(build, name, error),
            .mask = mask_of(kept, &kept->layers[i]),
            .type = kept->layers[i].type,
            .uses_rotary = kept->layers[i].uses_rotary,
            .sharing = kept->layers[i].sharing,
        };
    }
    return graft_instance_finish(self, instance, error);
}
