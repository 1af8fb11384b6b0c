/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends one request, for tests in shell. Prints the status of the response, and writes its headers and body to the
 * files `headers` and `body` in the current directory.
 *
 *     http_client PORT METHOD PATH [-H HEADER]... [-d BODY | -f FILE] [-l BYTES]
 *         -l: closes the connection once that many bytes have arrived
 *     http_client PORT raw FILE
 *         sends the bytes of the file
 *     http_client listen PROGRAM [ARGUMENT]...
 *         runs the program with a listening socket, as systemd does, and writes its port to the file `port`
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(16 << 20);
    *length = file != NULL && bytes != NULL ? fread(bytes, 1, (16 << 20) - 1, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (bytes != NULL) {
        bytes[*length] = '\0';
    }
    return bytes;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
}

/* Listens on a free port and executes the program, which inherits the socket as file descriptor 3. */
static int listen_for(char **program) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    char text[32];
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (const struct sockaddr *)(const void *)&address, sizeof address) != 0 ||
        listen(fd, 16) != 0 || getsockname(fd, (struct sockaddr *)(void *)&address, &length) != 0 || dup2(fd, 3) < 0) {
        return 1;
    }
    (void)snprintf(text, sizeof text, "%d\n", (int)ntohs(address.sin_port));
    write_file("port", text);
    (void)snprintf(text, sizeof text, "%ld", (long)getpid());
    (void)setenv("LISTEN_PID", text, 1);
    (void)setenv("LISTEN_FDS", "1", 1);
    (void)execv(program[0], program);
    return 1;
}

int main(int argc, char **argv) {
    char headers[1 << 20] = "Content-Type: application/json\r\n";
    struct answer answer = {.body = ""};
    size_t length = 0, leaves = 0;
    char *body = NULL;
    int fd = argc >= 4 && strcmp(argv[1], "listen") != 0 ? client_connect(atoi(argv[1])) : -1;
    if (argc >= 3 && strcmp(argv[1], "listen") == 0) {
        return listen_for(argv + 2);
    }
    if (fd < 0) {
        (void)puts("no connection");
        return 1;
    }
    if (strcmp(argv[2], "raw") == 0) {
        body = read_file(argv[3], &length);
        (void)client_send(fd, body, length);
        (void)shutdown(fd, SHUT_WR);
    } else {
        for (int i = 4; i + 1 < argc; i += 2) {
            const size_t used = strlen(headers);
            if (strcmp(argv[i], "-H") == 0) {
                char *to = strncmp(argv[i + 1], "Content-Type:", 13) == 0 ? headers : headers + used;
                (void)snprintf(to, sizeof headers - (size_t)(to - headers), "%s\r\n", argv[i + 1]);
            } else if (strcmp(argv[i], "-d") == 0) {
                body = strdup(argv[i + 1]);
            } else if (strcmp(argv[i], "-f") == 0) {
                body = read_file(argv[i + 1], &length);
            } else {
                leaves = strtoul(argv[i + 1], NULL, 10);
            }
        }
        (void)client_request(fd, argv[2], argv[3], headers, body);
    }
    int status = client_read(fd, leaves, 0, &answer);
    (void)close(fd);
    if (status == 0) {
        (void)printf("%d\n", answer.status);
        write_file("headers", answer.bytes);
        write_file("body", answer.body);
    }
    client_free(&answer);
    free(body);
    return status != 0;
}
