/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files dialect*.c: the state of an expression that is being rewritten. All functions are [load]. */
#ifndef GRAFT_TOKENIZER_DIALECT_REWRITE_H
#define GRAFT_TOKENIZER_DIALECT_REWRITE_H

#include "base/text.h"

/* How deep groups and classes may be nested. */
enum { GRAFT_DIALECT_MAX_NESTING = 64 };

struct graft_rewrite {
    const char *from;
    size_t length;
    size_t at;
    struct graft_text *out;
    const char *refused;                      /* why the expression is refused; NULL: it is not */
    size_t atom;                              /* start in `out` of the atom that a repetition would repeat */
    size_t groups[GRAFT_DIALECT_MAX_NESTING]; /* [n_groups] starts in `out` of the open groups */
    size_t n_groups;
};

/* Whether the rest of the expression starts with `prefix`. */
int graft_rewrite_ahead(const struct graft_rewrite *r, const char *prefix);

/* Copies `n` bytes, or what is left of the expression. */
void graft_rewrite_copy(struct graft_rewrite *r, size_t n);

/* A set of characters that an escape, a property or a bracket expression such as [:alpha:] names. */
struct graft_rewrite_set {
    const char *members; /* in PCRE2's syntax of classes, without the brackets; NULL: the text names no set */
    int negated;         /* the set is all other characters */
};

/* Adds the set to `out`, outside of a class. */
void graft_rewrite_add_set(struct graft_text *out, struct graft_rewrite_set set);

/* Whether the set is a single property, such as "\\p{L}", which needs no brackets outside of a class. */
int graft_rewrite_is_property(struct graft_rewrite_set set);

/* Reads an escape that names a set. For any other escape it reads nothing, and the set's `members` is NULL. */
struct graft_rewrite_set graft_rewrite_read_set(struct graft_rewrite *r, int in_class);

/* Reads a bracket expression such as [:alpha:], inside a class. */
struct graft_rewrite_set graft_rewrite_read_bracket(struct graft_rewrite *r);

/* Rewrites an escape that stands for one character. Sets `refused` if PCRE2 reads it otherwise. */
void graft_rewrite_character_escape(struct graft_rewrite *r, int in_class);

/* Rewrites a class, from its "[". */
void graft_rewrite_class(struct graft_rewrite *r);

#endif
