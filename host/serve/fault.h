/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request is refused: an HTTP status, and what OpenAI's error bodies say. */
#ifndef GRAFT_SERVE_FAULT_H
#define GRAFT_SERVE_FAULT_H

#include "base/json.h"

/* Starts as {0}; the first one wins. Texts are UTF-8. */
struct graft_fault {
    int http; /* status; 0: there is no fault */
    const char *code;
    char param[96]; /* the field, as "messages[0].content"; "": none */
    char message[1200];
};

/* Returns -1. `param` may be NULL. */
int graft_fault_set(struct graft_fault *fault, int http, const char *code, const char *param, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* What the library says, without its source, which may be a path: 400 for what the caller is to blame for, else 500.
 * Returns -1. */
int graft_fault_from_error(struct graft_fault *fault, const struct graft_error *error, const char *param);

int graft_fault_memory(struct graft_fault *fault);

/* {"error": {...}}; the caller's, NULL if memory ran out. */
graft_json *graft_fault_json(const struct graft_fault *fault);

#endif
