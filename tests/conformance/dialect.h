/* SPDX-License-Identifier: Apache-2.0 */
/* What docs/deviations.md says of patterns that Python and PCRE2 read differently. */
#ifndef GRAFT_TEST_CONFORMANCE_DIALECT_H
#define GRAFT_TEST_CONFORMANCE_DIALECT_H

#include "base/text.h"

enum reading {
    READ_ALIKE,     /* no construct of the list is in the pattern */
    READ_OTHERWISE, /* `plain` says the same without it */
    READ_AS_INVALID /* PCRE2 refuses it */
};

/* How PCRE2 reads a pattern, in terms that both read alike. */
enum reading dialect_reading(const char *pattern, struct graft_text *plain);

#endif
