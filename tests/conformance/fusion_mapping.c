/* SPDX-License-Identifier: Apache-2.0 */
/* fusion_mapping.json: requests of a fusion_config, modules that can be fused, and the transforms of a fusion. */
#include "fusion_mapping.h"

#include <string.h>

#include "base/alloc.h"
#include "graft/plugin.h"

const struct graft_fusion_family *shipped_family(void) {
    return graft_plugin_fusion_family(graft_plugin_entry(NULL, NULL), 0);
}

struct graft_registry *family_registry(void) {
    struct graft_registry *registry = graft_registry_create(NULL);
    if (registry != NULL && graft_registry_add_fusion(registry, shipped_family(), NULL, NULL) != GRAFT_OK) {
        graft_registry_free(registry);
        return NULL;
    }
    return registry;
}

/* The kind of an error, recognised by words of its message. */
static const char *kind_of(const struct graft_error *error) {
    static const char *const kinds[][2] = {
        {"there is no fusion family", "unknown_fusion"},
        {"expected true, false or an object", "invalid_fusion_config"},
        {"missing, expected an integer", "no_such_attribute"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(error->message, kinds[i][0]) != NULL) {
            return kinds[i][1];
        }
    }
    return "other";
}

/* Whether a failure of this kind was expected. */
static enum verdict judge_error(const graft_json *row, const struct graft_error *error, struct graft_text *why) {
    const char *expected = text_at(graft_json_get(row, "error"), "kind");
    return strcmp(kind_of(error), expected) == 0
               ? PASSED
               : fail(why, "expected %s, got %s (%s)", expected[0] != '\0' ? expected : "success", kind_of(error),
                      error->message);
}

static enum verdict compare_enabled(const struct graft_fusion_request *request, const graft_json *enabled,
                                    struct graft_text *why) {
    if (enabled == NULL || request->n != graft_json_size(enabled)) {
        return fail(why, "expected %zu families, got %zu", graft_json_size(enabled), request->n);
    }
    for (size_t i = 0; i < request->n; i++) {
        const char *name = graft_fusion_family_of(request->choices[i].known)->name;
        if (strcmp(name, graft_json_string(graft_json_at(enabled, i), NULL)) != 0) {
            return fail(why, "number %zu is %s", i, name);
        }
    }
    return PASSED;
}

static enum verdict judge_request(const graft_json *row, struct graft_text *why) {
    const struct graft_fusion_source source = {"config.json", GRAFT_ERROR_MODEL};
    struct graft_registry *registry = family_registry();
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    struct graft_fusion_request request;
    struct graft_error error = graft_error_none();
    int status = graft_fusion_request_read(snapshot, graft_json_get(row, "fusion_config"), &source, &request, &error);
    enum verdict verdict = status == GRAFT_OK ? compare_enabled(&request, graft_json_get(row, "enabled"), why)
                                              : judge_error(row, &error, why);
    graft_fusion_request_finish(&request);
    graft_snapshot_release(snapshot);
    graft_registry_free(registry);
    return verdict;
}

/* Places the case's `proj` in a module at a path that the family examines: {"patch_embed": ["Module", proj]}. */
static graft_json *one_module(const graft_json *proj) {
    char *text = graft_json_dump(proj, 0);
    char *all = text != NULL ? graft_format("{\"patch_embed\": [\"Module\", %s]}", text) : NULL;
    graft_json *modules = NULL;
    if (all != NULL) {
        (void)graft_json_parse(all, strlen(all), "case", &modules, NULL);
    }
    graft_free(all);
    graft_free(text);
    return modules;
}

static enum verdict judge_fusable(const graft_json *row, struct graft_text *why) {
    struct graft_registry *registry = family_registry();
    struct graft_error error = graft_error_none();
    struct made_model model;
    graft_json *modules = one_module(graft_json_get(row, "proj"));
    graft_json *config = graft_json_new_object();
    enum verdict verdict = PASSED;
    const struct graft_fused_modules *discovery = NULL;
    if (modules == NULL || made_model_add(&model, "Model", modules, registry) != 0) {
        verdict = fail(why, "the model cannot be made");
    } else if ((discovery = made_model_discover(&model, registry, config, NULL, &error)) == NULL) {
        verdict = fail(why, "%s", error.message);
    } else if (discovery->n != 1) {
        verdict = fail(why, "expected a verdict on one module, got %zu", discovery->n);
    } else if (discovery->candidates[0]->fusable != graft_json_bool(graft_json_get(row, "expected"))) {
        verdict = fail(why, "%s", discovery->candidates[0]->reason);
    }
    graft_fused_modules_release(discovery);
    graft_registry_free(registry);
    graft_json_free(config);
    graft_json_free(modules);
    return verdict;
}

static enum verdict judge_transforms(const graft_json *row, struct graft_text *why) {
    struct graft_registry *registry = family_registry();
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    const struct graft_known_fusion *known = graft_snapshot_fusion_at(snapshot, 0);
    struct graft_config config = graft_config_view(graft_json_get(row, "config"), "config.json");
    struct graft_fusion_transforms made;
    struct graft_error error = graft_error_none();
    enum verdict verdict = PASSED;
    if (graft_fusion_transforms_make(known, "patch_embed", &config, &config, NULL, &made, &error) != GRAFT_OK) {
        verdict = judge_error(row, &error, why);
    } else {
        verdict = compare_transforms(made.items, made.n, graft_json_get(row, "transforms"), why);
        if (verdict == PASSED) {
            verdict = compare_reverse(made.items, made.n, graft_json_get(row, "reverse"), why);
        }
    }
    graft_fusion_transforms_finish(&made);
    graft_snapshot_release(snapshot);
    graft_registry_free(registry);
    return verdict;
}

static int is_type(const graft_json *row, const char *type, const char *member) {
    return strcmp(text_at(row, "type"), type) == 0 && graft_json_get(row, member) != NULL;
}

static int knows(const graft_json *row) {
    return is_type(row, "request", "fusion_config") || is_type(row, "fusable", "proj") ||
           is_type(row, "transforms", "config") || is_type(row, "register", "models");
}

static enum verdict judge(const graft_json *row, struct graft_text *why) {
    switch (text_at(row, "type")[0]) {
    case 't':
        return judge_transforms(row, why);
    case 'f':
        return judge_fusable(row, why);
    default:
        return strcmp(text_at(row, "type"), "request") == 0 ? judge_request(row, why) : fusion_register_judge(row, why);
    }
}

const struct schema fusion_mapping_schema = {"fusion_mapping", knows, judge};
