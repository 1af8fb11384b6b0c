/* SPDX-License-Identifier: Apache-2.0 */
/* The interfaces that this host knows, and what it needs of their vtables. */
#ifndef GRAFT_PLUGIN_INTERFACES_H
#define GRAFT_PLUGIN_INTERFACES_H

#include <stddef.h>

struct graft_interface {
    const char *id;     /* "graft.linear/1" */
    size_t forward;     /* offset of the one required slot of the vtable */
    size_t size_needed; /* a vtable's smallest struct_size: where that slot ends */
};

/* [any] NULL when this host has no interface of that id. */
const struct graft_interface *graft_interface_find(const char *id);

/* [any] All of them, the last one with a NULL id. */
const struct graft_interface *graft_interfaces(void);

#endif
