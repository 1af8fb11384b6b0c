/* SPDX-License-Identifier: Apache-2.0 */
#include "library/survey.h"

#include <string.h>

/* Sets the number if this is the first module with an attribute of that name. */
static void take(const struct graft_node *node, const char *name, int64_t *number) {
    for (size_t i = 0; i < node->n_attributes && *number < 0; i++) {
        if (strcmp(node->attributes[i].name, name) == 0) {
            *number = node->attributes[i].values[0];
        }
    }
}

/* Bytes of a module's states. A class that calls super and inherits its description leaves the states to super. */
static int64_t state_bytes(const struct graft_node *node) {
    int64_t bytes = 0;
    for (size_t i = 0; i < node->n_states; i++) {
        bytes += GRAFT_STATE_ARRAYS * node->states[i].state.bytes;
    }
    return node->super != NULL && node->super->described_by == node->described_by ? 0 : bytes;
}

static int look(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_survey *survey = data;
    (void)error;
    node->index = survey->n_modules++;
    survey->state_bytes += state_bytes(node);
    if (node->like == NULL) { /* it shares the attributes of that module */
        take(node, "image_token_id", &survey->image_token_id);
        take(node, "video_token_id", &survey->video_token_id);
    }
    return GRAFT_OK;
}

struct graft_survey graft_survey_make(struct graft_tree *tree) {
    struct graft_survey survey = {.image_token_id = -1, .video_token_id = -1};
    (void)graft_tree_walk(tree, look, &survey, NULL);
    return survey;
}
