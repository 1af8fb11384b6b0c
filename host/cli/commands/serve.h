/* SPDX-License-Identifier: Apache-2.0 */
/* What systemd gives a service that it starts by its socket. */
#ifndef GRAFT_CLI_COMMANDS_SERVE_H
#define GRAFT_CLI_COMMANDS_SERVE_H

#include "graft/error.h"

/* `*fd` is the socket, -1 where none was given; several are an error. */
int graft_serve_socket(int *fd, struct graft_error *error);

/* Says to whoever started the program that it is ready, or about to end ("READY=1"), where they asked for it. */
void graft_serve_notify(const char *state);

#endif
