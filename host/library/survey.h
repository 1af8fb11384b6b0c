/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about all modules of a model, collected in one walk, since a model may have tens of thousands. */
#ifndef GRAFT_LIBRARY_SURVEY_H
#define GRAFT_LIBRARY_SURVEY_H

#include "model/tree.h"

struct graft_survey {
    size_t n_modules;
    int64_t state_bytes;    /* bytes of all modules' states for a sequence */
    int64_t image_token_id; /* values in the first modules that declare attributes of these names; -1: none does */
    int64_t video_token_id;
};

/* [load] Walks over a tree, and numbers its modules (`index` of struct graft_node). */
struct graft_survey graft_survey_make(struct graft_tree *tree);

#endif
