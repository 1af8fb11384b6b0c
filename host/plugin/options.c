/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/options.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"

/* source of errors about given options, which programs and the library name differently */
static const char source[] = "plugin_options";

/* Writes what an option expects: "an integer", or "one of max, mse" if only the value is wrong. */
static void tell_expected(const struct graft_option *option, int has_kind, struct graft_text *text) {
    static const char *const kinds[] = {[GRAFT_OPTION_INT] = "an integer",
                                        [GRAFT_OPTION_REAL] = "a number",
                                        [GRAFT_OPTION_STRING] = "one line of UTF-8",
                                        [GRAFT_OPTION_BOOL] = "true or false"};
    graft_text_add_string(text, has_kind ? "one of " : kinds[option->kind]);
    for (int32_t i = 0; has_kind && option->choices[i] != NULL; i++) {
        graft_text_printf(text, "%s%s", i > 0 ? ", " : "", option->choices[i]);
    }
}

static int is_line(const char *text) {
    size_t length = strlen(text);
    int controls = 0;
    for (size_t i = 0; i < length; i++) {
        controls |= graft_error_is_control(text + i);
    }
    return !controls && graft_utf8_valid_prefix(text, length) == length;
}

static int is_kind(const struct graft_option *option, const graft_json *value) {
    enum graft_json_type type = graft_json_type(value);
    switch (option->kind) {
    case GRAFT_OPTION_INT:
        return type == GRAFT_JSON_INT;
    case GRAFT_OPTION_REAL:
        return type == GRAFT_JSON_INT || type == GRAFT_JSON_REAL;
    case GRAFT_OPTION_BOOL:
        return type == GRAFT_JSON_BOOL;
    default:
        return type == GRAFT_JSON_STRING;
    }
}

static int is_choice(const struct graft_option *option, const char *text) {
    int32_t i = 0;
    while (option->choices != NULL && option->choices[i] != NULL && strcmp(option->choices[i], text) != 0) {
        i++;
    }
    return option->choices == NULL || option->choices[i] != NULL;
}

/* Reads a value; numbers and words are in JSON syntax. The caller frees `*value`. */
static int read_value(const struct graft_option *option, const char *text, graft_json **value,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    *value = NULL;
    if (option->kind != GRAFT_OPTION_STRING) {
        status = graft_json_parse_strict(text, strlen(text), source, value, NULL);
    } else if (is_line(text) && (*value = graft_json_new_string(text)) == NULL) {
        status = GRAFT_ERROR_INTERNAL;
    }
    if (status == GRAFT_ERROR_INTERNAL) {
        return graft_fail_memory(error, source);
    }
    int has_kind = is_kind(option, *value);
    if (!has_kind || !is_choice(option, text)) {
        struct graft_text expected = {0};
        tell_expected(option, has_kind, &expected);
        status = expected.failed ? graft_fail_memory(error, source)
                                 : graft_error_set(error, GRAFT_ERROR_USAGE, source, "expected %s, got \"%s\"",
                                                   expected.bytes, text);
        graft_text_free(&expected);
        graft_json_free(*value);
        *value = NULL;
        return status;
    }
    return GRAFT_OK;
}

int graft_option_check(const struct graft_option *option, const char *text, struct graft_error *error) {
    graft_json *value = NULL;
    int status = read_value(option, text, &value, error);
    graft_json_free(value);
    return status;
}

/* The parts of "ID.NAME=VALUE". Names have no dots, so the last dot ends the id. */
struct address {
    size_t length; /* length of "ID.NAME" */
    size_t id_length;
};

static int read_address(const char *text, struct address *address) {
    address->length = address->id_length = strcspn(text, "=");
    while (address->id_length > 0 && text[address->id_length] != '.') {
        address->id_length--;
    }
    return text[address->length] == '=' && address->id_length > 0 && address->id_length + 1 < address->length;
}

static int is_same(const char *text, size_t length, const char *name) {
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* The value given for an option, or NULL. */
static const char *find_given(const struct graft_given_options *given, const struct graft_plugin *plugin,
                              const struct graft_option *option) {
    for (int i = 0; i < given->n; i++) {
        const char *text = given->texts[i];
        struct address at;
        if (read_address(text, &at) && is_same(text, at.id_length, plugin->id) &&
            is_same(text + at.id_length + 1, at.length - at.id_length - 1, option->name)) {
            return text + at.length + 1;
        }
    }
    return NULL;
}

static int refuse_plugin(const char *text, const struct address *at, const struct graft_plugin *const *plugins,
                         size_t n, struct graft_error *error) {
    struct graft_text loaded = {0};
    for (size_t i = 0; i < n; i++) {
        graft_text_printf(&loaded, "%s%s", i > 0 ? ", " : "", plugins[i]->id);
    }
    int status = graft_error_set(error, GRAFT_ERROR_USAGE, source, "no plugin \"%.*s\" is loaded; loaded: %s",
                                 (int)at->id_length, text, loaded.length > 0 ? loaded.bytes : "none");
    graft_text_free(&loaded);
    return status;
}

static int check_name(const char *text, const struct address *at, const struct graft_plugin *plugin,
                      struct graft_error *error) {
    struct graft_text known = {0};
    const char *name = text + at->id_length + 1;
    size_t length = at->length - at->id_length - 1;
    for (int32_t i = 0; i < plugin->n_options; i++) {
        const struct graft_option *option = graft_plugin_option(plugin, i);
        if (is_same(name, length, option->name)) {
            graft_text_free(&known);
            return GRAFT_OK;
        }
        graft_text_printf(&known, "%s%s", i > 0 ? ", " : "", option->name);
    }
    int status = graft_error_set(error, GRAFT_ERROR_USAGE, source, "plugin %s has no option \"%.*s\"; it has: %s",
                                 plugin->id, (int)length, name, known.length > 0 ? known.bytes : "none");
    graft_text_free(&known);
    return status;
}

static int check_given(const struct graft_given_options *given, int index, const struct graft_plugin *const *plugins,
                       size_t n, struct graft_error *error) {
    const char *text = given->texts[index];
    struct address at;
    size_t i = 0;
    if (!read_address(text, &at)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, source, "expected ID.NAME=VALUE, got \"%s\"", text);
    }
    for (int k = 0; k < index; k++) {
        if (strncmp(given->texts[k], text, at.length + 1) == 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, source, "%.*s is given twice", (int)at.length, text);
        }
    }
    while (i < n && !is_same(text, at.id_length, plugins[i]->id)) {
        i++;
    }
    return i < n ? check_name(text, &at, plugins[i], error) : refuse_plugin(text, &at, plugins, n, error);
}

int graft_given_options_check(const struct graft_given_options *given, const struct graft_plugin *const *plugins,
                              size_t n, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int i = 0; i < given->n && status == GRAFT_OK; i++) {
        status = check_given(given, i, plugins, n, error);
    }
    return status;
}

/* Writes the value as text: a number in JSON syntax, as a real if the option is one. */
static char *write_value(const struct graft_option *option, const graft_json *value) {
    if (option->kind == GRAFT_OPTION_STRING) {
        return graft_strdup(graft_json_string(value, NULL));
    }
    if (option->kind != GRAFT_OPTION_REAL) {
        return graft_json_dump(value, 0);
    }
    graft_json *real = graft_json_new_real(graft_json_real(value));
    char *text = real != NULL ? graft_json_dump(real, 0) : NULL;
    graft_json_free(real);
    return text;
}

static struct graft_arg arg_of(const struct graft_option *option, const graft_json *value) {
    switch (option->kind) {
    case GRAFT_OPTION_STRING:
        return graft_string_arg(option->name, graft_json_string(value, NULL));
    case GRAFT_OPTION_REAL:
        return graft_real_arg(option->name, graft_json_real(value));
    case GRAFT_OPTION_BOOL:
        return graft_int_arg(option->name, graft_json_bool(value));
    default:
        return graft_int_arg(option->name, graft_json_int(value));
    }
}

static int add_value(struct graft_option_values *values, const struct graft_plugin *plugin, int32_t i,
                     const struct graft_given_options *given, struct graft_error *error) {
    const struct graft_option *option = graft_plugin_option(plugin, i);
    const char *text = find_given(given, plugin, option);
    struct graft_error cause = graft_error_none();
    graft_json *value = NULL;
    int status = read_value(option, text != NULL ? text : option->default_value, &value, &cause);
    if (status != GRAFT_OK) {
        return graft_error_set(error, status, cause.source, "%s.%s: %s", plugin->id, option->name, cause.message);
    }
    const struct graft_arg arg = arg_of(option, value);
    const struct graft_args added = graft_args_of(&arg, 1);
    values->texts[i] = write_value(option, value);
    if (values->texts[i] == NULL || graft_args_append(&values->args, &added) != 0) {
        status = graft_fail_memory(error, plugin->id);
    }
    graft_json_free(value);
    return status;
}

int graft_option_values_create(const struct graft_plugin *plugin, const struct graft_given_options *given,
                               struct graft_option_values **values, struct graft_error *error) {
    struct graft_option_values *made = graft_alloc(1, sizeof *made);
    int status = GRAFT_OK;
    *values = NULL;
    if (made == NULL) {
        return graft_fail_memory(error, plugin->id);
    }
    made->users = 1;
    made->args.struct_size = sizeof made->args;
    made->texts = graft_alloc((size_t)plugin->n_options + 1, sizeof *made->texts);
    if (made->texts == NULL) {
        status = graft_fail_memory(error, plugin->id);
    }
    for (int32_t i = 0; i < plugin->n_options && status == GRAFT_OK; i++) {
        status = add_value(made, plugin, i, given, error);
    }
    if (status != GRAFT_OK) {
        graft_option_values_release(made);
        return status;
    }
    *values = made;
    return GRAFT_OK;
}

struct graft_option_values *graft_option_values_retain(struct graft_option_values *values) {
    values->users++;
    return values;
}

void graft_option_values_release(struct graft_option_values *values) {
    if (values != NULL && --values->users == 0) {
        for (char **text = values->texts; text != NULL && *text != NULL; text++) {
            graft_free(*text);
        }
        graft_free(values->texts);
        graft_args_finish(&values->args);
        graft_free(values);
    }
}
