/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that are defined in one file and listed in the group of another. */
#ifndef GRAFT_VALIDATE_CHECKS_H
#define GRAFT_VALIDATE_CHECKS_H

#include "validate/tiny.h"

int graft_check_statics(struct graft_validation *validation, struct graft_error *error);
int graft_check_config_absent(struct graft_validation *validation, struct graft_error *error);
int graft_check_config_hostile(struct graft_validation *validation, struct graft_error *error);
int graft_check_choices(struct graft_validation *validation, struct graft_error *error);
int graft_check_loads(struct graft_validation *validation, struct graft_error *error);
int graft_check_larger(struct graft_validation *validation, struct graft_error *error);
int graft_check_narrow(struct graft_validation *validation, struct graft_error *error);
int graft_check_again(struct graft_validation *validation, struct graft_error *error);

/* [load] Repeats each call of the plugin's modules on guarded memory, for a closed subject. */
int graft_check_bounds_of(struct graft_subject *subject, struct graft_error *error);

#endif
