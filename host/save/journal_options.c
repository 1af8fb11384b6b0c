/* SPDX-License-Identifier: Apache-2.0 */
/* Records the options of those plugins whose classes' parameters are stored in the runtime layout. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/option.h"
#include "save/journal.h"
#include "save/save.h"

static const struct graft_known_plugin *find_plugin(const struct graft_tree *tree, const char *id) {
    const struct graft_known_plugin *known;
    for (size_t i = 0; (known = graft_snapshot_plugin_at(tree->snapshot, i)) != NULL; i++) {
        if (strcmp(known->descriptor->id, id) == 0) {
            return known;
        }
    }
    return NULL;
}

/* The option's current value; NULL if the plugin has no such option. */
static const char *find_value(const struct graft_known_plugin *known, const char *name) {
    for (int32_t i = 0; i < known->descriptor->n_options; i++) {
        if (strcmp(graft_plugin_option(known->descriptor, i)->name, name) == 0) {
            return known->options[i];
        }
    }
    return NULL;
}

int graft_journal_add_option(struct journal *journal, const struct journal_option *option) {
    if (graft_grow(&journal->options, &journal->option_capacity, journal->n_options, sizeof *option) != 0) {
        return -1;
    }
    journal->options[journal->n_options++] = *option;
    return 0;
}

static int was_added(const struct journal *journal, const char *plugin) {
    size_t i = 0;
    while (i < journal->n_options && strcmp(journal->options[i].plugin, plugin) != 0) {
        i++;
    }
    return i < journal->n_options;
}

int graft_journal_add_options(struct journal *journal, const struct graft_tree *tree, struct graft_error *error) {
    for (size_t i = 0; i < journal->n_classes; i++) {
        const char *plugin = journal->classes[i].plugin;
        const struct graft_known_plugin *known = was_added(journal, plugin) ? NULL : find_plugin(tree, plugin);
        for (int32_t k = 0; known != NULL && k < known->descriptor->n_options; k++) {
            const struct journal_option option = {plugin, graft_plugin_option(known->descriptor, k)->name,
                                                  known->options[k]};
            if (graft_journal_add_option(journal, &option) != 0) {
                return graft_fail_memory(error, SAVE_JOURNAL_FILE);
            }
        }
    }
    return GRAFT_OK;
}

int graft_journal_differs(const struct journal_option *saved, const struct graft_tree *tree) {
    const struct graft_known_plugin *known = find_plugin(tree, saved->plugin);
    const char *value = known != NULL ? find_value(known, saved->name) : NULL;
    return known != NULL && (value == NULL || strcmp(value, saved->value) != 0);
}

static int has_options(const struct graft_tree *tree) {
    const struct graft_known_plugin *known;
    int has = 0;
    for (size_t i = 0; (known = graft_snapshot_plugin_at(tree->snapshot, i)) != NULL; i++) {
        has |= known->descriptor->n_options > 0;
    }
    return has;
}

int graft_save_option_notes(const char *directory, const struct graft_tree *tree, graft_save_add add, void *data,
                            struct graft_error *error) {
    struct journal journal;
    int status = GRAFT_OK;
    if (!has_options(tree) || graft_journal_read(directory, &journal, NULL) != GRAFT_OK) {
        return GRAFT_OK; /* a broken journal is reported where it is needed */
    }
    for (size_t i = 0; i < journal.n_options && status == GRAFT_OK; i++) {
        const struct journal_option *saved = &journal.options[i];
        if (graft_journal_differs(saved, tree)) {
            const char *value = find_value(find_plugin(tree, saved->plugin), saved->name);
            status =
                add(data,
                    graft_format("the directory was saved with %s.%s=%s, %s%s", saved->plugin, saved->name,
                                 saved->value, value != NULL ? "but now it is " : "but now there is no such option",
                                 value != NULL ? value : ""),
                    error);
        }
    }
    graft_journal_finish(&journal);
    return status;
}
