/* SPDX-License-Identifier: Apache-2.0 */
/* Renders chat templates: Jinja as Python's jinja2 defines it and transformers sets it up, with trim_blocks and
 * lstrip_blocks, the sandbox, break and continue, generation blocks, and transformers' own tojson. Templates come from
 * strangers: their steps, memory and depth are bounded, and they see only the variables they are given. Each byte of
 * the output is marked as the template's or the input's, through all operations, so that a caller can tell a control
 * token that the template writes from one that a user typed. Not supported, because no published template uses them:
 * include, import, extends, block, autoescape, recursive loops, and `%` on strings. */
#ifndef GRAFT_JINJA_JINJA_H
#define GRAFT_JINJA_JINJA_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"

struct graft_jinja_template;

/* [any] Parses `length` bytes. `source` names the template in errors, which are GRAFT_ERROR_MODEL and say line and
 * column; it is copied. The caller frees the result, which is NULL on failure. */
int graft_jinja_parse(const char *text, size_t length, const char *source, struct graft_jinja_template **parsed,
                      struct graft_error *error);

/* [any] Accepts NULL. */
void graft_jinja_free(struct graft_jinja_template *parsed);

/* [any] Whether the template's text or one of its string literals contains `word`. */
int graft_jinja_mentions(const struct graft_jinja_template *parsed, const char *word, size_t length);

/* [any] Whether `word` occurs anywhere in the template's source. */
int graft_jinja_reads(const struct graft_jinja_template *parsed, const char *word);

struct graft_jinja_variable {
    const char *name;
    const graft_json *value; /* NULL: none */
    int is_input;            /* mark its strings, and everything made from them */
    /* Input strings that are members of this name and consist of letters, digits, '_' and '-' are not marked, because
     * templates turn a message's role into tokens. May be NULL. */
    const char *word_member;
};

struct graft_jinja_limits {
    uint64_t steps; /* nodes evaluated, plus one for each 16 bytes or elements that an operation walks over */
    size_t memory;  /* bytes in use at any time */
    size_t output;  /* bytes */
    int depth;      /* of nested nodes, macros and their callers included */
};

extern const struct graft_jinja_limits graft_jinja_usual_limits;

/* Starts as {0}. */
struct graft_jinja_output {
    struct graft_text text;
    struct graft_text marks; /* [text.length] 1 for a byte that came from the input, else 0 */
};

void graft_jinja_output_free(struct graft_jinja_output *output);

/* [any] Renders the template with `n` variables. strftime_now formats `now` in local time. raise_exception leads to
 * GRAFT_ERROR_USAGE, other errors are GRAFT_ERROR_MODEL. On failure `output` is empty. */
int graft_jinja_render(const struct graft_jinja_template *parsed, const struct graft_jinja_variable *variables,
                       size_t n, time_t now, const struct graft_jinja_limits *limits, struct graft_jinja_output *output,
                       struct graft_error *error);

#endif
