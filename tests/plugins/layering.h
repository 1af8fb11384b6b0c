/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the first layer of a llama, and examines the sequences of a batch: the including file defines is_wrong(),
 * and OUTCOME before the include if needed. If is_wrong() returns 1, the layer's output is changed. */
#ifndef GRAFT_TEST_LAYERING_H
#define GRAFT_TEST_LAYERING_H

#include "graft/decoder_layer.h"
#include "graft/plugin.h"

#ifndef OUTCOME
#define OUTCOME(status) (void)(status)
#endif

/* Called before the original, for each sequence of the batch: its slot, the position of its first token, and the number
 * of its tokens. */
static int is_wrong(int32_t slot, int64_t position, int64_t tokens);

static int forward(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    int wrong = 0;
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t first = batch->cu_seqlens[s];
        wrong |= is_wrong(batch->slots[s], batch->positions[first], batch->cu_seqlens[s + 1] - first);
    }
    int status = graft_decoder_layer_forward((const struct graft_module *)self, call, args, error);
    OUTCOME(status);
    args->hidden_states[0] += wrong ? 0.5F : 0.0F;
    return status;
}

static const struct graft_decoder_layer vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class layering = {.struct_size = sizeof layering,
                                            .flags = GRAFT_CLASS_CALLS_SUPER,
                                            .name = "LayeringDecoderLayer",
                                            .interface_id = GRAFT_INTERFACE_DECODER_LAYER,
                                            .forward = &vtable};
static const char *const model_types[] = {"llama", NULL};
static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_NAME,
                                                     .target = "LlamaDecoderLayer",
                                                     .replacement = &layering,
                                                     .module_path = "layers\\.0$",
                                                     .model_types = model_types};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "layering",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "A plugin of the tests",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    return &plugin;
}

#endif
