/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins and built-in classes are given: struct graft_host and its extensions. */
#ifndef GRAFT_PLUGIN_HOST_SERVICES_H
#define GRAFT_PLUGIN_HOST_SERVICES_H

#include "graft/host.h"
#include "graft/host/process.h" /* graft_log_set_sink */

/* [any] The one host; it lives as long as the process. */
const struct graft_host *graft_host_get(void);

/* [any] The ids of its extensions, in order; NULL at and behind the end. */
const char *graft_host_extension_id(size_t index);

#endif
