/* SPDX-License-Identifier: Apache-2.0 */
/* A model directory that the checks are made on, instead of tiny models. */
#ifndef GRAFT_VALIDATE_GIVEN_H
#define GRAFT_VALIDATE_GIVEN_H

#include "validate/validation.h"

/* [load] Whether a directory has a config.json and weights that can be read, and directories of plugins are some. No
 * plugin is asked. */
int graft_given_check(const char *directory, const char *const *plugins, int32_t n, struct graft_error *error);

/* [load] Opens the validation's model and, if it fits and the plugin does something in it, puts a link in the folder,
 * where checks look for models. One in which the plugin does nothing is a fault. */
int graft_given_take(struct graft_validation *validation, struct graft_library *library, struct graft_error *error);

/* [load] Writes all tensors of the model in `from` to a file in the directory `to`, unless it is there: beside another
 * config.json, conditions on tensors hold as they do in the model. */
int graft_given_copy_weights(const char *from, const char *to, struct graft_error *error);

#endif
