/* SPDX-License-Identifier: Apache-2.0 */
/* Remarks on a planned model: what its user may not have meant, but what is no error. */
#include <string.h>

#include "base/alloc.h"
#include "library/library.h"

static int add(struct graft_model *model, char *note_take, struct graft_error *error) {
    if (note_take == NULL || graft_grow(&model->notes, &model->notes_capacity, model->n_notes, sizeof(char *)) != 0) {
        graft_free(note_take);
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, model->directory, "out of memory");
    }
    model->notes[model->n_notes++] = note_take;
    return GRAFT_OK;
}

struct search {
    const char *plugin;
    int found;
};

static int look_for_plugin(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    (void)error;
    if (node->original != NULL && strcmp(node->known->origin.plugin, search->plugin) == 0) {
        search->found = 1;
    }
    return GRAFT_OK;
}

static int note_idle_plugins(struct graft_model *model, const struct graft_library *library, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; library->plugins != NULL && i < library->plugins->n && status == GRAFT_OK; i++) {
        const struct graft_plugin *plugin = library->plugins->plugins[i].descriptor;
        struct search search = {plugin->id, 0};
        (void)graft_tree_walk(model->tree, look_for_plugin, &search, NULL);
        if (plugin->n_replacements > 0 && !search.found) {
            status = add(model, graft_format("plugin %s replaces nothing in this model", plugin->id), error);
        }
    }
    return status;
}

int graft_model_collect_notes(struct graft_model *model, const struct graft_library *library,
                              struct graft_error *error) {
    int status = note_idle_plugins(model, library, error);
    for (size_t i = 0; i < graft_checkpoint_note_count(model->checkpoint) && status == GRAFT_OK; i++) {
        status = add(model, graft_strdup(graft_checkpoint_note_at(model->checkpoint, i)), error);
    }
    return status;
}

const char *graft_model_note(const struct graft_model *model, size_t i) {
    return i < model->n_notes ? model->notes[i] : NULL;
}
