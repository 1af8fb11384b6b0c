/* SPDX-License-Identifier: Apache-2.0 */
/* Tests in which each allocation fails in turn: all of them if GRAFT_TEST_WHOLE is in the environment, otherwise the
 * first hundred and then ever fewer, since most of the later ones are alike. */
#ifndef GRAFT_TEST_FAILING_H
#define GRAFT_TEST_FAILING_H

#include <stdlib.h>

static inline long next_failing(long n) {
    enum { FIRST = 100, SHARE = 25 };
    return n < FIRST || getenv("GRAFT_TEST_WHOLE") != NULL ? n + 1 : n + 1 + n / SHARE;
}

#endif
