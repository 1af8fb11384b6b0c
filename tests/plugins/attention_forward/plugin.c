/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/attention_implementation.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;

    static struct graft_attention_implementation attention;
    attention = (struct graft_attention_implementation){
        .struct_size = sizeof attention, .name = "flash", .masks = GRAFT_ATTENTION_MASK_CAUSAL};
    plugin = good_plugin("attention_forward", NULL, 0);
    plugin.attention_implementations = &attention;
    plugin.n_attention_implementations = 1;
    plugin.attention_implementation_stride = sizeof attention;
    return &plugin;
}
