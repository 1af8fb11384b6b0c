/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rules of a family file for fields that no class asks for. */
#include <string.h>

#include "base/alloc.h"
#include "plugin/family_members.h"

static struct graft_field_rule *add(struct graft_family_file *file, struct graft_field_rule *list) {
    return &list[file->family.n_field_rules++];
}

/* Reads the names of fields that have no effect. */
static int read_names(struct graft_family_file *file, const char *path, const char *const *names, size_t n,
                      struct graft_field_rule *list, struct graft_error *error) {
    const struct graft_place top = {.file = path, .index = -1};
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = &top, .field = "without_effect", .index = (int32_t)i};
        struct graft_field_rule *rule = add(file, list);
        rule->name = names[i];
        status = graft_check_path(&element, NULL, names[i], error);
    }
    return status;
}

/* Reads fields with an array of values each. */
static int read_values(struct graft_family_file *file, const char *path, const char *member, uint32_t flags,
                       struct graft_field_rule *list, struct graft_error *error) {
    const struct graft_place top = {.file = path, .index = -1};
    const struct graft_place place = {.parent = &top, .field = member, .index = -1};
    const struct graft_field object = graft_field_get(&file->root, member);
    struct graft_field field;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_field_next(&object, &iterator, &field)) {
        struct graft_field_rule *rule = add(file, list);
        *rule = (struct graft_field_rule){.name = field.key, .flags = flags};
        status = graft_check_path(&place, field.key, field.key, error);
        if (status == GRAFT_OK) {
            status = graft_field_array(&field, error);
        }
        if (status == GRAFT_OK && graft_json_size(field.value) == 0) {
            status = graft_field_error(&field, error, "expected an array of values, got an empty one");
        }
        if (status == GRAFT_OK) {
            char *text = graft_json_dump(field.value, 0);
            rule->values = text;
            status = graft_transforms_read_keep(&file->blocks, text, path, error);
        }
    }
    return status;
}

int graft_family_read_rules(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const struct graft_family *like = file->like;
    struct graft_field object;
    const char **names = NULL;
    size_t n = 0, n_neutral, n_only, n_inherited = 0;
    int status = graft_family_member(file, "neutral", &object, &n_neutral, error);
    if (status == GRAFT_OK) {
        status = graft_family_member(file, "only", &object, &n_only, error);
    }
    if (status == GRAFT_OK && graft_json_get(file->document, "without_effect") != NULL) {
        status = graft_field_strings(&file->root, "without_effect", &names, &n, error);
    }
    if (like != NULL) {
        n_inherited += (size_t)graft_family_n_field_rules(like);
    }
    struct graft_field_rule *list =
        status == GRAFT_OK ? graft_family_room(file, path, n + n_neutral + n_only + n_inherited, sizeof *list, error)
                           : NULL;
    if (list == NULL) {
        graft_free(names);
        return status != GRAFT_OK ? status : GRAFT_ERROR_INTERNAL;
    }
    file->family.field_rules = list;
    file->family.field_rule_stride = sizeof *list;
    status = read_names(file, path, names, n, list, error);
    if (status == GRAFT_OK) {
        status = read_values(file, path, "neutral", 0, list, error);
    }
    if (status == GRAFT_OK) {
        status = read_values(file, path, "only", GRAFT_FIELD_ONLY, list, error);
    }
    if (like != NULL && status == GRAFT_OK) {
        for (int32_t i = 0; i < graft_family_n_field_rules(like); i++) {
            graft_family_copy(add(file, list), sizeof *list,
                              graft_field_rule_at(like->field_rules, like->field_rule_stride, i),
                              like->field_rule_stride);
        }
    }
    graft_free(names);
    return status;
}
