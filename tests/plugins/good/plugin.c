/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin with one of everything. Its extension reports how often it was started and stopped. */
#include "../parts.h"

#include <string.h>

static int counts[2];

static int start(struct graft_error *error) {
    (void)error;
    counts[0]++;
    return GRAFT_OK;
}

static void stop(void) {
    counts[1]++;
}

static const void *extension(const char *id) {
    return strcmp(id, "test.counts/1") == 0 ? counts : NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const needed[] = {"graft.kernels/1", "graft.log/1", "graft.threads/1", NULL};
    static const char *const types[] = {"llama", "qwen2", NULL};
    static struct graft_conversion conversion;
    static struct graft_class classes[2];
    static struct graft_replacement replacements[2];
    static struct graft_plugin plugin;
    (void)host, (void)error;
    conversion = good_conversion();
    classes[0] = good_class(&conversion, 1);
    classes[1] = good_class(NULL, 0);
    classes[1].create = NULL;
    classes[1].destroy = NULL;
    classes[1].flags = GRAFT_CLASS_CALLS_SUPER | 0x10; /* a capability of a later version: ignored */
    replacements[0] = good_replacement(&classes[0]);
    replacements[1] = good_replacement(&classes[1]);
    replacements[1].key = GRAFT_KEY_PATTERN;
    replacements[1].target = "MLP$";
    replacements[1].module_path = "layers\\.[0-9]+\\.mlp";
    replacements[1].model_types = types;
    plugin = good_plugin("good", replacements, 2);
    plugin.requires_extensions = needed;
    plugin.classes = &classes[0];
    plugin.n_classes = 1;
    plugin.class_stride = sizeof classes[0];
    plugin.init = start;
    plugin.deinit = stop;
    plugin.get_extension = extension;
    return &plugin;
}
