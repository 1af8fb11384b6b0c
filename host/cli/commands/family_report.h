/* SPDX-License-Identifier: Apache-2.0 */
/* Private: what `family new` says of the file that it wrote. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_REPORT_H
#define GRAFT_CLI_COMMANDS_FAMILY_REPORT_H

#include "cli/commands/family_guess.h"

/* To stdout: what the file says and why, then what could not be told. */
int family_report(const struct family_draft *draft, const struct family_known *known,
                  const struct family_outcome *outcome, const char *path, struct graft_error *error);

#endif
