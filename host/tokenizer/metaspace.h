/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of Metaspace, as a pre-tokenizer and as a decoder. */
#ifndef GRAFT_TOKENIZER_METASPACE_H
#define GRAFT_TOKENIZER_METASPACE_H

#include "base/json_field.h"
#include "base/text.h"

enum graft_metaspace_scheme { GRAFT_METASPACE_NEVER, GRAFT_METASPACE_FIRST, GRAFT_METASPACE_ALWAYS };

/* Starts as {0}. */
struct graft_metaspace {
    struct graft_text mark;             /* one character, which replaces spaces */
    enum graft_metaspace_scheme scheme; /* which texts get a mark at their start */
    int split;                          /* whether texts are split before each mark */
};

/* [load] Reads the settings. The caller frees `mark`, even on failure. */
int graft_metaspace_read(struct graft_metaspace *metaspace, const struct graft_field *spec, struct graft_error *error);

#endif
