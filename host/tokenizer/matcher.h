/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern of a tokenizer.json, {"String": …} or {"Regex": …}, and searching for it in text. */
#ifndef GRAFT_TOKENIZER_MATCHER_H
#define GRAFT_TOKENIZER_MATCHER_H

#include "base/json_field.h"
#include "base/regex.h"
#include "tokenizer/segments.h"

/* Starts as {0}. */
struct graft_matcher {
    struct graft_regex *regex; /* NULL for a string */
    char *string;
    size_t length;
    char *file; /* the file of the pattern, for errors of a search */
    char *field;
};

/* [load] Reads a pattern. On failure the matcher is as after graft_matcher_finish. */
int graft_matcher_init(struct graft_matcher *matcher, const struct graft_field *spec, struct graft_error *error);

/* [load] The same from a string. `spec` is the field it comes from, for errors. */
int graft_matcher_init_string(struct graft_matcher *matcher, const char *string, size_t length,
                              const struct graft_field *spec, struct graft_error *error);

/* [load] The same from a regular expression of the host's own. */
int graft_matcher_init_regex(struct graft_matcher *matcher, const char *expression, const struct graft_field *spec,
                             struct graft_error *error);

/* [any] Replaces `segments` by the matches in `text` (valid UTF-8) and the text between them. An expression that takes
 * too many steps is GRAFT_ERROR_MODEL. */
int graft_matcher_find(const struct graft_matcher *matcher, const char *text, size_t length,
                       struct graft_segments *segments, struct graft_error *error);

void graft_matcher_finish(struct graft_matcher *matcher);

#endif
