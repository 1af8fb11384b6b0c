/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks; runs all or some of them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/fail.h"
#include "validate/given.h"
#include "validate/models_folder.h"
#include "validate/validation.h"

/* Checks that find a cause come before those that would find its effects. */
static const struct graft_validation_check *const groups[] = {
    graft_file_checks,     graft_descriptor_checks, graft_growth_checks,     graft_option_checks, graft_life_checks,
    graft_build_checks,    graft_call_checks,       graft_conversion_checks, graft_shared_checks, graft_forward_checks,
    graft_sequence_checks, graft_processor_checks,  graft_memory_checks,     graft_fuzz_checks,
};

static const struct graft_validation_check *find(size_t i) {
    for (size_t group = 0; group < sizeof groups / sizeof groups[0]; group++) {
        for (const struct graft_validation_check *check = groups[group]; check->function != NULL; check++) {
            if (i-- == 0) {
                return check;
            }
        }
    }
    return NULL;
}

const struct graft_check_info *graft_check(size_t i) {
    const struct graft_validation_check *check = find(i);
    return check != NULL ? &check->info : NULL;
}

/* The message of a failed check, which is printed in full only once. */
struct cause {
    struct cause *next;
    const char *name;
    char text[GRAFT_VALIDATION_TEXT];
};

/* One fault can fail many checks, for example if no model can be loaded. Later checks with the same message refer to
 * the first. */
static void name_cause(struct cause **causes, const struct graft_check_result *result, char *text) {
    const struct cause *known = *causes;
    while (known != NULL && strcmp(known->text, text) != 0) {
        known = known->next;
    }
    if (known != NULL) {
        (void)snprintf(text, GRAFT_VALIDATION_TEXT, "the same as %s", known->name);
        return;
    }
    struct cause *cause = graft_alloc(1, sizeof *cause);
    if (cause != NULL) {
        *cause = (struct cause){.next = *causes, .name = result->info->name};
        memcpy(cause->text, text, sizeof cause->text);
        *causes = cause;
    }
}

/* Whether the check has this name or belongs to the group of this name. */
static int is_called(const struct graft_validation_check *check, const char *name) {
    const size_t length = strlen(name);
    return strncmp(check->info.name, name, length) == 0 &&
           (check->info.name[length] == '\0' || check->info.name[length] == '.');
}

static int is_named(const struct graft_check_options *options, const struct graft_validation_check *check) {
    int named = options->n_only == 0;
    for (int32_t i = 0; i < options->n_only; i++) {
        named |= is_called(check, options->only[i]);
    }
    return named;
}

/* Later checks use the models that this check makes. */
static int makes_models(const struct graft_validation_check *check) {
    return strcmp(check->info.name, "build.describes") == 0;
}

static int is_wanted(const struct graft_check_options *options, size_t i) {
    const struct graft_validation_check *check = find(i);
    if (makes_models(check)) {
        while (check != NULL && !is_named(options, check)) {
            check = find(++i);
        }
    }
    return check != NULL && is_named(options, check);
}

static int check_names(const struct graft_check_options *options, struct graft_error *error) {
    for (int32_t i = 0; i < options->n_only; i++) {
        const struct graft_validation_check *check;
        size_t k = 0;
        while ((check = find(k)) != NULL && !is_called(check, options->only[i])) {
            k++;
        }
        if (check == NULL) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, options->only[i],
                                   "no check and no group of checks has this name");
        }
    }
    return GRAFT_OK;
}

/* Reports progress to the caller. */
struct progress {
    graft_check_progress told;
    void *data;
    const struct graft_check_info *info; /* the check that is running */
    int32_t done;
    int32_t total;
};

static void tell(void *data) {
    const struct progress *progress = data;
    progress->told(progress->data, progress->info, progress->done, progress->total);
}

static int32_t count_wanted(const struct graft_check_options *options) {
    int32_t n = 0;
    for (size_t i = 0; find(i) != NULL; i++) {
        n += is_wanted(options, i);
    }
    return n;
}

static int run(struct graft_validation *validation, const struct graft_check_options *options,
               graft_check_function on_result, void *data, struct graft_error *error) {
    const struct graft_validation_check *check;
    struct progress progress = {options->on_progress, data, NULL, 0, count_wanted(options)};
    struct cause *causes = NULL;
    int status = GRAFT_OK;
    validation->on_tick = progress.told != NULL ? tell : NULL;
    validation->tick_data = &progress;
    for (size_t i = 0; status == GRAFT_OK && (check = find(i)) != NULL; i++) {
        struct graft_check_result result;
        if (!is_wanted(options, i)) {
            continue;
        }
        progress.info = &check->info;
        if (progress.told != NULL) {
            tell(&progress);
        }
        graft_validation_run(validation, check, options->limit_ms, &result);
        progress.done++;
        if (validation->notes->unmade != GRAFT_OK) {
            status = graft_error_set(error, validation->notes->unmade, validation->file, "%s could not be made: %s",
                                     check->info.name, validation->notes->text);
            break;
        }
        if (result.outcome == GRAFT_CHECK_FAILED && validation->notes->is_done) {
            name_cause(&causes, &result, validation->notes->text);
        }
        status = on_result(data, &result, error);
    }
    validation->on_tick = NULL;
    validation->tick_data = NULL;
    while (causes != NULL) {
        struct cause *next = causes->next;
        graft_free(causes);
        causes = next;
    }
    return status;
}

/* Reads a program's options struct, which may be shorter than ours. */
static int read_options(const struct graft_check_options *given, struct graft_check_options *options,
                        struct graft_error *error) {
    enum { LIMIT_MS = 60000, THOROUGH_MS = 600000 };
    int status = graft_check_given(given, GRAFT_CHECK_OPTIONS_SIZE_1_0, "struct graft_check_options", error);
    *options = (struct graft_check_options){0};
    if (status == GRAFT_OK && given != NULL) {
        graft_struct_copy(options, sizeof *options, given);
    }
    if (options->limit_ms <= 0) {
        options->limit_ms = options->thorough ? THOROUGH_MS : LIMIT_MS;
    }
    if (status == GRAFT_OK) {
        status = check_names(options, error);
    }
    return status == GRAFT_OK && options->model != NULL
               ? graft_given_check(options->model, options->directories, options->n_directories, error)
               : status;
}

int graft_plugin_check(const char *file, const struct graft_check_options *options, graft_check_function on_result,
                       void *data, struct graft_error *error) {
    struct graft_check_options own;
    struct graft_models_folder folder;
    int status = read_options(options, &own, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_validation validation = {.file = file,
                                          .model = own.model,
                                          .directories = own.directories,
                                          .n_directories = own.model != NULL ? own.n_directories : 0,
                                          .fuzz = own.fuzz,
                                          .thorough = own.thorough};
    status = graft_models_folder_init(&folder, error);
    validation.folder = folder.path;
    validation.alive = folder.alive;
    validation.notes = graft_child_memory(sizeof *validation.notes);
    graft_said_init(&validation.said);
    if (status == GRAFT_OK) {
        status =
            validation.notes != NULL ? run(&validation, &own, on_result, data, error) : graft_fail_memory(error, file);
    }
    graft_said_finish(&validation.said);
    graft_models_folder_finish(&folder);
    if (validation.notes != NULL) {
        graft_child_memory_free(validation.notes, sizeof *validation.notes);
    }
    return status;
}
