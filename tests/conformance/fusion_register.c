/* SPDX-License-Identifier: Apache-2.0 */
/* fusion_mapping.json, type `register`: sequences of registry calls, and the mapping and the model type's list after
 * each. By docs/deviations.md a failing call changes nothing. Where transformers registers patches in a failing call,
 * the recorded state no longer applies: until a later call makes both equal again, the state before the failure is
 * expected. */
#include <stdio.h>
#include <string.h>

#include "../plugins/parts.h"
#include "base/alloc.h"
#include "fusion_mapping.h"
#include "graft/patch_embed.h"
#include "registry/conversions.h"
#include "registry/mapping.h"
#include "weight_transforms.h"

enum { MAX_MODELS = 4, MAX_PATCHES = 4 };

static const char model_type[] = "conformance_fusion";

struct play {
    const graft_json *row;
    struct graft_text *why;
    struct graft_text deviations;
    struct graft_registry *registry;
    struct made_model models[MAX_MODELS];
    size_t n_models;
    struct graft_class patches[MAX_PATCHES]; /* replacements that the case registers itself */
    size_t n_patches;
    graft_json *nothing;
    const graft_json *mapping; /* expected state: the recorded one, or that before a failed call */
    int held;                  /* the recorded mapping does not apply any more */
};

/* The kind of an error, recognised by words of its message. */
static const char *kind_of(const struct graft_error *error) {
    static const char *const kinds[][2] = {{"is already registered", "already_registered"},
                                           {"conversions with that name are already registered", "already_registered"},
                                           {"collides with one that is registered", "fusion_conflict"},
                                           {"there is no fusion family", "unknown_fusion"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(error->message, kinds[i][0]) != NULL) {
            return kinds[i][1];
        }
    }
    return "other";
}

/* The config's sizes in cases whose steps give no others. */
static graft_json *make_config(const graft_json *step) {
    static const char *const fields[] = {"in_channels", "patch_size", "temporal_patch_size"};
    static const int64_t defaults[] = {3, 2, 2};
    graft_json *config = graft_json_new_object();
    for (size_t i = 0; i < 3; i++) {
        const graft_json *given = graft_json_get(graft_json_get(step, "config"), fields[i]);
        int64_t value = given != NULL ? graft_json_int(given) : defaults[i];
        (void)graft_json_set_take(config, fields[i], graft_json_new_int(value));
    }
    return config;
}

static int call_fusion(struct play *play, const graft_json *step, struct graft_error *error) {
    const struct graft_fusion_source source = {"case", GRAFT_ERROR_USAGE};
    graft_json *document = make_config(step);
    char file[] = "config.json";
    struct graft_model_config config = {
        .file = file, .document = document, .model_type = model_type, .view = graft_config_view(document, file)};
    struct graft_snapshot *snapshot = graft_registry_snapshot(play->registry);
    struct graft_fusion_request request;
    const struct graft_tree_options options = {
        .config = &config, .snapshot = snapshot, .class_name = text_at(step, "model"), .fusion = &request};
    int status = graft_fusion_request_read(snapshot, graft_json_get(step, "fusion_config"), &source, &request, error);
    if (status == GRAFT_OK) {
        status = graft_fusion_register(play->registry, &options, error);
    }
    graft_fusion_request_finish(&request);
    graft_snapshot_release(snapshot);
    graft_json_free(document);
    return status;
}

/* Lists with a single converter each. */
static int call_conversion(struct play *play, const graft_json *step, struct graft_error *error) {
    struct case_transform read;
    const graft_json *row = graft_json_at(graft_json_get(step, "transforms"), 0);
    if (graft_json_size(graft_json_get(step, "transforms")) != 1 || case_transform_read(row, &read, play->why) != 0) {
        (void)fail(play->why, "expected one transform");
        return GRAFT_OK;
    }
    const struct graft_weight_transform transform = {
        .struct_size = sizeof transform,
        .kind = GRAFT_TRANSFORM_CONVERTER,
        .source_patterns = read.sources,
        .target_patterns = read.targets,
        .n_sources = read.n_sources,
        .n_targets = read.n_targets,
        .operations = read.operations,
        .n_operations = read.n_operations,
        .operation_stride = sizeof read.operations[0],
    };
    return graft_registry_register_conversions(play->registry, text_at(step, "name"), &transform, 1,
                                               graft_json_bool(graft_json_get(step, "overwrite")), error);
}

static int call_patch(struct play *play, const graft_json *step, struct graft_error *error) {
    const graft_json *pair = graft_json_at(graft_json_get(step, "mapping"), 0);
    if (play->n_patches == MAX_PATCHES || graft_json_size(graft_json_get(step, "mapping")) != 1) {
        (void)fail(play->why, "expected one patch");
        return GRAFT_OK;
    }
    struct graft_class *cls = &play->patches[play->n_patches++];
    *cls = good_class(NULL, 0);
    cls->name = graft_json_string(graft_json_at(pair, 1), NULL);
    cls->interface_id = GRAFT_INTERFACE_PATCH_EMBED;
    const struct graft_patch patch = {
        .struct_size = sizeof patch, .key = graft_json_string(graft_json_at(pair, 0), NULL), .replacement = cls};
    return graft_registry_register(play->registry, &patch, 1, 0, error);
}

static int call(struct play *play, const graft_json *step, struct graft_error *error) {
    const char *op = text_at(step, "op");
    if (strcmp(op, "register_fusion") == 0) {
        return call_fusion(play, step, error);
    }
    if (strcmp(op, "register_conversion") == 0) {
        return call_conversion(play, step, error);
    }
    if (strcmp(op, "register_patch") == 0) {
        return call_patch(play, step, error);
    }
    if (strcmp(op, "clear_patches") != 0) {
        (void)fail(play->why, "unknown op \"%s\"", op);
    }
    return graft_registry_clear(play->registry, error);
}

/* Checks the mapping after a step. */
static void expect_mapping(struct play *play, const graft_json *step) {
    const graft_json *recorded = graft_json_get(step, "patches");
    int is_fusion = strcmp(text_at(step, "op"), "register_fusion") == 0;
    if (strcmp(text_at(step, "op"), "clear_patches") == 0) {
        play->held = 0;
    } else if (is_fusion && !graft_json_bool(graft_json_get(step, "ok")) && !same_json(recorded, play->mapping)) {
        play->held = 1;
        deviate(&play->deviations, "a call that fails changes nothing");
    }
    play->mapping = play->held ? play->mapping : recorded;
}

static void compare_mapping(struct play *play, size_t number) {
    struct graft_patch *patches = NULL;
    size_t n = 0;
    graft_json *ours = graft_json_new_array();
    if (graft_registry_patches(play->registry, &patches, &n, NULL) != GRAFT_OK) {
        (void)fail(play->why, "step %zu: the mapping cannot be read", number);
    }
    for (size_t i = 0; i < n; i++) {
        graft_json *pair = graft_json_new_array();
        (void)graft_json_append_take(pair, graft_json_new_string(patches[i].key));
        (void)graft_json_append_take(pair, graft_json_new_string(patches[i].replacement->name));
        (void)graft_json_append_take(ours, pair);
    }
    if (!same_json(ours, play->mapping)) {
        char *text = graft_json_dump(ours, 0);
        (void)fail(play->why, "step %zu: the patches are %s", number, text != NULL ? text : "?");
        graft_free(text);
    }
    graft_patches_free(patches);
    graft_json_free(ours);
}

static void compare_list(struct play *play, const graft_json *step, size_t number) {
    const graft_json *expected = graft_json_get(step, "conversions");
    struct graft_snapshot *snapshot = graft_registry_snapshot(play->registry);
    const struct conversion_list *list = graft_snapshot_conversions(snapshot, model_type);
    if ((list == NULL) != (graft_json_type(expected) == GRAFT_JSON_NULL)) {
        (void)fail(play->why, "step %zu: there is %s list", number, list != NULL ? "a" : "no");
    } else if (list != NULL) {
        (void)compare_transforms(list->transforms, list->n, expected, play->why);
    }
    graft_snapshot_release(snapshot);
}

static void run_step(struct play *play, const graft_json *step, size_t number) {
    struct graft_error error = graft_error_none();
    int ok = call(play, step, &error) == GRAFT_OK;
    const char *kind = text_at(graft_json_get(step, "error"), "kind");
    if (ok != graft_json_bool(graft_json_get(step, "ok"))) {
        (void)fail(play->why, "step %zu: expected %s, got %s", number, ok ? kind : "success",
                   ok ? "success" : error.message);
    } else if (!ok && strcmp(kind_of(&error), kind) != 0) {
        (void)fail(play->why, "step %zu: expected %s, got %s", number, kind, error.message);
    }
    expect_mapping(play, step);
    compare_mapping(play, number);
    compare_list(play, step, number);
}

static int set_up(struct play *play) {
    const graft_json *models = graft_json_get(play->row, "models");
    void *iterator = NULL;
    const char *name = NULL;
    const graft_json *modules = NULL;
    play->registry = family_registry();
    play->nothing = graft_json_new_array();
    play->mapping = play->nothing;
    while (play->registry != NULL && graft_json_next(models, &iterator, &name, &modules)) {
        if (play->n_models == MAX_MODELS ||
            made_model_add(&play->models[play->n_models++], name, modules, play->registry) != 0) {
            return -1;
        }
    }
    return play->registry != NULL ? 0 : -1;
}

enum verdict fusion_register_judge(const graft_json *row, struct graft_text *why) {
    struct play play = {.row = row, .why = why};
    const graft_json *steps = graft_json_get(row, "steps");
    if (set_up(&play) != 0) {
        (void)fail(why, "the models cannot be made");
    }
    for (size_t i = 0; i < graft_json_size(steps) && why->length == 0; i++) {
        run_step(&play, graft_json_at(steps, i), i);
    }
    enum verdict verdict = why->length > 0 ? FAILED : play.deviations.length > 0 ? DEVIATION : PASSED;
    if (verdict == DEVIATION) {
        graft_text_add_string(why, play.deviations.bytes);
    }
    graft_text_free(&play.deviations);
    graft_registry_free(play.registry);
    graft_json_free(play.nothing);
    return verdict;
}
