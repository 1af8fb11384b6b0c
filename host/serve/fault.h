/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request is refused: an HTTP status, and the members of OpenAI's error body. */
#ifndef GRAFT_SERVE_FAULT_H
#define GRAFT_SERVE_FAULT_H

#include "base/json.h"

/* Starts as {0}; the first one wins. Texts are UTF-8. */
struct graft_fault {
    int http; /* HTTP status; 0 if there is no fault */
    const char *code;
    char param[96]; /* the field, such as "messages[0].content"; "" if there is none */
    char message[1200];
};

/* Sets a fault and returns -1. `param` may be NULL. */
int graft_fault_set(struct graft_fault *fault, int http, const char *code, const char *param, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Sets a fault from the library's error and returns -1: status 400 for faults of the caller, else 500. The error's
 * source is left out, as it may be a path. */
int graft_fault_from_error(struct graft_fault *fault, const struct graft_error *error, const char *param);

int graft_fault_memory(struct graft_fault *fault);

/* {"error": {...}}; the caller frees it. NULL if memory ran out. */
graft_json *graft_fault_json(const struct graft_fault *fault);

#endif
