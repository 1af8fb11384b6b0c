/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin that harms its process: the including file defines harm(). */
#ifndef GRAFT_TEST_HARMFUL_H
#define GRAFT_TEST_HARMFUL_H

#include <stdlib.h>
#include <unistd.h>

#include "parts.h"

static void harm(void);

static inline const struct graft_plugin *harmful_plugin(const char *id) {
    static struct graft_class cls;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    cls = good_class(NULL, 0);
    replacement = good_replacement(&cls);
    plugin = good_plugin(id, &replacement, 1);
    return &plugin;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
#ifdef HARM_ENTRY /* in the other cases a constructor or destructor calls it */
    harm();
#endif
    return harmful_plugin("harmful");
}

#endif
