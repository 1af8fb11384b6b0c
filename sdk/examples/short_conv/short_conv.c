/* SPDX-License-Identifier: Apache-2.0 */
/* A short causal convolution before each decoder layer: adds weighted inputs of the two previous tokens to each token's
 * input. The host keeps these inputs as a state of the sequence. */
#include <stdlib.h>

#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/plugin.h"

enum { BEFORE = 2, MAX_SIZE = 1 << 20 };

static const float taps[BEFORE] = {0.25F, 0.125F}; /* for the previous token, and the one before it */

struct short_conv {
    const struct graft_module *layer; /* the original */
    const struct graft_state
        *hidden_states; /* [BEFORE, hidden_size] f32: inputs of the latest tokens, the newest first */
    int64_t hidden_size;
};

/* Describes only what is added; the original, which is built at the same path, describes the rest. */
static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t *hidden_size = sink->keep(sink->data, sizeof *hidden_size, error); /* for `create` */
    (void)cls;
    (void)args;
    if (hidden_size == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_config_need_int(config, "hidden_size", 1, MAX_SIZE, hidden_size, error);
    const int64_t shape[] = {BEFORE, *hidden_size};
    graft_describe_state(sink, "hidden_states", 2, shape, GRAFT_DTYPE_F32, error);
    return error->code;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const int64_t *hidden_size = build->kept;
    (void)cls;
    const struct graft_state *hidden_states = graft_build_state(build, "hidden_states", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    struct short_conv *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct short_conv){build->super, hidden_states, *hidden_size};
    *instance = self;
    return GRAFT_OK;
}

/* Convolves one token in place, then stores its original input as the newest row of `before` [BEFORE, hidden_size]. */
static void convolve(float *hidden_states, float *before, int64_t hidden_size) {
    for (int64_t i = 0; i < hidden_size; i++) {
        float own = hidden_states[i];
        hidden_states[i] += taps[0] * before[i] + taps[1] * before[hidden_size + i];
        before[hidden_size + i] = before[i];
        before[i] = own;
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    const struct short_conv *self = instance;
    const struct graft_batch *batch = args->batch;
    for (int32_t s = 0; s < batch->sequences; s++) {
        float *before = graft_state_get(call, batch, self->hidden_states, s, error);
        if (before == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        for (int64_t t = batch->cu_seqlens[s]; t < batch->cu_seqlens[s + 1]; t++) {
            convolve(args->hidden_states + t * self->hidden_size, before, self->hidden_size);
        }
    }
    return graft_decoder_layer_forward(self->layer, call, args, error);
}

static const struct graft_decoder_layer layer_vtable = {.struct_size = sizeof layer_vtable, .forward = forward};
static const struct graft_class short_conv = {.struct_size = sizeof short_conv,
                                              .flags = GRAFT_CLASS_CALLS_SUPER,
                                              .name = "ShortConvDecoderLayer",
                                              .interface_id = GRAFT_INTERFACE_DECODER_LAYER,
                                              .describe = describe,
                                              .create = create,
                                              .destroy = free,
                                              .forward = &layer_vtable};
/* Used only on request, because its results differ from the original's. */
static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_PATTERN,
                                                     .target = "DecoderLayer$",
                                                     .replacement = &short_conv,
                                                     .flags = GRAFT_REPLACEMENT_ON_REQUEST};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "short_conv",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "A short causal convolution before each decoder layer",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
