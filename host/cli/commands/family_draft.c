/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/family_draft.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json_writer.h"
#include "cli/setup.h"

/* --- Edits --- */

static void finish_edit(struct family_edit *edit) {
    graft_free(edit->name);
    graft_json_free(edit->value);
    graft_free(edit->from);
    graft_free(edit->field);
}

static size_t place_of(const struct family_edits *edits, const char *name) {
    size_t i = 0;
    while (i < edits->count && strcmp(edits->items[i].name, name) != 0) {
        i++;
    }
    return i;
}

const struct family_edit *family_edits_find(const struct family_edits *edits, const char *name) {
    size_t i = place_of(edits, name);
    return i < edits->count ? &edits->items[i] : NULL;
}

void family_edits_remove(struct family_edits *edits, const char *name) {
    size_t i = place_of(edits, name);
    if (i < edits->count) {
        finish_edit(&edits->items[i]);
        memmove(&edits->items[i], &edits->items[i + 1], (edits->count - i - 1) * sizeof edits->items[0]);
        edits->count--;
    }
}

int family_edits_set(struct family_edits *edits, const char *name, const graft_json *value, const char *from,
                     const char *field, struct graft_error *error) {
    struct family_edit edit = {.name = graft_strdup(name),
                               .value = graft_json_copy(value),
                               .from = from != NULL ? graft_strdup(from) : NULL,
                               .field = field != NULL ? graft_strdup(field) : NULL};
    if (edit.name == NULL || edit.value == NULL || (from != NULL && edit.from == NULL) ||
        (field != NULL && edit.field == NULL) ||
        graft_grow(&edits->items, &edits->capacity, edits->count, sizeof edits->items[0]) != 0) {
        finish_edit(&edit);
        return graft_fail_memory(error, "family");
    }
    size_t i = place_of(edits, name);
    if (i < edits->count) {
        finish_edit(&edits->items[i]);
    } else {
        edits->count++;
    }
    edits->items[i] = edit;
    return GRAFT_OK;
}

void family_edits_finish(struct family_edits *edits) {
    for (size_t i = 0; i < edits->count; i++) {
        finish_edit(&edits->items[i]);
    }
    graft_free(edits->items);
}

/* --- As a file --- */

static void set_copy(struct graft_writer *writer, graft_json *object, const char *key, const graft_json *value) {
    graft_writer_set(writer, object, key, graft_json_copy(value));
}

/* An object of the edits in a section; "": of those in none. */
static graft_json *section_of(struct graft_writer *writer, const struct family_edits *edits, const char *section) {
    graft_json *object = graft_json_new_object();
    const size_t length = strlen(section);
    for (size_t i = 0; i < edits->count; i++) {
        const char *name = edits->items[i].name;
        const char *dot = strchr(name, '.');
        if (length == 0 ? dot == NULL
                        : dot != NULL && (size_t)(dot - name) == length && strncmp(name, section, length) == 0) {
            set_copy(writer, object, length == 0 ? name : dot + 1, edits->items[i].value);
        }
    }
    return object;
}

static graft_json *decoder_of(struct graft_writer *writer, const struct family_edits *edits) {
    graft_json *decoder = section_of(writer, edits, "");
    for (size_t i = 0; i < edits->count; i++) {
        const char *name = edits->items[i].name, *dot = strchr(name, '.');
        char section[64];
        (void)snprintf(section, sizeof section, "%.*s", dot != NULL ? (int)(dot - name) : 0, name);
        if (dot != NULL && graft_json_get(decoder, section) == NULL) {
            graft_writer_set(writer, decoder, section, section_of(writer, edits, section));
        }
    }
    return decoder;
}

static graft_json *architectures_of(struct graft_writer *writer, const struct family_draft *draft) {
    graft_json *object = graft_json_new_object();
    char *root = graft_format("%sForCausalLM", draft->prefix);
    graft_writer_set_string(writer, object, draft->architecture, root);
    writer->failed |= root == NULL;
    graft_free(root);
    return object;
}

/* Adds the members that `pack` needs. The licence is for the author to fill in. */
static void describe(struct graft_writer *writer, graft_json *document, const struct family_draft *draft) {
    char *description = graft_format("The model type %s, like %s", draft->model_type, draft->like);
    graft_writer_set_string(writer, document, "version", "0.1.0");
    graft_writer_set_string(writer, document, "license", "none given");
    graft_writer_set_string(writer, document, "description", description);
    writer->failed |= description == NULL;
    graft_free(description);
}

graft_json *family_draft_document(const struct family_draft *draft) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_writer_set_string(&writer, document, "model_type", draft->model_type);
    graft_writer_set_string(&writer, document, "like", draft->like);
    describe(&writer, document, draft);
    if (draft->is_data) {
        graft_writer_set_string(&writer, document, "prefix", draft->prefix);
    }
    if (draft->is_data && draft->architecture != NULL) {
        graft_writer_set(&writer, document, "architectures", architectures_of(&writer, draft));
    }
    if (draft->aliases.count > 0) {
        graft_writer_set(&writer, document, "aliases", section_of(&writer, &draft->aliases, ""));
    }
    if (graft_json_size(draft->defaults) > 0) {
        set_copy(&writer, document, "defaults", draft->defaults);
    }
    if (draft->choices.count > 0) {
        graft_writer_set(&writer, document, "decoder", decoder_of(&writer, &draft->choices));
    }
    return graft_writer_finish(&writer, document);
}

/* --- Trying --- */

static void gather(struct graft_writer *writer, struct family_outcome *outcome, const struct graft_model *model) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    const struct graft_model_field *field;
    const char *name;
    outcome->n_tensors = plan->n_tensors;
    for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
        if (field->use == GRAFT_FIELD_NOT_USED && strcmp(field->file, "config.json") == 0) {
            graft_json *object = graft_json_new_object();
            graft_writer_set_string(writer, object, "name", field->name);
            graft_writer_set_string(writer, object, "value", field->value);
            graft_writer_append(writer, outcome->unused, object);
        }
    }
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        graft_writer_append(writer, outcome->left, graft_json_new_string(plan->unexpected[i]));
    }
    for (size_t i = 0; i < plan->n_parameters; i++) {
        const struct graft_planned_parameter *parameter = plan->parameters[i];
        if (parameter->status == GRAFT_PLANNED_MISSING || parameter->status == GRAFT_PLANNED_MISMATCHED ||
            parameter->status == GRAFT_PLANNED_FAILED) {
            graft_writer_append(writer, outcome->missing, graft_json_new_string(parameter->name));
        }
    }
    for (size_t i = 0; (name = graft_model_asked_field(model, i)) != NULL; i++) {
        graft_writer_append(writer, outcome->asked, graft_json_new_string(name));
    }
}

/* Makes a temporary folder with the text as its only file, "draft.family.json". The caller frees the path, even on
 * failure. */
static int make_folder(const char *text, char **folder, struct graft_error *error) {
    int status = graft_folder_make_temporary("/tmp", "family", folder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    char *file = graft_path_join(*folder, "draft.family.json");
    const struct graft_file_piece piece = {text, strlen(text)};
    status = file != NULL ? graft_file_write_temporary(file, &piece, 1, error) : graft_fail_memory(error, "family");
    graft_free(file);
    return status;
}

static int load_from_folder(const char *text, struct graft_library *library, struct family_outcome *outcome,
                            struct graft_error *error) {
    struct graft_error reason = graft_error_none();
    char *folder = NULL;
    int status = make_folder(text, &folder, error);
    if (status == GRAFT_OK) {
        const char *folders[] = {folder};
        outcome->status = graft_library_load_plugins(library, folders, 1, NULL, &reason);
        (void)snprintf(outcome->message, sizeof outcome->message, "%s", reason.message);
    }
    if (folder != NULL) {
        graft_folder_remove(folder);
    }
    graft_free(folder);
    return status;
}

/* Makes a library with the draft as one of its plugins. Signals are blocked while the temporary folder exists, so that
 * an interrupted program leaves none; opening the model, which takes long, comes after. */
static int load_draft(const struct family_draft *draft, const char *text, struct family_outcome *outcome,
                      struct graft_library **library, struct graft_error *error) {
    sigset_t ends, before;
    int status = graft_library_create(library, error);
    if (status == GRAFT_OK) {
        status = graft_setup_plugins(draft->options, *library, error);
    }
    if (status == GRAFT_OK) {
        (void)sigemptyset(&ends);
        (void)sigaddset(&ends, SIGINT);
        (void)sigaddset(&ends, SIGTERM);
        (void)sigaddset(&ends, SIGHUP);
        (void)pthread_sigmask(SIG_BLOCK, &ends, &before);
        status = load_from_folder(text, *library, outcome, error);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return status;
}

static int open_model(const struct family_draft *draft, struct graft_library *library, struct family_outcome *outcome,
                      struct graft_error *error) {
    struct graft_error reason = graft_error_none();
    struct graft_model *model = NULL;
    struct graft_writer writer = {0};
    outcome->status = graft_model_open(library, draft->directory, NULL, &model, &reason);
    if (outcome->status == GRAFT_OK) {
        gather(&writer, outcome, model);
    } else {
        (void)snprintf(outcome->message, sizeof outcome->message, "%s", reason.message);
    }
    graft_model_free(model);
    return writer.failed ? graft_fail_memory(error, "family") : GRAFT_OK;
}

int family_draft_try(const struct family_draft *draft, struct family_outcome *outcome, struct graft_error *error) {
    struct graft_library *library = NULL;
    *outcome = (struct family_outcome){.unused = graft_json_new_array(),
                                       .left = graft_json_new_array(),
                                       .missing = graft_json_new_array(),
                                       .asked = graft_json_new_array()};
    graft_json *document = family_draft_document(draft);
    char *text = document != NULL ? graft_json_dump(document, 1) : NULL;
    int status = text != NULL && outcome->asked != NULL ? load_draft(draft, text, outcome, &library, error)
                                                        : graft_fail_memory(error, "family");
    if (status == GRAFT_OK && outcome->status == GRAFT_OK) {
        status = open_model(draft, library, outcome, error);
    }
    graft_library_free(library);
    graft_json_free(document);
    graft_free(text);
    return status;
}

void family_outcome_finish(struct family_outcome *outcome) {
    graft_json_free(outcome->unused);
    graft_json_free(outcome->left);
    graft_json_free(outcome->missing);
    graft_json_free(outcome->asked);
}

int64_t family_outcome_score(const struct family_outcome *outcome) {
    enum { TENSOR = 1000, FIELD = 1 }; /* a tensor that does not fit counts as much as 1000 unused fields */
    if (outcome->status != GRAFT_OK) {
        return INT64_MAX;
    }
    return TENSOR * (int64_t)(graft_json_size(outcome->missing) + graft_json_size(outcome->left)) +
           FIELD * (int64_t)graft_json_size(outcome->unused);
}
