/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers what plugins bring that the allow list left out, so that an error about a missing model type or class can
 * name the plugin. */
#ifndef GRAFT_PLUGIN_LEFT_OUT_H
#define GRAFT_PLUGIN_LEFT_OUT_H

#include "graft/plugin.h"

/* One plugin that was left out. */
struct graft_left_out {
    char *id;
    char *names; /* "\nstablelm\nStableLmMLP\n": model types and the classes of families */
};

/* [load] Adds the plugin if it brings model types or classes. Returns 0, or -1 if memory ran out. */
int graft_left_out_add(struct graft_left_out **left_out, size_t *n, size_t *capacity,
                       const struct graft_plugin *descriptor);

/* [any] The id of the first plugin that brings a model type or a class; NULL if none does. */
const char *graft_left_out_find(const struct graft_left_out *left_out, size_t n, const char *name);

void graft_left_out_free(struct graft_left_out *left_out, size_t n);

#endif
