/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the plugin works with hosts of other versions: it uses what it knows, and refuses or ignores the rest. */
#include <string.h>

#include "base/alloc.h"
#include "plugin/host_services.h"
#include "plugin/validate.h"
#include "validate/entry.h"

/* Gives the plugin a longer host struct, as a later version has, with unknown members at the end. */
static int check_later(struct graft_validation *validation, struct graft_error *error) {
    enum { MORE = 64 };
    const struct graft_plugin *plugin = NULL;
    struct graft_host *later = graft_alloc(1, sizeof *later + MORE);
    if (later == NULL) {
        return graft_fail_memory(error, validation->file);
    }
    memset(later, 0xA5, sizeof *later + MORE);
    memcpy(later, graft_host_get(), sizeof *later);
    later->struct_size = sizeof *later + MORE;
    later->abi_minor++;
    int status = graft_validation_enter(validation, later, &plugin, error);
    return status == GRAFT_OK ? graft_plugin_validate_identity(validation->file, plugin, error) : status;
}

static const void *no_extension(const char *id) {
    (void)id;
    return NULL;
}

/* Gives the plugin a host without extensions, which it may refuse if it says why, or do without. */
static int check_bare(struct graft_validation *validation, struct graft_error *error) {
    static struct graft_host bare;
    struct graft_error own = graft_error_none();
    const struct graft_plugin *plugin = NULL;
    bare = *graft_host_get();
    bare.get_extension = no_extension;
    if (graft_validation_enter(validation, &bare, &plugin, &own) == GRAFT_OK) {
        return graft_plugin_validate_identity(validation->file, plugin, error);
    }
    return own.message[0] != '\0' && strstr(own.message, "without giving a reason") == NULL
               ? GRAFT_OK
               : graft_validation_fault(validation, error, "it refuses a host without extensions and does not say why");
}

static int check_twice(struct graft_validation *validation, struct graft_error *error) {
    const struct graft_plugin *first = NULL, *second = NULL;
    int status = graft_validation_enter(validation, graft_host_get(), &first, error);
    struct graft_plugin before, after;
    if (status == GRAFT_OK) {
        status = graft_plugin_validate_identity(validation->file, first, error);
    }
    if (status == GRAFT_OK) {
        before = graft_validation_copy(first);
        status = graft_validation_enter(validation, graft_host_get(), &second, error);
    }
    if (status == GRAFT_OK && first == second) {
        after = graft_validation_copy(second);
        if (memcmp(&before, &after, sizeof before) != 0) {
            status = graft_validation_fault(validation, error, "a second call of the entry changes the descriptor");
        }
    }
    return status;
}

/* Sets undefined feature bits one by one: the plugin has to refuse them, or to define them for its own interface. */
static int check_features(struct graft_validation *validation, struct graft_error *error) {
    static const uint32_t undefined = 0xFFFF0000u; /* feature bits that no interface of the SDK defines */
    const struct graft_plugin *plugin = NULL;
    int status = graft_validation_descriptor(validation, &plugin, error);
    if (status == GRAFT_OK && plugin->n_replacements == 0) {
        return graft_validation_skip(validation, "it replaces no classes");
    }
    for (int32_t i = 0; status == GRAFT_OK && i < plugin->n_replacements; i++) {
        const struct graft_class *cls = graft_plugin_replacement(plugin, i)->replacement;
        const struct graft_vtable *vtable = cls->forward;
        int wraps = (cls->flags & GRAFT_CLASS_CALLS_SUPER) != 0; /* may pass on features that it does not know */
        if (vtable != NULL && !wraps && (vtable->features & undefined) != 0) {
            status = graft_validation_fault(validation, error,
                                            "%s: features 0x%x: it says that its forward knows what nobody has defined",
                                            cls->name, (unsigned)vtable->features);
        }
    }
    return status;
}

const struct graft_validation_check graft_growth_checks[] = {
    GRAFT_OBJECT_CHECK("growth.later_host", "a host of a later minor version, with longer structs, gets the descriptor",
                       check_later),
    GRAFT_OBJECT_CHECK("growth.bare_host", "a host without extensions gets the descriptor, or a refusal with a reason",
                       check_bare),
    GRAFT_OBJECT_CHECK("growth.entry_twice", "a second call of the entry does not change the descriptor", check_twice),
    GRAFT_OBJECT_CHECK("growth.features", "classes list no features that this host does not define", check_features),
    {{0}, NULL, 0},
};
