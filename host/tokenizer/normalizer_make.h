/* SPDX-License-Identifier: Apache-2.0 */
/* Creates normalizers from plain data, whichever file it was read from. All functions are [load]. */
#ifndef GRAFT_TOKENIZER_NORMALIZER_MAKE_H
#define GRAFT_TOKENIZER_NORMALIZER_MAKE_H

#include "tokenizer/normalizer.h"

/* Creates a Precompiled normalizer from the bytes of a `precompiled_charsmap` (charsmap.h), which are copied. Errors
 * name `file` and the field `what`. The caller destroys the normalizer. */
int graft_normalizer_make_precompiled(const char *bytes, size_t size, const char *file, const char *what,
                                      struct graft_normalizer **made, struct graft_error *error);

#endif
