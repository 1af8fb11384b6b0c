/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that is right, and makes one mistake of many if it is asked to: GRAFT_TEST_MISTAKE is its name. One object
 * has them all, as each would take a link of its own. mistakes.cases says what `validate` has to say of each. */
#ifndef GRAFT_TEST_ACME_H
#define GRAFT_TEST_ACME_H

#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/plugin.h"

/* The mistake that was asked for; "" for none. Set by the entry. */
extern const char *acme_mistake;

static inline int is(const char *name) {
    return strcmp(acme_mistake, name) == 0;
}

/* A compiler must not see through these. */
static inline const volatile float *numbers_at(const void *array, int64_t index) {
    const void *volatile hidden = array;
    return (const volatile float *)hidden + index;
}

static inline void write_at(const void *array, int64_t index, float value) {
    void *volatile hidden = (void *)(uintptr_t)array;
    ((volatile float *)hidden)[index] = value;
}

extern const struct graft_class acme_linear;    /* Linear, with a loop of its own */
extern const struct graft_class acme_anywhere;  /* the same, and says that it is the same anywhere */
extern const struct graft_class acme_mlp;       /* LlamaMLP, with children and scratch memory */
extern const struct graft_class acme_attention; /* wraps LlamaAttention */
extern const struct graft_class acme_norm;      /* LlamaRMSNorm, with a loop of its own */

#endif
