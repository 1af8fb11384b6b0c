/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* for realpath */
#include "save/sidecar.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_edit.h"
#include "base/text.h"
#include "save/journal.h"
#include "save/write.h"

enum { BUFFER_BYTES = 1 << 16, MAX_CONFIG_BYTES = 16 << 20 };

/* A folder of the model directory whose files are being copied. */
struct folder {
    const char *root;   /* the model directory, links resolved */
    const char *prefix; /* "" or "NAME/" */
    int is_whole;       /* 1: all its files are copied, including weights */
    const struct save_staging *staging;
    struct graft_text *left;
    struct graft_text *linked;
    const struct graft_config_changes *changes; /* of config.json; or NULL */
    const graft_json *modules;                  /* modules.json of sentence-transformers; or NULL */
};

static int starts_with(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Weight files and their indices, which are written anew instead of copied. */
static int is_weights(const char *name) {
    return graft_ends_with(name, ".index.json") || strcmp(name, SAVE_JOURNAL_FILE) == 0 ||
           strcmp(name, "model.safetensors") == 0 ||
           (starts_with(name, "model-") && graft_ends_with(name, ".safetensors"));
}

/* Configurations, tokenizers, chat templates, code, and documents for people. */
static int is_wanted(const char *name) {
    static const char *const suffixes[] = {".json", ".txt", ".model", ".jinja", ".tiktoken", ".py", ".md"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (graft_ends_with(name, suffixes[i])) {
            return 1;
        }
    }
    return starts_with(name, "LICENSE") || starts_with(name, "NOTICE");
}

/* Files that quantizing tools write next to config.json, and that other programs read in its place. */
static int is_of_quantization(const char *name) {
    static const char *const names[] = {"quantize_config.json",     "quant_config.json", "hf_quant_config.json",
                                        "quantization_config.json", "qmodel.json",       "quanto_qmap.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static int copy_bytes(int from, const char *path, struct save_file *to, struct graft_error *error) {
    char *buffer = graft_alloc(BUFFER_BYTES, 1);
    int status = buffer != NULL ? GRAFT_OK : graft_fail_memory(error, path);
    while (status == GRAFT_OK) {
        ssize_t got = read(from, buffer, BUFFER_BYTES);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            status = graft_fail_errno(error, GRAFT_ERROR_MODEL, path, "cannot be read", errno);
        } else if (got > 0) {
            status = graft_save_file_write(to, buffer, (size_t)got, error);
        }
    }
    graft_free(buffer);
    return status;
}

/* Whether `path` is below the folder that the first `length` bytes of `folder` name. */
static int is_below(const char *path, const char *folder, size_t length) {
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || (length == 1 && folder[0] == '/'));
}

/* Whether the directory is a snapshot in a hub cache, .../snapshots/REVISION, and the file is in the `blobs` folder
 * next to `snapshots`. */
static int is_blob(const char *path, const char *root) {
    static const char snapshots[] = "/snapshots/", blobs[] = "/blobs/";
    const char *found = NULL;
    for (const char *at = strstr(root, snapshots); at != NULL; at = strstr(at + 1, snapshots)) {
        found = at;
    }
    if (found == NULL) {
        return 0;
    }
    size_t repository = (size_t)(found - root);
    return strncmp(path, root, repository) == 0 && strncmp(path + repository, blobs, sizeof blobs - 1) == 0;
}

/* Lists a file that a link led to outside of the directory: the saved copy may be published, so the user is told. */
static int note_link(const struct folder *folder, const char *name, const char *path, struct graft_error *error) {
    char *resolved = realpath(path, NULL);
    if (resolved == NULL) {
        return errno == ENOMEM ? graft_fail_memory(error, path)
                               : graft_fail_errno(error, GRAFT_ERROR_MODEL, path, "cannot be found", errno);
    }
    if (!is_below(resolved, folder->root, strlen(folder->root)) && !is_blob(resolved, folder->root)) {
        graft_text_printf(folder->linked, "%s%s from %s", folder->linked->length > 0 ? ", " : "", name, resolved);
    }
    free(resolved);
    return GRAFT_OK;
}

/* Copies the content of "ROOT/NAME", which may be a link, as all files of a hub cache are. */
static int copy_file(const struct folder *folder, const char *name, struct graft_error *error) {
    struct save_file file;
    size_t size = 0;
    int fd = -1;
    char *path = graft_path_join(folder->root, name);
    if (path == NULL) {
        return graft_fail_memory(error, name);
    }
    int status = note_link(folder, name, path, error);
    if (status == GRAFT_OK) {
        status = graft_file_open(path, GRAFT_ERROR_MODEL, &fd, &size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_save_file_begin(folder->staging, name, &file, error);
        if (status == GRAFT_OK) {
            status = graft_save_file_end(&file, copy_bytes(fd, path, &file, error), error);
        }
        (void)close(fd);
    }
    graft_free(path);
    return status;
}

/* Applies the changes to `text`, one after another. Returns 0, or -1 if memory ran out. */
static int change(const struct graft_config_changes *changes, const char *text, size_t length,
                  struct graft_text *changed) {
    int failed = (graft_text_add(changed, text, length), changed->failed);
    for (size_t i = 0; i < changes->n && !failed; i++) {
        const struct graft_config_change *item = &changes->items[i];
        struct graft_text edited = {0};
        char *value = item->value != NULL ? graft_json_dump(item->value, 0) : NULL;
        if (value != NULL) {
            graft_json_edit_member(changed->bytes, changed->length, item->key, value, &edited);
        } else {
            graft_json_edit_remove(changed->bytes, changed->length, item->key, &edited);
        }
        failed = edited.failed || (item->value != NULL && value == NULL);
        graft_free(value);
        graft_text_free(changed);
        *changed = edited;
    }
    return failed ? -1 : 0;
}

/* Writes config.json with its changes. It is parsed again, as the file may have changed since it was read. */
static int write_config(const struct folder *folder, struct graft_error *error) {
    char *path = graft_path_join(folder->root, "config.json");
    char *text = NULL;
    size_t length = 0;
    graft_json *document = NULL;
    struct graft_text edited = {0};
    int status = path != NULL ? GRAFT_OK : graft_fail_memory(error, folder->root);
    if (status == GRAFT_OK) {
        status = note_link(folder, "config.json", path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_file_read(path, MAX_CONFIG_BYTES, GRAFT_ERROR_MODEL, &text, &length, error);
    }
    if (status == GRAFT_OK) {
        status = graft_json_parse(text, length, path, &document, error);
    }
    if (status == GRAFT_OK && graft_json_type(document) != GRAFT_JSON_OBJECT) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected an object, got %s",
                                 graft_json_type_name(document));
    }
    if (status == GRAFT_OK) {
        status = change(folder->changes, text, length, &edited) == 0
                     ? graft_save_write_text(folder->staging, "config.json", &edited, error)
                     : graft_fail_memory(error, path);
    }
    graft_text_free(&edited);
    graft_json_free(document);
    graft_free(text);
    graft_free(path);
    return status;
}

static int copy_folder(const struct folder *folder, struct graft_error *error);

static const char templates[] = "additional_chat_templates";

/* Whether modules.json names the folder, such as that of a Pooling or Dense module. */
static int is_module(const struct folder *folder, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < graft_json_size(folder->modules); i++) {
        const char *path = graft_json_string(graft_json_get(graft_json_at(folder->modules, i), "path"), NULL);
        if (path != NULL && strncmp(path, name, length) == 0 &&
            (path[length] == '\0' || strcmp(path + length, "/") == 0)) {
            return 1;
        }
    }
    return 0;
}

/* Copies a folder that belongs to a model: chat templates, or a module of sentence-transformers. */
static int copy_below(const struct folder *folder, const char *name, struct graft_error *error) {
    struct folder below = *folder;
    char *prefix = graft_format("%s/", name);
    below.prefix = prefix;
    below.is_whole = strcmp(name, templates) != 0;
    int status =
        prefix != NULL ? graft_save_staging_folder(folder->staging, name, error) : graft_fail_memory(error, name);
    status = status == GRAFT_OK ? copy_folder(&below, error) : status;
    graft_free(prefix);
    return status;
}

/* Copies the file or folder `name`, or lists it as left behind. */
static int take(const struct folder *folder, const char *name, struct graft_error *error) {
    struct stat status;
    int top = folder->prefix[0] == '\0';
    char *path = graft_path_join(folder->root, name);
    int there = path != NULL && stat(path, &status) == 0;
    graft_free(path);
    if (path == NULL) {
        return graft_fail_memory(error, name);
    }
    if (top && there && S_ISDIR(status.st_mode) && (strcmp(name, templates) == 0 || is_module(folder, name))) {
        return copy_below(folder, name, error);
    }
    if (top && folder->changes != NULL && strcmp(name, "config.json") == 0) {
        return write_config(folder, error);
    }
    int stale = top && folder->changes != NULL && folder->changes->is_dequantized && is_of_quantization(name);
    if (there && !stale && S_ISREG(status.st_mode) && (folder->is_whole || is_wanted(name))) {
        return copy_file(folder, name, error);
    }
    graft_text_printf(folder->left, "%s%s", folder->left->length > 0 ? ", " : "", name);
    return GRAFT_OK;
}

static int copy_folder(const struct folder *folder, struct graft_error *error) {
    char *path = graft_path_join(folder->root, folder->prefix);
    DIR *stream = path != NULL ? opendir(path) : NULL;
    int status = stream != NULL ? GRAFT_OK
                 : path == NULL ? graft_fail_memory(error, folder->root)
                                : graft_fail_errno(error, GRAFT_ERROR_MODEL, path, "cannot be read", errno);
    for (const struct dirent *entry; status == GRAFT_OK && (entry = readdir(stream)) != NULL;) {
        /* hidden files belong to tools: .gitattributes, .cache */
        if (entry->d_name[0] == '.' || (!folder->is_whole && is_weights(entry->d_name))) {
            continue;
        }
        char *name = graft_format("%s%s", folder->prefix, entry->d_name);
        status = name != NULL ? take(folder, name, error) : graft_fail_memory(error, folder->root);
        graft_free(name);
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    graft_free(path);
    return status;
}

/* Reads modules.json, if there is one. A file that is not JSON names no folders here; embedding with it is an error. */
static int read_modules(const char *root, graft_json **modules, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    char *path = graft_path_join(root, "modules.json");
    if (path == NULL) {
        return graft_fail_memory(error, root);
    }
    int status = graft_file_exists(path) ? graft_json_read(path, MAX_CONFIG_BYTES, modules, &failure) : GRAFT_OK;
    graft_free(path);
    return status == GRAFT_ERROR_INTERNAL ? graft_fail_memory(error, root) : GRAFT_OK;
}

int graft_save_sidecars(const char *directory, const struct graft_config_changes *changes,
                        const struct save_staging *staging, struct graft_text *left, struct graft_text *linked,
                        struct graft_error *error) {
    char *root = realpath(directory, NULL);
    if (root == NULL) {
        return errno == ENOMEM ? graft_fail_memory(error, directory)
                               : graft_fail_errno(error, GRAFT_ERROR_MODEL, directory, "cannot be found", errno);
    }
    graft_json *modules = NULL;
    int status = read_modules(root, &modules, error);
    const struct folder folder = {.root = root,
                                  .prefix = "",
                                  .staging = staging,
                                  .left = left,
                                  .linked = linked,
                                  .changes = changes,
                                  .modules = modules};
    status = status == GRAFT_OK ? copy_folder(&folder, error) : status;
    graft_json_free(modules);
    free(root);
    return status;
}
