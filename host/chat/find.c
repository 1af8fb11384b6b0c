/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the chat templates of a model directory. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_field.h"
#include "chat/chat.h"

enum { MAX_FILE_BYTES = 1 << 24, MAX_TEMPLATES = 64 };

static const char ending[] = ".jinja";

static int read_jinja(struct graft_chat_template *chat, const char *path, const char *name, struct graft_error *error) {
    char *text = NULL;
    size_t length = 0;
    int status = graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_MODEL, &text, &length, error);
    if (status == GRAFT_OK) {
        status = graft_chat_add(chat, name, path, text, length, error);
    }
    graft_free(text);
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the names of the folder's templates, without suffix, sorted. The caller frees each name and the array. */
static int list_folder(const char *folder, char ***names, size_t *n, struct graft_error *error) {
    size_t capacity = 0;
    int status = GRAFT_OK;
    DIR *opened = opendir(folder);
    struct dirent *entry;
    *names = NULL;
    *n = 0;
    while (opened != NULL && status == GRAFT_OK && (entry = readdir(opened)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof ending || strcmp(entry->d_name + length - (sizeof ending - 1), ending) != 0) {
            continue;
        }
        if (*n == MAX_TEMPLATES) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, folder, "has more than %d templates", MAX_TEMPLATES);
        } else if (graft_grow(names, &capacity, *n, sizeof **names) != 0 ||
                   ((*names)[*n] = graft_strndup(entry->d_name, length - (sizeof ending - 1))) == NULL) {
            status = graft_fail_memory(error, folder);
        } else {
            (*n)++;
        }
    }
    if (opened != NULL) {
        (void)closedir(opened);
    }
    if (*n > 1) {
        qsort(*names, *n, sizeof **names, by_name);
    }
    return status;
}

static int read_folder(struct graft_chat_template *chat, const char *directory, struct graft_error *error) {
    char *folder = graft_path_join(directory, "additional_chat_templates");
    char **names = NULL;
    size_t n = 0;
    int status = folder != NULL ? list_folder(folder, &names, &n, error) : graft_fail_memory(error, directory);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        char *path = graft_format("%s/%s%s", folder, names[i], ending);
        status = path != NULL ? read_jinja(chat, path, names[i], error) : graft_fail_memory(error, folder);
        graft_free(path);
    }
    for (size_t i = 0; i < n; i++) {
        graft_free(names[i]);
    }
    graft_free(names);
    graft_free(folder);
    return status;
}

static int add_json(struct graft_chat_template *chat, const graft_json *text, const char *name, const char *path,
                    struct graft_error *error) {
    size_t length = 0;
    const char *bytes = graft_json_string(text, &length);
    if (bytes == NULL || name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "chat_template: expected a string, or an array of {\"name\": ..., \"template\": ...}");
    }
    return graft_chat_add(chat, name, path, bytes, length, error);
}

/* Reads the field chat_template: one template, or several with names. */
static int read_field(struct graft_chat_template *chat, const char *directory, const char *name,
                      struct graft_error *error) {
    struct graft_json_file file;
    int status = graft_json_file_open(&file, directory, name, MAX_FILE_BYTES, 1, error);
    const struct graft_field field = graft_field_get(&file.root, "chat_template");
    if (status == GRAFT_OK && graft_json_type(field.value) == GRAFT_JSON_ARRAY) {
        for (size_t i = 0; i < graft_json_size(field.value) && status == GRAFT_OK; i++) {
            const graft_json *item = graft_json_at(field.value, i);
            status = add_json(chat, graft_json_get(item, "template"),
                              graft_json_string(graft_json_get(item, "name"), NULL), file.path, error);
        }
    } else if (status == GRAFT_OK && !graft_field_is_none(&field)) {
        status = add_json(chat, field.value, "default", file.path, error);
    }
    graft_json_file_close(&file);
    return status;
}

static int is_ignored(const struct graft_tokenizer_options *options, const char *field) {
    for (int32_t i = 0; options != NULL && i < options->n_ignored_fields; i++) {
        if (strcmp(options->ignored_fields[i], field) == 0) {
            return 1;
        }
    }
    return 0;
}

int graft_chat_find(struct graft_chat_template *chat, const char *directory,
                    const struct graft_tokenizer_options *options, struct graft_error *error) {
    char *path = graft_path_join(directory, "chat_template.jinja");
    int status = path != NULL ? GRAFT_OK : graft_fail_memory(error, directory);
    if (status == GRAFT_OK && graft_file_exists(path)) {
        status = read_jinja(chat, path, "default", error);
    }
    if (status == GRAFT_OK) {
        status = read_folder(chat, directory, error);
    }
    if (status == GRAFT_OK && chat->n == 0) {
        status = read_field(chat, directory, "chat_template.json", error);
    }
    if (status == GRAFT_OK && chat->n == 0 && !is_ignored(options, "chat_template")) {
        status = read_field(chat, directory, "tokenizer_config.json", error);
    }
    graft_free(path);
    return status;
}
