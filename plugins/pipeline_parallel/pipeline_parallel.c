/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the layers of a decoder among processes: each has some consecutive layers, and sends the hidden states to the
 * next. Ranks 1, 2, ... have the first layers, and rank 0, which chooses the tokens, the last ones: so each token needs
 * size - 1 messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graft/config.h"
#include "graft/decoder_layer.h"
#include "graft/option.h"
#include "graft/plugin.h"
#include "pipeline_parallel.h"

enum { MAX_LAYERS = 1 << 20, MAX_PATH = 4096, HIDDEN_STATES = 0 };

static const struct graft_plugin plugin;
static const struct graft_host *host;

const struct graft_parallel *pipeline_parallel_ranks(void) {
    return host->get_extension(GRAFT_PARALLEL_ID);
}

/* --- Assignment of layers, in the order of stages, 0 to size - 1 --- */

int32_t pipeline_parallel_stage(const struct graft_parallel *parallel) {
    return parallel->rank > 0 ? parallel->rank - 1 : parallel->size - 1;
}

static int32_t rank_of(const struct graft_parallel *parallel, int32_t stage) {
    return stage + 1 < parallel->size ? stage + 1 : 0;
}

struct share {
    int64_t first; /* layers [first, end) */
    int64_t end;
};

/* Reads the number at `*text`, and advances past it and a comma; 0 if there is none. */
static int64_t read_count(const char **text) {
    char *end = NULL;
    long long count = **text >= '1' && **text <= '9' ? strtoll(*text, &end, 10) : 0;
    if (count < 1 || count > MAX_LAYERS || (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0')) {
        return 0;
    }
    *text = *end == ',' ? end + 1 : end;
    return count;
}

/* Parses "14,10": how many layers each stage has. */
static int read_share(const char *text, int64_t layers, const struct graft_parallel *parallel, struct share *share,
                      struct graft_error *error) {
    const char *at = text;
    int64_t sum = 0;
    int32_t stages = 0;
    for (; *at != '\0' && sum <= layers; stages++) {
        int64_t count = read_count(&at);
        if (count == 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "pipeline_parallel.layers",
                                   "expected a number of layers for each process, as 14,10, got \"%s\"", text);
        }
        if (stages == pipeline_parallel_stage(parallel)) {
            share->first = sum;
            share->end = sum + count;
        }
        sum += count;
    }
    return stages == parallel->size && sum == layers
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "pipeline_parallel.layers",
                                 "expected %ld numbers that add up to %lld layers, got \"%s\"", (long)parallel->size,
                                 (long long)layers, text);
}

/* How many bytes precede layer `layer` of the stack that the described layer belongs to ("model.layers.7"). */
static int64_t bytes_before(const struct graft_sink *sink, int64_t layer) {
    char path[MAX_PATH];
    const char *dot = strrchr(sink->path, '.');
    int length = (int)(dot != NULL ? dot + 1 - sink->path : 0);
    (void)snprintf(path, sizeof path, "%.*s%lld", length, sink->path, (long long)layer);
    return sink->bytes_before(sink->data, path);
}

/* Without the option, the stages end where the bytes so far are closest to equal shares. Embeddings count before the
 * first layer, norm and head after the last; each stage has at least one layer. */
static void share_bytes(const struct graft_sink *sink, int64_t layers, const struct graft_parallel *parallel,
                        struct share *share) {
    int64_t equal = sink->bytes_before(sink->data, NULL) / parallel->size;
    share->end = 0;
    for (int32_t stage = 0; stage <= pipeline_parallel_stage(parallel); stage++) {
        int64_t later = parallel->size - 1 - stage; /* stages */
        int64_t twice = 2 * equal * (stage + 1);
        share->first = share->end;
        share->end = later > 0 ? share->first + 1 : layers;
        while (share->end < layers - later &&
               bytes_before(sink, share->end) + bytes_before(sink, share->end + 1) < twice) {
            share->end++;
        }
    }
}

static int find_share(const struct graft_sink *sink, int64_t layers, const struct graft_parallel *parallel,
                      struct share *share, struct graft_error *error) {
    const char *text = graft_args_string(host->options(&plugin), "layers", "");
    if (text[0] != '\0') {
        return read_share(text, layers, parallel, share, error);
    }
    if (layers < parallel->size) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "pipeline_parallel",
                               "%lld layers cannot be divided among %ld processes", (long long)layers,
                               (long)parallel->size);
    }
    share_bytes(sink, layers, parallel, share);
    return GRAFT_OK;
}

/* --- A layer --- */

struct layer {
    const struct graft_module *super; /* NULL: another process has it */
    int64_t hidden_size;
    int32_t from; /* the rank that has the previous layer; -1: this one */
    int32_t to;   /* the rank that has the next layer; -1: this one, or there is none */
};

static int layer_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parallel *parallel = pipeline_parallel_ranks();
    int64_t layer = graft_args_int(args, "layer_idx", 0);
    int64_t layers = 0;
    struct share share = {0, 0};
    struct layer *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)self;
    if (kept == NULL || graft_config_need_int(config, "num_hidden_layers", 1, MAX_LAYERS, &layers, error) != GRAFT_OK ||
        find_share(sink, layers, parallel, &share, error) != GRAFT_OK) {
        return error->code;
    }
    int32_t stage = pipeline_parallel_stage(parallel);
    kept->hidden_size = graft_args_int(args, "hidden_size", 0);
    kept->from = layer == share.first && stage > 0 ? rank_of(parallel, stage - 1) : -1;
    kept->to = layer + 1 == share.end && share.end < layers ? rank_of(parallel, stage + 1) : -1;
    return layer >= share.first && layer < share.end ? GRAFT_OK : sink->elsewhere(sink->data, error);
}

static int layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct layer *self = malloc(sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = *(const struct layer *)build->kept;
    self->super = build->super;
    *instance = self;
    return GRAFT_OK;
}

static int layer_forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                         struct graft_error *error) {
    const struct layer *self = instance;
    const struct graft_parallel *parallel = pipeline_parallel_ranks();
    int64_t bytes = args->batch->tokens * self->hidden_size * (int64_t)sizeof(float);
    int status = GRAFT_OK;
    if (self->super == NULL) {
        return GRAFT_OK;
    }
    if (self->from >= 0) {
        status = parallel->receive(args->hidden_states, bytes, self->from, HIDDEN_STATES, error);
    }
    if (status == GRAFT_OK) {
        status = graft_decoder_layer_forward(self->super, call, args, error);
    }
    if (status == GRAFT_OK && self->to >= 0) {
        status = parallel->send(args->hidden_states, bytes, self->to, HIDDEN_STATES, error);
    }
    return status;
}

static const struct graft_decoder_layer layer_vtable = {.struct_size = sizeof layer_vtable, .forward = layer_forward};

static const struct graft_class layer_class = {
    .struct_size = sizeof layer_class,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "PipelineParallelDecoderLayer",
    .interface_id = GRAFT_INTERFACE_DECODER_LAYER,
    .describe = layer_describe,
    .create = layer_create,
    .destroy = free,
    .forward = &layer_vtable,
};

/* Layers are numbered; a module without a number in its path is before or after them. */
#define OUTSIDE "^(?!(.*\\.)?[0-9]+(\\.|$))"
#define REPLACEMENT(by, class_key, class_target, path, more)                                           \
    {                                                                                                  \
        .struct_size = sizeof(struct graft_replacement), .key = (class_key), .target = (class_target), \
        .replacement = &(by), .module_path = (path), .flags = GRAFT_REPLACEMENT_ON_REQUEST | (more)    \
    }
static const struct graft_replacement replacements[] = {
    REPLACEMENT(layer_class, GRAFT_KEY_PATTERN, ".", NULL, GRAFT_REPLACEMENT_WHERE_IT_FITS),
    REPLACEMENT(pipeline_parallel_embedding, GRAFT_KEY_NAME, "Embedding", OUTSIDE, 0),
    REPLACEMENT(pipeline_parallel_embedding, GRAFT_KEY_PATTERN, ".", OUTSIDE, GRAFT_REPLACEMENT_WHERE_IT_FITS),
    REPLACEMENT(pipeline_parallel_tower, GRAFT_KEY_PATTERN, ".", OUTSIDE, GRAFT_REPLACEMENT_WHERE_IT_FITS),
    REPLACEMENT(pipeline_parallel_norm, GRAFT_KEY_NAME, "LayerNorm", OUTSIDE, 0),
    REPLACEMENT(pipeline_parallel_norm, GRAFT_KEY_PATTERN, ".", OUTSIDE, GRAFT_REPLACEMENT_WHERE_IT_FITS),
    REPLACEMENT(pipeline_parallel_linear, GRAFT_KEY_NAME, "Linear", OUTSIDE, 0),
};

static const struct graft_option option = {
    .struct_size = sizeof option,
    .kind = GRAFT_OPTION_STRING,
    .name = "layers",
    .help = "How many layers ranks 1, 2, ... and then 0 have: 14,10; without it as many bytes each",
    .default_value = "",
};

static const char *const required[] = {GRAFT_PARALLEL_ID, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "pipeline_parallel",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Divides a decoder's layers among the processes that run it",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .options = &option,
    .n_options = 1,
    .option_stride = sizeof option,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
