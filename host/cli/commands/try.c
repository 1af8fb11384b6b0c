/* SPDX-License-Identifier: Apache-2.0 */
/* `try`: opens plugins to see whether that is safe, and prints a line for each. The program runs itself with this
 * command before it loads plugins. */
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/output.h"
#include "graft/host/validate.h"

/* Prints a verdict. It is flushed at once, since the next file is tried in a fork, which would print buffered lines
 * again. */
static void print_verdict(void *data, const char *file, int32_t verdict, const char *cause) {
    static const char *const words[] = {[GRAFT_TRIAL_SAFE] = "safe",
                                        [GRAFT_TRIAL_REFUSED] = "refused",
                                        [GRAFT_TRIAL_UNOPENED] = "unopened",
                                        [GRAFT_TRIAL_UNTRIED] = "untried"};
    int *refused = data;
    *refused |= verdict != GRAFT_TRIAL_SAFE;
    graft_output_line(stdout, "%s %s%s%s", words[verdict], file, cause[0] != '\0' ? ": " : "", cause);
    (void)fflush(stdout);
}

int graft_command_try(const struct graft_options *options, struct graft_error *error) {
    int refused = 0;
    graft_plugins_try(options->files.items, options->files.count, print_verdict, &refused);
    return refused
               ? graft_error_set(error, GRAFT_ERROR_PLUGIN, "try", "not every file is a plugin that is safe to open")
               : GRAFT_OK;
}
