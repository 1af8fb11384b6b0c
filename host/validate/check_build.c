/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the plugin's classes, with valid configs and with changed ones. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "model/alike_check.h"
#include "validate/checks.h"
#include "validate/given.h"
#include "validate/tiny.h"

/* Renames a model's folder: checks ignore names that begin with a dot. */
static void put_aside(const struct graft_validation *validation, const char *type) {
    static int number;
    char *directory = graft_path_join(validation->folder, type);
    char *aside = graft_format("%s/.%s-%d", validation->folder, type, number++);
    if (directory != NULL && aside != NULL) {
        (void)rename(directory, aside);
    }
    graft_free(aside);
    graft_free(directory);
}

/* Makes the model and opens it with the plugin. Keeps it only if the plugin replaces something in it. */
static int make_one(struct graft_validation *validation, struct graft_library *library, const char *type,
                    const char *architecture, const struct graft_tiny_sizes *sizes, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    const char *id = graft_library_plugin(library, 0)->descriptor->id;
    struct graft_model *model = NULL;
    char *directory = graft_path_join(validation->folder, type);
    if (directory == NULL) {
        return graft_fail_memory(error, type);
    }
    graft_validation_at(validation, type);
    int status = graft_tiny_make(validation, library, type, architecture, sizes, type, error);
    if (status == GRAFT_OK) {
        status = graft_tiny_open(library, directory, &options, &model, error);
    }
    if (status == GRAFT_OK && graft_model_plan(model)->plugin != NULL) {
        status = graft_plan_check(model->plan, error);
    }
    if (status != GRAFT_OK || !graft_subject_is_plugins(model, id)) {
        put_aside(validation, type);
    }
    graft_model_free(model);
    graft_free(directory);
    return status;
}

/* For a model type that the plugin brings, neither fields nor layout are known here, so a model that cannot be made is
 * not a fault. Some types do not support fewer kv heads than heads, so that is tried second. */
static int make_own_type(struct graft_validation *validation, struct graft_library *library,
                         const struct graft_family *family, struct graft_error *error) {
    const char *architecture = graft_family_architecture(family, 0)->name;
    struct graft_tiny_sizes all_heads = graft_tiny_usual;
    struct graft_error first = graft_error_none(), second = graft_error_none();
    all_heads.kv_heads = all_heads.heads;
    if (make_one(validation, library, family->model_type, architecture, &graft_tiny_usual, &first) != GRAFT_OK &&
        make_one(validation, library, family->model_type, architecture, &all_heads, &second) != GRAFT_OK) {
        if (second.code == GRAFT_ERROR_IO) {
            return graft_error_set(error, second.code, second.source, "%s", second.message);
        }
        graft_tiny_refused(validation, family->model_type, &second);
    }
    return GRAFT_OK;
}

static int make_own(struct graft_validation *validation, struct graft_library *library, struct graft_error *error) {
    const struct graft_plugin *plugin = graft_library_plugin(library, 0)->descriptor;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < plugin->n_families && status == GRAFT_OK; i++) {
        status = make_own_type(validation, library, graft_plugin_family(plugin, i), error);
    }
    return status;
}

/* Whether any model has not been hidden (by a leading dot) because the plugin replaces nothing in it. */
static int has_models(const struct graft_validation *validation) {
    struct dirent **entries = NULL;
    int n = scandir(validation->folder, &entries, NULL, alphasort), found = 0;
    for (int i = 0; i < n; i++) {
        found |= entries[i]->d_name[0] != '.';
        free(entries[i]); /* allocated by the C library, as is the list */
    }
    free(entries);
    return found;
}

static int make_all(struct graft_validation *validation, struct graft_library *library, struct graft_error *error) {
    const char *type, *architecture;
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && (type = graft_tiny_type(i, &architecture)) != NULL; i++) {
        status = make_one(validation, library, type, architecture, &graft_tiny_usual, error);
    }
    const int own = make_own(validation, library, status == GRAFT_OK ? error : NULL);
    status = status == GRAFT_OK ? own : status;
    return status == GRAFT_OK && !has_models(validation) ? graft_tiny_skip(validation) : status;
}

static int check_describe(struct graft_validation *validation, struct graft_error *error) {
    struct graft_library *library = NULL;
    int status = graft_validation_library_of_models(validation, &library, error);
    if (status == GRAFT_OK) {
        status = validation->model != NULL ? graft_given_take(validation, library, error)
                                           : make_all(validation, library, error);
    }
    graft_library_free(library);
    return status;
}

/* Writes everything that the descriptions declare as text, for comparing. */
static void write_plan(struct graft_text *text, const struct graft_model *model) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    for (size_t i = 0; i < plan->n_parameters; i++) {
        const struct graft_planned_parameter *parameter = plan->parameters[i];
        graft_text_printf(text, "%s %d %s", parameter->name, (int)parameter->status, parameter->operations);
        for (int32_t d = 0; d < parameter->rank; d++) {
            graft_text_printf(text, " %lld", (long long)parameter->shape[d]);
        }
        graft_text_printf(text, "\n");
    }
}

static struct graft_text asked_for; /* by the plugin's families; static because a check has a process of its own */

/* Adds the fields of config.json that the model's family asked for, if the plugin brings the family. */
static void write_asked(const struct graft_model *model) {
    const char *name;
    for (size_t i = 0; graft_model_plan(model)->plugin != NULL && (name = graft_model_asked_field(model, i)) != NULL;
         i++) {
        if (i == 0) {
            graft_text_printf(&asked_for, "%s%s asks config.json for ", asked_for.length > 0 ? "; " : "",
                              graft_model_plan(model)->model_type);
        }
        graft_text_printf(&asked_for, "%s%s", i > 0 ? ", " : "", name);
    }
}

/* The second time each module is described on its own, including those that usually share a description
 * (GRAFT_CLASS_SAME_ANYWHERE). Missing weights are ignored here; another check looks at them. */
static int compare_plans(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_text texts[2] = {{0}};
    int status = GRAFT_OK;
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        struct graft_library *library = NULL;
        struct graft_model *model = NULL;
        graft_alike_check(i);
        status = graft_validation_library_of_models(subject->validation, &library, error);
        if (status == GRAFT_OK) {
            status = graft_tiny_open(library, subject->directory, &options, &model, error);
        }
        if (status == GRAFT_OK) {
            write_plan(&texts[i], model);
        }
        if (status == GRAFT_OK && i == 0) {
            write_asked(model);
        }
        graft_model_free(model);
        graft_library_free(library);
    }
    if (status == GRAFT_OK && !texts[0].failed && !texts[1].failed && texts[0].length > 0 &&
        strcmp(texts[0].bytes, texts[1].bytes) != 0) {
        status = graft_validation_fault(subject->validation, error, "the same model is described differently twice");
    }
    graft_text_free(&texts[0]);
    graft_text_free(&texts[1]);
    return status;
}

/* Fails if a second description differs from the first, or asks config.json for other fields. */
static int check_repeats(struct graft_validation *validation, struct graft_error *error) {
    int status = graft_tiny_each_closed(validation, compare_plans, error);
    if (status == GRAFT_OK && asked_for.length > 0) {
        (void)graft_validation_say(validation, asked_for.bytes);
    }
    graft_text_free(&asked_for);
    return status;
}

const struct graft_validation_check graft_build_checks[] = {
    GRAFT_CHECK("build.describes", "models of all types that it names or adds are described with it", check_describe),
    GRAFT_CHECK(
        "build.repeats",
        "a model is described the same each time; classes that claim to be the same anywhere are, at every place",
        check_repeats),
    GRAFT_CHECK("build.config_absent", "a config.json that lacks a field is described or refused with a reason",
                graft_check_config_absent),
    GRAFT_CHECK("build.config_hostile", "a field of config.json with a senseless value is described or refused",
                graft_check_config_hostile),
    GRAFT_CHECK("build.loads", "models are loaded and freed: parameters get their weights, and create makes modules",
                graft_check_loads),
    {{0}, NULL, 0},
};
