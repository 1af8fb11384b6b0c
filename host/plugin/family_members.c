/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/family_members.h"

#include <string.h>

#include "arch/decoder/roles.h"
#include "base/alloc.h"

enum { MAX_MEMBERS = 4096 };

int graft_family_member(const struct graft_family_file *file, const char *key, struct graft_field *object, size_t *n,
                        struct graft_error *error) {
    *object = graft_field_get(&file->root, key);
    *n = graft_json_size(object->value);
    return object->value == NULL || (graft_json_type(object->value) == GRAFT_JSON_OBJECT && *n <= MAX_MEMBERS)
               ? GRAFT_OK
               : graft_field_wrong(object, "an object of at most 4096 members", error);
}

void *graft_family_room(struct graft_family_file *file, const char *path, size_t n, size_t size,
                        struct graft_error *error) {
    void *room = graft_alloc(n, size);
    return graft_transforms_read_keep(&file->blocks, room, path, error) == GRAFT_OK ? room : NULL;
}

void graft_family_copy(void *to, size_t size, const void *from, size_t stride) {
    memcpy(to, from, stride < size ? stride : size);
}

/* Reads a member that is the name of a class. */
static int read_class_name(const struct graft_field *member, const struct graft_place *place, const char **name,
                           struct graft_error *error) {
    int status = graft_field_string(member->parent, member->key, name, NULL, error);
    return status == GRAFT_OK ? graft_check_class_name(place, member->key, *name, error) : status;
}

/* The roots among the generated classes; without any the other family's. */
static int default_architectures(struct graft_family_file *file, const char *path, struct graft_error *error) {
    if (file->n_generated == 0) {
        file->family.architectures = file->like->architectures;
        file->family.n_architectures = file->like->n_architectures;
        file->family.architecture_stride = file->like->architecture_stride;
        return GRAFT_OK;
    }
    struct graft_architecture *list = graft_family_room(file, path, (size_t)file->n_generated, sizeof *list, error);
    if (list == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    file->family.architectures = list;
    for (int32_t i = 0; i < file->n_generated; i++) {
        if (graft_decoder_is_root(&file->generated[i])) {
            list[file->family.n_architectures++] = (struct graft_architecture){file->generated[i].name, NULL};
        }
    }
    return GRAFT_OK;
}

int graft_family_read_architectures(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const struct graft_place top = {.file = path, .index = -1};
    const struct graft_place place = {.parent = &top, .field = "architectures", .index = -1};
    struct graft_architecture *list;
    struct graft_field object, member;
    void *iterator = NULL;
    size_t n;
    int status = graft_family_member(file, "architectures", &object, &n, error);
    if (status != GRAFT_OK) {
        return status;
    }
    file->family.architecture_stride = sizeof *list;
    if (n == 0) {
        return default_architectures(file, path, error);
    }
    list = graft_family_room(file, path, n, sizeof *list, error);
    status = list != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    file->family.architectures = list;
    while (status == GRAFT_OK && graft_field_next(&object, &iterator, &member)) {
        struct graft_architecture *architecture = &list[file->family.n_architectures++];
        architecture->name = member.key;
        status = graft_check_class_name(&place, member.key, member.key, error);
        if (status == GRAFT_OK) {
            status = read_class_name(&member, &place, &architecture->class_name, error);
        }
    }
    return status;
}

static void add_stand_in(struct graft_family_file *file, struct graft_stand_in *list, const char *name,
                         const char *class_name) {
    list[file->family.n_stand_ins++] = (struct graft_stand_in){name, class_name};
}

/* The class that stands in for a class of the other family: one of this family derived from it, or the class itself. */
static const char *own_class(const struct graft_family_file *file, const char *name) {
    for (int32_t i = 0; i < file->family.n_classes; i++) {
        const struct graft_class *cls = graft_family_class(&file->family, i);
        if (cls->base != NULL && strcmp(cls->base, name) == 0) {
            return cls->name;
        }
    }
    return name;
}

/* Adds the stand-ins of another family, from its list and from its derived classes. */
static void add_inherited(struct graft_family_file *file, const struct graft_family *parent,
                          struct graft_stand_in *list) {
    for (int32_t i = 0; i < parent->n_stand_ins; i++) {
        const struct graft_stand_in *stand_in = graft_family_stand_in(parent, i);
        add_stand_in(file, list, stand_in->name, own_class(file, stand_in->class_name));
    }
    for (int32_t i = 0; i < parent->n_classes; i++) {
        const struct graft_class *cls = graft_family_class(parent, i);
        if (cls->base != NULL) {
            add_stand_in(file, list, cls->base, own_class(file, cls->name));
        }
    }
}

int graft_family_read_stand_ins(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const struct graft_place top = {.file = path, .index = -1};
    const struct graft_place place = {.parent = &top, .field = "stand_ins", .index = -1};
    const struct graft_family *like = file->like;
    struct graft_field object, member;
    void *iterator = NULL;
    size_t n;
    int status = graft_family_member(file, "stand_ins", &object, &n, error);
    if (status != GRAFT_OK) {
        return status;
    }
    n += (size_t)file->family.n_classes;
    if (like != NULL) {
        n += (size_t)like->n_stand_ins + (size_t)like->n_classes;
    }
    struct graft_stand_in *list = graft_family_room(file, path, n, sizeof *list, error);
    status = list != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    file->family.stand_ins = list;
    file->family.stand_in_stride = sizeof *list;
    while (status == GRAFT_OK && graft_field_next(&object, &iterator, &member)) {
        const char *class_name = NULL;
        status = graft_check_class_name(&place, member.key, member.key, error);
        if (status == GRAFT_OK) {
            status = read_class_name(&member, &place, &class_name, error);
        }
        add_stand_in(file, list, member.key, class_name);
    }
    /* they take precedence over inherited ones */
    for (int32_t i = 0; i < file->family.n_classes && status == GRAFT_OK; i++) {
        const struct graft_class *cls = graft_family_class(&file->family, i);
        if (cls->base != NULL) {
            add_stand_in(file, list, cls->base, cls->name);
        }
    }
    if (like != NULL && status == GRAFT_OK) {
        add_inherited(file, like, list);
    }
    return status;
}

/* Reads a default from a JSON value. */
static int read_default(const graft_json *value, const struct graft_place *place, const char *key,
                        struct graft_config_field *field, struct graft_error *error) {
    size_t length = 0;
    switch (graft_json_type(value)) {
    case GRAFT_JSON_NULL:
        field->kind = GRAFT_FIELD_NULL;
        return GRAFT_OK;
    case GRAFT_JSON_BOOL:
        field->kind = GRAFT_FIELD_BOOL;
        field->integer = graft_json_bool(value);
        return GRAFT_OK;
    case GRAFT_JSON_INT:
        field->kind = GRAFT_FIELD_INT;
        field->integer = graft_json_int(value);
        return GRAFT_OK;
    case GRAFT_JSON_REAL:
        field->kind = GRAFT_FIELD_REAL;
        field->real = graft_json_real(value);
        return GRAFT_OK;
    case GRAFT_JSON_STRING:
        field->kind = GRAFT_FIELD_STRING;
        field->string = graft_json_string(value, &length);
        if (strlen(field->string) == length) {
            return graft_check_text(place, key, field->string, GRAFT_MAX_LINE, error);
        }
        break;
    default:
        break;
    }
    return graft_check_failed(place, key, error, "expected a number, a string, true, false or null, got %s",
                              graft_json_type_name(value));
}

static struct graft_config_field *add_field(struct graft_family_file *file, struct graft_config_field *list,
                                            const char *name) {
    struct graft_config_field *field = &list[file->family.n_fields++];
    field->name = name;
    return field;
}

static int read_aliases(struct graft_family_file *file, const struct graft_field *aliases,
                        struct graft_config_field *list, struct graft_error *error) {
    const struct graft_place top = {.file = aliases->file, .index = -1};
    const struct graft_place place = {.parent = &top, .field = "aliases", .index = -1};
    struct graft_field member;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_field_next(aliases, &iterator, &member)) {
        struct graft_config_field *field = add_field(file, list, member.key);
        status = graft_check_path(&place, member.key, member.key, error);
        if (status == GRAFT_OK) {
            status = graft_field_string(aliases, member.key, &field->alias, NULL, error);
        }
        if (status == GRAFT_OK) {
            status = graft_check_path(&place, member.key, field->alias, error);
        }
    }
    return status;
}

/* Reads the members of "defaults" or, with `name`, of a default that is an object: its members are fields under its
 * name. */
static int read_defaults(struct graft_family_file *file, const struct graft_field *object, const char *name,
                         struct graft_config_field *list, struct graft_error *error) {
    const struct graft_place top = {.file = object->file, .index = -1};
    const struct graft_place place = {.parent = &top, .field = "defaults", .index = -1};
    struct graft_field member;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_field_next(object, &iterator, &member)) {
        const char *key = member.key;
        if (name != NULL) {
            char *whole = graft_format("%s.%s", name, key);
            status = graft_transforms_read_keep(&file->blocks, whole, NULL, error);
            key = whole;
        }
        if (status == GRAFT_OK) {
            status = graft_check_path(&place, key, key, error);
        }
        if (status == GRAFT_OK) {
            struct graft_config_field *field = add_field(file, list, key);
            field->kind = GRAFT_FIELD_OBJECT;
            status = name == NULL && graft_json_type(member.value) == GRAFT_JSON_OBJECT
                         ? read_defaults(file, &member, key, list, error)
                         : read_default(member.value, &place, key, field, error);
        }
    }
    return status;
}

/* The number of fields in "defaults". */
static size_t count_defaults(const graft_json *object) {
    const graft_json *value;
    const char *key;
    void *iterator = NULL;
    size_t n = graft_json_size(object);
    while (graft_json_next(object, &iterator, &key, &value)) {
        n += graft_json_type(value) == GRAFT_JSON_OBJECT ? graft_json_size(value) : 0;
    }
    return n;
}

int graft_family_read_fields(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const struct graft_family *like = file->like;
    struct graft_field aliases, defaults;
    size_t n, n_defaults;
    int status = graft_family_member(file, "aliases", &aliases, &n, error);
    if (status == GRAFT_OK) {
        status = graft_family_member(file, "defaults", &defaults, &n_defaults, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    n_defaults = count_defaults(defaults.value);
    if (n_defaults > MAX_MEMBERS) {
        return graft_field_error(&defaults, error, "expected at most 4096 fields");
    }
    n += n_defaults;
    if (like != NULL) {
        n += (size_t)like->n_fields;
    }
    struct graft_config_field *list = graft_family_room(file, path, n, sizeof *list, error);
    status = list != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    file->family.fields = list;
    file->family.field_stride = sizeof *list;
    if (status == GRAFT_OK) {
        status = read_aliases(file, &aliases, list, error);
    }
    if (status == GRAFT_OK) {
        status = read_defaults(file, &defaults, NULL, list, error);
    }
    if (like != NULL && status == GRAFT_OK) {
        for (int32_t i = 0; i < like->n_fields; i++) {
            graft_family_copy(add_field(file, list, NULL), sizeof *list, graft_family_field(like, i),
                              like->field_stride);
        }
    }
    return status;
}

int graft_family_read_ignored(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const struct graft_place place = {.file = path, .index = -1};
    const struct graft_family *like = file->like;
    const char **own = NULL;
    size_t n = 0;
    size_t n_all = 0;
    int status = GRAFT_OK;
    if (like != NULL) {
        for (const char *const *at = like->ignored_tensors; at != NULL && *at != NULL; at++) {
            n_all++;
        }
    }
    if (graft_json_get(file->document, "ignored_tensors") != NULL) {
        status = graft_field_strings(&file->root, "ignored_tensors", &own, &n, error);
    }
    const char **list = status == GRAFT_OK ? graft_family_room(file, path, n + n_all + 1, sizeof *list, error) : NULL;
    if (list == NULL) {
        graft_free(own);
        return status != GRAFT_OK ? status : GRAFT_ERROR_INTERNAL;
    }
    n_all = 0;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = &place, .field = "ignored_tensors", .index = (int32_t)i};
        list[n_all++] = own[i];
        status = graft_check_pattern(&element, NULL, own[i], error);
    }
    if (like != NULL && status == GRAFT_OK) {
        for (const char *const *at = like->ignored_tensors; at != NULL && *at != NULL; at++) {
            list[n_all++] = *at;
        }
    }
    file->family.ignored_tensors = list;
    graft_free(own);
    return status;
}
