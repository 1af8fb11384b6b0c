/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins and built-in classes are given: struct graft_host and its extensions. */
#ifndef GRAFT_PLUGIN_HOST_SERVICES_H
#define GRAFT_PLUGIN_HOST_SERVICES_H

#include "graft/host.h"

/* [any] The one host; it lives as long as the process. */
const struct graft_host *graft_host_get(void);

/* [any] The ids of its extensions, in order; NULL at and behind the end. */
const char *graft_host_extension_id(size_t index);

/* Takes a line of graft.log/1, without control characters and without a line end. Both strings die on return. */
typedef void (*graft_log_sink)(void *data, const char *sender, const char *text);

/* [any] Where log lines go from now on; NULL, as at the start: nowhere. Calls of the sink do not overlap, none is under
 * way or comes when a later call of this function has returned, and the sink must not log. */
void graft_log_set_sink(graft_log_sink sink, void *data);

#endif
