/* SPDX-License-Identifier: Apache-2.0 */
/* A model directory given by the user, which replaces the tiny models. */
#ifndef GRAFT_VALIDATE_GIVEN_H
#define GRAFT_VALIDATE_GIVEN_H

#include "validate/validation.h"

/* [load] Checks that a directory has a readable config.json and weights, and that directories of plugins exist. No
 * plugin is opened. */
int graft_given_check(const char *directory, const char *const *plugins, int32_t n, struct graft_error *error);

/* [load] Opens the validation's model. If it is suitable and the plugin replaces something in it, adds a link to it to
 * the folder where checks look for models. If the plugin replaces nothing, that is a fault. */
int graft_given_take(struct graft_validation *validation, struct graft_library *library, struct graft_error *error);

/* [load] Writes all tensors of the model in `from` to a file in the directory `to`, unless it exists: with a changed
 * config.json, conditions on tensors then hold as in the model. */
int graft_given_copy_weights(const char *from, const char *to, struct graft_error *error);

#endif
