/* SPDX-License-Identifier: Apache-2.0 */
/* patch_resolution.json, type `resolution`: the class that each name resolves to under a mapping. */
#include "patch_resolution.h"

#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "classes.h"
#include "dialect.h"

enum { MAX_KEYS = 16 };

/* The expected result of one case: the recorded one, or that of the dialect's rule. */
struct expectation {
    const graft_json *row;
    int by_rule;
    const char *keys[MAX_KEYS];
    struct graft_regex *plain[MAX_KEYS]; /* by rule: the key as PCRE2 reads it; NULL if PCRE2 refuses it */
    int warned[MAX_KEYS];
    size_t n;
};

static const char *mapped(const graft_json *row, size_t i, size_t part) {
    return graft_json_string(graft_json_at(graft_json_at(graft_json_get(row, "mapping"), i), part), NULL);
}

static int is_recorded_warning(const graft_json *row, const char *key) {
    const graft_json *warned = graft_json_get(row, "invalid_patterns_warned");
    for (size_t i = 0; i < graft_json_size(warned); i++) {
        if (strcmp(graft_json_string(graft_json_at(warned, i), NULL), key) == 0) {
            return 1;
        }
    }
    return 0;
}

static int expect(struct expectation *expected, const graft_json *row, struct graft_text *why) {
    *expected = (struct expectation){.row = row, .n = graft_json_size(graft_json_get(row, "mapping"))};
    if (expected->n > MAX_KEYS) {
        (void)fail(why, "more than %d keys", (int)MAX_KEYS);
        return -1;
    }
    for (size_t i = 0; i < expected->n; i++) {
        struct graft_text plain = {0};
        struct graft_error error = graft_error_none();
        expected->keys[i] = mapped(row, i, 0);
        expected->warned[i] = is_recorded_warning(row, expected->keys[i]);
        enum reading reading = dialect_reading(expected->keys[i], &plain);
        int status = GRAFT_OK;
        if (graft_json_bool(graft_json_get(row, "dialect")) && reading != READ_ALIKE) {
            expected->by_rule = 1;
        }
        if (reading != READ_AS_INVALID) {
            status =
                graft_regex_compile(plain.bytes, plain.length, "", GRAFT_ERROR_INTERNAL, &expected->plain[i], &error);
        }
        if (status != GRAFT_OK && reading == READ_OTHERWISE) {
            (void)fail(why, "the rule made a bad pattern of \"%s\": \"%s\"", expected->keys[i], plain.bytes);
        }
        graft_text_free(&plain);
    }
    for (size_t i = 0; expected->by_rule && i < expected->n; i++) {
        expected->warned[i] = 0;
    }
    return why->length > 0 ? -1 : 0;
}

static void expectation_finish(struct expectation *expected) {
    for (size_t i = 0; i < expected->n && i < MAX_KEYS; i++) {
        graft_regex_free(expected->plain[i]);
    }
}

/* The replacement, or NULL. By rule: exact names come first, then the first pattern that matches; refused patterns
 * before it become warnings. */
static const char *expected_for(struct expectation *expected, const char *name) {
    struct graft_regex_match match;
    if (!expected->by_rule) {
        return graft_json_string(graft_json_get(graft_json_get(expected->row, "expected"), name), NULL);
    }
    for (size_t i = 0; i < expected->n; i++) {
        if (strcmp(expected->keys[i], name) == 0) {
            return mapped(expected->row, i, 1);
        }
    }
    for (size_t i = 0; i < expected->n; i++) {
        if (expected->plain[i] == NULL) {
            expected->warned[i] = 1;
        } else if (graft_regex_search(expected->plain[i], name, strlen(name), 0, &match) == GRAFT_REGEX_MATCH) {
            return mapped(expected->row, i, 1);
        }
    }
    return NULL;
}

/* Whether the rule's results so far equal the recorded ones after all. */
static int as_recorded(const struct expectation *expected, const char *name, const char *replacement) {
    const char *recorded = graft_json_string(graft_json_get(graft_json_get(expected->row, "expected"), name), NULL);
    return recorded == NULL ? replacement == NULL : replacement != NULL && strcmp(recorded, replacement) == 0;
}

static int is_noted(struct graft_registry *registry, const char *key) {
    char *start = graft_format("key \"%s\" is treated as a plain name: ", key);
    int found = 0;
    for (size_t i = 0; start != NULL && graft_registry_note(registry, i) != NULL; i++) {
        found = found || strncmp(graft_registry_note(registry, i), start, strlen(start)) == 0;
    }
    graft_free(start);
    return found;
}

static void compare_name(struct world *world, struct expectation *expected, const char *name, struct graft_text *why,
                         int *differs) {
    char wanted[256], got[256];
    const struct graft_class *cls = NULL;
    struct graft_error error = graft_error_none();
    const char *replacement = expected_for(expected, name);
    (void)snprintf(wanted, sizeof wanted, "%s:%s", replacement != NULL ? "patch" : "original",
                   replacement != NULL ? replacement : name);
    *differs = *differs || !as_recorded(expected, name, replacement);
    if (graft_registry_look_up(world->registry, name, NULL, &cls, &error) != GRAFT_OK) {
        (void)fail(why, "%s: %s", name, error.message);
    } else if (strcmp(world_role(world, cls, got), wanted) != 0) {
        (void)fail(why, "%s: expected %s, got %s", name, wanted, got);
    }
}

static void compare(struct world *world, struct expectation *expected, struct graft_text *why, int *differs) {
    const graft_json *names = graft_json_get(expected->row, "class_names");
    for (size_t i = 0; i < graft_json_size(names); i++) {
        compare_name(world, expected, graft_json_string(graft_json_at(names, i), NULL), why, differs);
    }
    for (size_t i = 0; i < expected->n; i++) {
        const char *key = expected->keys[i];
        *differs = *differs || expected->warned[i] != is_recorded_warning(expected->row, key);
        if (is_noted(world->registry, key) != expected->warned[i]) {
            (void)fail(why, "key \"%s\": expected %s warning", key, expected->warned[i] ? "a" : "no");
        }
    }
}

static int set_up(struct world *world, const graft_json *row, struct graft_text *why) {
    const graft_json *names = graft_json_get(row, "class_names");
    struct graft_patch patches[MAX_KEYS];
    struct graft_scope *scope;
    struct graft_error error = graft_error_none();
    size_t n = graft_json_size(graft_json_get(row, "mapping"));
    for (size_t i = 0; i < graft_json_size(names); i++) {
        if (world_add(world, graft_json_string(graft_json_at(names, i), NULL), NULL) != 0) {
            (void)fail(why, "a class cannot be added");
            return -1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        patches[i] = (struct graft_patch){.struct_size = sizeof(struct graft_patch),
                                          .key = mapped(row, i, 0),
                                          .replacement = world_replacement(world, mapped(row, i, 1))};
    }
    if (graft_registry_register(world->registry, patches, n, 0, &error) != GRAFT_OK ||
        graft_registry_enter(world->registry, &scope, &error) != GRAFT_OK) {
        (void)fail(why, "%s", error.message);
        return -1;
    }
    return 0;
}

enum verdict resolution_judge(const graft_json *row, struct graft_text *why) {
    struct world world;
    struct expectation expected;
    int differs = 0;
    if (world_init(&world) == 0 && expect(&expected, row, why) == 0 && set_up(&world, row, why) == 0) {
        compare(&world, &expected, why, &differs);
    }
    expectation_finish(&expected);
    world_finish(&world);
    if (why->length > 0) {
        return FAILED;
    }
    if (differs) {
        deviate(why, "PCRE2 reads the pattern otherwise");
    }
    return differs ? DEVIATION : PASSED;
}

static int knows(const graft_json *row) {
    const char *type = text_at(row, "type");
    return (strcmp(type, "resolution") == 0 && graft_json_get(row, "class_names") != NULL) ||
           (strcmp(type, "sequence") == 0 && graft_json_get(row, "steps") != NULL);
}

static enum verdict judge(const graft_json *row, struct graft_text *why) {
    return strcmp(text_at(row, "type"), "resolution") == 0 ? resolution_judge(row, why) : sequence_judge(row, why);
}

const struct schema patch_resolution_schema = {"patch_resolution", knows, judge};
