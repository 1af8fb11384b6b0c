/* SPDX-License-Identifier: Apache-2.0 */
/* The services of the host for plugins and built-in classes: struct graft_host and its extensions. */
#ifndef GRAFT_PLUGIN_HOST_SERVICES_H
#define GRAFT_PLUGIN_HOST_SERVICES_H

#include "graft/host.h"
#include "graft/host/process.h" /* graft_log_set_sink */

/* [any] The host's table, which lives as long as the process. */
const struct graft_host *graft_host_get(void);

/* [any] The id of extension `index`; NULL at and past the end. */
const char *graft_host_extension_id(size_t index);

#endif
