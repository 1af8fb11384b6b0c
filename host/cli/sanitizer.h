/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that were built with the address sanitizer need its runtime before everything else in the process. */
#ifndef GRAFT_CLI_SANITIZER_H
#define GRAFT_CLI_SANITIZER_H

/* [load, in a process with one thread] If the file was built with a sanitizer whose runtime this process lacks,
 * restarts the program with the runtime and the same arguments. Returns if that is not needed, or fails. */
void graft_sanitizer_restart(const char *file);

#endif
