/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests of folders of miniatures (test_types.c, test_readers.c, test_conditional.c). */
#ifndef GRAFT_GOLDENS_MINIATURE_H
#define GRAFT_GOLDENS_MINIATURE_H

#include "base/json.h"
#include "graft/host/model.h"

/* The largest difference from the reference's numbers that is allowed for a case: a few times the reference's own error
 * in f32, since sums in another order differ by about as much. `document` is the case in cases.json. */
double miniature_tolerance(const graft_json *document);

/* Whether a case is among the `n` given names; true if n is 0. */
int miniature_is_wanted(const char *name, char **names, int n);

/* Records a failure of a case: one line. */
typedef void miniature_wrong(void *data, const char *what);

/* Checks that each field of config.json is used, and that each tensor of the checkpoint has a parameter. */
void miniature_check_plan(const struct graft_model *model, miniature_wrong *wrong, void *data);

/* Checks that saving the model gives the model.safetensors of `directory`, byte by byte. */
void miniature_check_saved(struct graft_model *model, const char *directory, miniature_wrong *wrong, void *data);

#endif
