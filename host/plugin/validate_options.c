/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the options that users can set. */
#include <string.h>

#include "base/args.h"
#include "graft/option.h"
#include "plugin/options.h"
#include "plugin/validate.h"

enum { MAX_OPTION_NAME = 64, MAX_CHOICES = 64 };

static int validate_value(const struct graft_place *place, const char *field, const struct graft_option *option,
                          const char *text, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    if (text == NULL) {
        return graft_check_failed(place, field, error, "expected a value, got NULL");
    }
    int status = graft_option_check(option, text, &cause);
    if (status == GRAFT_ERROR_USAGE) {
        return graft_check_failed(place, field, error, "%s", cause.message);
    }
    return status == GRAFT_OK ? GRAFT_OK : graft_fail_memory(error, NULL);
}

static int validate_choices(const struct graft_place *place, const struct graft_option *option,
                            struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; option->choices != NULL && option->choices[i] != NULL && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "choices", .index = i};
        status = i < MAX_CHOICES ? validate_value(&element, NULL, option, option->choices[i], error)
                                 : graft_check_failed(place, "choices", error, "expected NULL after at most %d values",
                                                      (int)MAX_CHOICES);
    }
    return status;
}

static int validate_option(const struct graft_place *place, const struct graft_option *option,
                           struct graft_error *error) {
    int status = graft_check_text(place, "name", option->name, MAX_OPTION_NAME, error);
    if (status == GRAFT_OK && option->name[strspn(option->name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0') {
        status = graft_check_failed(place, "name", error, "expected only a-z, 0-9 and '_', got \"%s\"", option->name);
    }
    if (status == GRAFT_OK) {
        status = graft_check_text(place, "help", option->help, GRAFT_MAX_LINE, error);
    }
    if (status == GRAFT_OK && (option->kind < GRAFT_OPTION_INT || option->kind > GRAFT_OPTION_BOOL)) {
        status = graft_check_failed(place, "kind", error, "expected one of GRAFT_OPTION_..., %d to %d, got %d",
                                    GRAFT_OPTION_INT, GRAFT_OPTION_BOOL, (int)option->kind);
    }
    if (status == GRAFT_OK) {
        status = validate_choices(place, option, error);
    }
    if (status == GRAFT_OK) {
        status = validate_value(place, "default_value", option, option->default_value, error);
    }
    return status;
}

int graft_options_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                           struct graft_error *error) {
    const struct graft_array array = {"options",       "n_options",           "option_stride",
                                      plugin->options, plugin->n_options,     0,
                                      GRAFT_MAX_ARGS,  plugin->option_stride, GRAFT_OPTION_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_options && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "options", .index = i};
        const struct graft_option *option = graft_plugin_option(plugin, i);
        status = validate_option(&element, option, error);
        for (int32_t k = 0; k < i && status == GRAFT_OK; k++) {
            if (strcmp(option->name, graft_plugin_option(plugin, k)->name) == 0) {
                status = graft_check_failed(&element, "name", error, "\"%s\" is also the name of options[%d]",
                                            option->name, (int)k);
            }
        }
    }
    graft_error_hint(error, "graft/option.h says what an option must hold");
    return status;
}
