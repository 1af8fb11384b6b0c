/* SPDX-License-Identifier: Apache-2.0 */
#include "config/model_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "config/config.h"

static int keep_ignored(struct graft_model_file *document, char *path_take, graft_json *value_take) {
    if (path_take == NULL || value_take == NULL ||
        graft_grow(&document->ignored, &document->ignored_capacity, document->n_ignored, sizeof *document->ignored) !=
            0) {
        graft_free(path_take);
        graft_json_free(value_take);
        return -1;
    }
    document->ignored[document->n_ignored++] = (struct graft_ignored_field){path_take, value_take};
    return 0;
}

/* Removes the member at a path, if it exists. */
static int ignore(struct graft_model_file *document, const char *below, const char *name) {
    char *path = graft_format("%s%s%s", below, below[0] != '\0' ? "." : "", name);
    if (path == NULL) {
        return -1;
    }
    graft_json *value = graft_json_detach_path(document->json, path);
    if (value == NULL) {
        graft_free(path);
        return 0;
    }
    return keep_ignored(document, path, value);
}

int graft_model_file_ignore(struct graft_model_file *document, const char *below,
                            const struct graft_ignored_names *names, struct graft_error *error) {
    for (int32_t i = 0; names != NULL && i < names->n; i++) {
        if (ignore(document, below, names->names[i]) != 0) {
            return graft_fail_memory(error, document->file);
        }
    }
    return GRAFT_OK;
}

static int read_file(struct graft_model_file *document, size_t max_bytes, const struct graft_ignored_names *ignored,
                     int any_strings, struct graft_error *error) {
    int status = graft_json_read(document->file, max_bytes, &document->json, error);
    if (status == GRAFT_OK) {
        status = any_strings ? graft_config_check_object(document->json, document->file, error)
                             : graft_config_check_document(document->json, document->file, error);
    }
    if (status == GRAFT_OK && (document->ledger = graft_ledger_create(document->json)) == NULL) {
        status = graft_fail_memory(error, document->file);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    document->view = graft_ledger_view(document->ledger, document->file);
    return graft_model_file_ignore(document, "", ignored, error);
}

static int read(const char *directory, const char *name, size_t max_bytes, const struct graft_ignored_names *ignored,
                int any_strings, struct graft_model_file **document, struct graft_error *error) {
    struct graft_model_file *made = graft_alloc(1, sizeof *made);
    int status = made != NULL && (made->file = graft_path_join(directory, name)) != NULL
                     ? read_file(made, max_bytes, ignored, any_strings, error)
                     : graft_fail_memory(error, directory);
    if (status != GRAFT_OK) {
        graft_model_file_free(made);
        return status;
    }
    *document = made;
    return GRAFT_OK;
}

static int read_if_there(const char *directory, const char *name, size_t max_bytes,
                         const struct graft_ignored_names *ignored, int any_strings, struct graft_model_file **document,
                         struct graft_error *error) {
    char *file = graft_path_join(directory, name);
    int is_there = file != NULL && graft_file_exists(file);
    *document = NULL;
    if (file == NULL) {
        return graft_fail_memory(error, directory);
    }
    graft_free(file);
    return is_there ? read(directory, name, max_bytes, ignored, any_strings, document, error) : GRAFT_OK;
}

int graft_model_file_read(const char *directory, const char *name, size_t max_bytes,
                          const struct graft_ignored_names *ignored, struct graft_model_file **document,
                          struct graft_error *error) {
    return read(directory, name, max_bytes, ignored, 0, document, error);
}

int graft_model_file_read_if_there(const char *directory, const char *name, size_t max_bytes,
                                   const struct graft_ignored_names *ignored, struct graft_model_file **document,
                                   struct graft_error *error) {
    return read_if_there(directory, name, max_bytes, ignored, 0, document, error);
}

int graft_model_file_read_any_strings(const char *directory, const char *name, size_t max_bytes,
                                      const struct graft_ignored_names *ignored, struct graft_model_file **document,
                                      struct graft_error *error) {
    return read_if_there(directory, name, max_bytes, ignored, 1, document, error);
}

void graft_model_file_free(struct graft_model_file *document) {
    if (document != NULL) {
        for (size_t i = 0; i < document->n_ignored; i++) {
            graft_free(document->ignored[i].path);
            graft_json_free(document->ignored[i].value);
        }
        graft_free(document->ignored);
        graft_ledger_free(document->ledger);
        graft_json_free(document->json);
        graft_free(document->file);
        graft_free(document);
    }
}
