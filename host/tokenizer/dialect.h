/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions in a tokenizer.json are written for Oniguruma. PCRE2 reads most of them alike; this rewrites what it
 * reads otherwise, and refuses what would come out different.
 *
 *   \s \S \w \W \b \B     the Unicode classes as Oniguruma has them
 *   ^ $                   at every line
 *   \p{Han}               the script, not its extensions
 *   \uHHHH                \x{HHHH}
 *
 * Refused: options but i, i but at the start or for a group, classes in classes, &&, {,n}, {n,m}+, rare escapes.
 */
#ifndef GRAFT_TOKENIZER_DIALECT_H
#define GRAFT_TOKENIZER_DIALECT_H

#include <stddef.h>

#include "base/text.h"
#include "tokenizer/spec.h"

/* [load] Adds the rewritten expression to `out`. Errors name `spec`. */
int graft_dialect_rewrite(const char *expression, size_t length, struct graft_text *out, const struct graft_spec *spec,
                          struct graft_error *error);

#endif
