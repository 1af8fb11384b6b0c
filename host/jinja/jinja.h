/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Jinja that chat templates are written in, with the meaning that Python's jinja2 gives it as transformers sets it
 * up: trim_blocks and lstrip_blocks, the sandbox, break and continue, generation blocks, and its own tojson. Templates
 * are programs of strangers: what one may use is bounded, and it reaches nothing but the variables it is given.
 *
 * Every byte of the result is marked as the template's or as the input's, through whatever operations it came, so that
 * a caller can tell a control token that the template writes from one that a user typed.
 *
 * Not there, as no published template uses them: include, import, extends, block, autoescape, recursive loops, and
 * `%` on strings.
 */
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

/* [any] Whether the text or one of the strings that the template writes out contains `word`. */
int graft_jinja_mentions(const struct graft_jinja_template *parsed, const char *word, size_t length);

/* [any] Whether `word` stands anywhere in the template, as written. */
int graft_jinja_reads(const struct graft_jinja_template *parsed, const char *word);

struct graft_jinja_variable {
    const char *name;
    const graft_json *value; /* NULL: none */
    int is_input;            /* its strings, and what is made of them, are marked */
    /* Of an input, strings that are members of this name and words (letters, digits, '_', '-') are not marked all the
     * same: templates make tokens of a message's role. May be NULL. */
    const char *word_member;
};

struct graft_jinja_limits {
    uint64_t steps; /* nodes evaluated, and for each 16 bytes or elements that an operation walks over, one more */
    size_t memory;  /* bytes, at any time */
    size_t output;  /* bytes */
    int depth;      /* of nodes within nodes, macros and their callers included */
};

extern const struct graft_jinja_limits graft_jinja_usual_limits;

/* Starts as {0}. */
struct graft_jinja_output {
    struct graft_text text;
    struct graft_text marks; /* [text.length] 1 for a byte that came from the input, else 0 */
};

void graft_jinja_output_free(struct graft_jinja_output *output);

/* [any] Renders with `n` variables. `now` is what strftime_now shows, in local time. What raise_exception is called
 * with is GRAFT_ERROR_USAGE; other errors are GRAFT_ERROR_MODEL. On failure `output` is empty. */
int graft_jinja_render(const struct graft_jinja_template *parsed, const struct graft_jinja_variable *variables,
                       size_t n, time_t now, const struct graft_jinja_limits *limits, struct graft_jinja_output *output,
                       struct graft_error *error);

#endif
