/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strsignal */

#include "validate/validation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "plugin/family_file.h"
#include "plugin/validate.h"
#include "validate/crash.h"

void graft_validation_at(struct graft_validation *validation, const char *place) {
    (void)snprintf(validation->notes->place, sizeof validation->notes->place, "%s", place);
    validation->notes->steps++;
}

int graft_validation_skip(struct graft_validation *validation, const char *why) {
    validation->notes->outcome = GRAFT_CHECK_SKIPPED;
    (void)snprintf(validation->notes->text, sizeof validation->notes->text, "%s", why);
    return GRAFT_OK;
}

int graft_validation_say(struct graft_validation *validation, const char *what) {
    (void)snprintf(validation->notes->text, sizeof validation->notes->text, "%s", what);
    return GRAFT_OK;
}

int graft_validation_fault(const struct graft_validation *validation, struct graft_error *error, const char *format,
                           ...) {
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, validation->file, "%s", text);
}

static int load(const struct graft_validation *validation, const struct graft_library_options *options,
                struct graft_library **library, struct graft_error *error) {
    int status = graft_library_create(library, error);
    if (status == GRAFT_OK) {
        status = graft_library_load_plugin(*library, validation->file, options, error);
        if (status != GRAFT_OK) {
            graft_library_free(*library);
            *library = NULL;
        }
    }
    return status;
}

int graft_validation_library(const struct graft_validation *validation, const char *const *plugin_options, int32_t n,
                             struct graft_library **library, struct graft_error *error) {
    const struct graft_library_options options = {
        .struct_size = sizeof options, .plugin_options = plugin_options, .n_plugin_options = n};
    return load(validation, &options, library, error);
}

int graft_validation_library_of_models(const struct graft_validation *validation, struct graft_library **library,
                                       struct graft_error *error) {
    const struct graft_library_options options = {.struct_size = sizeof options,
                                                  .directories = validation->directories,
                                                  .n_directories = validation->n_directories};
    return load(validation, &options, library, error);
}

int graft_validation_is_family(const struct graft_validation *validation) {
    return graft_family_file_is(validation->file);
}

int graft_validation_descriptor(const struct graft_validation *validation, const struct graft_plugin **descriptor,
                                struct graft_error *error) {
    const struct graft_library_options options = {.struct_size = sizeof options, .inspect_only = 1};
    struct graft_library *library = NULL;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        status = graft_library_load_plugin(library, validation->file, &options, error);
    }
    if (status == GRAFT_OK) {
        *descriptor = graft_library_plugin(library, 0)->descriptor; /* the object stays mapped; it was not started */
    }
    if (!graft_validation_is_family(validation)) { /* its descriptor belongs to the library */
        graft_library_free(library);
    }
    return status;
}

struct graft_plugin graft_validation_copy(const struct graft_plugin *descriptor) {
    struct graft_plugin copy = {0};
    memcpy(&copy, descriptor, descriptor->struct_size < sizeof copy ? descriptor->struct_size : sizeof copy);
    return copy;
}

/* --- In the child --- */

struct work {
    struct graft_validation *validation;
    const struct graft_validation_check *check;
};

/* Whether an error is about a file of the tiny models. */
static int is_of_models(const struct graft_validation *validation, const struct graft_error *error) {
    const size_t folder = strlen(validation->folder);
    return strncmp(error->source, validation->folder, folder) == 0 && error->source[folder] == '/';
}

/* The source of an error if it tells the author something: neither the plugin's own file, which the report names, nor a
 * path of the tiny models. */
static const char *source_of(const struct graft_validation *validation, const struct graft_error *error) {
    if (strcmp(error->source, validation->file) == 0) {
        return "";
    }
    if (!is_of_models(validation, error)) {
        return error->source;
    }
    /* the report names the model already */
    const char *inside = strchr(error->source + strlen(validation->folder) + 1, '/');
    return inside != NULL ? inside + 1 : "";
}

static void work(void *data) {
    struct work *given = data;
    struct graft_validation_notes *notes = given->validation->notes;
    struct graft_error error = graft_error_none();
    graft_said_redirect(&given->validation->said);
    (void)close(given->validation->alive); /* so that processes the plugin leaves behind do not keep the models */
    graft_crash_watch(given->validation);
    int status = given->check->of_object && graft_validation_is_family(given->validation)
                     ? graft_validation_skip(given->validation, "a family file has no code")
                     : given->check->function(given->validation, &error);
    if (status != GRAFT_OK) {
        notes->outcome = GRAFT_CHECK_FAILED;
        notes->unmade = error.code == GRAFT_ERROR_IO && is_of_models(given->validation, &error) ? GRAFT_ERROR_IO : 0;
        const char *source = source_of(given->validation, &error);
        (void)snprintf(notes->text, sizeof notes->text, "%s%s%s%s%s", source, source[0] == '\0' ? "" : ": ",
                       error.message[0] != '\0' ? error.message : "no reason was recorded",
                       error.hint[0] != '\0' ? "; " : "", error.hint);
    }
    notes->is_done = 1;
}

/* --- In the waiting process --- */

static void judge(struct graft_validation *validation, const struct graft_child_end *end, int32_t limit_ms) {
    struct graft_validation_notes *notes = validation->notes;
    char text[GRAFT_VALIDATION_TEXT] = "";
    if (end->failed != 0) {
        notes->unmade = GRAFT_ERROR_INTERNAL;
        (void)snprintf(text, sizeof text, "%s", strerror(end->failed));
    } else if (end->timed_out == GRAFT_CHILD_STARVED) {
        notes->unmade = GRAFT_ERROR_INTERNAL;
        (void)snprintf(text, sizeof text, "the machine was too busy");
    } else if (end->timed_out != GRAFT_CHILD_IN_TIME) {
        (void)snprintf(text, sizeof text, "the plugin did not come back: it %s for %g seconds",
                       end->timed_out == GRAFT_CHILD_ASLEEP ? "slept" : "used the processor", limit_ms / 1000.0);
    } else if (end->signal != 0) {
        (void)snprintf(text, sizeof text, "the plugin was killed by signal %d (%s)", (int)end->signal,
                       strsignal(end->signal));
    } else if (!notes->is_done) {
        (void)snprintf(text, sizeof text, "the plugin ended the process (exit status %d)", (int)end->exit_status);
    } else if (end->left) {
        (void)snprintf(text, sizeof text, "the plugin left processes behind");
    }
    if (validation->said.summary[0] != '\0') {
        (void)snprintf(text, sizeof text, "%s", validation->said.summary);
    }
    if (text[0] != '\0') {
        notes->outcome = GRAFT_CHECK_FAILED;
        memcpy(notes->text, text, sizeof text);
    }
    if (notes->outcome == GRAFT_CHECK_FAILED && notes->place[0] != '\0') {
        (void)snprintf(text, sizeof text, "%s", notes->text);
        (void)snprintf(notes->text, sizeof notes->text, "%.255s: %.1700s", notes->place, text);
    }
    graft_error_clean(notes->text);
}

static void on_tick(void *data) {
    const struct graft_validation *validation = data;
    graft_said_limit(&validation->said);
    if (validation->on_tick != NULL) {
        validation->on_tick(validation->tick_data);
    }
}

void graft_validation_run(struct graft_validation *validation, const struct graft_validation_check *check,
                          int32_t limit_ms, struct graft_check_result *result) {
    struct graft_child_end end;
    const struct graft_child_limits limits = {
        .processor_ms = limit_ms,
        .asleep_ms = limit_ms,
        .steps = &validation->notes->steps,
        .on_tick = on_tick,
        .data = validation,
    };
    struct work given = {validation, check};
    double start = graft_seconds();
    *validation->notes = (struct graft_validation_notes){0};
    validation->said.text[0] = '\0';
    if (validation->hung != NULL) {
        char why[GRAFT_VALIDATION_TEXT];
        (void)snprintf(why, sizeof why, "the plugin did not come back in %s", validation->hung);
        (void)graft_validation_skip(validation, why);
    } else {
        graft_child_run(work, &given, &limits, &end);
        graft_said_take(&validation->said);
        judge(validation, &end, limit_ms);
        validation->hung = end.timed_out != GRAFT_CHILD_IN_TIME ? check->info.name : NULL;
    }
    *result = (struct graft_check_result){.struct_size = sizeof *result,
                                          .outcome = validation->notes->outcome,
                                          .info = &check->info,
                                          .text = validation->notes->text,
                                          .output = validation->said.text,
                                          .seconds = graft_seconds() - start};
}
