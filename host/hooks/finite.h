/* SPDX-License-Identifier: Apache-2.0 */
/* Whether modules give numbers: an infinity or NaN spreads to everything behind it, so the first module counts. */
#ifndef GRAFT_HOOKS_FINITE_H
#define GRAFT_HOOKS_FINITE_H

#include "hooks/forward_hooks.h"

/* [forward] For an `after` hook: an error (GRAFT_ERROR_VERIFY) that names the module and the first place of its outputs
 * that is not finite, and whether its inputs were. Hooks are called for children first, so the first error is of the
 * module where it began. Outputs of unknown width are left to the module's parent. */
int graft_check_finite(const struct graft_hooked_call *hooked, struct graft_error *error);

#endif
