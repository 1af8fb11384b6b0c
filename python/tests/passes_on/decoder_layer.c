/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces classes of an interface that transformers does not call. */
#include "graft/decoder_layer.h"
#include "graft/plugin.h"

static int forward(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    return graft_decoder_layer_forward(self, call, args, error);
}

static const struct graft_decoder_layer vtable = {
    .struct_size = sizeof vtable, .features = UINT32_MAX, .forward = forward};
static const struct graft_class layer = {.struct_size = sizeof layer,
                                         .flags = GRAFT_CLASS_CALLS_SUPER,
                                         .name = "PassesOnLayer",
                                         .interface_id = GRAFT_INTERFACE_DECODER_LAYER,
                                         .forward = &vtable};
static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_PATTERN,
                                                     .target = "DecoderLayer$",
                                                     .replacement = &layer,
                                                     .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS};
static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "decoder_layer",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Passes on what transformers does not call",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
