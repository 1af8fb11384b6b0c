/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json_writer.h"

int graft_fault_set(struct graft_fault *fault, int http, const char *code, const char *param, const char *format, ...) {
    va_list args;
    if (fault->http != 0) {
        return -1;
    }
    fault->http = http;
    fault->code = code;
    (void)snprintf(fault->param, sizeof fault->param, "%s", param != NULL ? param : "");
    va_start(args, format);
    (void)vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
    return -1;
}

int graft_fault_from_error(struct graft_fault *fault, const struct graft_error *error, const char *param) {
    const int is_usage = error->code == GRAFT_ERROR_USAGE;
    const char *named = param != NULL ? param : is_usage ? error->source : "";
    return is_usage ? graft_fault_set(fault, 400, "invalid_value", named, "%s", error->message)
                    : graft_fault_set(fault, 500, "internal_error", param, "%s", error->message);
}

int graft_fault_memory(struct graft_fault *fault) {
    return graft_fault_set(fault, 500, "internal_error", NULL, "out of memory");
}

static const char *type_of(int http) {
    switch (http) {
    case 401:
        return "authentication_error";
    case 429:
        return "rate_limit_error";
    default:
        return http >= 500 ? "server_error" : "invalid_request_error";
    }
}

graft_json *graft_fault_json(const struct graft_fault *fault) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *error = graft_json_new_object();
    graft_writer_set_string(&writer, error, "message", fault->message);
    graft_writer_set_string(&writer, error, "type", type_of(fault->http));
    graft_writer_set_string(&writer, error, "param", fault->param[0] != '\0' ? fault->param : NULL);
    graft_writer_set_string(&writer, error, "code", fault->code);
    graft_writer_set(&writer, document, "error", error);
    return graft_writer_finish(&writer, document);
}
