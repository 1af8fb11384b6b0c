/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP client for tests, on raw sockets, so that tests can also send malformed requests. */
#ifndef GRAFT_TESTS_SERVE_CLIENT_H
#define GRAFT_TESTS_SERVE_CLIENT_H

#include <stddef.h>

/* A response: all received bytes, and its parts. */
struct answer {
    char *bytes; /* [length] and a NUL */
    size_t length;
    size_t capacity;
    int status;       /* HTTP status; 0: the bytes are not a response */
    const char *body; /* pointer into `bytes`, with chunks joined; "" if there is none */
};

/* Connects to a port of this machine. Returns -1 on failure. */
int client_connect(int port);

/* Sends all bytes. Returns -1 if the other side has closed the connection. */
int client_send(int fd, const char *bytes, size_t length);

/* Sends a request with "Connection: close". `headers` are complete lines; `body` may be NULL. */
int client_request(int fd, const char *method, const char *path, const char *headers, const char *body);

/* Reads until the other side closes the connection, or until `most` bytes have arrived (0: no limit), and sleeps
 * `pause` microseconds after each read. Then finds the parts. Returns 0, or -1 if memory ran out. */
int client_read(int fd, size_t most, unsigned pause, struct answer *answer);
void client_free(struct answer *answer);

#endif
