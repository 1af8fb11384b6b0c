/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of config.json that no tiny model makes, such as biases: for each that changes what the plugin's modules are
 * given, a model is made and compared with the original. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_edit.h"
#include "base/text.h"
#include "graft/host/model.h"
#include "model/alike.h"
#include "model/node.h"
#include "model/tree.h"
#include "validate/checks.h"
#include "validate/culprit.h"

/* Another value for fields that are no booleans. */
static const struct other {
    const char *field;
    const char *value;
} others[] = {
    {"hidden_act", "\"gelu_pytorch_tanh\""},
    {"head_dim", "16"},
    {"rms_norm_eps", "0.25"},
    {"layer_norm_eps", "0.25"},
};

/* The config of a model type, of which one field at a time is changed. */
struct choices {
    struct graft_subject *subject;
    char *text; /* of config.json */
    size_t length;
    graft_json *config;            /* the same, parsed */
    struct graft_library *library; /* the plugin's */
    char *directory;               /* of the changed model */
    struct graft_model *plain;     /* described without replacements */
    int compares;                  /* 1: logits are those of the original without a change */
    struct graft_text refused;     /* choices that the plugin refuses, with its reasons */
};

/* The JSON text of the field's other value; NULL if there is none. A field that is absent may be a boolean. */
static const char *other_value(const struct choices *choices, const char *field) {
    const graft_json *value = graft_json_get(choices->config, field);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].field, field) == 0) {
            return others[i].value;
        }
    }
    if (value != NULL && graft_json_type(value) != GRAFT_JSON_BOOL) {
        return NULL;
    }
    return value != NULL && graft_json_bool(value) ? "false" : "true";
}

/* Whether two modules are given the same arguments, and are made of the same. */
static int are_alike(const struct graft_node *a, const struct graft_node *b) {
    int same = graft_alike_same_args(&a->args, &b->args) && a->n_parameters == b->n_parameters &&
               a->n_children == b->n_children;
    for (size_t i = 0; same && i < a->n_parameters; i++) {
        const struct graft_parameter *x = a->parameters[i], *y = b->parameters[i];
        same = graft_node_same_parameter(x, y) && (x->tied_to == NULL) == (y->tied_to == NULL);
    }
    for (size_t i = 0; same && i < a->n_children; i++) {
        same = are_alike(a->children[i], b->children[i]);
    }
    return same;
}

/* Whether the changed model has another original for one of the plugin's modules. */
static int matters(const struct choices *choices, const struct graft_model *changed) {
    const char *id = graft_library_plugin(choices->library, 0)->descriptor->id;
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(choices->subject->model, i)) != NULL; i++) {
        const struct graft_node *before = graft_node_find(choices->plain->tree->root, module->path);
        const struct graft_node *after = graft_node_find(changed->tree->root, module->path);
        if (graft_module_is_plugins(module, id) && before != NULL && after != NULL && !are_alike(before, after)) {
            return 1;
        }
    }
    return 0;
}

static int describe_plain(const struct choices *choices, const char *directory, struct graft_model **model,
                          struct graft_error *error) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .without_weights = 1, .without_replacements = 1};
    return graft_model_open(choices->library, directory, &options, model, error);
}

/* Loads the changed model with the plugin, and compares it with the original. */
static int compare(const struct choices *choices, struct graft_subject *changed, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    int status = graft_plan_check(changed->model->plan, error);
    if (status == GRAFT_OK) {
        status = graft_model_check_tensors(changed->model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_load(changed->model, error);
    }
    return status == GRAFT_OK && choices->compares ? graft_compare_with_original(changed, &prompt, error) : status;
}

/* A class may refuse a choice in its description. */
static int try_with_plugin(struct choices *choices, const char *what, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    struct graft_subject changed = *choices->subject;
    struct graft_error refusal = graft_error_none();
    int status = GRAFT_OK;
    changed.directory = choices->directory;
    changed.model = NULL;
    if (graft_model_open(choices->library, choices->directory, &options, &changed.model, &refusal) != GRAFT_OK) {
        graft_text_printf(&choices->refused, "%s%s: %s", choices->refused.length > 0 ? "; " : "", what,
                          refusal.message);
    } else {
        status = compare(choices, &changed, error);
    }
    graft_model_free(changed.model);
    return status;
}

/* Writes the changed config. The original may refuse it, or ask for the field in vain: then it is no choice. */
static int is_choice(const struct choices *choices, const char *config_path, const char *field, const char *value) {
    struct graft_text config = {0};
    struct graft_error ignored = graft_error_none();
    struct graft_model *changed = NULL;
    graft_json_edit_member(choices->text, choices->length, field, value, &config);
    const struct graft_file_piece piece = {config.bytes, config.length};
    int is = !config.failed && graft_file_write_temporary(config_path, &piece, 1, &ignored) == GRAFT_OK &&
             describe_plain(choices, choices->directory, &changed, &ignored) == GRAFT_OK && matters(choices, changed);
    graft_model_free(changed);
    graft_text_free(&config);
    return is;
}

static int try_choice(struct choices *choices, const char *config_path, const char *field, const char *value,
                      struct graft_error *error) {
    char what[200];
    if (!is_choice(choices, config_path, field, value)) {
        return GRAFT_OK;
    }
    (void)snprintf(what, sizeof what, "%.60s, config.json: \"%.60s\": %.60s", choices->subject->model_type, field,
                   value);
    graft_validation_at(choices->subject->validation, what);
    int status = graft_tiny_write_weights(choices->library, choices->directory, error);
    return status == GRAFT_OK ? try_with_plugin(choices, what, error) : status;
}

static int try_choices(struct choices *choices, struct graft_error *error) {
    const char *field;
    char *path = graft_path_join(choices->directory, "config.json");
    int status = GRAFT_OK;
    if (path == NULL) {
        return graft_fail_memory(error, choices->directory);
    }
    if (mkdir(choices->directory, S_IRWXU) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, choices->directory, "mkdir", errno);
    }
    for (size_t i = 0; status == GRAFT_OK && (field = graft_model_asked_field(choices->plain, i)) != NULL; i++) {
        const char *value = strpbrk(field, "./") == NULL ? other_value(choices, field) : NULL;
        if (value != NULL) {
            status = try_choice(choices, path, field, value, error);
        }
    }
    graft_free(path);
    return status;
}

static struct graft_text refused; /* by the plugin; static because a check has a process of its own */

static int with_choices(struct graft_subject *subject, struct graft_error *error) {
    enum { MAX_BYTES = 1 << 20 };
    if (subject->is_own_type || subject->is_adapted) {
        return graft_subject_leave(subject,
                                   subject->is_own_type ? "the model type is its own" : "an adapter is in effect");
    }
    struct choices choices = {.subject = subject,
                              .library = subject->library,
                              .compares = graft_agrees(subject),
                              .directory =
                                  graft_format("%s/.%s-choices", subject->validation->folder, subject->model_type)};
    char *path = graft_path_join(subject->directory, "config.json");
    int status = path != NULL && choices.directory != NULL
                     ? graft_file_read(path, MAX_BYTES, GRAFT_ERROR_IO, &choices.text, &choices.length, error)
                     : graft_fail_memory(error, subject->directory);
    if (status == GRAFT_OK) {
        status = graft_json_parse(choices.text, choices.length, path, &choices.config, error);
    }
    if (status == GRAFT_OK) {
        status = describe_plain(&choices, subject->directory, &choices.plain, error);
    }
    if (status == GRAFT_OK) {
        status = try_choices(&choices, error);
    }
    if (choices.refused.length > 0) {
        graft_text_printf(&refused, "%srefused with %s", refused.length > 0 ? "; " : "", choices.refused.bytes);
    }
    graft_text_free(&choices.refused);
    graft_model_free(choices.plain);
    graft_json_free(choices.config);
    graft_free(choices.text);
    graft_free(choices.directory);
    graft_free(path);
    return status;
}

int graft_check_choices(struct graft_validation *validation, struct graft_error *error) {
    if (validation->model != NULL) {
        return graft_validation_skip(validation, "the config is that of the given model");
    }
    int status = graft_tiny_each(validation, with_choices, error);
    if (status == GRAFT_OK && refused.length > 0 && validation->notes->outcome == GRAFT_CHECK_PASSED) {
        const char *said = validation->notes->text;
        char *text = graft_format("%s%s%s", said, said[0] != '\0' ? "; " : "", refused.bytes);
        (void)graft_validation_say(validation, text != NULL ? text : refused.bytes);
        graft_free(text);
    }
    graft_text_free(&refused);
    return status;
}
