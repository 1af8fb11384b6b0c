/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares messages, tools, documents and variables for templates. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "chat/chat.h"

/* Names of the member with the thoughts of a model. Templates read the first one. */
static const char *const thoughts[] = {"reasoning_content", "thinking", "reasoning"};

static int parse(const struct graft_text_view *text, const char *what, enum graft_json_type type, graft_json **document,
                 struct graft_error *error) {
    static const char *const expected[] = {[GRAFT_JSON_ARRAY] = "an array", [GRAFT_JSON_OBJECT] = "an object"};
    if (text->length == 0) {
        return GRAFT_OK;
    }
    struct graft_error own = graft_error_none();
    int status = graft_json_parse(text->text, text->length, what, document, &own);
    if (status != GRAFT_OK) {
        return graft_error_set(error, status == GRAFT_ERROR_MODEL ? GRAFT_ERROR_USAGE : status, what, "%s",
                               own.message);
    }
    if (graft_json_type(*document) != type) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, what, "expected %s, found %s", expected[type],
                               graft_json_type_name(*document));
    }
    return GRAFT_OK;
}

/* Checks that each element is an object. */
static int check_objects(const graft_json *array, const char *what, struct graft_error *error) {
    for (size_t i = 0; i < graft_json_size(array); i++) {
        if (graft_json_type(graft_json_at(array, i)) != GRAFT_JSON_OBJECT) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, what, "number %zu is %s, expected an object", i + 1,
                                   graft_json_type_name(graft_json_at(array, i)));
        }
    }
    return GRAFT_OK;
}

/* Copies a value by writing and parsing it. */
static graft_json *copy(const graft_json *value) {
    char *text = graft_json_dump(value, 0);
    graft_json *made = NULL;
    if (text != NULL) {
        (void)graft_json_parse(text, strlen(text), "messages", &made, NULL);
    }
    graft_free(text);
    return made;
}

static const graft_json *thought_of(const graft_json *message) {
    for (size_t i = 0; i < sizeof thoughts / sizeof thoughts[0]; i++) {
        const graft_json *thought = graft_json_get(message, thoughts[i]);
        if (graft_json_type(thought) > GRAFT_JSON_NULL) {
            return thought;
        }
    }
    return NULL;
}

/* Moves the members of a message that are not null to a new object. A thought is stored as "thinking", at the front if
 * it had another name, and as "reasoning_content". */
static graft_json *renew(graft_json *from) {
    graft_json *made = graft_json_new_object();
    const graft_json *thought = thought_of(from);
    graft_json *first = thought != NULL ? copy(thought) : NULL, *last = thought != NULL ? copy(thought) : NULL;
    int failed = made == NULL || (thought != NULL && (first == NULL || last == NULL));
    if (!failed && thought != NULL) {
        failed = graft_json_set_take(made, "thinking", first) != 0;
        first = NULL;
    }
    while (!failed && graft_json_size(from) > 0) {
        const char *key = NULL;
        const int is_null = graft_json_type(graft_json_member(from, 0, &key)) == GRAFT_JSON_NULL;
        char *name = graft_strdup(key);
        graft_json *value = name != NULL ? graft_json_detach(from, name) : NULL;
        failed = value == NULL || (!is_null && graft_json_set_take(made, name, value) != 0);
        if (is_null) {
            graft_json_free(value);
        }
        graft_free(name);
    }
    if (!failed && thought != NULL) {
        failed = graft_json_set_take(made, thoughts[0], last) != 0;
        last = NULL;
    }
    graft_json_free(first);
    graft_json_free(last);
    if (failed) {
        graft_json_free(made);
        return NULL;
    }
    return made;
}

static int renew_all(struct graft_chat_inputs *inputs, struct graft_error *error) {
    graft_json *made = graft_json_new_array();
    int failed = made == NULL;
    for (size_t i = 0; i < graft_json_size(inputs->messages) && !failed; i++) {
        graft_json *message = (graft_json *)graft_json_at(inputs->messages, i);
        failed = graft_json_append_take(made, renew(message)) != 0;
    }
    graft_json_free(inputs->messages);
    inputs->messages = made;
    return failed ? graft_fail_memory(error, "messages") : GRAFT_OK;
}

int graft_chat_inputs_read(const struct graft_chat_request *request, struct graft_chat_inputs *inputs,
                           struct graft_error *error) {
    int status = parse(&request->messages, "messages", GRAFT_JSON_ARRAY, &inputs->messages, error);
    if (status == GRAFT_OK && graft_json_size(inputs->messages) == 0) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "messages", "there is none, expected at least one");
    }
    if (status == GRAFT_OK) {
        status = check_objects(inputs->messages, "messages", error);
    }
    if (status == GRAFT_OK) {
        status = parse(&request->tools, "tools", GRAFT_JSON_ARRAY, &inputs->tools, error);
    }
    if (status == GRAFT_OK) {
        status = check_objects(inputs->tools, "tools", error);
    }
    if (status == GRAFT_OK) {
        status = parse(&request->documents, "documents", GRAFT_JSON_ARRAY, &inputs->documents, error);
    }
    if (status == GRAFT_OK) {
        status = check_objects(inputs->documents, "documents", error);
    }
    if (status == GRAFT_OK) {
        status = parse(&request->variables, "variables", GRAFT_JSON_OBJECT, &inputs->variables, error);
    }
    if (status == GRAFT_OK && request->add_generation_prompt && request->continue_final_message != NULL) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "continue_final_message",
                                 "cannot be combined with add_generation_prompt, which opens another message");
    }
    return status == GRAFT_OK ? renew_all(inputs, error) : status;
}

void graft_chat_inputs_finish(struct graft_chat_inputs *inputs) {
    graft_json_free(inputs->messages);
    graft_json_free(inputs->tools);
    graft_json_free(inputs->documents);
    graft_json_free(inputs->variables);
    graft_text_free(&inputs->final_text);
}
