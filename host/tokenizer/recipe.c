/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/recipe.h"

#include <string.h>

#include "base/alloc.h"

graft_json *graft_recipe_copy(const graft_json *value) {
    char *text = graft_json_dump(value, 0);
    graft_json *made = NULL;
    if (text != NULL) {
        (void)graft_json_parse(text, strlen(text), "copy", &made, NULL);
    }
    graft_free(text);
    return made;
}

/* The default value, which follows "=". */
static graft_json *default_value(const struct graft_recipe_values *values, const char *text) {
    graft_json *value = NULL;
    if (text == NULL) {
        return graft_json_new_string(NULL);
    }
    if (text[0] == '$') {
        return graft_recipe_value(values, text + 1);
    }
    return graft_json_parse(text, strlen(text), "default", &value, NULL) == GRAFT_OK ? value
                                                                                     : graft_json_new_string(text);
}

graft_json *graft_recipe_value(const struct graft_recipe_values *values, const char *name) {
    const graft_json *const both[] = {values->own, values->config};
    const char *equals = strchr(name, '=');
    char *key = graft_strndup(name, equals != NULL ? (size_t)(equals - name) : strlen(name));
    const graft_json *found = NULL;
    if (key == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < 2 && found == NULL; i++) {
        found = graft_json_get(both[i], key);
        found = graft_json_type(found) != GRAFT_JSON_NULL ? found : NULL;
    }
    graft_free(key);
    return found != NULL ? graft_recipe_copy(found) : default_value(values, equals != NULL ? equals + 1 : NULL);
}

int graft_recipe_is_true(const struct graft_recipe_values *values, const char *name) {
    graft_json *value = graft_recipe_value(values, name);
    enum graft_json_type type = graft_json_type(value);
    int truth = value == NULL ? -1
                              : graft_json_bool(value) || graft_json_real(value) != 0.0 ||
                                    (type == GRAFT_JSON_STRING && graft_json_string(value, NULL)[0] != '\0') ||
                                    graft_json_size(value) > 0;
    graft_json_free(value);
    return truth;
}

/* Whether the conditions of a part hold; -1: memory ran out. */
static int is_there(const struct graft_recipe_values *values, const graft_json *part) {
    const char *wanted = graft_json_string(graft_json_get(part, "if"), NULL);
    const char *unwanted = graft_json_string(graft_json_get(part, "unless"), NULL);
    if (wanted != NULL) {
        return graft_recipe_is_true(values, wanted);
    }
    if (unwanted != NULL) {
        int truth = graft_recipe_is_true(values, unwanted);
        return truth < 0 ? -1 : !truth;
    }
    return 1;
}

static graft_json *fill_object(const struct graft_recipe_values *values, const graft_json *object) {
    graft_json *made = graft_json_new_object();
    const char *key;
    const graft_json *value;
    int failed = made == NULL;
    for (size_t i = 0; !failed && (value = graft_json_member(object, i, &key)) != NULL; i++) {
        int wanted = strcmp(key, "if") != 0 && strcmp(key, "unless") != 0;
        failed = wanted && graft_json_set_take(made, key, graft_recipe_fill(values, value)) != 0;
    }
    if (failed) {
        graft_json_free(made);
        return NULL;
    }
    return made;
}

static graft_json *fill_array(const struct graft_recipe_values *values, const graft_json *array) {
    graft_json *made = graft_json_new_array();
    int failed = made == NULL;
    for (size_t i = 0; !failed && i < graft_json_size(array); i++) {
        const graft_json *element = graft_json_at(array, i);
        int there = is_there(values, element);
        failed = there < 0 || (there && graft_json_append_take(made, graft_recipe_fill(values, element)) != 0);
    }
    if (failed) {
        graft_json_free(made);
        return NULL;
    }
    return made;
}

static graft_json *fill_choice(const struct graft_recipe_values *values, const graft_json *choice, const char *name) {
    int truth = graft_recipe_is_true(values, name);
    return truth < 0 ? NULL : graft_recipe_fill(values, graft_json_get(choice, truth ? "yes" : "no"));
}

graft_json *graft_recipe_fill(const struct graft_recipe_values *values, const graft_json *part) {
    size_t length = 0;
    const char *text = graft_json_string(part, &length);
    const char *choose = graft_json_string(graft_json_get(part, "choose"), NULL);
    int there = is_there(values, part);
    if (there <= 0) {
        return there == 0 ? graft_json_new_string(NULL) : NULL;
    }
    switch (graft_json_type(part)) {
    case GRAFT_JSON_OBJECT:
        return choose != NULL ? fill_choice(values, part, choose) : fill_object(values, part);
    case GRAFT_JSON_ARRAY:
        return fill_array(values, part);
    case GRAFT_JSON_STRING:
        return text[0] == '$' && length > 1 ? graft_recipe_value(values, text + 1)
                                            : graft_json_new_string_n(text, length);
    case GRAFT_JSON_BOOL:
        return graft_json_new_bool(graft_json_bool(part));
    case GRAFT_JSON_INT:
        return graft_json_new_int(graft_json_int(part));
    case GRAFT_JSON_REAL:
        return graft_json_new_real(graft_json_real(part));
    default:
        return graft_json_new_string(NULL);
    }
}
