/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/data/description.h"

#include <stdlib.h>
#include <string.h>

#include "arch/data/choice.h"

static char *copy_text(const char *text, struct graft_error *error) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy == NULL) {
        (void)graft_fail_memory(error, NULL);
        return NULL;
    }
    return memcpy(copy, text, size);
}

static struct graft_description *create(const struct graft_choices *choices, struct graft_error *error) {
    struct graft_description *description =
        calloc(1, sizeof *description + (size_t)choices->count * sizeof description->entries[0]);
    if (description == NULL) {
        (void)graft_fail_memory(error, NULL);
        return NULL;
    }
    description->choices = choices;
    return description;
}

void graft_description_destroy(struct graft_description *description) {
    if (description != NULL) {
        for (int32_t i = 0; i < description->choices->count; i++) {
            free(description->entries[i].name);
            graft_expression_destroy(description->entries[i].expression);
        }
        graft_defaults_free(description);
        graft_description_destroy(description->encoder);
        free(description->section);
        free(description);
    }
}

/* --- Setting --- */

static int set_name(struct graft_choice_entry *entry, const struct graft_choice_info *info,
                    const struct graft_value *value, const char *source, struct graft_error *error) {
    const int is_null = value->kind == GRAFT_VALUE_NULL && (info->flags & GRAFT_CHOICE_NULLABLE) != 0;
    struct graft_label got;
    char *name = NULL;
    if (value->kind == GRAFT_VALUE_TEXT && value->text[0] == '\0') {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "%s: expected a name, got \"\"", info->name);
    }
    if (value->kind == GRAFT_VALUE_TEXT) {
        name = copy_text(value->text, error);
        if (name == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    } else if (!is_null) {
        graft_value_describe(value, &got);
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "%s: expected a name, got %s", info->name, got.text);
    }
    free(entry->name);
    entry->name = name;
    return GRAFT_OK;
}

static int parse(const struct graft_choice_info *info, const struct graft_value *value, const char *source,
                 struct graft_expression **expression, struct graft_error *error) {
    struct graft_error reason = graft_error_none();
    if (value->kind != GRAFT_VALUE_TEXT ||
        (info->kind == GRAFT_CHOICE_WORD && graft_choice_word(info->words, value->text) >= 0)) {
        *expression = graft_expression_constant(value, error);
        return *expression != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    }
    *expression = graft_expression_parse(value->text, source, &reason);
    return *expression != NULL ? GRAFT_OK
                               : graft_error_set(error, reason.code, source, "%s: %s", info->name, reason.message);
}

/* Checks that need no config: use of `layer`, and constants out of bounds. */
static int check(const struct graft_choice_info *info, const struct graft_expression *expression, const char *source,
                 struct graft_error *error) {
    struct graft_label fault;
    struct graft_value value;
    if ((info->flags & GRAFT_CHOICE_BY_LAYER) == 0 && graft_expression_has_layer(expression)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source,
                               "%s: \"layer\" has no value here: the choice is the same for all layers", info->name);
    }
    if (!graft_expression_fixed(expression, &value)) {
        return GRAFT_OK;
    }
    if (value.kind == GRAFT_VALUE_NULL) {
        graft_choice_expects(info, &fault);
        return (info->flags & GRAFT_CHOICE_NULLABLE) != 0
                   ? GRAFT_OK
                   : graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "%s: expected %s, got null", info->name,
                                     fault.text);
    }
    return graft_choice_fault(info, &value, 1, &fault)
               ? graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "%s: %s", info->name, fault.text)
               : GRAFT_OK;
}

int graft_description_set(struct graft_description *description, int32_t choice, const struct graft_value *value,
                          const char *source, struct graft_error *error) {
    const struct graft_choice_info *info = &description->choices->infos[choice];
    struct graft_choice_entry *entry = &description->entries[choice];
    if (info->kind == GRAFT_CHOICE_NAME) {
        return set_name(entry, info, value, source, error);
    }
    struct graft_expression *expression = NULL;
    int status = parse(info, value, source, &expression, error);
    if (status == GRAFT_OK) {
        status = check(info, expression, source, error);
    }
    if (status != GRAFT_OK) {
        graft_expression_destroy(expression);
        return status;
    }
    graft_expression_destroy(entry->expression);
    entry->expression = expression;
    return GRAFT_OK;
}

int graft_description_set_section(struct graft_description *description, const char *name, struct graft_error *error) {
    char *copy = name != NULL ? copy_text(name, error) : NULL;
    if (name != NULL && copy == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    free(description->section);
    description->section = copy;
    return GRAFT_OK;
}

/* --- Creating --- */

/* Sets a choice to its fallback. A required choice has none; reading it without a value is an error. */
static int set_fallback(struct graft_description *description, int32_t choice, struct graft_error *error) {
    const struct graft_choice_info *info = &description->choices->infos[choice];
    const struct graft_value value = {.kind = info->fallback != NULL ? GRAFT_VALUE_TEXT : GRAFT_VALUE_NULL,
                                      .text = info->fallback};
    if (info->kind == GRAFT_CHOICE_NAME || info->fallback != NULL) {
        return graft_description_set(description, choice, &value, "", error);
    }
    description->entries[choice].expression = graft_expression_constant(&value, error);
    return description->entries[choice].expression != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

struct graft_description *graft_description_create(const struct graft_choices *choices, struct graft_error *error) {
    struct graft_description *description = create(choices, error);
    for (int32_t i = 0; description != NULL && i < choices->count; i++) {
        if (set_fallback(description, i, error) != GRAFT_OK) {
            graft_description_destroy(description);
            return NULL;
        }
    }
    return description;
}

static int copy_entry(const struct graft_choice_entry *from, struct graft_choice_entry *to, struct graft_error *error) {
    to->name = from->name != NULL ? copy_text(from->name, error) : NULL;
    to->expression = from->expression != NULL ? graft_expression_copy(from->expression, error) : NULL;
    return (from->name != NULL && to->name == NULL) || (from->expression != NULL && to->expression == NULL)
               ? GRAFT_ERROR_INTERNAL
               : GRAFT_OK;
}

struct graft_description *graft_description_copy(const struct graft_description *from, struct graft_error *error) {
    struct graft_description *description = create(from->choices, error);
    int status =
        description != NULL ? graft_description_set_section(description, from->section, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_defaults_copy(from, description, error);
    }
    for (int32_t i = 0; status == GRAFT_OK && i < from->choices->count; i++) {
        status = copy_entry(&from->entries[i], &description->entries[i], error);
    }
    if (status == GRAFT_OK && from->encoder != NULL) {
        description->encoder = graft_description_copy(from->encoder, error);
        status = description->encoder != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    }
    if (status != GRAFT_OK) {
        graft_description_destroy(description);
        return NULL;
    }
    return description;
}

void graft_description_set_encoder(struct graft_description *description, struct graft_description *encoder_take) {
    if (encoder_take != description->encoder) {
        graft_description_destroy(description->encoder);
    }
    description->encoder = encoder_take;
}

struct graft_description *graft_description_encoder(const struct graft_description *description) {
    return description->encoder;
}

/* --- Queries --- */

const char *graft_description_name(const struct graft_description *description, int32_t choice) {
    return description->entries[choice].name;
}

int graft_description_never(const struct graft_description *description, int32_t choice) {
    const struct graft_choice_entry *entry = &description->entries[choice];
    struct graft_value value;
    return entry->expression != NULL
               ? graft_expression_fixed(entry->expression, &value) && value.kind == GRAFT_VALUE_NULL
               : entry->name == NULL;
}

int32_t graft_description_word(const struct graft_description *description, int32_t choice) {
    struct graft_value value;
    return graft_expression_fixed(description->entries[choice].expression, &value) && value.kind == GRAFT_VALUE_TEXT
               ? graft_choice_word(description->choices->infos[choice].words, value.text)
               : -1;
}
