/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CONFIG_JSON_SERVICE_H
#define GRAFT_CONFIG_JSON_SERVICE_H

#include "graft/json.h"

/* [any] The table of graft.json/1. */
const struct graft_json_service *graft_json_service_get(void);

#endif
