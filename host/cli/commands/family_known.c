/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the choices of the built-in families. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "cli/commands/family_guess.h"
#include "graft/host/choices.h"

static int is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

int family_mentions(const graft_json *value, const char *field) {
    const char *text = graft_json_string(value, NULL);
    const size_t length = strlen(field);
    for (const char *at = text; at != NULL && (at = strstr(at, field)) != NULL; at += length) {
        if ((at == text || !is_word(at[-1])) && !is_word(at[length])) {
            return 1;
        }
    }
    return 0;
}

static int add(struct family_known *known, const char *name, const graft_json *value, const char *from,
               struct graft_error *error) {
    for (size_t i = 0; i < known->count; i++) {
        if (strcmp(known->items[i].name, name) == 0 && graft_json_equal(known->items[i].value, value)) {
            return GRAFT_OK;
        }
    }
    if (graft_grow(&known->items, &known->capacity, known->count, sizeof known->items[0]) != 0) {
        return graft_fail_memory(error, "family");
    }
    struct family_known_choice *item = &known->items[known->count++];
    *item = (struct family_known_choice){graft_strdup(name), graft_json_copy(value), graft_strdup(from)};
    return item->name != NULL && item->value != NULL && item->from != NULL ? GRAFT_OK
                                                                           : graft_fail_memory(error, "family");
}

static int read_choices(struct family_known *known, const graft_json *decoder, const char *from,
                        struct graft_error *error) {
    void *iterator = NULL, *inner = NULL;
    const char *section, *key;
    const graft_json *value, *own;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_json_next(decoder, &iterator, &section, &value)) {
        if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
            status = add(known, section, value, from, error);
            continue;
        }
        inner = NULL;
        while (status == GRAFT_OK && strcmp(section, "class") != 0 && graft_json_next(value, &inner, &key, &own)) {
            char *name = graft_format("%s.%s", section, key);
            status = name != NULL ? add(known, name, own, from, error) : graft_fail_memory(error, "family");
            graft_free(name);
        }
    }
    return status;
}

static int read_family(struct family_known *known, const char *model_type, struct graft_error *error) {
    graft_json *document = NULL;
    size_t length = 0;
    const char *text = graft_family_text(model_type, &length);
    if (text == NULL) {
        return GRAFT_OK;
    }
    int status = graft_json_parse(text, length, model_type, &document, error);
    if (status == GRAFT_OK) {
        status = read_choices(known, graft_json_get(document, "decoder"), model_type, error);
    }
    if (status == GRAFT_OK && graft_json_set_take(known->documents, model_type, document) != 0) {
        return graft_fail_memory(error, "family");
    }
    return status;
}

int family_known_read(struct graft_library *library, struct family_known *known, struct graft_error *error) {
    struct graft_family_info *families = NULL;
    size_t n = 0;
    *known = (struct family_known){.documents = graft_json_new_object()};
    int status = graft_library_families(library, &families, &n, error);
    for (size_t i = 0; status == GRAFT_OK && i < n; i++) {
        const struct graft_family_info *info = graft_struct_at(families, i);
        if (info->plugin == NULL) {
            status = read_family(known, info->family->model_type, error);
        }
    }
    graft_families_free(families);
    return status;
}

void family_known_finish(struct family_known *known) {
    for (size_t i = 0; i < known->count; i++) {
        graft_free(known->items[i].name);
        graft_json_free(known->items[i].value);
        graft_free(known->items[i].from);
    }
    graft_free(known->items);
    graft_json_free(known->documents);
}

const graft_json *family_known_default(const struct family_known *known, const char *model_type, const char *field) {
    const graft_json *document = graft_json_get(known->documents, model_type);
    while (document != NULL) {
        const graft_json *value = graft_json_get(graft_json_get(document, "defaults"), field);
        const char *like = graft_json_string(graft_json_get(document, "like"), NULL);
        if (value != NULL) {
            return value;
        }
        document = like != NULL ? graft_json_get(known->documents, like) : NULL;
    }
    return NULL;
}
