/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of whole folders of miniatures (test_types.c, test_readers.c, test_conditional.c) have in common. */
#ifndef GRAFT_GOLDENS_MINIATURE_H
#define GRAFT_GOLDENS_MINIATURE_H

#include "base/json.h"
#include "graft/host/model.h"

/* The largest difference from the reference's numbers that a case may have: sums of f32 in two orders are apart by
 * about as much as one of them is from the sum in f64, times a few. `document` is the case in cases.json. */
double miniature_tolerance(const graft_json *document);

/* Whether a case is among the `n` names that were given; without any, each is. */
int miniature_is_wanted(const char *name, char **names, int n);

/* How a test takes down what is wrong with a case: one line. */
typedef void miniature_wrong(void *data, const char *what);

/* Each field of config.json is used, and each tensor of the checkpoint has a parameter. */
void miniature_check_plan(const struct graft_model *model, miniature_wrong *wrong, void *data);

/* Saved, the model has the model.safetensors of `directory`, byte by byte. */
void miniature_check_saved(struct graft_model *model, const char *directory, miniature_wrong *wrong, void *data);

#endif
