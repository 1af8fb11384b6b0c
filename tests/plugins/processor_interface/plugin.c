/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/logits_processor.h"

static int process(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    (void)state, (void)args, (void)error;
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;

    static struct graft_logits_processor processor;
    processor = (struct graft_logits_processor){.struct_size = sizeof processor,
                                                .interface_id = "graft.logits_processor/2",
                                                .name = "later",
                                                .process = process};
    plugin = good_plugin("processor_interface", NULL, 0);
    plugin.logits_processors = &processor;
    plugin.n_logits_processors = 1;
    plugin.logits_processor_stride = sizeof processor;
    return &plugin;
}
