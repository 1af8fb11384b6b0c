/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_format: the form that an answer has to have. What holds an answer to a form is a logits processor: it goes
 * into request->processors, with the form as its setting, and is in effect for this request's sequences.
 */
#include <string.h>

#include "serve/request_parts.h"

int graft_read_format(struct graft_reading *reading, const char *name, const graft_json *value) {
    const char *type = graft_json_string(graft_json_get(value, "type"), NULL);
    if (type == NULL) {
        return graft_field_expected(reading, name, "an object with a type", value);
    }
    return strcmp(type, "text") == 0
               ? 0
               : graft_fault_set(reading->fault, 400, "unsupported_value", name,
                                 "response_format.type: expected \"text\", got \"%.60s\": answers "
                                 "of a given form are not made here",
                                 type);
}
