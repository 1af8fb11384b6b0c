/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conformance cases: what transformers does, recorded, and compared with what we do. One file a schema; each judges one
 * case at a time. Where transformers is wrong a schema recognises that by a rule over the case's content, and holds us
 * to what docs/deviations.md says instead.
 */
#ifndef GRAFT_TEST_CONFORMANCE_RUNNER_H
#define GRAFT_TEST_CONFORMANCE_RUNNER_H

#include "base/json.h"
#include "base/text.h"

enum verdict {
    FAILED,   /* `why` says what was expected and got */
    PASSED,   /* as recorded */
    DEVIATION /* as documented instead; `why` says in which way */
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

/* Records why a case fails; returns FAILED. The first reason stays. */
enum verdict fail(struct graft_text *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records a deviation, once. */
void deviate(struct graft_text *why, const char *reason);

/* The folder of the case file at hand, which directories of cases are relative to. */
const char *case_folder(void);

/* The string under that key, "" when there is none. */
const char *text_at(const graft_json *object, const char *key);

/* Whether two values are the same. */
int same_json(const graft_json *a, const graft_json *b);

#endif
