/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/family_file.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "plugin/family_decoder.h"

#define SUFFIX ".family.json"

enum { MAX_FILE_BYTES = 4 << 20 };

int graft_family_file_is(const char *path) {
    return graft_ends_with(path, SUFFIX);
}

/* The NAME in DIR/NAME.family.json. */
static char *id_of(const char *path) {
    const char *name = graft_path_name(path);
    return graft_strndup(name, strlen(name) - (graft_family_file_is(name) ? strlen(SUFFIX) : 0));
}

const struct graft_class *graft_family_find_class(const struct graft_family *family, const char *name) {
    for (int32_t i = 0; i < family->n_classes; i++) {
        const struct graft_class *cls = graft_family_class(family, i);
        if (strcmp(cls->name, name) == 0) {
            return cls;
        }
    }
    return NULL;
}

int graft_family_find_like(const char *path, const char *key, const char *like,
                           const struct graft_family_finder *finder, const struct graft_family **found,
                           struct graft_error *error) {
    struct graft_nearest nearest = {.wanted = like};
    int status = finder->find_family(finder->data, like, found, error);
    if (status != GRAFT_OK || *found != NULL) {
        return status;
    }
    finder->name_all(finder->data, &nearest);
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "%s: model type \"%.100s\" is not known", key, like);
    graft_nearest_hint(&nearest, error);
    graft_error_hint(error, "a family of a plugin is known where the plugin is loaded, too");
    return GRAFT_ERROR_PLUGIN;
}

/* Fills in the string members that the file leaves out. */
static int complete_texts(struct graft_family_file *file, struct graft_error *error) {
    struct graft_plugin *plugin = &file->plugin;
    const struct graft_family *like = file->like;
    if (like != NULL) {
        if (file->family.base_model_prefix == NULL) {
            file->family.base_model_prefix = like->base_model_prefix;
        }
        if (file->family.ignores == NULL) {
            file->family.ignores = like->ignores;
        }
    }
    plugin->version = plugin->version != NULL ? plugin->version : "0";
    plugin->license = plugin->license != NULL ? plugin->license : "none given";
    if (plugin->description != NULL) {
        return GRAFT_OK;
    }
    char *made = file->like != NULL
                     ? graft_format("The model type %s, like %s", file->family.model_type, file->like->model_type)
                     : graft_format("The model type %s", file->family.model_type);
    plugin->description = made;
    return graft_transforms_read_keep(&file->blocks, made, file->root.file, error);
}

/* Reads the string members. */
static int read_texts(struct graft_family_file *file, const struct graft_family_finder *finder,
                      struct graft_error *error) {
    const struct graft_place place = {.file = file->root.file, .index = -1};
    const char *like = NULL;
    const struct {
        const char *key;
        const char **text;
        int is_required;
    } texts[] = {
        {"model_type", &file->family.model_type, 1},
        {"like", &like, 0},
        {"base_model_prefix", &file->family.base_model_prefix, 0},
        {"version", &file->plugin.version, 0},
        {"license", &file->plugin.license, 0},
        {"description", &file->plugin.description, 0},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == GRAFT_OK; i++) {
        status = texts[i].is_required
                     ? graft_field_string(&file->root, texts[i].key, texts[i].text, NULL, error)
                     : graft_field_optional_string(&file->root, texts[i].key, texts[i].text, NULL, error);
        if (status == GRAFT_OK && *texts[i].text != NULL) {
            status = graft_check_text(&place, texts[i].key, *texts[i].text, GRAFT_MAX_NAME, error);
        }
    }
    if (status == GRAFT_OK && file->family.base_model_prefix != NULL) {
        status = graft_check_path(&place, "base_model_prefix", file->family.base_model_prefix, error);
    }
    if (status == GRAFT_OK && like != NULL) {
        status = graft_family_find_like(file->root.file, "like", like, finder, &file->like, error);
    } else if (status == GRAFT_OK && graft_json_get(file->document, "decoder") == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file->root.file,
                                 "like: missing; a family is like another, or has a \"decoder\"");
    }
    return status == GRAFT_OK ? complete_texts(file, error) : status;
}

static int read_all(struct graft_family_file *file, const char *path, const struct graft_family_finder *finder,
                    struct graft_error *error) {
    static const char *const members[] = {
        "$schema",   "model_type",        "like",     "prefix",          "section",        "decoder",       "vision",
        "encoder",   "base_model_prefix", "version",  "license",         "description",    "architectures", "classes",
        "stand_ins", "aliases",           "defaults", "ignored_tensors", "without_effect", "neutral",       "only",
        NULL};
    int status = graft_field_object(&file->root, members, error);
    if (status == GRAFT_OK) {
        status = read_texts(file, finder, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_decoder(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_vision(file, path, finder, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_generate(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_classes(file, path, finder, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_architectures(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_stand_ins(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_fields(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_ignored(file, path, error);
    }
    return status == GRAFT_OK ? graft_family_read_rules(file, path, error) : status;
}

static struct graft_family_file *create(graft_json *document_take, const char *path) {
    struct graft_family_file *file = graft_alloc(1, sizeof *file);
    char *id = id_of(path);
    if (file == NULL || id == NULL) {
        graft_free(file);
        graft_free(id);
        graft_json_free(document_take);
        return NULL;
    }
    file->document = document_take;
    file->root = graft_field_root(document_take, path);
    file->id = id;
    file->family.struct_size = sizeof file->family;
    file->plugin = graft_plugin_header();
    file->plugin.id = id;
    file->plugin.families = &file->family;
    file->plugin.n_families = 1;
    file->plugin.family_stride = sizeof file->family;
    return file;
}

int graft_family_file_take(graft_json *document_take, const char *path, const struct graft_family_finder *finder,
                           struct graft_family_file **file, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    struct graft_family_file *made = create(document_take, path);
    if (made == NULL) {
        return graft_fail_memory(error, path);
    }
    int status = read_all(made, path, finder, &cause);
    if (status == GRAFT_OK) {
        *file = made;
        return GRAFT_OK;
    }
    graft_family_file_free(made);
    status = status == GRAFT_ERROR_INTERNAL ? status : GRAFT_ERROR_PLUGIN;
    (void)graft_error_set(error, status, cause.source, "%s", cause.message);
    if (cause.hint[0] != '\0') {
        graft_error_hint(error, "%s", cause.hint);
    }
    return status;
}

int graft_family_file_read(const char *path, const struct graft_family_finder *finder, struct graft_family_file **file,
                           struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    graft_json *document = NULL;
    int status = graft_json_read_strict(path, MAX_FILE_BYTES, &document, &cause);
    if (status == GRAFT_OK) {
        return graft_family_file_take(document, path, finder, file, error);
    }
    return status == GRAFT_ERROR_INTERNAL ? graft_fail_memory(error, path)
                                          : graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "%s", cause.message);
}

const struct graft_plugin *graft_family_file_plugin(const struct graft_family_file *file) {
    return &file->plugin;
}

const struct graft_family *graft_family_file_like(const struct graft_family_file *file) {
    return file->like;
}

void graft_family_file_free(struct graft_family_file *file) {
    if (file != NULL) {
        graft_transforms_read_finish(&file->blocks);
        graft_description_destroy(file->description);
        graft_description_destroy(file->vision);
        graft_json_free(file->document);
        graft_free(file->id);
        graft_free(file);
    }
}
