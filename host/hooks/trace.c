/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/trace.h"

#include "base/alloc.h"
#include "base/clock.h"

int graft_trace_before(struct graft_call_trace *trace, struct graft_hooked_call *hooked, struct graft_error *error) {
    if (graft_grow(&trace->calls, &trace->capacity, trace->count, sizeof *trace->calls) != 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, hooked->node->path, "out of memory for the trace");
    }
    double now = graft_seconds() - trace->start;
    hooked->mark = (int64_t)trace->count;
    trace->calls[trace->count++] = (struct graft_traced_call){hooked->node, now, now};
    return GRAFT_OK;
}

void graft_trace_after(struct graft_call_trace *trace, const struct graft_hooked_call *hooked) {
    trace->calls[hooked->mark].end = graft_seconds() - trace->start;
}

static int set(graft_json *object, const char *key, graft_json *value_take) {
    return graft_json_set_take(object, key, value_take);
}

/* A complete event ("X"); times are in microseconds. */
static graft_json *event_of(const struct graft_traced_call *call) {
    graft_json *event = graft_json_new_object(), *args = graft_json_new_object();
    const char *plugin = call->node->known->origin.plugin;
    int failed = set(event, "name", graft_json_new_string(call->node->path[0] != '\0' ? call->node->path : "model"));
    failed |= set(event, "cat", graft_json_new_string(call->node->class_name));
    failed |= set(event, "ph", graft_json_new_string("X"));
    failed |= set(event, "ts", graft_json_new_real(call->begin * 1e6));
    failed |= set(event, "dur", graft_json_new_real((call->end - call->begin) * 1e6));
    failed |= set(event, "pid", graft_json_new_int(1));
    failed |= set(event, "tid", graft_json_new_int(1));
    failed |= set(args, "class", graft_json_new_string(call->node->class_name));
    failed |= plugin != NULL ? set(args, "plugin", graft_json_new_string(plugin)) : 0;
    failed |= set(event, "args", args);
    if (failed) {
        graft_json_free(event);
        return NULL;
    }
    return event;
}

graft_json *graft_trace_document(const struct graft_call_trace *trace) {
    graft_json *document = graft_json_new_object(), *events = graft_json_new_array();
    int failed = 0;
    for (size_t i = 0; i < trace->count && !failed; i++) {
        failed = graft_json_append_take(events, event_of(&trace->calls[i]));
    }
    failed |= set(document, "traceEvents", events);
    failed |= set(document, "displayTimeUnit", graft_json_new_string("ms"));
    if (failed) {
        graft_json_free(document);
        return NULL;
    }
    return document;
}

void graft_trace_finish(struct graft_call_trace *trace) {
    graft_free(trace->calls);
}
