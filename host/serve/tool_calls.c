/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of tools as models write them:
 *
 *     <tool_call>{"name": NAME, "arguments": {...}}</tool_call> ...       Hermes, Qwen
 *     [TOOL_CALLS][{"name": NAME, "arguments": {...}}, ...]               Mistral
 *     [TOOL_CALLS]NAME[ARGS]{...}[TOOL_CALLS]NAME{...}                    Mistral since 2025
 *     <|python_tag|>{"name": NAME, "parameters": {...}}; {...}            Llama 3, with or without the mark
 *
 * What a model wrote is not trusted: what is not a call in full is text.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/json_writer.h"
#include "serve/answer.h"
#include "serve/server.h"

static const char open_mark[] = "<tool_call>", close_mark[] = "</tool_call>", list_mark[] = "[TOOL_CALLS]",
                  args_mark[] = "[ARGS]", python_mark[] = "<|python_tag|>";

int graft_calls_is_mark(const char *token) {
    static const char *const marks[] = {open_mark, close_mark, list_mark, args_mark, python_mark};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strcmp(token, marks[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The text being parsed, from `at` on. */
struct parsing {
    struct graft_server *server;
    const char *at;
    const char *end;
    const graft_json *tools;
    graft_json *calls;
    int failed;  /* 1: the text is not a valid call, or memory ran out */
    int ran_out; /* 1: memory ran out */
};

static void skip_spaces(struct parsing *parsing) {
    while (parsing->at < parsing->end && strchr(" \t\r\n", *parsing->at) != NULL) {
        parsing->at++;
    }
}

static int skip(struct parsing *parsing, const char *mark) {
    const size_t n = strlen(mark);
    skip_spaces(parsing);
    if ((size_t)(parsing->end - parsing->at) < n || memcmp(parsing->at, mark, n) != 0) {
        return 0;
    }
    parsing->at += n;
    return 1;
}

/* The end of the object or array at the start, found by its brackets; NULL if it does not end. */
static const char *end_of_value(const char *at, const char *end) {
    int depth = 0, in_string = 0;
    for (; at < end; at++) {
        if (in_string) {
            in_string = *at != '"';
            at += *at == '\\' && at + 1 < end;
            continue;
        }
        in_string = *at == '"';
        depth += *at == '{' || *at == '[' ? 1 : *at == '}' || *at == ']' ? -1 : 0;
        if (depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* Parses the next object or array; NULL if there is none. */
static graft_json *take_value(struct parsing *parsing) {
    graft_json *value = NULL;
    struct graft_error error = graft_error_none();
    skip_spaces(parsing);
    const char *end = parsing->at < parsing->end && (*parsing->at == '{' || *parsing->at == '[')
                          ? end_of_value(parsing->at, parsing->end)
                          : NULL;
    if (end == NULL || graft_json_parse(parsing->at, (size_t)(end - parsing->at), "call", &value, &error) != GRAFT_OK) {
        parsing->failed = 1;
        parsing->ran_out |= error.code == GRAFT_ERROR_INTERNAL;
        return NULL;
    }
    parsing->at = end;
    return value;
}

static int is_tool(const graft_json *tools, const char *name) {
    for (size_t i = 0; i < graft_json_size(tools); i++) {
        const char *known =
            graft_json_string(graft_json_get(graft_json_get(graft_json_at(tools, i), "function"), "name"), NULL);
        if (known != NULL && name != NULL && strcmp(known, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add(struct parsing *parsing, const char *name, const graft_json *arguments) {
    struct graft_writer writer = {0};
    graft_json *call = NULL;
    const int is_object = graft_json_type(arguments) == GRAFT_JSON_OBJECT;
    char *text = is_object ? graft_json_dump(arguments, 0) : NULL;
    char id[16];
    parsing->ran_out |= is_object && text == NULL;
    if (text == NULL || !is_tool(parsing->tools, name)) {
        parsing->failed = 1;
        graft_free(text);
        return;
    }
    call = graft_json_new_object();
    graft_json *function = graft_json_new_object();
    graft_server_new_id(parsing->server, "", id, 10); /* nine characters, as Mistral's templates expect */
    graft_writer_set_string(&writer, call, "id", id);
    graft_writer_set_string(&writer, call, "type", "function");
    graft_writer_set_string(&writer, function, "name", name);
    graft_writer_set_string(&writer, function, "arguments", text);
    graft_writer_set(&writer, call, "function", function);
    graft_writer_append(&writer, parsing->calls, call);
    parsing->failed |= writer.failed;
    parsing->ran_out |= writer.failed;
    graft_free(text);
}

/* {"name": ..., "arguments" or "parameters": ...} */
static void add_object(struct parsing *parsing, const graft_json *object) {
    const graft_json *arguments = graft_json_get(object, "arguments");
    arguments = arguments != NULL ? arguments : graft_json_get(object, "parameters");
    add(parsing, graft_json_string(graft_json_get(object, "name"), NULL), arguments);
}

static void take_object(struct parsing *parsing) {
    graft_json *value = take_value(parsing);
    if (value != NULL) {
        add_object(parsing, value);
    }
    graft_json_free(value);
}

/* --- The forms, each from its first mark on --- */

static void take_hermes(struct parsing *parsing) {
    while (!parsing->failed && skip(parsing, open_mark)) {
        take_object(parsing);
        parsing->failed |= !skip(parsing, close_mark) && parsing->at < parsing->end;
    }
}

static void take_mistral(struct parsing *parsing) {
    while (!parsing->failed && skip(parsing, list_mark)) {
        skip_spaces(parsing);
        if (parsing->at < parsing->end && *parsing->at == '[') {
            graft_json *list = take_value(parsing);
            for (size_t i = 0; i < graft_json_size(list); i++) {
                add_object(parsing, graft_json_at(list, i));
            }
            graft_json_free(list);
            continue;
        }
        const char *name = parsing->at;
        while (parsing->at < parsing->end && strchr("[{ ", *parsing->at) == NULL) {
            parsing->at++;
        }
        char *own = graft_strndup(name, (size_t)(parsing->at - name));
        parsing->ran_out |= own == NULL;
        (void)skip(parsing, args_mark);
        graft_json *arguments = own != NULL ? take_value(parsing) : NULL;
        add(parsing, own, arguments);
        graft_json_free(arguments);
        graft_free(own);
    }
}

static void take_llama(struct parsing *parsing) {
    (void)skip(parsing, python_mark);
    do {
        take_object(parsing);
    } while (!parsing->failed && skip(parsing, ";"));
}

/* --- */

static const char *find(const char *text, size_t length, const char *mark) {
    const size_t n = strlen(mark);
    for (size_t i = 0; i + n <= length; i++) {
        if (memcmp(text + i, mark, n) == 0) {
            return text + i;
        }
    }
    return NULL;
}

size_t graft_calls_begin(const char *text, size_t length, size_t from) {
    static const char *const marks[] = {open_mark, list_mark, python_mark};
    size_t spaces = 0;
    while (spaces < length && strchr(" \t\r\n", text[spaces]) != NULL) {
        spaces++;
    }
    if (spaces == length || text[spaces] == '{') {
        return 0;
    }
    for (size_t at = from; at < length; at++) {
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
            const size_t n = strlen(marks[i]), left = length - at;
            if (memcmp(text + at, marks[i], n < left ? n : left) == 0) {
                return at;
            }
        }
    }
    return length;
}

graft_json *graft_calls_parse(struct graft_server *server, const char *text, size_t length, const graft_json *tools,
                              int may_be_many, size_t *content, int *ran_out) {
    struct parsing parsing = {.server = server, .at = text, .end = text + length, .tools = tools};
    const char *hermes = find(text, length, open_mark), *mistral = find(text, length, list_mark);
    const char *llama = find(text, length, python_mark);
    *content = length;
    *ran_out = 0;
    if (length == 0) {
        return NULL;
    }
    parsing.calls = graft_json_new_array();
    *ran_out = parsing.calls == NULL;
    if (parsing.calls == NULL) {
        return NULL;
    }
    const char *from = hermes != NULL ? hermes : mistral != NULL ? mistral : llama != NULL ? llama : text;
    parsing.at = from;
    if (hermes != NULL) {
        take_hermes(&parsing);
    } else if (mistral != NULL) {
        take_mistral(&parsing);
    } else {
        take_llama(&parsing);
    }
    skip_spaces(&parsing);
    const size_t n = graft_json_size(parsing.calls);
    *ran_out = parsing.ran_out;
    if (parsing.failed || parsing.at != parsing.end || n == 0 || (n > 1 && !may_be_many)) {
        graft_json_free(parsing.calls);
        return NULL;
    }
    while (from > text && strchr(" \t\r\n", from[-1]) != NULL) {
        from--;
    }
    *content = (size_t)(from - text);
    return parsing.calls;
}
