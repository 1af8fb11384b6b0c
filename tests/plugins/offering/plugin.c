/* SPDX-License-Identifier: Apache-2.0 */
/* Offers a diary, and records its start and stop in it. offering_twin is built from this file, too. */
#include "../parts.h"

#include <stdio.h>
#include <string.h>

#include "../diary.h"

#ifndef ID
#define ID "offering"
#endif

static char text[512];

static void add(const char *words) {
    size_t length = strlen(text);
    (void)snprintf(text + length, sizeof text - length, "%s ", words);
}

static const struct diary diary = {add, text};

static int start(struct graft_error *error) {
    (void)error;
    text[0] = '\0';
    add("+" ID);
    return GRAFT_OK;
}

static void stop(void) {
    add("-" ID);
}

static const void *extension(const char *id) {
    return strcmp(id, DIARY_ID) == 0 ? &diary : NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const offered[] = {DIARY_ID, NULL};
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin(ID, NULL, 0);
    plugin.offers_extensions = offered;
    plugin.init = start;
    plugin.deinit = stop;
    plugin.get_extension = extension;
    return &plugin;
}
