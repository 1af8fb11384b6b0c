/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a directory is in the runtime layout, and names the plugins that it was saved with. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "save/journal.h"
#include "save/save.h"

struct search {
    const struct graft_tree *tree;
    const struct journal_class *cls;
    int found;
};

static int look_for(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    struct journal_class cls;
    (void)error;
    search->found |= graft_journal_class_at(search->tree, node, &cls) &&
                     strcmp(cls.class_name, search->cls->class_name) == 0 &&
                     strcmp(cls.plugin, search->cls->plugin) == 0;
    return GRAFT_OK;
}

int graft_save_is_runtime_layout(const char *directory) {
    struct journal journal;
    int is_one = graft_journal_read(directory, &journal, NULL) == GRAFT_OK && journal.n_entries > 0;
    graft_journal_finish(&journal);
    return is_one;
}

void graft_save_hint(const char *directory, struct graft_tree *tree, const struct graft_binding *fault,
                     struct graft_error *error) {
    struct journal journal;
    struct graft_text needed = {0};
    if (error == NULL || graft_journal_read(directory, &journal, NULL) != GRAFT_OK) {
        return;
    }
    for (size_t i = 0; i < journal.n_classes; i++) {
        struct search search = {tree, &journal.classes[i], 0};
        (void)graft_tree_walk(tree, look_for, &search, NULL);
        if (!search.found) {
            graft_text_printf(&needed, "%s%s for %s (plugin %s)", needed.length > 0 ? ", " : "", search.cls->class_name,
                              search.cls->original, search.cls->plugin);
        }
    }
    if (needed.length > 0 && !needed.failed) {
        graft_error_clean(needed.bytes);
        graft_error_hint(error, "the directory is in the runtime layout of %s; load it with the plugins named",
                         needed.bytes);
    }
    for (size_t i = 0; i < journal.n_options; i++) {
        const struct journal_option *saved = &journal.options[i];
        if (graft_journal_differs(saved, tree)) {
            graft_error_hint(error, "the directory was saved with %s.%s=%s; load it with the same", saved->plugin,
                             saved->name, saved->value);
        }
    }
    if (needed.length == 0 && fault != NULL && graft_journal_is_absent(&journal, fault->parameter->name)) {
        graft_error_hint(error,
                         "a patch file gave the directory a layout without it; saving it restores the original layout");
    }
    graft_text_free(&needed);
    graft_journal_finish(&journal);
}
