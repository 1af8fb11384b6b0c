/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many clients at once: `load PORT CLIENTS SECONDS`. Of ten requests, one is malformed, one client leaves before the
 * end of its answer, and one reads slowly. The others are greedy completions of mixed lengths, about half of them
 * streams. Each answer must equal the one to the same prompt when nothing else ran. Prints the number of requests and
 * of wrong answers; the exit status is 1 if there are any.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { PROMPTS = 24, MOST_CLIENTS = 256, MOST_TEXT = 1 << 16 };

enum way { PLAIN, STREAM, SLOW, LEFT, MALFORMED, WAYS };

static const char *const names[WAYS] = {"plain", "stream", "slow", "left", "malformed"};
static const char headers[] = "Content-Type: application/json\r\n";

static int port;
static char *alone[PROMPTS]; /* the answer to each prompt when nothing else runs */
static atomic_long asked[WAYS];
static atomic_long wrong[WAYS];
static atomic_long tokens;
static time_t end;

/* The number of tokens that a request asks for, and gets, as it ignores eos. */
static int tokens_of(int number) {
    return 4 + number * 7 % 60;
}

static void write_body(char body[MOST_TEXT], int number, int is_stream) {
    const int words = 1 + number * number % 400;
    int at = snprintf(body, MOST_TEXT, "{\"prompt\": \"Number %d", number);
    for (int i = 0; i < words; i++) {
        at += snprintf(body + at, (size_t)(MOST_TEXT - at), " word%d", i * (number % 5 + 1) % 97);
    }
    (void)snprintf(body + at, (size_t)(MOST_TEXT - at),
                   "\", \"max_tokens\": %d, \"temperature\": 0, \"ignore_eos\": true, \"stream\": %s}",
                   tokens_of(number), is_stream ? "true" : "false");
}

/* Joins all texts of an answer, still escaped as in JSON; equal texts have equal escapes. */
static char *texts_of(const char *body) {
    static const char mark[] = "\"text\": \"";
    char *text = calloc(strlen(body) + 1, 1), *to = text;
    for (const char *at = strstr(body, mark); text != NULL && at != NULL; at = strstr(at, mark)) {
        at += sizeof mark - 1;
        while (*at != '"' && *at != '\0') {
            if (*at == '\\' && at[1] != '\0') {
                *to++ = *at++;
            }
            *to++ = *at++;
        }
    }
    return text;
}

/* Sends a request in one of the ways and reads the answer. Returns 0, or -1 if there is none. */
static int ask(int number, enum way way, unsigned random, struct answer *answer) {
    char *body = malloc(MOST_TEXT);
    const int fd = client_connect(port);
    int status = -1;
    *answer = (struct answer){.body = ""};
    if (body != NULL && fd >= 0) {
        write_body(body, number, way != PLAIN);
        body[way == MALFORMED ? random % strlen(body) : strlen(body)] = '\0';
        status = client_request(fd, "POST", "/v1/completions", headers, body);
        if (status == 0) {
            status = client_read(fd, way == LEFT ? 1 + random % 2000 : 0, way == SLOW ? 2000 : 0, answer);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(body);
    return status;
}

static int is_right(int number, enum way way, const struct answer *answer) {
    if (way == LEFT) {
        return 1;
    }
    if (way == MALFORMED) {
        return answer->status == 400 && strstr(answer->body, "\"error\"") != NULL;
    }
    char *text = texts_of(answer->body);
    const int same = answer->status == 200 && text != NULL && strcmp(text, alone[number]) == 0;
    free(text);
    return same;
}

static void *work(void *data) {
    uint64_t state = (uint64_t)(uintptr_t)data * 0x9e3779b97f4a7c15u + 1;
    while (time(NULL) < end) {
        struct answer answer;
        state = state * 6364136223846793005u + 1442695040888963407u;
        const unsigned random = (unsigned)(state >> 33);
        const int number = (int)(random % PROMPTS);
        const unsigned tenth = random / PROMPTS % 10;
        const enum way way = tenth == 0   ? MALFORMED
                             : tenth == 1 ? LEFT
                             : tenth == 2 ? SLOW
                             : tenth < 7  ? STREAM
                                          : PLAIN;
        const int status = ask(number, way, random / PROMPTS / 10, &answer);
        asked[way]++;
        if (status != 0 || !is_right(number, way, &answer)) {
            if (wrong[way]++ < 3) {
                (void)fprintf(stderr, "%s %d: status %d: %.300s\n", names[way], number, answer.status, answer.body);
            }
        } else if (way < LEFT) {
            tokens += tokens_of(number);
        }
        client_free(&answer);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[MOST_CLIENTS];
    const int clients = argc == 4 ? atoi(argv[2]) : 0;
    long failed = 0;
    if (clients < 1 || clients > MOST_CLIENTS) {
        (void)fprintf(stderr, "usage: load PORT CLIENTS SECONDS\n");
        return 2;
    }
    port = atoi(argv[1]);
    for (int i = 0; i < PROMPTS; i++) {
        struct answer answer;
        const int status = ask(i, PLAIN, 0, &answer);
        alone[i] = texts_of(answer.body);
        if (status != 0 || answer.status != 200 || alone[i] == NULL) {
            (void)fprintf(stderr, "alone %d: status %d: %.300s\n", i, answer.status, answer.body);
            return 1;
        }
        client_free(&answer);
    }
    end = time(NULL) + atoi(argv[3]);
    for (int i = 0; i < clients; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < clients; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < WAYS; i++) {
        (void)printf("%s %ld asked, %ld wrong\n", names[i], (long)asked[i], (long)wrong[i]);
        failed += wrong[i];
    }
    (void)printf("%ld tokens\n", (long)tokens);
    for (int i = 0; i < PROMPTS; i++) {
        free(alone[i]);
    }
    return failed > 0;
}
