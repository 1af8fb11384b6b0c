/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the socket on which the server listens. */
#define _GNU_SOURCE /* for SOCK_CLOEXEC, so that child processes do not inherit the socket */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "serve/server.h"

static int32_t port_of(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        return 0;
    }
    return address.ss_family == AF_INET    ? ntohs(((struct sockaddr_in *)(void *)&address)->sin_port)
           : address.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port)
                                           : 0;
}

static int make_ready(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0 : -1;
}

static int open_at(const struct addrinfo *place) {
    const int one = 1;
    const int fd = socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, place->ai_protocol);
    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, place->ai_addr, place->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0 || make_ready(fd) != 0) {
        const int number = errno;
        (void)close(fd);
        errno = number;
        return -1;
    }
    return fd;
}

/* Uses a socket that another process opened, which must be listening. */
static int adopt(int fd, struct graft_error *error) {
    int listens = 0;
    socklen_t length = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || !listens || make_ready(fd) != 0) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, "listening", "file descriptor %d is no socket that listens",
                              fd);
        return -1;
    }
    return fd;
}

int graft_server_listen(const struct graft_server_options *options, int32_t *port, struct graft_error *error) {
    const struct addrinfo wanted = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *places = NULL;
    char source[128], number[16];
    int fd = -1;
    if (options->has_listening) {
        fd = adopt(options->listening, error);
        *port = fd >= 0 ? port_of(fd) : 0;
        return fd;
    }
    (void)snprintf(source, sizeof source, "%.100s:%d", options->address, (int)options->port);
    (void)snprintf(number, sizeof number, "%d", (int)options->port);
    int status = getaddrinfo(options->address, number, &wanted, &places);
    if (status != 0) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, source, "is no address: %s", gai_strerror(status));
        return -1;
    }
    for (const struct addrinfo *place = places; place != NULL && fd < 0; place = place->ai_next) {
        fd = open_at(place);
    }
    if (fd < 0) {
        (void)graft_fail_errno(error, GRAFT_ERROR_IO, source, "cannot be listened at", errno);
    }
    freeaddrinfo(places);
    *port = fd >= 0 ? port_of(fd) : 0;
    return fd;
}
