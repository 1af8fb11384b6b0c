/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/choose.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "plugin/family_file.h"
#include "plugin/object_file.h"
#include "plugin/plugin_ref.h"

/* Whether a file looks like a plugin. Files that cannot be opened are left to the loader, whose messages are better. */
static int is_plugin(const char *file) {
    struct graft_error ignored = graft_error_none();
    int has_entry = 0;
    return graft_family_file_is(file) ||
           (graft_object_file_check(file, GRAFT_PLUGIN_ENTRY, &has_entry, &ignored) == GRAFT_OK && has_entry);
}

static int ask(const char *file, graft_plugin_file_function on_file, void *data, int32_t *open,
               struct graft_error *error) {
    struct graft_error unreadable = graft_error_none();
    char digits[GRAFT_SHA256_DIGITS + 1];
    if (!is_plugin(file) || graft_sha256_file(file, GRAFT_ERROR_PLUGIN, digits, &unreadable) != GRAFT_OK) {
        return GRAFT_OK;
    }
    return on_file(data, file, digits, open, error);
}

int graft_plugin_files_choose(const struct graft_plugin_files *files, graft_plugin_file_function on_file, void *data,
                              struct graft_chosen_files *chosen, struct graft_error *error) {
    int status = GRAFT_OK;
    chosen->names = graft_alloc(files->n, sizeof *chosen->names);
    chosen->left_out = graft_alloc(files->n, sizeof *chosen->left_out);
    if (chosen->names == NULL || chosen->left_out == NULL) {
        return graft_fail_memory(error, NULL);
    }
    for (size_t i = 0; i < files->n && status == GRAFT_OK; i++) {
        const char *file = files->items[i].name;
        int32_t open = 1;
        status = on_file != NULL ? ask(file, on_file, data, &open, error) : GRAFT_OK;
        if (open) {
            chosen->names[chosen->n++] = file;
        } else {
            chosen->left_out[chosen->n_left_out++] = file;
        }
    }
    return status;
}

void graft_chosen_files_free(struct graft_chosen_files *chosen) {
    graft_free(chosen->names);
    graft_free(chosen->left_out);
}
