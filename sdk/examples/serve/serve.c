/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small server around libgraft: requests come on standard input, a line each, and run together; every token is
 * written as soon as it is there.
 *
 *     in     NAME MAX-NEW-TOKENS ID,ID,...     starts a sequence
 *            NAME stop                         ends it early
 *     out    NAME ID                           its next token
 *            NAME end WHY                      stop (its end, as the model says), length, positions, stopped
 *            NAME error TEXT                   the request cannot be run; "?" for a line that does not begin with a
 * name
 *
 * A line that is no request harms no other one: it is answered with an error, and the next line is read. At the end of
 * the input the server finishes what runs.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graft/host/graft.h"
#include "graft/host/sequences.h"

enum { MAX_LINE = 1 << 20, MAX_IDS = MAX_LINE / 2, MAX_NAME = 64, MAX_REQUESTS = 256 };

struct request {
    char name[MAX_NAME]; /* "": nobody is here */
    int64_t sequence;
};

struct server {
    struct graft_model *model;
    struct graft_sequences *sequences;
    struct request requests[MAX_REQUESTS];
    char line[MAX_LINE]; /* of the next request, so far */
    size_t length;
    int is_skipping; /* the line was too long: what is left of it is dropped */
    int is_over;     /* no more requests come */
};

static struct request *find(struct server *server, const char *name) {
    for (int i = 0; i < MAX_REQUESTS; i++) {
        if (strcmp(server->requests[i].name, name) == 0) {
            return &server->requests[i];
        }
    }
    return NULL;
}

/* The number that `text` begins with, 0 to INT32_MAX; -1 where it begins with none. `*end` is what follows it. */
static int32_t parse_number(const char *text, char **end) {
    long long number = strtoll(text, end, 10); /* LLONG_MAX where it is larger */
    return *end == text || number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

/* Cuts "580,573,88" into ids. Returns how many, or 0 where the text is no such list. */
static size_t parse_ids(const char *text, int32_t *ids) {
    size_t n = 0;
    while (n < MAX_IDS) {
        char *end;
        ids[n] = parse_number(text, &end);
        if (ids[n++] < 0 || (*end != ',' && *end != '\0')) {
            return 0;
        }
        if (*end == '\0') {
            return n;
        }
        text = end + 1;
    }
    return 0;
}

static void start(struct server *server, const char *name, int32_t most, const char *list) {
    static int32_t ids[MAX_IDS];
    struct graft_error error = graft_error_none();
    struct graft_generation generation = {.struct_size = sizeof generation};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = parse_ids(list, ids)};
    const struct graft_sequence_options options = {.struct_size = sizeof options, .generation = &generation};
    struct request *request = find(server, ""); /* a free one */
    graft_model_generation(server->model, &generation);
    generation.max_new_tokens = most;
    if (most < 0 || prompt.count == 0) {
        printf("%s error expected %s\n", name, most < 0 ? "how many tokens to make, or stop" : "ids like 1,2,3");
    } else if (request == NULL || find(server, name) != NULL) {
        printf("%s error %s\n", name, request == NULL ? "too many requests" : "the name is taken");
    } else if (graft_sequences_add(server->sequences, &prompt, &options, &request->sequence, &error) != GRAFT_OK) {
        printf("%s error %s: %s\n", name, error.source, error.message);
    } else {
        strcpy(request->name, name); /* has less than MAX_NAME */
    }
}

static void stop(struct server *server, const char *name) {
    struct request *request = find(server, name);
    struct graft_error error = graft_error_none();
    if (request == NULL) {
        printf("%s error there is no such request\n", name);
    } else if (graft_sequences_remove(server->sequences, request->sequence, &error) == GRAFT_OK) {
        printf("%s end stopped\n", name);
        request->name[0] = '\0';
    }
}

/* Cuts the first word off. Returns it, and makes `*text` what follows. */
static char *cut_word(char **text) {
    char *word = *text + strspn(*text, " ");
    char *end = word + strcspn(word, " ");
    *text = end + (*end != '\0');
    *end = '\0';
    return word;
}

/* A line without its end: `length` bytes, and a NUL behind them. */
static void take_line(struct server *server, char *line, size_t length) {
    const int has_nul = strlen(line) != length;
    char *name = cut_word(&line);
    char *what = cut_word(&line);
    char *end;
    if (name[0] == '\0' && !has_nul) {
        return;
    }
    if (name[0] == '\0' || strlen(name) >= MAX_NAME) {
        printf("? error expected a name of at most %d bytes\n", MAX_NAME - 1);
    } else if (has_nul) {
        printf("%s error the line holds a NUL byte\n", name);
    } else if (strcmp(what, "stop") == 0) {
        stop(server, name);
    } else {
        const int32_t most = parse_number(what, &end);
        start(server, name, *end == '\0' ? most : -1, line);
    }
    fflush(stdout);
}

/* There is no end of the line in all that there is room for. */
static void refuse_line(struct server *server) {
    char *rest = server->line;
    const char *name = cut_word(&rest);
    printf("%s error the line is longer than %d bytes\n", strlen(name) < MAX_NAME ? name : "?", MAX_LINE - 2);
    fflush(stdout);
    server->is_skipping = 1;
    server->length = 0;
}

/* Takes the lines that are complete. */
static void take_lines(struct server *server) {
    char *line = server->line, *behind = server->line + server->length, *end;
    while ((end = memchr(line, '\n', (size_t)(behind - line))) != NULL) {
        *end = '\0';
        if (!server->is_skipping) {
            take_line(server, line, (size_t)(end - line));
        }
        server->is_skipping = 0;
        line = end + 1;
    }
    server->length = (size_t)(behind - line);
    memmove(server->line, line, server->length);
    if (server->is_skipping) {
        server->length = 0;
    } else if (server->length == MAX_LINE - 2) {
        server->line[server->length] = '\0';
        refuse_line(server);
    }
}

/* Takes the requests that are there; waits for one only where nothing else is to be done. */
static void read_requests(struct server *server) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int wait = graft_sequences_count(server->sequences) == 0 ? -1 : 0;
    while (!server->is_over && poll(&input, 1, wait) > 0) {
        ssize_t n = read(STDIN_FILENO, server->line + server->length, MAX_LINE - 2 - server->length);
        server->is_over = n <= 0;
        server->length += n > 0 ? (size_t)n : 0;
        if (server->is_over && server->length > 0) {
            server->line[server->length++] = '\n'; /* the last line may lack it */
        }
        take_lines(server);
        wait = graft_sequences_count(server->sequences) == 0 ? -1 : 0;
    }
}

static void print_token(struct server *server, const struct graft_sequence_token *token) {
    static const char *const reasons[] = {"", "stop", "length", "positions"}; /* by GRAFT_SEQUENCE_... */
    for (int i = 0; i < MAX_REQUESTS; i++) {
        struct request *request = &server->requests[i];
        if (request->name[0] == '\0' || request->sequence != token->sequence) {
            continue;
        }
        printf("%s %d\n", request->name, (int)token->id);
        if (token->end != GRAFT_SEQUENCE_GOES_ON) {
            printf("%s end %s\n", request->name, reasons[token->end]);
            request->name[0] = '\0';
        }
        return;
    }
}

static int serve(struct server *server, struct graft_error *error) {
    int status = graft_sequences_create(server->model, NULL, &server->sequences, error);
    while (status == GRAFT_OK && (!server->is_over || graft_sequences_count(server->sequences) > 0)) {
        const struct graft_sequence_token *tokens;
        size_t n;
        read_requests(server);
        status = graft_sequences_step(server->sequences, &tokens, &n, error);
        for (size_t i = 0; i < n; i++) {
            print_token(server, graft_struct_at(tokens, i));
        }
        fflush(stdout);
    }
    graft_sequences_free(server->sequences);
    return status;
}

int main(int argc, char **argv) {
    static struct server server;
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL <REQUESTS\n", argv[0]);
        return GRAFT_ERROR_USAGE;
    }
    int status = graft_library_create(&library, &error);
    if (status == GRAFT_OK) {
        status = graft_model_open(library, argv[1], NULL, &server.model, &error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_load(server.model, &error);
    }
    if (status == GRAFT_OK) {
        status = serve(&server, &error);
    }
    if (status != GRAFT_OK) {
        fprintf(stderr, "%s: %s\n", error.source, error.message);
    }
    graft_model_free(server.model);
    graft_library_free(library);
    return status;
}
