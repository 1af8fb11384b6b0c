/* SPDX-License-Identifier: Apache-2.0 */
/* Tries values of the plugin's options: with any allowed value, `init` must succeed or say why not. */
#include <string.h>

#include "base/alloc.h"
#include "graft/option.h"
#include "validate/validation.h"

/* Starts the plugin with a value. It may refuse with a message; values outside the declared range are refused by the
 * host. */
static int start_with(const struct graft_validation *validation, const struct graft_plugin *plugin,
                      const struct graft_option *option, const char *value, int must, struct graft_error *error) {
    struct graft_error own = graft_error_none();
    struct graft_library *library = NULL;
    char *text = graft_format("%s.%s=%s", plugin->id, option->name, value);
    const char *given = text;
    if (text == NULL) {
        return graft_fail_memory(error, validation->file);
    }
    int status = graft_validation_library(validation, &given, 1, &library, &own);
    graft_library_free(library);
    graft_free(text);
    if (status == GRAFT_OK || (!must && own.message[0] != '\0' && strstr(own.message, "without giving") == NULL)) {
        return GRAFT_OK;
    }
    return graft_validation_fault(validation, error, "%s=%s: %s", option->name, value,
                                  own.message[0] != '\0' ? own.message : "refused without a reason");
}

static int each(struct graft_validation *validation,
                int (*check)(const struct graft_validation *validation, const struct graft_plugin *plugin,
                             const struct graft_option *option, struct graft_error *error),
                struct graft_error *error) {
    const struct graft_plugin *plugin = NULL;
    int status = graft_validation_descriptor(validation, &plugin, error);
    if (status == GRAFT_OK && plugin->n_options == 0) {
        return graft_validation_skip(validation, "it has no options");
    }
    for (int32_t i = 0; status == GRAFT_OK && i < plugin->n_options; i++) {
        status = check(validation, plugin, graft_plugin_option(plugin, i), error);
    }
    return status;
}

static int with_default(const struct graft_validation *validation, const struct graft_plugin *plugin,
                        const struct graft_option *option, struct graft_error *error) {
    return start_with(validation, plugin, option, option->default_value, 1, error);
}

static int with_choices(const struct graft_validation *validation, const struct graft_plugin *plugin,
                        const struct graft_option *option, struct graft_error *error) {
    int status = GRAFT_OK;
    for (const char *const *choice = option->choices; choice != NULL && *choice != NULL && status == GRAFT_OK;
         choice++) {
        status = start_with(validation, plugin, option, *choice, 1, error);
    }
    return status;
}

/* Tries the smallest and largest values of each option. */
static int with_extremes(const struct graft_validation *validation, const struct graft_plugin *plugin,
                         const struct graft_option *option, struct graft_error *error) {
    static const char *const values[][5] = {
        [GRAFT_OPTION_INT] = {"0", "-1", "9223372036854775807", "-9223372036854775808", NULL},
        [GRAFT_OPTION_REAL] = {"0", "-1", "1e308", "1e-308", NULL},
        [GRAFT_OPTION_STRING] = {"", "/", "%s%n", "../../x", NULL},
        [GRAFT_OPTION_BOOL] = {"true", "false", NULL},
    };
    int status = GRAFT_OK;
    for (int i = 0; option->choices == NULL && status == GRAFT_OK && values[option->kind][i] != NULL; i++) {
        status = start_with(validation, plugin, option, values[option->kind][i], 0, error);
    }
    return status;
}

static int check_defaults(struct graft_validation *validation, struct graft_error *error) {
    return each(validation, with_default, error);
}

static int check_choices(struct graft_validation *validation, struct graft_error *error) {
    return each(validation, with_choices, error);
}

static int check_extremes(struct graft_validation *validation, struct graft_error *error) {
    return each(validation, with_extremes, error);
}

const struct graft_validation_check graft_option_checks[] = {
    GRAFT_OBJECT_CHECK("options.defaults", "it starts with the default of each option", check_defaults),
    GRAFT_OBJECT_CHECK("options.choices", "it starts with each value that an option lists", check_choices),
    GRAFT_OBJECT_CHECK("options.extremes", "it starts with extreme values of each option, or says why it does not",
                       check_extremes),
    {{0}, NULL, 0},
};
