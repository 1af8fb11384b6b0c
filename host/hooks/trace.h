/* SPDX-License-Identifier: Apache-2.0 */
/* Records when each module ran, as a document in Chrome's trace event format, which browsers and Perfetto display. */
#ifndef GRAFT_HOOKS_TRACE_H
#define GRAFT_HOOKS_TRACE_H

#include "base/json.h"
#include "hooks/forward_hooks.h"

struct graft_traced_call {
    const struct graft_node *node; /* the module; its tree outlives the trace */
    double begin;                  /* seconds since the trace began */
    double end;
};

/* Starts as {0}, except for `start`. */
struct graft_call_trace {
    double start; /* graft_seconds() when the trace began */
    struct graft_traced_call *calls;
    size_t count;
    size_t capacity;
};

/* [forward] The `before` and `after` hooks of a trace, which use `hooked->mark`. */
int graft_trace_before(struct graft_call_trace *trace, struct graft_hooked_call *hooked, struct graft_error *error);
void graft_trace_after(struct graft_call_trace *trace, const struct graft_hooked_call *hooked);

/* [any] Makes the document, which the caller frees; NULL if memory ran out. */
graft_json *graft_trace_document(const struct graft_call_trace *trace);

void graft_trace_finish(struct graft_call_trace *trace);

#endif
