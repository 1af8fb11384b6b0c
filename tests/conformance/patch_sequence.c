/* SPDX-License-Identifier: Apache-2.0 */
/* patch_resolution.json, type `sequence`: registry calls, and the registry and the meaning of names after each. Rules
 * of docs/deviations.md apply: a failing call changes nothing, and a scope that is left by an error is left. Where
 * transformers does otherwise the recorded state no longer applies: until a later call makes both equal again, the
 * state before is expected. Also, classes that are no modules cannot be replaced. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "classes.h"
#include "patch_resolution.h"

enum { MAX_ELEMENTS = 16, MAX_SCOPES = 8 };

static const char outside[] = "someplugin";

struct play {
    const graft_json *row;
    struct world world;
    struct graft_text *why;
    struct graft_text deviations;
    struct graft_scope *scopes[MAX_SCOPES];
    const graft_json *before[MAX_SCOPES]; /* the meaning of names when the scope was entered */
    size_t n_scopes;
    graft_json *nothing;        /* the registry before the first step */
    graft_json *untouched;      /* the meaning of names at that time */
    const graft_json *registry; /* expected state: the recorded one, or that before a failed call */
    const graft_json *visible;
    int registry_held; /* the recorded registry does not apply any more */
    int visible_held;
};

static const char *string_at(const graft_json *array, size_t i) {
    return graft_json_string(graft_json_at(array, i), NULL);
}

/* The kind of an error, recognised by words of its message. */
static const char *kind_of(const struct graft_error *error) {
    static const char *const kinds[][2] = {{"is already registered", "already_registered"},
                                           {"is not registered", "not_registered"},
                                           {"is not a class of modules", "not_a_module_class"},
                                           {"is not a class", "not_a_class"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(error->message, kinds[i][0]) != NULL) {
            return kinds[i][1];
        }
    }
    return "other";
}

static int call_register(struct play *play, const graft_json *step, struct graft_error *error) {
    const graft_json *mapping = graft_json_get(step, "mapping");
    struct graft_patch patches[MAX_ELEMENTS] = {{0}};
    size_t n = graft_json_size(mapping);
    for (size_t i = 0; i < n && i < MAX_ELEMENTS; i++) {
        const graft_json *pair = graft_json_at(mapping, i);
        patches[i].struct_size = sizeof patches[i];
        patches[i].key = string_at(pair, 0);
        patches[i].replacement = world_replacement(&play->world, string_at(pair, 1));
    }
    return graft_registry_register(play->world.registry, patches, n, graft_json_bool(graft_json_get(step, "overwrite")),
                                   error);
}

static int call_unregister(struct play *play, const graft_json *step, struct graft_error *error) {
    const graft_json *keys = graft_json_get(step, "keys");
    const char *names[MAX_ELEMENTS];
    size_t n = graft_json_size(keys);
    for (size_t i = 0; i < n && i < MAX_ELEMENTS; i++) {
        names[i] = string_at(keys, i);
    }
    return graft_registry_unregister(play->world.registry, names, n, error);
}

static int edit_copy(struct play *play, struct graft_error *error) {
    struct graft_patch *copy = NULL;
    size_t n = 0;
    int status = graft_registry_patches(play->world.registry, &copy, &n, error);
    for (size_t i = 0; i < n; i++) {
        copy[i] = (struct graft_patch){.struct_size = sizeof(struct graft_patch),
                                       .key = "Added",
                                       .replacement = world_replacement(&play->world, "Identity")};
    }
    graft_patches_free(copy);
    return status;
}

static int call_enter(struct play *play, struct graft_error *error) {
    play->before[play->n_scopes] = play->visible;
    return graft_registry_enter(play->world.registry, &play->scopes[play->n_scopes++], error);
}

/* Leaves the innermost scope. The caller's error stays the caller's. */
static void call_leave(struct play *play, const graft_json *step) {
    struct graft_error error = graft_error_none();
    (void)graft_error_set(&error, GRAFT_ERROR_IO, "caller", "raised inside the block");
    graft_registry_leave(play->world.registry, play->scopes[--play->n_scopes]);
    const graft_json *passed_on = graft_json_get(step, "error_passed_on");
    if (passed_on != NULL && graft_json_bool(passed_on) != (error.code == GRAFT_ERROR_IO)) {
        (void)fail(play->why, "the caller's error is not passed on");
    }
}

static int call(struct play *play, const graft_json *step, struct graft_error *error) {
    const char *op = text_at(step, "op");
    if (strcmp(op, "register") == 0) {
        return call_register(play, step, error);
    }
    if (strcmp(op, "unregister") == 0) {
        return call_unregister(play, step, error);
    }
    if (strcmp(op, "clear") == 0) {
        return graft_registry_clear(play->world.registry, error);
    }
    if (strcmp(op, "get_and_edit_copy") == 0) {
        return edit_copy(play, error);
    }
    if (strcmp(op, "enter") == 0 && play->n_scopes < MAX_SCOPES) {
        return call_enter(play, error);
    }
    if ((strcmp(op, "exit") == 0 || strcmp(op, "exit_with_error") == 0) && play->n_scopes > 0) {
        call_leave(play, step);
    } else if (strcmp(op, "get") != 0) {
        (void)fail(play->why, "unknown op \"%s\"", op);
    }
    return GRAFT_OK;
}

/* Checks the registry after a step. */
static void expect_registry(struct play *play, const graft_json *step) {
    const char *op = text_at(step, "op");
    const graft_json *recorded = graft_json_get(step, "registry");
    int changes = strcmp(op, "register") == 0 || strcmp(op, "unregister") == 0;
    int ok = graft_json_bool(graft_json_get(step, "ok"));
    if (strcmp(op, "clear") == 0) {
        play->registry_held = 0;
    } else if (play->registry_held && changes && ok) {
        (void)fail(play->why, "the rule does not tell what the registry holds after %s", op);
    } else if (changes && !ok && !same_json(recorded, play->registry)) {
        play->registry_held = 1;
        deviate(&play->deviations, "a call that fails changes nothing");
    }
    play->registry = play->registry_held ? play->registry : recorded;
}

/* Checks the meaning of the names after a step. */
static void expect_visible(struct play *play, const graft_json *step) {
    const char *op = text_at(step, "op");
    const graft_json *recorded = graft_json_get(step, "visible");
    int is_scope = strcmp(op, "enter") == 0 || strcmp(op, "exit") == 0;
    if (strcmp(op, "exit_with_error") == 0) {
        const graft_json *before = play->before[play->n_scopes];
        if (!same_json(recorded, before)) {
            play->visible_held = 1;
            play->visible = before;
            deviate(&play->deviations, "a scope left by an error is left");
        }
    } else if (play->visible_held && is_scope) {
        (void)fail(play->why, "the rule does not tell what names stand for after %s", op);
    }
    play->visible = play->visible_held ? play->visible : recorded;
}

static void compare_registry(struct play *play, size_t number) {
    struct graft_patch *patches = NULL;
    size_t n = 0;
    if (graft_registry_patches(play->world.registry, &patches, &n, NULL) != GRAFT_OK) {
        (void)fail(play->why, "step %zu: the registry cannot be read", number);
        return;
    }
    if (n != graft_json_size(play->registry)) {
        (void)fail(play->why, "step %zu: expected %zu keys, got %zu", number, graft_json_size(play->registry), n);
    }
    for (size_t i = 0; i < n && play->why->length == 0; i++) {
        const graft_json *pair = graft_json_at(play->registry, i);
        const struct graft_patch *patch = graft_struct_at(patches, i);
        if (strcmp(patch->key, string_at(pair, 0)) != 0 || strcmp(patch->replacement->name, string_at(pair, 1)) != 0) {
            (void)fail(play->why, "step %zu: expected %s: %s, got %s: %s", number, string_at(pair, 0),
                       string_at(pair, 1), patch->key, patch->replacement->name);
        }
    }
    graft_patches_free(patches);
}

/* Names without a class in the registry keep their meaning, whatever is registered. */
static void compare_untouched(struct play *play, const char *list, const char *role) {
    const graft_json *names = graft_json_get(play->row, list);
    for (size_t i = 0; i < graft_json_size(names); i++) {
        const char *name = string_at(names, i);
        const struct graft_class *cls = NULL;
        char wanted[256];
        (void)snprintf(wanted, sizeof wanted, role, name);
        if (graft_registry_look_up(play->world.registry, name, NULL, &cls, NULL) == GRAFT_OK) {
            (void)fail(play->why, "%s stands for %s, expected to be no class of modules", name, cls->name);
        }
        if (strcmp(text_at(play->visible, name), wanted) != 0) {
            deviate(&play->deviations, "what is no class of modules is out of reach");
        }
    }
}

static void compare_classes(struct play *play, const char *list, const char *plugin, size_t number) {
    const graft_json *names = graft_json_get(play->row, list);
    for (size_t i = 0; i < graft_json_size(names); i++) {
        const char *name = string_at(names, i);
        const struct graft_class *cls = NULL;
        struct graft_error error = graft_error_none();
        char got[256];
        if (graft_registry_look_up(play->world.registry, name, plugin, &cls, &error) != GRAFT_OK) {
            (void)fail(play->why, "step %zu: %s: %s", number, name, error.message);
        } else if (strcmp(world_role(&play->world, cls, got), text_at(play->visible, name)) != 0) {
            (void)fail(play->why, "step %zu: %s: expected %s, got %s", number, name, text_at(play->visible, name), got);
        }
    }
}

static void run_step(struct play *play, const graft_json *step, size_t number) {
    struct graft_error error = graft_error_none();
    int ok = call(play, step, &error) == GRAFT_OK;
    const char *kind = text_at(graft_json_get(step, "error"), "kind");
    if (ok != graft_json_bool(graft_json_get(step, "ok"))) {
        (void)fail(play->why, "step %zu: expected %s, got %s", number, ok ? kind : "success",
                   ok ? "success" : error.message);
    } else if (!ok && strcmp(kind_of(&error), kind) != 0) {
        (void)fail(play->why, "step %zu: expected %s, got %s (%s)", number, kind, kind_of(&error), error.message);
    }
    expect_registry(play, step);
    expect_visible(play, step);
    compare_registry(play, number);
    compare_classes(play, "classes", NULL, number);
    compare_classes(play, "outside_classes", outside, number);
    compare_untouched(play, "plain_classes", "original:%s");
    compare_untouched(play, "non_classes", "not_a_class");
}

/* Collects the meaning of a list's names; with `add` also makes classes for them, of the library or of `plugin`. */
static void set_up_list(struct play *play, const char *list, const char *role, int add, const char *plugin) {
    const graft_json *names = graft_json_get(play->row, list);
    for (size_t i = 0; i < graft_json_size(names); i++) {
        const char *name = string_at(names, i);
        char text[256];
        (void)snprintf(text, sizeof text, role, name);
        if ((add && world_add(&play->world, name, plugin) != 0) ||
            graft_json_set_take(play->untouched, name, graft_json_new_string(text)) != 0) {
            (void)fail(play->why, "out of memory");
        }
    }
}

static void set_up(struct play *play) {
    play->nothing = graft_json_new_array();
    play->untouched = graft_json_new_object();
    if (world_init(&play->world) != 0 || play->nothing == NULL || play->untouched == NULL) {
        (void)fail(play->why, "out of memory");
        return;
    }
    set_up_list(play, "classes", "original:%s", 1, NULL);
    set_up_list(play, "non_classes", "not_a_class", 0, NULL);
    set_up_list(play, "plain_classes", "original:%s", 0, NULL);
    set_up_list(play, "outside_classes", "original:%s", 1, outside);
    play->registry = play->nothing;
    play->visible = play->untouched;
}

enum verdict sequence_judge(const graft_json *row, struct graft_text *why) {
    struct play play = {.row = row, .why = why};
    const graft_json *steps = graft_json_get(row, "steps");
    set_up(&play);
    for (size_t i = 0; i < graft_json_size(steps) && why->length == 0; i++) {
        run_step(&play, graft_json_at(steps, i), i);
    }
    world_finish(&play.world);
    graft_json_free(play.nothing);
    graft_json_free(play.untouched);
    enum verdict verdict = why->length > 0 ? FAILED : play.deviations.length > 0 ? DEVIATION : PASSED;
    if (verdict == DEVIATION) {
        graft_text_add(why, play.deviations.bytes, play.deviations.length);
    }
    graft_text_free(&play.deviations);
    return verdict;
}
