/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the plugin's classes, with valid configs and with changed ones. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "validate/given.h"
#include "validate/tiny.h"

/* Renames a model's folder: checks ignore names that begin with a dot. */
static void put_aside(const struct graft_validation *validation, const char *type) {
    static int number;
    char *directory = graft_path_join(validation->folder, type);
    char *aside = graft_format("%s/.%s-%d", validation->folder, type, number++);
    if (directory != NULL && aside != NULL) {
        (void)rename(directory, aside);
    }
    graft_free(aside);
    graft_free(directory);
}

/* Makes the model and opens it with the plugin. Keeps it only if the plugin replaces something in it. */
static int make_one(struct graft_validation *validation, struct graft_library *library, const char *type,
                    const char *architecture, const struct graft_tiny_sizes *sizes, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    const char *id = graft_library_plugin(library, 0)->descriptor->id;
    struct graft_model *model = NULL;
    char *directory = graft_path_join(validation->folder, type);
    if (directory == NULL) {
        return graft_fail_memory(error, type);
    }
    graft_validation_at(validation, type);
    int status = graft_tiny_make(validation, library, type, architecture, sizes, type, error);
    if (status == GRAFT_OK) {
        status = graft_tiny_open(library, directory, &options, &model, error);
    }
    if (status == GRAFT_OK && graft_model_plan(model)->plugin != NULL) {
        status = graft_plan_check(model->plan, error);
    }
    if (status != GRAFT_OK || !graft_subject_is_plugins(model, id)) {
        put_aside(validation, type);
    }
    graft_model_free(model);
    graft_free(directory);
    return status;
}

/* For a model type that the plugin brings, neither fields nor layout are known here, so a model that cannot be made is
 * not a fault. Some types do not support fewer kv heads than heads, so that is tried second. */
static int make_own_type(struct graft_validation *validation, struct graft_library *library,
                         const struct graft_family *family, struct graft_error *error) {
    const char *architecture = graft_family_architecture(family, 0)->name;
    struct graft_tiny_sizes all_heads = graft_tiny_usual;
    struct graft_error first = graft_error_none(), second = graft_error_none();
    all_heads.kv_heads = all_heads.heads;
    if (make_one(validation, library, family->model_type, architecture, &graft_tiny_usual, &first) != GRAFT_OK &&
        make_one(validation, library, family->model_type, architecture, &all_heads, &second) != GRAFT_OK) {
        if (second.code == GRAFT_ERROR_IO) {
            return graft_error_set(error, second.code, second.source, "%s", second.message);
        }
        graft_tiny_refused(validation, family->model_type, &second);
    }
    return GRAFT_OK;
}

static int make_own(struct graft_validation *validation, struct graft_library *library, struct graft_error *error) {
    const struct graft_plugin *plugin = graft_library_plugin(library, 0)->descriptor;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < plugin->n_families && status == GRAFT_OK; i++) {
        status = make_own_type(validation, library, graft_plugin_family(plugin, i), error);
    }
    return status;
}

/* Whether a model is left in which the plugin replaces something. */
static int has_models(const struct graft_validation *validation) {
    struct dirent **entries = NULL;
    int n = scandir(validation->folder, &entries, NULL, alphasort), found = 0;
    for (int i = 0; i < n; i++) {
        found |= entries[i]->d_name[0] != '.';
        free(entries[i]); /* allocated by the C library, as is the list */
    }
    free(entries);
    return found;
}

static int make_all(struct graft_validation *validation, struct graft_library *library, struct graft_error *error) {
    const char *type, *architecture;
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && (type = graft_tiny_type(i, &architecture)) != NULL; i++) {
        status = make_one(validation, library, type, architecture, &graft_tiny_usual, error);
    }
    const int own = make_own(validation, library, status == GRAFT_OK ? error : NULL);
    status = status == GRAFT_OK ? own : status;
    return status == GRAFT_OK && !has_models(validation) ? graft_tiny_skip(validation) : status;
}

static int check_describe(struct graft_validation *validation, struct graft_error *error) {
    struct graft_library *library = NULL;
    int status = graft_validation_library_of_models(validation, &library, error);
    if (status == GRAFT_OK) {
        status = validation->model != NULL ? graft_given_take(validation, library, error)
                                           : make_all(validation, library, error);
    }
    graft_library_free(library);
    return status;
}

/* Writes everything that the descriptions declare as text, for comparing. */
static void write_plan(struct graft_text *text, const struct graft_model *model) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    for (size_t i = 0; i < plan->n_parameters; i++) {
        const struct graft_planned_parameter *parameter = plan->parameters[i];
        graft_text_printf(text, "%s %d %s", parameter->name, (int)parameter->status, parameter->operations);
        for (int32_t d = 0; d < parameter->rank; d++) {
            graft_text_printf(text, " %lld", (long long)parameter->shape[d]);
        }
        graft_text_printf(text, "\n");
    }
}

static struct graft_text asked_for; /* by the plugin's families; static because a check has a process of its own */

/* Adds the fields of config.json that the model's family asked for, if the plugin brings the family. */
static void write_asked(const struct graft_model *model) {
    const char *name;
    for (size_t i = 0; graft_model_plan(model)->plugin != NULL && (name = graft_model_asked_field(model, i)) != NULL;
         i++) {
        if (i == 0) {
            graft_text_printf(&asked_for, "%s%s asks config.json for ", asked_for.length > 0 ? "; " : "",
                              graft_model_plan(model)->model_type);
        }
        graft_text_printf(&asked_for, "%s%s", i > 0 ? ", " : "", name);
    }
}

/* Missing weights are ignored here; another check looks at them. */
static int compare_plans(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_text texts[2] = {{0}};
    int status = GRAFT_OK;
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        struct graft_library *library = NULL;
        struct graft_model *model = NULL;
        status = graft_validation_library_of_models(subject->validation, &library, error);
        if (status == GRAFT_OK) {
            status = graft_tiny_open(library, subject->directory, &options, &model, error);
        }
        if (status == GRAFT_OK) {
            write_plan(&texts[i], model);
        }
        if (status == GRAFT_OK && i == 0) {
            write_asked(model);
        }
        graft_model_free(model);
        graft_library_free(library);
    }
    if (status == GRAFT_OK && !texts[0].failed && !texts[1].failed && texts[0].length > 0 &&
        strcmp(texts[0].bytes, texts[1].bytes) != 0) {
        status = graft_validation_fault(subject->validation, error, "the same model is described differently twice");
    }
    graft_text_free(&texts[0]);
    graft_text_free(&texts[1]);
    return status;
}

/* Fails if a second description differs from the first, or asks config.json for other fields. */
static int check_repeats(struct graft_validation *validation, struct graft_error *error) {
    int status = graft_tiny_each_closed(validation, compare_plans, error);
    if (status == GRAFT_OK && asked_for.length > 0) {
        (void)graft_validation_say(validation, asked_for.bytes);
    }
    graft_text_free(&asked_for);
    return status;
}

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

static int write_text(const char *path, const struct graft_text *text, struct graft_error *error) {
    FILE *file = text->failed ? NULL : fopen(path, "wb");
    int failed = file == NULL || fwrite(text->bytes, 1, text->length, file) != text->length;
    failed |= file == NULL || fclose(file) != 0;
    return failed ? graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be written", errno) : GRAFT_OK;
}

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
    int status = write_text(change->path, config, error);
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

static int check_absent(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, without_fields, error);
}

static int check_hostile(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, with_other_fields, error);
}

const struct graft_validation_check graft_build_checks[] = {
    GRAFT_CHECK("build.describes", "models of all types that it names, or brings, are described with it",
                check_describe),
    GRAFT_CHECK("build.repeats", "a model is described the same each time", check_repeats),
    GRAFT_CHECK("build.config_absent", "a config.json that lacks a field is described or refused with a reason",
                check_absent),
    GRAFT_CHECK("build.config_hostile", "a field of config.json with a senseless value is described or refused",
                check_hostile),
    {{0}, NULL, 0},
};
