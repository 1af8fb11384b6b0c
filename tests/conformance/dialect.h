/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that Python and PCRE2 read differently, as listed in docs/deviations.md. */
#ifndef GRAFT_TEST_CONFORMANCE_DIALECT_H
#define GRAFT_TEST_CONFORMANCE_DIALECT_H

#include "base/text.h"

enum reading {
    READ_ALIKE,     /* the pattern has no construct of the list */
    READ_OTHERWISE, /* `plain` means the same without such constructs */
    READ_AS_INVALID /* PCRE2 refuses it */
};

/* Rewrites a pattern so that both engines read it as PCRE2 reads the original. */
enum reading dialect_reading(const char *pattern, struct graft_text *plain);

#endif
