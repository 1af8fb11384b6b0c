/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that read requests. */
#ifndef GRAFT_SERVE_REQUEST_PARTS_H
#define GRAFT_SERVE_REQUEST_PARTS_H

#include "base/json_field.h"
#include "serve/request.h"

/* A request being read. */
struct graft_reading {
    const struct graft_request_context *context;
    struct graft_request *request;
    struct graft_fault *fault;
};

/* Reads a field that is not null. */
typedef int graft_field_reader(struct graft_reading *reading, const char *name, const graft_json *value);

/* "NAME: expected EXPECTED, got a string". */
int graft_request_expected(struct graft_reading *reading, const char *name, const char *expected,
                           const graft_json *value);

graft_field_reader graft_read_model, graft_read_stop, graft_read_stop_ids, graft_read_bias, graft_read_format,
    graft_read_tools, graft_read_tool_choice;

/* Checks and completes the fields together, after all were read. */
int graft_request_complete(struct graft_reading *reading);

#endif
