/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `family new` on the file that it wrote. Private to `family`. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_REPORT_H
#define GRAFT_CLI_COMMANDS_FAMILY_REPORT_H

#include "cli/commands/family_guess.h"

/* Prints to stdout the draft's settings with their reasons, then what is left over. */
int family_report(const struct family_draft *draft, const struct family_known *known,
                  const struct family_outcome *outcome, const char *path, struct graft_error *error);

#endif
