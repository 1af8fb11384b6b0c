/* SPDX-License-Identifier: Apache-2.0 */
/* A client of HTTP for tests, on raw sockets: what it sends is what a test says, sound or not. */
#ifndef GRAFT_TESTS_SERVE_CLIENT_H
#define GRAFT_TESTS_SERVE_CLIENT_H

#include <stddef.h>

/* An answer: all that came, and where its parts are. */
struct answer {
    char *bytes; /* [length], then a NUL */
    size_t length;
    size_t capacity;
    int status;       /* 0: what came is no answer */
    const char *body; /* in `bytes`, without the marks of chunks; "" where there is none */
};

/* A connection to this machine, -1 on failure. */
int client_connect(int port);

/* Sends all; -1 where the other side has closed. */
int client_send(int fd, const char *bytes, size_t length);

/* Sends a request that ends the connection: `headers` are whole lines, `body` may be NULL. */
int client_request(int fd, const char *method, const char *path, const char *headers, const char *body);

/* Reads until the other side closes, or `most` bytes are there (0: all), with `pause` microseconds after each piece;
 * then finds the parts. 0, or -1 where memory ran out. */
int client_read(int fd, size_t most, unsigned pause, struct answer *answer);
void client_free(struct answer *answer);

#endif
