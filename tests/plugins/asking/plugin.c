/* SPDX-License-Identifier: Apache-2.0 */
/* Requires another plugin's diary, and would use one more extension. Offers the diary that it got as its own
 * extension. */
#include "../parts.h"

#include <string.h>

#include "../diary.h"

static struct graft_plugin plugin;
static const struct graft_host *host;

static const struct diary *find(void) {
    return host->get_plugin_extension(&plugin, DIARY_ID);
}

static int start(struct graft_error *error) {
    (void)error;
    find()->add(host->get_plugin_extension(&plugin, "acme.more/1") != NULL ? "+asking(more)" : "+asking");
    return GRAFT_OK;
}

static void stop(void) {
    find()->add("-asking");
}

static const void *extension(const char *id) {
    return strcmp(id, "test.diary/1") == 0 ? find() : NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    static const char *const required[] = {"graft.log/1", DIARY_ID, NULL};
    static const char *const used[] = {"acme.more/1", NULL};
    (void)error;
    host = given;
    plugin = good_plugin("asking", NULL, 0);
    plugin.requires_extensions = required;
    plugin.uses_extensions = used;
    plugin.init = start;
    plugin.deinit = stop;
    plugin.get_extension = extension;
    return &plugin;
}
