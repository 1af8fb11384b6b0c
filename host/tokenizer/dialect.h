/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions in a tokenizer.json are written for Oniguruma. PCRE2 reads most of them alike; this rewrites what it
 * reads otherwise, and refuses what would come out different.
 *
 *   \s \w \h \b [:alpha:] \p{Alpha}   the Unicode sets as Oniguruma has them, and what they leave out
 *   [a-z&&[^b]] [a[^b]]               classes in classes
 *   ^ $                               at every line
 *   (?m: )                            . matches line ends
 *   \p{Han}                           the script, not its extensions
 *   a{1,3}+ a{2}?                     what is repeated is repeated again
 *   \uHHHH {,n}                       \x{HHHH} {0,n}
 *
 * Refused: other options, options but at the start or for a group, conditions, comments, rare escapes.
 */
#ifndef GRAFT_TOKENIZER_DIALECT_H
#define GRAFT_TOKENIZER_DIALECT_H

#include <stddef.h>

#include "base/json_field.h"
#include "base/text.h"

/* [load] Adds the rewritten expression to `out`. Errors name `spec`. */
int graft_dialect_rewrite(const char *expression, size_t length, struct graft_text *out, const struct graft_field *spec,
                          struct graft_error *error);

#endif
