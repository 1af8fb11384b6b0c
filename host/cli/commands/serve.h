/* SPDX-License-Identifier: Apache-2.0 */
/* Socket activation and readiness notification of systemd. */
#ifndef GRAFT_CLI_COMMANDS_SERVE_H
#define GRAFT_CLI_COMMANDS_SERVE_H

#include "graft/error.h"

/* Sets `*fd` to the listening socket that systemd passed, -1 if none. More than one is an error. */
int graft_serve_socket(int *fd, struct graft_error *error);

/* Sends a state, such as "READY=1", to the socket that NOTIFY_SOCKET names, if it is set. */
void graft_serve_notify(const char *state);

#endif
