/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the required form of an answer: response_format, and a tool_choice that forces a call. Both become the text of
 * a schema or grammar (graft/host/grammar.h).
 */
#include <string.h>

#include "base/alloc.h"
#include "base/json_writer.h"
#include "graft/host/grammar.h"
#include "serve/request_parts.h"

/* Sets the format to `text_take`, which is consumed; NULL means that memory ran out. */
static int set(struct graft_reading *reading, const char *name, int32_t kind, char *text_take) {
    struct graft_request *request = reading->request;
    if (text_take == NULL) {
        return graft_fault_memory(reading->fault);
    }
    if (request->format != NULL) {
        graft_free(text_take);
        return graft_fault_set(reading->fault, 400, "invalid_value", name,
                               "%s: cannot be combined with response_format", name);
    }
    request->format_kind = kind;
    request->format = text_take;
    request->format_name = name;
    return 0;
}

/* Reads {"json_schema": {"name": ..., "schema": {...}, "strict": ...}}. A schema is always enforced. */
static int read_schema(struct graft_reading *reading, const char *name, const graft_json *value) {
    static const char *const keys[] = {"name", "description", "schema", "strict", NULL};
    const graft_json *given = graft_json_get(value, "json_schema");
    const graft_json *schema = graft_json_get(given, "schema");
    const char *other = graft_json_other_key(given, keys);
    if (other != NULL) {
        return graft_fault_set(reading->fault, 400, "unknown_parameter", name,
                               "response_format.json_schema.%.60s: there is no such field", other);
    }
    return schema != NULL ? set(reading, name, GRAFT_GRAMMAR_JSON_SCHEMA, graft_json_dump(schema, 0))
                          : graft_fault_set(reading->fault, 400, "missing_required_parameter", name,
                                            "response_format.json_schema.schema: is missing");
}

int graft_read_format(struct graft_reading *reading, const char *name, const graft_json *value) {
    const char *type = graft_json_string(graft_json_get(value, "type"), NULL);
    size_t length = 0;
    const char *grammar = graft_json_string(graft_json_get(value, "grammar"), &length);
    if (type == NULL) {
        return graft_request_expected(reading, name, "an object with a type", value);
    }
    if (strcmp(type, "text") == 0) {
        return 0;
    }
    if (strcmp(type, "json_object") == 0) {
        return set(reading, name, GRAFT_GRAMMAR_JSON_SCHEMA, graft_strdup("{\"type\": \"object\"}"));
    }
    if (strcmp(type, "json_schema") == 0) {
        return read_schema(reading, name, value);
    }
    if (strcmp(type, "grammar") == 0 && grammar != NULL) {
        return set(reading, name, GRAFT_GRAMMAR_GBNF, graft_strndup(grammar, length));
    }
    return graft_fault_set(reading->fault, 400, "invalid_value", name,
                           "response_format.type: expected \"text\", \"json_object\", \"json_schema\", or \"grammar\" "
                           "with a grammar, got \"%.60s\"",
                           type);
}

/* --- Calls that are forced --- */

/* {"type": "object", "properties": {"name": {"const": NAME}, "arguments": PARAMETERS}, "required": [...]} */
static graft_json *schema_of_call(struct graft_writer *writer, const graft_json *function) {
    graft_json *schema = graft_json_new_object();
    graft_json *properties = graft_json_new_object();
    graft_json *name = graft_json_new_object();
    const graft_json *parameters = graft_json_get(function, "parameters");
    graft_json *arguments = parameters != NULL ? graft_json_copy(parameters) : graft_json_new_object();
    static const char *const required[] = {"name", "arguments"};
    if (parameters == NULL) {
        graft_writer_set_string(writer, arguments, "type", "object");
    }
    graft_writer_set_string(writer, name, "const", graft_json_string(graft_json_get(function, "name"), NULL));
    graft_writer_set(writer, properties, "name", name);
    graft_writer_set(writer, properties, "arguments", arguments);
    graft_writer_set_string(writer, schema, "type", "object");
    graft_writer_set(writer, schema, "properties", properties);
    graft_writer_set(writer, schema, "required", graft_writer_strings(writer, required, 2));
    graft_writer_set_bool(writer, schema, "additionalProperties", 0);
    return schema;
}

/* Forces a call of the tool `only`, or of any tool if it is NULL. The answer is a call in the form of Llama 3. */
static int force(struct graft_reading *reading, const char *name, const char *only) {
    const graft_json *tools = reading->request->tools;
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *any = graft_json_new_array();
    for (size_t i = 0; i < graft_json_size(tools); i++) {
        const graft_json *function = graft_json_get(graft_json_at(tools, i), "function");
        if (only == NULL || strcmp(only, graft_json_string(graft_json_get(function, "name"), NULL)) == 0) {
            graft_writer_append(&writer, any, schema_of_call(&writer, function));
        }
    }
    const size_t n = graft_json_size(any);
    graft_writer_set(&writer, document, "anyOf", any);
    char *text = writer.failed || n == 0 ? NULL : graft_json_dump(document, 0);
    graft_json_free(document);
    return n > 0 || writer.failed ? set(reading, name, GRAFT_GRAMMAR_JSON_SCHEMA, text)
                                  : graft_fault_set(reading->fault, 400, "invalid_value", name,
                                                    "%s: there is no tool \"%.100s\"", name, only != NULL ? only : "");
}

/* "none", "auto", "required", or {"type": "function", "function": {"name": ...}} */
int graft_read_tool_choice(struct graft_reading *reading, const char *name, const graft_json *value) {
    const char *word = graft_json_string(value, NULL);
    const char *function = graft_json_string(graft_json_get(graft_json_get(value, "function"), "name"), NULL);
    if (word != NULL && strcmp(word, "none") == 0) {
        reading->request->with_tools = 0;
        reading->request->tools = NULL;
        return 0;
    }
    if (word != NULL && strcmp(word, "auto") == 0) {
        return 0;
    }
    if (function != NULL || (word != NULL && strcmp(word, "required") == 0)) {
        return force(reading, name, function);
    }
    return graft_fault_set(reading->fault, 400, "invalid_value", name,
                           "%s: expected \"auto\", \"none\", \"required\", or a function by its name", name);
}
