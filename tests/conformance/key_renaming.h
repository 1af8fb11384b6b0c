/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all kinds of cases in key_renaming.json. */
#ifndef GRAFT_TEST_CONFORMANCE_KEY_RENAMING_H
#define GRAFT_TEST_CONFORMANCE_KEY_RENAMING_H

#include "names/key_list.h"
#include "runner.h"

enum case_form {
    CASE_AS_GIVEN,
    CASE_WITH_LEGACY, /* with the list for old checkpoints appended */
    CASE_AS_READY     /* of a table: the compiled sources */
};

/* Transforms as cases write them, in the form of patch files, except that a change of prefix repeats its patterns, and
 * a table's rows contain results. Returns a status; `*fault` names the fault. */
int case_list_init(struct key_list *list, const graft_json *transforms, enum case_form form, enum key_fault *fault,
                   struct graft_error *error);

/* Whether an array holds these strings, in order. */
int case_same_strings(char *const *strings, int32_t n, const graft_json *recorded);

/* The recorded name of a fault. */
const char *case_key_fault(enum key_fault fault);

/* Whether compiled patterns equal the recorded ones ({"source_patterns", "target_patterns", "regex"}). */
int case_same_patterns(const struct key_transform *transform, const graft_json *processed, const char *what,
                       struct graft_text *why);

/* Whether an array of strings contains the name; used as a graft_name_known. */
int case_holds(void *array, const char *name);

/* The reversed transform: sources and targets exchanged, operations reversed. */
int case_transform_reverse(const struct key_transform *transform, const char *place, struct key_transform **reverse,
                           enum key_fault *fault, struct graft_error *error);

/* The reversed list, last transform first. `prefix_changes` 0 leaves out changes of prefix, since only a load can tell
 * whether a checkpoint has the prefix. */
int case_list_reverse(const struct key_list *list, int prefix_changes, struct key_list *reverse, enum key_fault *fault,
                      struct graft_error *error);

/* Renames by a reversed list, in which converters come first. */
int case_rename_back(const struct key_list *list, struct key_state *states, const char *name, struct key_result *result,
                     struct graft_error *error);

/* The lists that names of a case are renamed by. */
struct case_names {
    const struct key_list *list;
    struct key_state *states;
    const char *prefix;     /* NULL: none */
    const graft_json *keys; /* of the model */
};

/* Cases of the types `table`, `model` and `synthetic`. */
enum verdict key_table_judge(const graft_json *row, struct graft_text *why);
enum verdict key_model_judge(const graft_json *row, struct graft_text *why);
enum verdict key_synthetic_judge(const graft_json *row, struct graft_text *why);

/* Compares one recorded row [key, renamed, pattern, loads_as]. Returns 0, or -1 with a reason in `why`; a deviation is
 * added to `deviations`. */
int case_compare_name(const struct case_names *names, const graft_json *recorded, struct graft_text *deviations,
                      struct graft_text *why);

/* Compares a recorded row [key, name, pattern] of the reverse direction. */
int case_compare_back(const struct key_list *list, const graft_json *rows, struct graft_text *why);

#endif
