/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance cases: recorded behaviour of transformers, which is compared with ours. Each schema judges the cases of
 * one file, one at a time. Where transformers is wrong, the schema recognises this by a rule over the case's content,
 * and expects what docs/deviations.md says. */
#ifndef GRAFT_TEST_CONFORMANCE_RUNNER_H
#define GRAFT_TEST_CONFORMANCE_RUNNER_H

#include "base/json.h"
#include "base/text.h"

enum verdict {
    FAILED,   /* `why` says what was expected and what was found */
    PASSED,   /* as recorded */
    DEVIATION /* as documented in docs/deviations.md; `why` says in which way */
};

struct schema {
    const char *name;
    int (*knows)(const graft_json *row); /* whether a case is one of this schema */
    enum verdict (*judge)(const graft_json *row, struct graft_text *why);
};

extern const struct schema patch_resolution_schema;
extern const struct schema key_renaming_schema;
extern const struct schema load_report_schema;
extern const struct schema fusion_mapping_schema;
extern const struct schema weight_transforms_schema;

/* Records why a case fails; returns FAILED. Only the first reason is kept. */
enum verdict fail(struct graft_text *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records a deviation, once. */
void deviate(struct graft_text *why, const char *reason);

/* The folder of the current case file, to which the directories of cases are relative. */
const char *case_folder(void);

/* The string with that key; "" if there is none. */
const char *text_at(const graft_json *object, const char *key);

/* Whether two values are equal. */
int same_json(const graft_json *a, const graft_json *b);

#endif
