/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/entry.h"

#include <string.h>

#include "plugin/loader.h"
#include "plugin/plugin_ref.h"

int graft_validation_enter(const struct graft_validation *validation, const struct graft_host *host,
                           const struct graft_plugin **plugin, struct graft_error *error) {
    struct graft_object *object = NULL;
    graft_plugin_entry_function entry;
    int status = graft_object_open(validation->file, GRAFT_PLUGIN_ENTRY, &object, error);
    void *address = status == GRAFT_OK && object != NULL ? graft_object_symbol(object, GRAFT_PLUGIN_ENTRY) : NULL;
    if (address == NULL) {
        return status != GRAFT_OK ? status
                                  : graft_validation_fault(validation, error, "it exports no %s", GRAFT_PLUGIN_ENTRY);
    }
    memcpy(&entry, &address, sizeof entry);
    *plugin = entry(host, error);
    return *plugin != NULL ? GRAFT_OK
                           : graft_error_complete(error, GRAFT_ERROR_PLUGIN, validation->file,
                                                  GRAFT_PLUGIN_ENTRY " returned NULL without giving a reason");
}
