/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's protocols: LISTEN_FDS passes a listening socket, NOTIFY_SOCKET receives notifications. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/commands/serve.h"

enum { FIRST_FD = 3 };

int graft_serve_socket(int *fd, struct graft_error *error) {
    const char *process = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    *fd = -1;
    if (process == NULL || count == NULL || strtol(process, NULL, 10) != (long)getpid()) {
        return GRAFT_OK;
    }
    if (strcmp(count, "1") != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "LISTEN_FDS", "expected one socket, got %.20s", count);
    }
    *fd = FIRST_FD;
    return GRAFT_OK;
}

void graft_serve_notify(const char *state) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = path != NULL ? strlen(path) : 0;
    if (length == 0 || length >= sizeof address.sun_path) {
        return;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') {
        address.sun_path[0] = '\0';
    }
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd >= 0) {
        const ssize_t n = sendto(fd, state, strlen(state), 0, (const struct sockaddr *)(const void *)&address,
                                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
        (void)n;
        (void)close(fd);
    }
}
