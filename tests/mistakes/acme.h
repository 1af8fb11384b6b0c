/* SPDX-License-Identifier: Apache-2.0 */
/* A correct plugin that makes one of many mistakes on request: GRAFT_TEST_MISTAKE is its name. One object has them all,
 * since linking one for each takes long. mistakes.cases lists the message of `validate` for each. */
#ifndef GRAFT_TEST_ACME_H
#define GRAFT_TEST_ACME_H

#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/logits_processor.h"
#include "graft/plugin.h"

/* The requested mistake; "" for none. Set by the entry. */
extern const char *acme_mistake;

static inline int is(const char *name) {
    return strcmp(acme_mistake, name) == 0;
}

/* Volatile, so that the compiler cannot remove the faulty accesses. */
static inline const volatile float *numbers_at(const void *array, int64_t index) {
    const void *volatile hidden = array;
    return (const volatile float *)hidden + index;
}

static inline void write_at(const void *array, int64_t index, float value) {
    void *volatile hidden = (void *)(uintptr_t)array;
    ((volatile float *)hidden)[index] = value;
}

/* The loops are for f32. */
static inline int refuse_others(const struct graft_build *build, const struct graft_weight *weight,
                                struct graft_error *error) {
    return weight == NULL || graft_weight_block(weight, 0)->dtype == GRAFT_DTYPE_F32 || is("takes_bf16_for_f32")
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, build->path, "expected weights of F32");
}

extern const struct graft_class acme_linear;    /* Linear, with a loop of its own */
extern const struct graft_class acme_anywhere;  /* the same, declared as independent of its place */
extern const struct graft_class acme_mlp;       /* LlamaMLP, with children and scratch memory */
extern const struct graft_class acme_attention; /* wraps LlamaAttention */
extern const struct graft_class acme_norm;      /* LlamaRMSNorm, with a loop of its own */
extern const struct graft_logits_processor acme_processor;

#endif
