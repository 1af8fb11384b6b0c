/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the classes of a family file. */
#include <string.h>

#include "graft/describe.h"
#include "plugin/family_members.h"
#include "plugin/validate.h"

enum { MAX_PLACE = 512, MAX_CONVERSIONS = 4096 };

static struct graft_class *find_generated(const struct graft_family_file *file, const char *name) {
    for (int32_t i = 0; i < file->family.n_classes && i < file->n_generated; i++) {
        struct graft_class *cls = (struct graft_class *)(uintptr_t)graft_family_class(&file->family, i);
        if (strcmp(cls->name, name) == 0) {
            return cls;
        }
    }
    return NULL;
}

/* Derives a class from one of a known family, whose interface it has. */
static int set_base(struct graft_class *cls, const struct graft_field *field, const char *name,
                    const struct graft_family_finder *finder, struct graft_error *error) {
    const struct graft_class *base = NULL;
    int status = finder->find_class(finder->data, name, &base, error);
    if (status != GRAFT_OK || base == NULL) {
        return status != GRAFT_OK ? status : graft_field_error(field, error, "no family has a class \"%.100s\"", name);
    }
    cls->base = name;
    cls->interface_id = base->interface_id;
    return GRAFT_OK;
}

/* Reads {"sources": ..., "targets": ..., "operations": [...]}; a renaming has no operations. */
static int read_conversion(struct graft_family_file *file, const struct graft_field *field,
                           struct graft_conversion *conversion, struct graft_error *error) {
    static const char *const members[] = {"sources", "targets", "operations", NULL};
    const char **names[] = {NULL, NULL};
    size_t counts[] = {0, 0};
    int status = graft_field_object(field, members, error);
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        status = graft_field_strings(field, members[i], &names[i], &counts[i], error);
        if (status == GRAFT_OK) {
            status = graft_transforms_read_keep(&file->blocks, names[i], field->file, error);
        }
    }
    *conversion = (struct graft_conversion){
        .struct_size = sizeof *conversion,
        .n_sources = (int32_t)counts[0],
        .sources = names[0],
        .n_targets = (int32_t)counts[1],
        .targets = names[1],
        .operation_stride = sizeof(struct graft_operation),
    };
    return status == GRAFT_OK && graft_json_get(field->value, "operations") != NULL
               ? graft_operations_read(field, &file->blocks, &conversion->operations, &conversion->n_operations, error)
               : status;
}

static int read_conversions(struct graft_family_file *file, const struct graft_field *object, struct graft_class *cls,
                            struct graft_error *error) {
    const struct graft_field array = graft_field_get(object, "conversions");
    char path[MAX_PLACE];
    size_t n = graft_json_size(array.value);
    if (graft_json_type(array.value) != GRAFT_JSON_ARRAY || n == 0 || n > MAX_CONVERSIONS) {
        return graft_field_wrong(&array, "an array of 1 to 4096 conversions", error);
    }
    graft_field_path(&array, path, sizeof path);
    const struct graft_place top = {.file = array.file, .index = -1};
    struct graft_conversion *list = graft_family_room(file, array.file, n, sizeof *list, error);
    int status = list != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_field element = graft_field_at(&array, i);
        const struct graft_place checked = {.parent = &top, .field = path, .index = (int32_t)i};
        status = read_conversion(file, &element, &list[i], error);
        if (status == GRAFT_OK) {
            status = graft_conversion_validate(&checked, &list[i], error);
        }
    }
    cls->conversions = list;
    cls->n_conversions = (int32_t)n;
    cls->conversion_stride = sizeof *list;
    return status;
}

/* Reads {"base": ..., "conversions": [...]}. */
static int read_class(struct graft_family_file *file, const struct graft_field *field,
                      const struct graft_family_finder *finder, struct graft_class *cls, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"base", .kind = GRAFT_MEMBER_TEXT}, {"conversions", .kind = GRAFT_MEMBER_SKIPPED}, {0}};
    const char *base = NULL;
    int status = graft_field_read(field, members, &base, error);
    if (status == GRAFT_OK) {
        status = set_base(cls, field, base, finder, error);
    }
    if (status != GRAFT_OK || graft_json_get(field->value, "conversions") == NULL) {
        return status;
    }
    cls->describe = graft_describe_base;
    return read_conversions(file, field, cls, error);
}

/* Reads {"conversions": [...]} of a class that the description generates. */
static int add_conversions(struct graft_family_file *file, const struct graft_field *field, struct graft_class *cls,
                           struct graft_error *error) {
    static const char *const members[] = {"conversions", NULL};
    int status =
        graft_json_type(field->value) == GRAFT_JSON_OBJECT
            ? graft_field_object(field, members, error)
            : graft_field_wrong(field, "an object with conversions, since the description makes the class", error);
    return status == GRAFT_OK ? read_conversions(file, field, cls, error) : status;
}

int graft_family_read_classes(struct graft_family_file *file, const char *path,
                              const struct graft_family_finder *finder, struct graft_error *error) {
    const struct graft_place top = {.file = path, .index = -1};
    const struct graft_place checked = {.parent = &top, .field = "classes", .index = -1};
    struct graft_field object, member;
    void *iterator = NULL;
    size_t n;
    int status = graft_family_member(file, "classes", &object, &n, error);
    if (status != GRAFT_OK) {
        return status;
    }
    n += (size_t)file->n_generated;
    struct graft_class *list = graft_family_room(file, path, n, sizeof *list, error);
    status = list != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    file->family.classes = list;
    file->family.class_stride = sizeof *list;
    for (int32_t i = 0; i < file->n_generated && status == GRAFT_OK; i++) {
        list[file->family.n_classes++] = file->generated[i];
    }
    while (status == GRAFT_OK && graft_field_next(&object, &iterator, &member)) {
        struct graft_class *generated = find_generated(file, member.key);
        if (generated != NULL) {
            status = add_conversions(file, &member, generated, error);
            continue;
        }
        struct graft_class *cls = &list[file->family.n_classes++];
        const char *base = graft_json_string(member.value, NULL);
        cls->struct_size = sizeof *cls;
        cls->name = member.key;
        status = graft_check_class_name(&checked, member.key, member.key, error);
        if (status == GRAFT_OK) {
            status = base != NULL ? set_base(cls, &member, base, finder, error)
                                  : read_class(file, &member, finder, cls, error);
        }
    }
    return status;
}
