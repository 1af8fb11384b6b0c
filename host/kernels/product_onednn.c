/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that includes oneDNN (C API of version 2). */
#include "kernels/product_onednn.h"

#include <dnnl.h>
#include <pthread.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/alloc.h"

enum { X, W, Y, SCRATCH, ARGUMENTS };

struct graft_gemm {
    struct graft_gemm_shape shape;
    dnnl_memory_desc_t descriptions[ARGUMENTS];
    dnnl_primitive_t primitive;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static dnnl_engine_t engine;

static void create_engine(void) {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) {
        engine = NULL;
    }
}

/* oneDNN asks OpenMP how many threads it may use, when a product is made and again when it runs. The setting is the
 * calling thread's own, and put back. */
static int use_threads(int count) {
#ifdef _OPENMP
    int before = omp_get_max_threads();
    omp_set_num_threads(count);
    return before;
#else
    return count;
#endif
}

static dnnl_status_t describe(struct graft_gemm *gemm, dnnl_matmul_desc_t *product) {
    const struct graft_gemm_shape *shape = &gemm->shape;
    const dnnl_dims_t x = {shape->tokens, shape->columns};
    const dnnl_dims_t x_strides = {shape->columns, 1};
    const dnnl_dims_t w = {shape->columns, shape->rows}; /* the file's order, read as its transpose */
    const dnnl_dims_t w_strides = {1, shape->columns};
    const dnnl_dims_t y = {shape->tokens, shape->rows};
    const dnnl_dims_t y_strides = {shape->rows, 1};
    dnnl_memory_desc_t *descriptions = gemm->descriptions;
    dnnl_status_t status = dnnl_memory_desc_init_by_strides(&descriptions[X], 2, x, dnnl_bf16, x_strides);
    if (status == dnnl_success) {
        status = dnnl_memory_desc_init_by_strides(&descriptions[W], 2, w, dnnl_bf16, w_strides);
    }
    if (status == dnnl_success) {
        status = dnnl_memory_desc_init_by_strides(&descriptions[Y], 2, y, dnnl_f32, y_strides);
    }
    if (status == dnnl_success) {
        status = dnnl_matmul_desc_init(product, &descriptions[X], &descriptions[W], NULL, &descriptions[Y]);
    }
    return status;
}

/* The scratch memory is ours to give, since one primitive runs in several threads at once. */
static dnnl_status_t create_primitive(struct graft_gemm *gemm) {
    dnnl_matmul_desc_t product;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_primitive_desc_t description = NULL;
    dnnl_status_t status = describe(gemm, &product);
    if (status == dnnl_success) {
        status = dnnl_primitive_attr_create(&attributes);
    }
    if (status == dnnl_success) {
        status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    }
    if (status == dnnl_success) {
        status = dnnl_primitive_desc_create(&description, &product, attributes, engine, NULL);
    }
    if (status == dnnl_success) {
        gemm->descriptions[SCRATCH] = *dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
        status = dnnl_primitive_create(&gemm->primitive, description);
    }
    (void)dnnl_primitive_desc_destroy(description);
    (void)dnnl_primitive_attr_destroy(attributes);
    return status;
}

struct graft_gemm *graft_gemm_create(const struct graft_gemm_shape *shape) {
    (void)pthread_once(&once, create_engine);
    struct graft_gemm *gemm = engine != NULL ? (struct graft_gemm *)graft_alloc(1, sizeof *gemm) : NULL;
    if (gemm == NULL) {
        return NULL;
    }
    gemm->shape = *shape;
    int threads = use_threads(1);
    dnnl_status_t status = create_primitive(gemm);
    (void)use_threads(threads);
    if (status != dnnl_success) {
        graft_gemm_destroy(gemm);
        return NULL;
    }
    return gemm;
}

void graft_gemm_destroy(struct graft_gemm *gemm) {
    if (gemm != NULL) {
        if (gemm->primitive != NULL) {
            (void)dnnl_primitive_destroy(gemm->primitive);
        }
        graft_free(gemm);
    }
}

const struct graft_gemm_shape *graft_gemm_get_shape(const struct graft_gemm *gemm) {
    return &gemm->shape;
}

int64_t graft_gemm_scratch_bytes(const struct graft_gemm *gemm) {
    return (int64_t)dnnl_memory_desc_get_size(&gemm->descriptions[SCRATCH]);
}

/* A memory object holds the address of one call, so it cannot be kept with the primitive, which threads share. */
int graft_gemm_run(const struct graft_gemm *gemm, const void *x, const void *w, float *y, void *scratch) {
    static const int roles[ARGUMENTS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
    void *const addresses[ARGUMENTS] = {(void *)(uintptr_t)x, (void *)(uintptr_t)w, y, scratch};
    dnnl_exec_arg_t arguments[ARGUMENTS] = {{0}};
    dnnl_stream_t stream = NULL;
    dnnl_status_t status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    for (int i = 0; i < ARGUMENTS && status == dnnl_success; i++) {
        arguments[i].arg = roles[i];
        status = dnnl_memory_create(&arguments[i].memory, &gemm->descriptions[i], engine, addresses[i]);
    }
    if (status == dnnl_success) {
        int threads = use_threads(1);
        status = dnnl_primitive_execute(gemm->primitive, stream, ARGUMENTS, arguments);
        (void)use_threads(threads);
    }
    for (int i = 0; i < ARGUMENTS; i++) {
        if (arguments[i].memory != NULL) {
            (void)dnnl_memory_destroy(arguments[i].memory);
        }
    }
    if (stream != NULL) {
        (void)dnnl_stream_destroy(stream);
    }
    return status == dnnl_success ? 0 : -1;
}
