/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the first module whose output is not finite, since an infinity or NaN spreads to all modules after it. */
#ifndef GRAFT_HOOKS_FINITE_H
#define GRAFT_HOOKS_FINITE_H

#include "hooks/forward_hooks.h"

/* [forward] For an `after` hook: fails with GRAFT_ERROR_VERIFY if an output is not finite, and names the module, the
 * first such element, and whether the inputs were finite. Hooks run for children first, so the first error is that of
 * the module where the fault began. Outputs of unknown width are checked in the module's parent. */
int graft_check_finite(const struct graft_hooked_call *hooked, struct graft_error *error);

#endif
