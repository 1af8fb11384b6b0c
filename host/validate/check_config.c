/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's classes are described with fields of config.json absent, or senseless. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "validate/checks.h"
#include "validate/given.h"
#include "validate/tiny.h"

/* A model whose config.json is changed many times. The directory is in memory where possible, so no disk slows this
 * down. */
struct change {
    const struct graft_subject *subject;
    struct graft_library *library;
    char *directory;
    char *path;              /* of config.json in the directory */
    graft_json *config;      /* the model's original config */
    struct graft_text asked; /* the members that the model asks for, one a line; empty if unknown */
};

/* Adds the first component of each field that the model asked for, followed by a line feed. */
static void add_asked(struct graft_text *asked, const struct graft_model *model) {
    const char *name;
    for (size_t i = 0; (name = graft_model_asked_field(model, i)) != NULL; i++) {
        graft_text_printf(asked, "%s%.*s\n", i == 0 ? "\n" : "", (int)strcspn(name, "."), name);
    }
}

/* Opens the model with another config.json. Failing is fine if the error says why. `asked` (may be NULL) receives the
 * fields that were asked for. */
static int open_changed(const struct change *change, const char *what, const struct graft_text *config,
                        struct graft_text *asked, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .without_weights = change->subject->validation->model == NULL};
    struct graft_error own = graft_error_none();
    struct graft_model *model = NULL;
    char place[200];
    (void)snprintf(place, sizeof place, "%.60s, config.json: %.120s", change->subject->model_type, what);
    graft_validation_at(change->subject->validation, place);
    const struct graft_file_piece piece = {config->bytes, config->length};
    int status = config->failed ? graft_fail_memory(error, change->path)
                                : graft_file_write_temporary(change->path, &piece, 1, error);
    if (status == GRAFT_OK &&
        graft_model_open(change->library, change->directory, &options, &model, &own) != GRAFT_OK &&
        own.message[0] == '\0') {
        status = graft_validation_fault(change->subject->validation, error, "it is refused without a reason");
    }
    if (asked != NULL && model != NULL) {
        add_asked(asked, model);
    }
    graft_model_free(model);
    return status;
}

static int begin_changes(const struct graft_subject *subject, struct change *change, struct graft_error *error) {
    *change =
        (struct change){.subject = subject, .directory = graft_format("%s/.changed", subject->validation->folder)};
    change->path = change->directory != NULL ? graft_path_join(change->directory, "config.json") : NULL;
    if (change->path == NULL) {
        return graft_fail_memory(error, subject->directory);
    }
    (void)mkdir(change->directory, S_IRWXU);
    int status = subject->validation->model != NULL
                     ? graft_given_copy_weights(subject->directory, change->directory, error)
                     : GRAFT_OK;
    return status == GRAFT_OK ? graft_validation_library_of_models(subject->validation, &change->library, error)
                              : status;
}

static void end_changes(struct change *change) {
    graft_text_free(&change->asked);
    graft_json_free(change->config);
    graft_library_free(change->library);
    graft_free(change->path);
    graft_free(change->directory);
}

static void write_json(struct graft_text *text, const graft_json *value) {
    char *dumped = value != NULL ? graft_json_dump(value, 0) : NULL;
    graft_text_add_string(text, dumped != NULL ? dumped : "null");
    graft_free(dumped);
}

/* Writes a name as a JSON string. Names may be patterns, with characters that JSON escapes. */
static void write_name(struct graft_text *text, const char *name) {
    graft_json *string = graft_json_new_string(name);
    write_json(text, string);
    graft_text_add_string(text, ": ");
    graft_json_free(string);
}

/* Writes `object` as text, with the value of `key` in `owner` replaced, or without the key if the new value is NULL.
 * `owner` is the object itself or one nested in it. */
static void write_changed(struct graft_text *text, const graft_json *object, const graft_json *owner, const char *key,
                          const char *value) {
    void *at = NULL;
    const char *name;
    const graft_json *member;
    graft_text_add_string(text, "{");
    for (const char *comma = ""; graft_json_next(object, &at, &name, &member);) {
        int is_it = object == owner && strcmp(name, key) == 0;
        if (is_it && value == NULL) {
            continue;
        }
        graft_text_add_string(text, comma);
        write_name(text, name);
        comma = ", ";
        if (is_it) {
            graft_text_add_string(text, value);
        } else if (graft_json_type(member) == GRAFT_JSON_OBJECT) {
            write_changed(text, member, owner, key, value);
        } else {
            write_json(text, member);
        }
    }
    graft_text_add_string(text, "}");
}

/* The values that a member is changed to. */
struct values {
    const char *const *values; /* NULL: the member is absent */
    size_t n;
};

static int change_member(const struct change *change, const graft_json *owner, const char *name,
                         const struct values *to, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < to->n && status == GRAFT_OK; i++) {
        struct graft_text text = {0};
        char what[120];
        (void)snprintf(what, sizeof what, "%.60s %s%.40s", name, to->values[i] != NULL ? "= " : "absent",
                       to->values[i] != NULL ? to->values[i] : "");
        write_changed(&text, change->config, owner, name, to->values[i]);
        status = open_changed(change, what, &text, NULL, error);
        graft_text_free(&text);
    }
    return status;
}

/* Opens the model with its original config.json, to learn which fields it asks for. */
static int look(struct change *change, struct graft_error *error) {
    struct graft_text text = {0};
    write_json(&text, change->config);
    int status = open_changed(change, "its own", &text, &change->asked, error);
    graft_text_free(&text);
    return status == GRAFT_OK && change->asked.failed ? graft_fail_memory(error, change->path) : status;
}

/* Whether changing the member can have an effect: the model asks for it, or it is an object, which could become another
 * type. */
static int matters(const struct change *change, const char *name, const graft_json *member) {
    char line[132];
    (void)snprintf(line, sizeof line, "\n%.128s\n", name);
    return change->asked.length == 0 || graft_json_type(member) == GRAFT_JSON_OBJECT ||
           strstr(change->asked.bytes, line) != NULL;
}

/* Changes each member that matters in turn, also in nested objects, except for those that say which model it is. */
static int change_members(const struct change *change, const graft_json *owner, const struct values *to,
                          struct graft_error *error) {
    void *at = NULL;
    const char *name;
    const graft_json *member;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_json_next(owner, &at, &name, &member)) {
        if (strcmp(name, "model_type") == 0 || strcmp(name, "architectures") == 0 ||
            strcmp(name, "quant_method") == 0 || (owner == change->config && !matters(change, name, member))) {
            continue;
        }
        status = change_member(change, owner, name, to, error);
        if (status == GRAFT_OK && graft_json_type(member) == GRAFT_JSON_OBJECT) {
            status = change_members(change, member, to, error);
        }
    }
    return status;
}

static int change_each(struct graft_subject *subject, const char *const *values, size_t n, struct graft_error *error) {
    enum { MAX_BYTES = 1 << 20 };
    const struct values to = {values, n};
    char *path = graft_path_join(subject->directory, "config.json");
    struct change change;
    int status = begin_changes(subject, &change, error);
    if (status == GRAFT_OK) {
        status = path != NULL ? graft_json_read(path, MAX_BYTES, &change.config, error)
                              : graft_fail_memory(error, subject->directory);
    }
    if (status == GRAFT_OK) {
        status = look(&change, error);
    }
    if (status == GRAFT_OK) {
        status = change_members(&change, change.config, &to, error);
    }
    end_changes(&change);
    graft_free(path);
    return status;
}

static int without_fields(struct graft_subject *subject, struct graft_error *error) {
    static const char *const absent[] = {NULL};
    return change_each(subject, absent, 1, error);
}

static int with_other_fields(struct graft_subject *subject, struct graft_error *error) {
    static const char *const values[] = {"0", "-1", "1", "9007199254740993", "0.5", "\"?\"", "null", "[]", "{}"};
    return change_each(subject, values, sizeof values / sizeof values[0], error);
}

int graft_check_config_absent(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, without_fields, error);
}

int graft_check_config_hostile(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, with_other_fields, error);
}
