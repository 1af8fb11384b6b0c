/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/quantizations.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "registry/snapshot.h"

/* Adds a format's name: "int4", or "int4:32" with groups. */
static void add_name(struct graft_text *text, const struct graft_quantization *format) {
    graft_text_printf(text, "%s%s", text->length > 0 ? ", " : "", format->name);
    if (format->group_size > 0) {
        graft_text_printf(text, ":%d", (int)format->group_size);
    }
}

static int is_named(const struct graft_quantization *format, const char *name) {
    char group[16] = "";
    const char *colon = strchr(name, ':');
    const size_t own = colon != NULL ? (size_t)(colon - name) : strlen(name);
    if (strlen(format->name) != own || strncmp(format->name, name, own) != 0) {
        return 0;
    }
    (void)snprintf(group, sizeof group, "%d", (int)format->group_size);
    return colon == NULL || (format->group_size > 0 && strcmp(colon + 1, group) == 0);
}

static int fail(const struct graft_snapshot *snapshot, const char *name, struct graft_error *error) {
    struct graft_text known = {0};
    for (size_t i = 0; i < snapshot->n_plugins; i++) {
        const struct graft_plugin *plugin = snapshot->plugins[i].descriptor;
        for (int32_t k = 0; k < graft_plugin_n_quantizations(plugin); k++) {
            add_name(&known, graft_plugin_quantization(plugin, k));
        }
    }
    int status = known.failed ? graft_fail_memory(error, "quantize")
                 : known.length == 0
                     ? graft_error_set(error, GRAFT_ERROR_USAGE, "quantize",
                                       "no plugin here quantizes to \"%.100s\", or to anything else", name)
                     : graft_error_set(error, GRAFT_ERROR_USAGE, "quantize",
                                       "no plugin here quantizes to \"%.100s\", expected one of %s", name, known.bytes);
    graft_error_hint(error, "load a plugin that does");
    graft_text_free(&known);
    return status;
}

int graft_snapshot_quantization(const struct graft_snapshot *snapshot, const char *name,
                                const struct graft_quantization **format, const char **id, struct graft_error *error) {
    for (size_t i = 0; i < snapshot->n_plugins; i++) {
        const struct graft_plugin *plugin = snapshot->plugins[i].descriptor;
        for (int32_t k = 0; k < graft_plugin_n_quantizations(plugin); k++) {
            *format = graft_plugin_quantization(plugin, k);
            *id = plugin->id;
            if (is_named(*format, name)) {
                return GRAFT_OK;
            }
        }
    }
    return fail(snapshot, name, error);
}
