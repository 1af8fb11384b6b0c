/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oneDNN's bf16 matrix products, for processors that have instructions for them; each run by the one thread that asks
 * for it: how the work is divided is ours to say, so that results do not depend on the number of threads.
 */
#ifndef GRAFT_KERNELS_PRODUCT_ONEDNN_H
#define GRAFT_KERNELS_PRODUCT_ONEDNN_H

#include <stddef.h>
#include <stdint.h>

/* y [tokens, rows] = x [tokens, columns] w^T, w [rows, columns], all dense; x and w bf16, y f32. */
struct graft_gemm_shape {
    int64_t tokens;
    int64_t rows;
    int64_t columns;
};

struct graft_gemm;

#ifdef GRAFT_ONEDNN

/* NULL if oneDNN cannot do this shape or memory ran out. Cheap for a shape seen before: oneDNN keeps what it generated.
 */
struct graft_gemm *graft_gemm_create(const struct graft_gemm_shape *shape);
void graft_gemm_destroy(struct graft_gemm *gemm);

const struct graft_gemm_shape *graft_gemm_get_shape(const struct graft_gemm *gemm);

/* Bytes of scratch memory that a run needs. */
int64_t graft_gemm_scratch_bytes(const struct graft_gemm *gemm);

/* [any] Several threads may run one gemm at once, each with its own scratch. Returns 0, or -1. */
int graft_gemm_run(const struct graft_gemm *gemm, const void *x, const void *w, float *y, void *scratch);

#else

/* Built without oneDNN no product is one (GRAFT_ISA_AMX), so none of these is ever called with a gemm. */
static inline struct graft_gemm *graft_gemm_create(const struct graft_gemm_shape *shape) {
    (void)shape;
    return NULL;
}

static inline void graft_gemm_destroy(struct graft_gemm *gemm) {
    (void)gemm;
}

static inline const struct graft_gemm_shape *graft_gemm_get_shape(const struct graft_gemm *gemm) {
    (void)gemm;
    return NULL;
}

static inline int64_t graft_gemm_scratch_bytes(const struct graft_gemm *gemm) {
    (void)gemm;
    return 0;
}

static inline int graft_gemm_run(const struct graft_gemm *gemm, const void *x, const void *w, float *y, void *scratch) {
    (void)gemm, (void)x, (void)w, (void)y, (void)scratch;
    return -1;
}

#endif

#endif
