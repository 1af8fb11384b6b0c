/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/conversation.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MAX_FILE_BYTES = 64 << 20 };

int graft_conversation_is_given(const struct graft_options *options) {
    return options->messages != NULL || options->system != NULL || options->message.count > 0;
}

int graft_conversation_add(graft_json *messages, const char *role, const char *text, size_t length) {
    graft_json *message = graft_json_new_object();
    int failed = graft_json_set_take(message, "role", graft_json_new_string(role)) != 0 ||
                 graft_json_set_take(message, "content", graft_json_new_string_n(text, length)) != 0;
    if (failed) {
        graft_json_free(message);
        return -1;
    }
    return graft_json_append_take(messages, message);
}

/* Reads an array from a file that the user wrote, so errors in it are GRAFT_ERROR_USAGE. */
static int read_array(const char *path, graft_json **array, struct graft_error *error) {
    struct graft_error own = graft_error_none();
    char *text = NULL;
    size_t length = 0;
    int status = graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_IO, &text, &length, error);
    if (status == GRAFT_OK) {
        int parsed = graft_json_parse_strict(text, length, path, array, &own);
        status = parsed == GRAFT_OK ? GRAFT_OK
                                    : graft_error_set(error, parsed == GRAFT_ERROR_MODEL ? GRAFT_ERROR_USAGE : parsed,
                                                      path, "%s", own.message);
    }
    graft_free(text);
    if (status == GRAFT_OK && graft_json_type(*array) != GRAFT_JSON_ARRAY) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, path, "expected an array, found %s",
                                 graft_json_type_name(*array));
    }
    return status;
}

/* Reads an array of objects. `what` names an element in errors: "message". */
static int read_objects(const char *path, const char *what, graft_json **array, struct graft_error *error) {
    int status = read_array(path, array, error);
    for (size_t i = 0; i < graft_json_size(*array) && status == GRAFT_OK; i++) {
        const graft_json *item = graft_json_at(*array, i);
        if (graft_json_type(item) != GRAFT_JSON_OBJECT) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, path, "%s %zu is %s, expected an object", what, i + 1,
                                     graft_json_type_name(item));
        }
    }
    return status;
}

/* Turns OpenAI's {"type": "image_url", "image_url": {"url": URL}} into {"type": "image", "url": URL}, which is what
 * templates look for. */
static int name_image(const char *path, graft_json *part, size_t i, struct graft_error *error) {
    const char *type = graft_json_string(graft_json_get(part, "type"), NULL);
    if (type == NULL || strcmp(type, "image_url") != 0) {
        return GRAFT_OK;
    }
    graft_json *given = graft_json_detach(part, "image_url");
    graft_json *url = graft_json_detach(given, "url");
    graft_json_free(given);
    if (graft_json_type(url) != GRAFT_JSON_STRING) {
        graft_json_free(url);
        return graft_error_set(error, GRAFT_ERROR_USAGE, path,
                               "message %zu: image_url: expected an object with \"url\", a string", i + 1);
    }
    const int failed = graft_json_set_take(part, "url", url) != 0;
    return graft_json_set_take(part, "type", graft_json_new_string("image")) != 0 || failed
               ? graft_fail_memory(error, path)
               : GRAFT_OK;
}

/* Refuses an image or a video in a form that is not read here, which templates would pass over. */
static int refuse_unread(const char *path, const graft_json *part, size_t i, struct graft_error *error) {
    static const char *const unread[] = {"image", "video", "base64", "video_url"};
    const char *type = graft_json_string(graft_json_get(part, "type"), NULL);
    if (type == NULL || (strcmp(type, "image") != 0 && strcmp(type, "video") != 0 && strcmp(type, "video_url") != 0)) {
        return GRAFT_OK;
    }
    for (size_t k = 0; k < sizeof unread / sizeof unread[0]; k++) {
        if (graft_json_type(graft_json_get(part, unread[k])) > GRAFT_JSON_NULL) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, path,
                                   "message %zu: %s: is not read here, expected \"path\": %s", i + 1, unread[k],
                                   type[0] == 'v' ? "a directory of frames, of type \"video\"" : "a file");
        }
    }
    return GRAFT_OK;
}

int graft_conversation_read_file(const char *path, graft_json **messages, struct graft_error *error) {
    int status = read_objects(path, "message", messages, error);
    for (size_t i = 0; i < graft_json_size(*messages); i++) {
        const graft_json *content = graft_json_get(graft_json_at(*messages, i), "content");
        const size_t n = graft_json_type(content) == GRAFT_JSON_ARRAY ? graft_json_size(content) : 0;
        for (size_t k = 0; k < n && status == GRAFT_OK; k++) {
            graft_json *part = (graft_json *)graft_json_at(content, k);
            status = name_image(path, part, i, error);
            status = status == GRAFT_OK ? refuse_unread(path, part, i, error) : status;
        }
    }
    return status;
}

/* Adds a message from "ROLE:TEXT", such as "user:Hello". */
static int add_given(graft_json *messages, const char *given, struct graft_error *error) {
    const char *colon = strchr(given, ':');
    const size_t length = colon != NULL ? (size_t)(colon - given) : 0;
    if (length == 0 || strspn(given, "abcdefghijklmnopqrstuvwxyz_") < length) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--message",
                               "expected ROLE:TEXT, such as \"user:Hello\", got \"%.60s\"", given);
    }
    char *role = graft_strndup(given, length);
    int failed = role == NULL || graft_conversation_add(messages, role, colon + 1, strlen(colon + 1)) != 0;
    graft_free(role);
    return failed ? graft_fail_memory(error, "--message") : GRAFT_OK;
}

int graft_conversation_read(const struct graft_options *options, graft_json **messages, struct graft_error *error) {
    graft_json *file = NULL;
    *messages = graft_json_new_array();
    int status = *messages != NULL ? GRAFT_OK : graft_fail_memory(error, "--message");
    if (status == GRAFT_OK && options->system != NULL &&
        graft_conversation_add(*messages, "system", options->system, strlen(options->system)) != 0) {
        status = graft_fail_memory(error, "--system");
    }
    if (status == GRAFT_OK && options->messages != NULL) {
        status = graft_conversation_read_file(options->messages, &file, error);
    }
    for (size_t i = 0; i < graft_json_size(file) && status == GRAFT_OK; i++) {
        if (graft_json_append_share(*messages, graft_json_at(file, i)) != 0) {
            status = graft_fail_memory(error, options->messages);
        }
    }
    for (size_t i = 0; i < options->message.count && status == GRAFT_OK; i++) {
        status = add_given(*messages, options->message.items[i], error);
    }
    graft_json_free(file);
    return status;
}

int graft_conversation_has_part(const graft_json *messages, const char *type) {
    for (size_t i = 0; i < graft_json_size(messages); i++) {
        const graft_json *content = graft_json_get(graft_json_at(messages, i), "content");
        for (size_t k = 0; graft_json_type(content) == GRAFT_JSON_ARRAY && k < graft_json_size(content); k++) {
            const char *found = graft_json_string(graft_json_get(graft_json_at(content, k), "type"), NULL);
            if (found != NULL && strcmp(found, type) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static int add_part(graft_json *parts, const char *type, graft_json *text_take) {
    graft_json *part = graft_json_new_object();
    int failed = graft_json_set_take(part, "type", graft_json_new_string(type)) != 0;
    if (!failed && text_take != NULL) {
        failed = graft_json_set_take(part, "text", text_take) != 0;
        text_take = NULL;
    }
    graft_json_free(text_take);
    if (failed) {
        graft_json_free(part);
        return -1;
    }
    return graft_json_append_take(parts, part);
}

int graft_conversation_add_images(graft_json *messages, const struct graft_image *images, size_t n,
                                  struct graft_error *error) {
    graft_json *message = NULL;
    for (size_t i = 0; i < graft_json_size(messages); i++) {
        graft_json *one = (graft_json *)graft_json_at(messages, i);
        const char *role = graft_json_string(graft_json_get(one, "role"), NULL);
        message = role != NULL && strcmp(role, "user") == 0 ? one : message;
    }
    if (message == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, images[0].is_video ? "--video" : "--image",
                               "there is no message of a user that says what to do with it");
    }
    graft_json *said = graft_json_detach(message, "content");
    graft_json *parts = graft_json_new_array();
    int failed = parts == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        failed = add_part(parts, images[i].is_video ? "video" : "image", NULL) != 0;
    }
    if (graft_json_type(said) == GRAFT_JSON_ARRAY) {
        for (size_t i = 0; i < graft_json_size(said) && !failed; i++) {
            failed = graft_json_append_share(parts, graft_json_at(said, i)) != 0;
        }
        graft_json_free(said);
    } else if (!failed && graft_json_type(said) == GRAFT_JSON_STRING) {
        failed = add_part(parts, "text", said) != 0;
    } else {
        graft_json_free(said);
    }
    if (failed) {
        graft_json_free(parts);
    }
    return failed || graft_json_set_take(message, "content", parts) != 0 ? graft_fail_memory(error, "--image")
                                                                         : GRAFT_OK;
}

int graft_conversation_read_tools(const struct graft_options *options, char **tools, struct graft_error *error) {
    graft_json *array = NULL;
    *tools = NULL;
    if (options->tools == NULL) {
        return GRAFT_OK;
    }
    int status = read_objects(options->tools, "tool", &array, error);
    if (status == GRAFT_OK && (*tools = graft_json_dump(array, 0)) == NULL) {
        status = graft_fail_memory(error, options->tools);
    }
    graft_json_free(array);
    return status;
}

/* Adds a member from "NAME=JSON", such as "enable_thinking=false". */
static int add_variable(graft_json *object, const char *given, struct graft_error *error) {
    const char *equals = strchr(given, '=');
    char *name = equals != NULL && equals > given ? graft_strndup(given, (size_t)(equals - given)) : NULL;
    graft_json *value = NULL;
    struct graft_error own = graft_error_none();
    if (equals == NULL || equals == given) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--template-variable",
                               "expected NAME=JSON, such as enable_thinking=false, got \"%.60s\"", given);
    }
    int status = name != NULL ? GRAFT_OK : graft_fail_memory(error, "--template-variable");
    if (status == GRAFT_OK &&
        graft_json_parse_strict(equals + 1, strlen(equals + 1), "--template-variable", &value, &own) != GRAFT_OK) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "--template-variable", "%s: %s", name, own.message);
        graft_error_hint(error, "a text is written with quotes: '%s=\"...\"'", name);
    }
    if (status == GRAFT_OK && graft_json_set_take(object, name, value) != 0) {
        status = graft_fail_memory(error, "--template-variable");
    }
    graft_free(name);
    return status;
}

int graft_conversation_read_variables(const struct graft_options *options, char **variables,
                                      struct graft_error *error) {
    *variables = NULL;
    if (options->template_variables.count == 0) {
        return GRAFT_OK;
    }
    graft_json *object = graft_json_new_object();
    int status = object != NULL ? GRAFT_OK : graft_fail_memory(error, "--template-variable");
    for (size_t i = 0; i < options->template_variables.count && status == GRAFT_OK; i++) {
        status = add_variable(object, options->template_variables.items[i], error);
    }
    if (status == GRAFT_OK && (*variables = graft_json_dump(object, 0)) == NULL) {
        status = graft_fail_memory(error, "--template-variable");
    }
    graft_json_free(object);
    return status;
}
