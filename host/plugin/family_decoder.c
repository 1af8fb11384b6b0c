/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/family_decoder.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/predictors.h"
#include "arch/decoder/roles.h"
#include "base/nearest.h"
#include "base/text.h"

enum { MAX_PLACE = 256 };

/* The names of choices in a section ("attention."), or of sections and of what is in none, for a message. */
static void list_names(const char *section, struct graft_text *names) {
    const size_t length = strlen(section);
    const char *last = "";
    for (int32_t i = 0; i < graft_decoder_choices.count; i++) {
        const char *name = graft_decoder_choices.infos[i].name;
        const int in_section = strncmp(name, section, length) == 0;
        const int n = (int)strcspn(name + (in_section ? length : 0), ".");
        const char *own = name + (in_section ? length : 0);
        if (in_section && (strncmp(own, last, (size_t)n) != 0 || last[0] == '\0')) {
            graft_text_printf(names, "%s%.*s", names->length > 0 ? ", " : "", n, own);
            last = own;
        }
    }
}

/* Those that are written alike, and those of that name in another section. */
static void suggest(const char *section, const char *key, struct graft_error *error) {
    char name[MAX_PLACE];
    struct graft_nearest nearest = {.wanted = name};
    (void)snprintf(name, sizeof name, "%s%.100s", section, key);
    for (int32_t i = 0; i < graft_decoder_choices.count; i++) {
        const char *choice = graft_decoder_choices.infos[i].name;
        const char *dot = strchr(choice, '.');
        if (dot != NULL && strcmp(dot + 1, key) == 0) {
            graft_nearest_add_same(&nearest, choice);
        } else {
            graft_nearest_add(&nearest, choice);
        }
    }
    graft_nearest_hint(&nearest, error);
}

static int fail_unknown(const char *path, const char *section, const char *key, struct graft_error *error) {
    struct graft_text names = {0};
    list_names(section, &names);
    int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "decoder.%s%.100s: no such choice; there are %s",
                                 section, key, names.bytes != NULL ? names.bytes : "none");
    graft_text_free(&names);
    suggest(section, key, error);
    return status;
}

/* A value of JSON as one of a choice. */
static int read_value(const graft_json *json, const char *path, const char *name, struct graft_value *value,
                      struct graft_error *error) {
    size_t length = 0;
    *value = (struct graft_value){.kind = GRAFT_VALUE_NULL};
    switch (graft_json_type(json)) {
    case GRAFT_JSON_NULL:
        return GRAFT_OK;
    case GRAFT_JSON_BOOL:
        value->kind = GRAFT_VALUE_BOOL;
        value->integer = graft_json_bool(json);
        return GRAFT_OK;
    case GRAFT_JSON_INT:
        value->kind = GRAFT_VALUE_INT;
        value->integer = graft_json_int(json);
        value->real = (double)value->integer;
        return GRAFT_OK;
    case GRAFT_JSON_REAL:
        value->kind = GRAFT_VALUE_REAL;
        value->real = graft_json_real(json);
        return GRAFT_OK;
    case GRAFT_JSON_STRING:
        value->kind = GRAFT_VALUE_TEXT;
        value->text = graft_json_string(json, &length);
        if (strlen(value->text) == length) {
            return GRAFT_OK;
        }
        break;
    default:
        break;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                           "decoder.%s: expected a string, a number, true, false or null, got %s", name,
                           graft_json_type_name(json));
}

/* "defaults", of which objects are the host's to show (family_members.c). */
static int read_defaults(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const graft_json *value;
    const char *key;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_json_next(graft_json_get(file->document, "defaults"), &iterator, &key, &value)) {
        struct graft_value read;
        if (graft_json_type(value) == GRAFT_JSON_OBJECT) {
            continue;
        }
        status = read_value(value, path, key, &read, error);
        if (status == GRAFT_OK) {
            status = graft_description_set_default(file->description, key, &read, error);
        }
    }
    return status;
}

/* The names of classes and modules are checked like those that a plugin's code has. */
static int check_name(const char *path, const struct graft_choice_info *info, const struct graft_value *value,
                      struct graft_error *error) {
    const struct graft_place top = {.file = path, .index = -1};
    const struct graft_place place = {.parent = &top, .field = "decoder", .index = -1};
    if (info->kind != GRAFT_CHOICE_NAME || value->kind != GRAFT_VALUE_TEXT) {
        return GRAFT_OK;
    }
    return strncmp(info->name, "class.", strlen("class.")) == 0
               ? graft_check_class_name(&place, info->name, value->text, error)
               : graft_check_text(&place, info->name, value->text, GRAFT_MAX_NAME, error);
}

static int set_choice(struct graft_family_file *file, const char *path, const char *section, const char *key,
                      const graft_json *json, struct graft_error *error) {
    char name[MAX_PLACE];
    struct graft_value value;
    (void)snprintf(name, sizeof name, "%s%.100s", section, key);
    const int32_t choice = graft_choice_find(&graft_decoder_choices, name);
    if (choice < 0) {
        return fail_unknown(path, section, key, error);
    }
    int status = read_value(json, path, name, &value, error);
    if (status == GRAFT_OK) {
        status = check_name(path, &graft_decoder_choices.infos[choice], &value, error);
    }
    return status == GRAFT_OK ? graft_description_set(file->description, choice, &value, path, error) : status;
}

/* Choices, or objects of them under the name of their section. */
static int read_choices(struct graft_family_file *file, const char *path, const char *section, const graft_json *object,
                        struct graft_error *error) {
    const graft_json *value;
    const char *key;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_json_next(object, &iterator, &key, &value)) {
        char inner[MAX_PLACE];
        (void)snprintf(inner, sizeof inner, "%.100s.", key);
        status = graft_json_type(value) == GRAFT_JSON_OBJECT && section[0] == '\0'
                     ? read_choices(file, path, inner, value, error)
                     : set_choice(file, path, section, key, value, error);
    }
    return status;
}

/* Names of classes: after the prefix, then as the file says. LayerNorms are those of all families unless a name says
 * otherwise. */
static int name_classes(struct graft_family_file *file, const char *path, const char *prefix, int is_new,
                        struct graft_error *error) {
    static const struct graft_value layer_norm = {.kind = GRAFT_VALUE_TEXT, .text = "LayerNorm"};
    const graft_json *decoder = graft_json_get(file->document, "decoder");
    const graft_json *kind = graft_json_get(graft_json_get(decoder, "norm"), "kind");
    int status = prefix != NULL ? graft_decoder_name_classes(file->description, prefix, is_new, error) : GRAFT_OK;
    if (status == GRAFT_OK && kind != NULL && graft_json_type(kind) == GRAFT_JSON_STRING &&
        strcmp(graft_json_string(kind, NULL), "layer") == 0) {
        status = graft_description_set(file->description, D_CLASS_NORM, &layer_norm, path, error);
    }
    return status;
}

/* Whether the family that this one is like has a class of the name, which is then built here, too. */
static int is_shared(const struct graft_family_file *file, const char *name) {
    for (int32_t i = 0; file->like != NULL && i < file->like->n_classes; i++) {
        if (strcmp(graft_family_class(file->like, i)->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What a description says to the host rather than to a class. */
static void tell(struct graft_family_file *file) {
    const int32_t predictors = graft_description_word(file->description, D_MODEL_PREDICTORS);
    file->family.ignores = predictors == D_PREDICTORS_BEHIND ? graft_decoder_is_predictor : NULL;
}

/* file->generated = the classes of the description; two choices with one name are one class. */
static int generate(struct graft_family_file *file, const char *path, struct graft_error *error) {
    struct graft_class *list = graft_family_room(file, path, (size_t)graft_decoder_n_classes(), sizeof *list, error);
    if (list == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    file->generated = list;
    for (int32_t i = 0; i < graft_decoder_n_classes(); i++) {
        struct graft_class *cls = &list[file->n_generated];
        int is_known = !graft_decoder_class(file->description, i, cls) || is_shared(file, cls->name);
        for (int32_t k = 0; k < file->n_generated && !is_known; k++) {
            is_known = strcmp(list[k].name, cls->name) == 0;
        }
        file->n_generated += !is_known;
    }
    return GRAFT_OK;
}

/* The description behind a family's classes; NULL: it has none. */
static const struct graft_description *description_of(const struct graft_family *family) {
    for (int32_t i = 0; i < family->n_classes; i++) {
        const struct graft_description *description = graft_decoder_description(graft_family_class(family, i));
        if (description != NULL) {
            return description;
        }
    }
    return NULL;
}

static int start(struct graft_family_file *file, const char *path, const char *prefix, struct graft_error *error) {
    if (prefix == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "prefix: missing; the names of a decoder's classes begin with it");
    }
    if (file->like == NULL) {
        file->description = graft_description_create(&graft_decoder_choices, error);
        return file->description != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    }
    const struct graft_description *like = description_of(file->like);
    if (like == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "like: %s is not described by data, so \"prefix\", \"section\" and \"decoder\" mean "
                               "nothing",
                               file->like->model_type);
    }
    file->description = graft_description_copy(like, error);
    return file->description != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* Under the names of the other family's classes, what the file says of a decoder would not happen. */
static int check_prefix(const struct graft_family_file *file, const char *path, const char *prefix,
                        struct graft_error *error) {
    const struct graft_description *like = file->like != NULL ? description_of(file->like) : NULL;
    const char *own = graft_description_name(file->description, D_CLASS_LAYER);
    const char *other = like != NULL ? graft_description_name(like, D_CLASS_LAYER) : NULL;
    return prefix == NULL || own == NULL || other == NULL || strcmp(own, other) != 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "prefix: names of classes of \"%.100s\" begin with %.100s already, and these do not "
                                 "change; choose another",
                                 file->like->model_type, prefix);
}

int graft_family_read_decoder(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const struct json_place top = {path, ""};
    const graft_json *decoder = graft_json_get(file->document, "decoder");
    const char *prefix = NULL, *section = NULL;
    int status = graft_json_place_string(&top, file->document, "prefix", &prefix, error);
    if (status == GRAFT_OK) {
        status = graft_json_place_string(&top, file->document, "section", &section, error);
    }
    if (status != GRAFT_OK || (prefix == NULL && section == NULL && decoder == NULL)) {
        return status;
    }
    if (decoder != NULL && graft_json_type(decoder) != GRAFT_JSON_OBJECT) {
        return graft_json_place_wrong(&top, "decoder", "an object", decoder, error);
    }
    const struct graft_place place = {.file = path, .index = -1};
    if (prefix != NULL) {
        status = graft_check_class_name(&place, "prefix", prefix, error);
    }
    if (status == GRAFT_OK && section != NULL) {
        status = graft_check_path(&place, "section", section, error);
    }
    if (status == GRAFT_OK) {
        status = start(file, path, prefix, error);
    }
    if (status == GRAFT_OK) {
        status = name_classes(file, path, prefix, file->like == NULL, error);
    }
    if (status == GRAFT_OK && (decoder != NULL || section != NULL)) {
        status = check_prefix(file, path, prefix, error);
    }
    if (status == GRAFT_OK && section != NULL) {
        status = graft_description_set_section(file->description, section, error);
    }
    if (status == GRAFT_OK) {
        status = read_defaults(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = read_choices(file, path, "", decoder, error);
    }
    if (status == GRAFT_OK) {
        tell(file);
    }
    return status == GRAFT_OK ? generate(file, path, error) : status;
}
