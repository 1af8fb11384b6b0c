/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the extensions that a plugin requires, uses and offers. */
#include <string.h>

#include "plugin/host_services.h"
#include "plugin/validate.h"

enum { MAX_EXTENSIONS = 256 };

static int check_of_host(const struct graft_place *place, const char *id, struct graft_error *error) {
    char known[256] = "";
    if (graft_host_get()->get_extension(id) != NULL) {
        return GRAFT_OK;
    }
    for (size_t i = 0; graft_host_extension_id(i) != NULL; i++) {
        size_t length = strlen(known);
        (void)snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "", graft_host_extension_id(i));
    }
    int status = graft_check_failed(place, NULL, error, "expected one of %s, got \"%s\"", known, id);
    graft_error_hint(error, "this host has no such service; a newer one may have it");
    return status;
}

static int check_of_plugin(const struct graft_place *place, const char *id, struct graft_error *error) {
    int status = graft_check_id(place, NULL, id, error);
    return status == GRAFT_OK && graft_is_host_id(id)
               ? graft_check_failed(place, NULL, error, "\"%s\" is an id of the host; expected one of the plugin's own",
                                    id)
               : status;
}

static int check_any(const struct graft_place *place, const char *id, struct graft_error *error) {
    int status = graft_check_id(place, NULL, id, error);
    return status == GRAFT_OK && graft_is_host_id(id) ? check_of_host(place, id, error) : status;
}

static int validate_list(const struct graft_place *place, const char *field, const char *const *ids,
                         int (*check)(const struct graft_place *, const char *, struct graft_error *),
                         struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; ids != NULL && ids[i] != NULL && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = field, .index = i};
        status = i < MAX_EXTENSIONS
                     ? check(&element, ids[i], error)
                     : graft_check_failed(place, field, error, "expected NULL after at most %d ids", MAX_EXTENSIONS);
    }
    return status;
}

int graft_extensions_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                              struct graft_error *error) {
    int status = validate_list(place, "requires_extensions", plugin->requires_extensions, check_any, error);
    if (status == GRAFT_OK) {
        status = validate_list(place, "uses_extensions", plugin->uses_extensions, check_of_plugin, error);
    }
    if (status == GRAFT_OK) {
        status = validate_list(place, "offers_extensions", plugin->offers_extensions, check_of_plugin, error);
    }
    if (status == GRAFT_OK && plugin->offers_extensions != NULL && plugin->get_extension == NULL) {
        status = graft_check_failed(place, "get_extension", error,
                                    "expected a function, because offers_extensions lists some, got NULL");
    }
    return status;
}
