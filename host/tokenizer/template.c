/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/template.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

/* Appends a part and returns it, or NULL if memory ran out. */
static struct graft_template_part *add_part(struct graft_template_parts *parts, int kind, int32_t type_id) {
    if (graft_grow(&parts->items, &parts->capacity, parts->n, sizeof *parts->items) != 0) {
        return NULL;
    }
    struct graft_template_part *part = &parts->items[parts->n++];
    *part = (struct graft_template_part){0};
    part->kind = kind;
    part->type_id = type_id;
    return part;
}

/* Reads the ids of a special token from `special_tokens`. `name` is the field that has the token's name. */
static int read_special(struct graft_template_part *part, const struct graft_field *tokens,
                        const struct graft_field *name, struct graft_error *error) {
    static const char *const keys[] = {"id", "ids", "tokens", NULL};
    struct graft_field token = graft_field_get(tokens, graft_json_string(name->value, NULL));
    struct graft_field ids = graft_field_get(&token, "ids");
    if (token.value == NULL) {
        return graft_field_error(name, error, "\"%s\" is not among special_tokens", token.key);
    }
    int status = graft_field_object(&token, keys, error);
    if (status == GRAFT_OK) {
        status = graft_field_array(&ids, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(ids.value); i++) {
        struct graft_field element = graft_field_at(&ids, i);
        int32_t id;
        status = graft_field_id(&element, &id, error);
        if (status == GRAFT_OK) {
            graft_ids_add(&part->ids, id);
        }
    }
    return status == GRAFT_OK && part->ids.failed ? graft_fail_memory(error, name->file) : status;
}

/* Reads a part: {"Sequence": {"id", "type_id"}} or {"SpecialToken": {"id", "type_id"}}. */
static int read_part(const struct graft_field *spec, const struct graft_field *tokens, int is_pair,
                     struct graft_template_parts *parts, struct graft_error *error) {
    static const char *const outer[] = {"Sequence", "SpecialToken", NULL};
    struct fields {
        const char *id;
        int64_t type_id;
    } fields = {0};
    static const struct graft_member inner[] = {
        {"id", GRAFT_MEMBER_TEXT, .offset = offsetof(struct fields, id)},
        {"type_id", GRAFT_MEMBER_INT, .offset = offsetof(struct fields, type_id), .most = INT32_MAX},
        {0},
    };
    const int is_special = graft_json_get(spec->value, "Sequence") == NULL;
    const struct graft_field given = graft_field_get(spec, is_special ? "SpecialToken" : "Sequence");
    const struct graft_field name = graft_field_get(&given, "id");
    int status = graft_field_object(spec, outer, error);
    if (status == GRAFT_OK) {
        status = graft_field_read(&given, inner, &fields, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const int is_first = strcmp(fields.id, "A") == 0;
    if (!is_special && !is_first && (strcmp(fields.id, "B") != 0 || !is_pair)) {
        return graft_field_error(&name, error, "\"%s\" is not a sequence of this template", fields.id);
    }
    struct graft_template_part *part = add_part(parts,
                                                is_special ? GRAFT_PART_SPECIAL
                                                : is_first ? GRAFT_PART_FIRST
                                                           : GRAFT_PART_SECOND,
                                                (int32_t)fields.type_id);
    if (part == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    return is_special ? read_special(part, tokens, &name, error) : GRAFT_OK;
}

static int has_part(const struct graft_template_parts *parts, int kind) {
    size_t i = 0;
    while (i < parts->n && (int)parts->items[i].kind != kind) {
        i++;
    }
    return i < parts->n;
}

static int read_parts(const struct graft_field *spec, const struct graft_field *tokens, int is_pair,
                      struct graft_template_parts *parts, struct graft_error *error) {
    int status = graft_field_array(spec, error);
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(spec->value); i++) {
        struct graft_field part = graft_field_at(spec, i);
        status = read_part(&part, tokens, is_pair, parts, error);
    }
    if (status == GRAFT_OK && !is_pair && !has_part(parts, GRAFT_PART_FIRST)) {
        status = graft_field_error(spec, error, "the text has no place in the template");
    }
    return status;
}

int graft_template_load(struct graft_template *template, const struct graft_field *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "single", "pair", "special_tokens", NULL};
    struct graft_field single = graft_field_get(spec, "single");
    struct graft_field pair = graft_field_get(spec, "pair");
    struct graft_field tokens = graft_field_get(spec, "special_tokens");
    int status = graft_field_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_parts(&single, &tokens, 0, &template->single, error);
    }
    if (status == GRAFT_OK) {
        status = read_parts(&pair, &tokens, 1, &template->pair, error);
    }
    /* Files of models that never get pairs may have nonsense here; it is refused only when a pair is encoded. */
    template->refuses_pairs =
        !has_part(&template->pair, GRAFT_PART_FIRST) || !has_part(&template->pair, GRAFT_PART_SECOND);
    return status;
}

static int32_t unknown_of(const struct graft_template_parts *parts, int (*has)(const void *data, int32_t id),
                          const void *data) {
    for (size_t i = 0; i < parts->n; i++) {
        for (size_t k = 0; k < parts->items[i].ids.n; k++) {
            if (!has(data, parts->items[i].ids.ids[k])) {
                return parts->items[i].ids.ids[k];
            }
        }
    }
    return -1;
}

int32_t graft_template_unknown(const struct graft_template *template, int (*has)(const void *data, int32_t id),
                               const void *data) {
    int32_t id = unknown_of(&template->single, has, data);
    return id >= 0 ? id : unknown_of(&template->pair, has, data);
}

static void free_parts(struct graft_template_parts *parts) {
    for (size_t i = 0; i < parts->n; i++) {
        graft_ids_free(&parts->items[i].ids);
    }
    graft_free(parts->items);
}

void graft_template_finish(struct graft_template *template) {
    free_parts(&template->single);
    free_parts(&template->pair);
    *template = (struct graft_template){0};
}
