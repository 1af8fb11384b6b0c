/* SPDX-License-Identifier: Apache-2.0 */
/* The library speaks of its calls and their fields; here they become commands and options. */
#ifndef GRAFT_CLI_HINTS_H
#define GRAFT_CLI_HINTS_H

#include "graft/error.h"

/* Puts options in the place of the fields of the library that an error is about, and commands in that of the calls that
 * its hint names. */
void graft_hint_translate(struct graft_error *error);

/* What to add to a note: "", or " (--plugins)". */
const char *graft_hint_for_note(const char *note);

#endif
