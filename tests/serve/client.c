/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int client_connect(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)(const void *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

int client_send(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
        if (n <= 0) {
            return -1;
        }
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

int client_request(int fd, const char *method, const char *path, const char *headers, const char *body) {
    const size_t length = body != NULL ? strlen(body) : 0;
    const size_t room = strlen(path) + strlen(headers) + length + 256;
    char *text = malloc(room);
    if (text == NULL) {
        return -1;
    }
    int n = snprintf(text, room,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n%s",
                     method, path, headers, length, body != NULL ? body : "");
    int status = client_send(fd, text, (size_t)n);
    free(text);
    return status;
}

/* Joins the chunks of a body with chunked encoding, in place. */
static void join_chunks(char *body, const char *end_of_body) {
    char *to = body;
    for (char *at = body; *at != '\0';) {
        char *end = NULL;
        const unsigned long size = strtoul(at, &end, 16);
        if (end == at || size == 0 || strncmp(end, "\r\n", 2) != 0 || (size_t)(end_of_body - end) < size + 2) {
            break;
        }
        memmove(to, end + 2, size);
        to += size;
        at = end + 2 + size;
        at += strncmp(at, "\r\n", 2) == 0 ? 2 : 0;
    }
    *to = '\0';
}

static void find_parts(struct answer *answer) {
    char *head = strstr(answer->bytes, "\r\n\r\n");
    answer->status = strncmp(answer->bytes, "HTTP/1.", 7) == 0 ? atoi(answer->bytes + 9) : 0;
    answer->body = head != NULL ? head + 4 : "";
    if (head != NULL) {
        char *line = answer->bytes;
        *head = '\0';
        while (line != NULL && strncasecmp(line, "Transfer-Encoding: chunked", 26) != 0) {
            line = strchr(line, '\n');
            line = line != NULL ? line + 1 : NULL;
        }
        if (line != NULL) {
            join_chunks(head + 4, answer->bytes + answer->length);
        }
    }
}

int client_read(int fd, size_t most, unsigned pause, struct answer *answer) {
    ssize_t n = 1;
    *answer = (struct answer){.body = ""};
    while (n > 0 && (most == 0 || answer->length < most)) {
        if (answer->length + 4096 >= answer->capacity) {
            answer->capacity = answer->capacity * 2 + 16384;
            char *grown = realloc(answer->bytes, answer->capacity);
            if (grown == NULL) {
                return -1;
            }
            answer->bytes = grown;
        }
        n = recv(fd, answer->bytes + answer->length, pause > 0 ? 64 : 4096, 0);
        answer->length += n > 0 ? (size_t)n : 0;
        if (pause > 0) {
            const struct timespec wait = {0, (long)pause * 1000};
            (void)nanosleep(&wait, NULL);
        }
    }
    answer->bytes[answer->length] = '\0';
    find_parts(answer);
    return 0;
}

void client_free(struct answer *answer) {
    free(answer->bytes);
    *answer = (struct answer){.body = ""};
}
