/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/family_choices.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

enum { MAX_PLACE = 256 };

/* Lists the names of choices in a section ("attention.") for a message; without a section, the names of sections and of
 * choices outside of sections. */
static void list_names(const struct graft_family_part *part, const char *section, struct graft_text *names) {
    const size_t length = strlen(section);
    const char *last = "";
    for (int32_t i = 0; i < part->choices->count; i++) {
        const char *name = part->choices->infos[i].name;
        const int in_section = strncmp(name, section, length) == 0;
        const int n = (int)strcspn(name + (in_section ? length : 0), ".");
        const char *own = name + (in_section ? length : 0);
        if (in_section && (strncmp(own, last, (size_t)n) != 0 || last[0] == '\0')) {
            graft_text_printf(names, "%s%.*s", names->length > 0 ? ", " : "", n, own);
            last = own;
        }
    }
}

/* Suggests choices with similar names, and choices of the same name in other sections. */
static void suggest(const struct graft_family_part *part, const char *section, const char *key,
                    struct graft_error *error) {
    char name[MAX_PLACE];
    struct graft_nearest nearest = {.wanted = name};
    (void)snprintf(name, sizeof name, "%s%.100s", section, key);
    for (int32_t i = 0; i < part->choices->count; i++) {
        const char *choice = part->choices->infos[i].name;
        const char *dot = strchr(choice, '.');
        if (dot != NULL && strcmp(dot + 1, key) == 0) {
            graft_nearest_add_same(&nearest, choice);
        } else {
            graft_nearest_add(&nearest, choice);
        }
    }
    graft_nearest_hint(&nearest, error);
}

static int fail_unknown(const struct graft_family_part *part, const char *section, const char *key,
                        struct graft_error *error) {
    struct graft_text names = {0};
    list_names(part, section, &names);
    int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, part->path, "%s.%s%.100s: no such choice; there are %s",
                                 part->member, section, key, names.bytes != NULL ? names.bytes : "none");
    graft_text_free(&names);
    suggest(part, section, key, error);
    return status;
}

/* Converts a JSON value to the value of the choice, or the default, called `name`. */
static int read_value(const struct graft_family_part *part, const graft_json *json, const char *name,
                      struct graft_value *value, struct graft_error *error) {
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
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, part->path,
                           "%s.%s: expected a string, a number, true, false or null, got %s", part->member, name,
                           graft_json_type_name(json));
}

int graft_family_read_defaults(const struct graft_family_part *part, const graft_json *defaults, int skips_objects,
                               struct graft_error *error) {
    const graft_json *value;
    const char *key;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_json_next(defaults, &iterator, &key, &value)) {
        struct graft_value read;
        if (skips_objects && graft_json_type(value) == GRAFT_JSON_OBJECT) {
            continue;
        }
        status = read_value(part, value, key, &read, error);
        if (status == GRAFT_OK) {
            status = graft_description_set_default(part->description, key, &read, error);
        }
    }
    return status;
}

/* Checks the name of a class or module like one in a plugin's code. */
static int check_name(const struct graft_family_part *part, const struct graft_choice_info *info,
                      const struct graft_value *value, struct graft_error *error) {
    const struct graft_place top = {.file = part->path, .index = -1};
    const struct graft_place place = {.parent = &top, .field = part->member, .index = -1};
    if (info->kind != GRAFT_CHOICE_NAME || value->kind != GRAFT_VALUE_TEXT) {
        return GRAFT_OK;
    }
    return strncmp(info->name, "class.", strlen("class.")) == 0
               ? graft_check_class_name(&place, info->name, value->text, error)
               : graft_check_text(&place, info->name, value->text, GRAFT_MAX_NAME, error);
}

static int set_choice(const struct graft_family_part *part, const char *section, const char *key,
                      const graft_json *json, struct graft_error *error) {
    char name[MAX_PLACE];
    struct graft_value value;
    (void)snprintf(name, sizeof name, "%s%.100s", section, key);
    const int32_t choice = graft_choice_find(part->choices, name);
    if (choice < 0) {
        return fail_unknown(part, section, key, error);
    }
    int status = read_value(part, json, name, &value, error);
    if (status == GRAFT_OK) {
        status = check_name(part, &part->choices->infos[choice], &value, error);
    }
    return status == GRAFT_OK ? graft_description_set(part->description, choice, &value, part->path, error) : status;
}

static int is_other(const char *const *others, const char *key) {
    while (others != NULL && *others != NULL) {
        if (strcmp(*others++, key) == 0) {
            return 1;
        }
    }
    return 0;
}

static int read_section(const struct graft_family_part *part, const char *section, const graft_json *object,
                        const char *const *others, struct graft_error *error) {
    const graft_json *value;
    const char *key;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_json_next(object, &iterator, &key, &value)) {
        char inner[MAX_PLACE];
        (void)snprintf(inner, sizeof inner, "%.100s.", key);
        if (!is_other(others, key)) {
            status = graft_json_type(value) == GRAFT_JSON_OBJECT && section[0] == '\0'
                         ? read_section(part, inner, value, NULL, error)
                         : set_choice(part, section, key, value, error);
        }
    }
    return status;
}

int graft_family_read_choices(const struct graft_family_part *part, const graft_json *object, const char *const *others,
                              struct graft_error *error) {
    return read_section(part, "", object, others, error);
}
