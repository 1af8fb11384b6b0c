/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CLI_GENERIC_NAME_H
#define GRAFT_CLI_GENERIC_NAME_H

#include "base/text.h"

/* Adds a name with every index replaced by '*': "model.layers.*.mlp.experts.*.up_proj.weight". */
void graft_generic_name_add(struct graft_text *text, const char *name);

#endif
