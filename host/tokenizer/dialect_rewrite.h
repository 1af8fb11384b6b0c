/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of dialect.c: an expression that is being rewritten. All functions are [load]. */
#ifndef GRAFT_TOKENIZER_DIALECT_REWRITE_H
#define GRAFT_TOKENIZER_DIALECT_REWRITE_H

#include "base/text.h"

/* How deep groups and classes may stand in each other. */
enum { GRAFT_DIALECT_MAX_NESTING = 64 };

struct graft_rewrite {
    const char *from;
    size_t length;
    size_t at;
    struct graft_text *out;
    const char *refused;                      /* why the expression cannot be taken; NULL as long as it can */
    size_t atom;                              /* where in `out` that begins which a repetition would repeat */
    size_t groups[GRAFT_DIALECT_MAX_NESTING]; /* [n_groups] where in `out` the open groups begin */
    size_t n_groups;
};

/* Whether the rest of the expression starts with `prefix`. */
int graft_rewrite_ahead(const struct graft_rewrite *r, const char *prefix);

/* Copies `n` bytes, or what is left of the expression. */
void graft_rewrite_copy(struct graft_rewrite *r, size_t n);

/* A set of characters that an escape, a property or a bracket expression such as [:alpha:] names. */
struct graft_rewrite_set {
    const char *members; /* as PCRE2 writes them in a class, without its brackets; NULL: it names none */
    int negated;         /* all other characters */
};

/* Adds the set to `out`, not being in a class. */
void graft_rewrite_add_set(struct graft_text *out, struct graft_rewrite_set set);

/* Whether the set is one property, which is written without brackets: "\\p{L}". */
int graft_rewrite_is_property(struct graft_rewrite_set set);

/* Reads a backslash and what belongs to it, if it names a set; else nothing, and the set has no members. */
struct graft_rewrite_set graft_rewrite_read_set(struct graft_rewrite *r, int in_class);

/* The same for a bracket expression, inside of a class. */
struct graft_rewrite_set graft_rewrite_read_bracket(struct graft_rewrite *r);

/* An escape that stands for one character, at a backslash. Sets `refused` for what PCRE2 reads otherwise. */
void graft_rewrite_character_escape(struct graft_rewrite *r, int in_class);

/* A class, at its "[". */
void graft_rewrite_class(struct graft_rewrite *r);

#endif
