/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of cases in key_renaming.json share. */
#ifndef GRAFT_TEST_CONFORMANCE_KEY_RENAMING_H
#define GRAFT_TEST_CONFORMANCE_KEY_RENAMING_H

#include "names/key_list.h"
#include "runner.h"

enum case_form {
    CASE_AS_GIVEN,
    CASE_WITH_LEGACY, /* with the list for old checkpoints behind */
    CASE_AS_READY     /* of a table: sources as they became */
};

/* Transforms as cases write them: the form of patch files, but that a change of prefix repeats its patterns, and that
 * a table's rows hold results. Returns a status; `*fault` says why. */
int case_list_init(struct key_list *list, const graft_json *transforms, enum case_form form, enum key_fault *fault,
                   struct graft_error *error);

/* Whether an array holds these strings, in order. */
int case_same_strings(char *const *strings, int32_t n, const graft_json *recorded);

/* The recorded name of a fault. */
const char *case_key_fault(enum key_fault fault);

/* Whether patterns became what is recorded ({"source_patterns", "target_patterns", "regex"}). */
int case_same_patterns(const struct key_transform *transform, const graft_json *processed, const char *what,
                       struct graft_text *why);

/* Whether an array of strings holds one; as a graft_name_known. */
int case_holds(void *array, const char *name);

/* The transform that leads back: sources and targets exchanged, operations reversed. */
int case_transform_reverse(const struct key_transform *transform, const char *place, struct key_transform **reverse,
                           enum key_fault *fault, struct graft_error *error);

/* The list that leads back, last transform first. Without `prefix_changes` those are left out: whether a checkpoint has
 * such a prefix, only a load of it can tell. */
int case_list_reverse(const struct key_list *list, int prefix_changes, struct key_list *reverse, enum key_fault *fault,
                      struct graft_error *error);

/* A name through such a list, where the converter comes first. */
int case_rename_back(const struct key_list *list, struct key_state *states, const char *name, struct key_result *result,
                     struct graft_error *error);

/* What names of a case go through. */
struct case_names {
    const struct key_list *list;
    struct key_state *states;
    const char *prefix;     /* NULL: none */
    const graft_json *keys; /* of the model */
};

/* Type `table`, `model`, `synthetic`. */
enum verdict key_table_judge(const graft_json *row, struct graft_text *why);
enum verdict key_model_judge(const graft_json *row, struct graft_text *why);
enum verdict key_synthetic_judge(const graft_json *row, struct graft_text *why);

/* Compares one recorded row [key, renamed, pattern, loads_as]. Returns 0, or -1 with a reason in `why`; a deviation is
 * added to `deviations`. */
int case_compare_name(const struct case_names *names, const graft_json *recorded, struct graft_text *deviations,
                      struct graft_text *why);

/* Compares [key, name, pattern] on the way back. */
int case_compare_back(const struct key_list *list, const graft_json *rows, struct graft_text *why);

#endif
