/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that were built with the address sanitizer need its runtime before everything else in the process. */
#ifndef GRAFT_CLI_SANITIZER_H
#define GRAFT_CLI_SANITIZER_H

/* [load, in a process with one thread] Starts this program anew, with the same arguments and with the runtime that the
 * file needs, where this process has not got it. Returns where nothing is needed, or where that fails. */
void graft_sanitizer_restart(const char *file);

#endif
