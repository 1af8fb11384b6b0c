/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graft.threads/1: the host's threads. Plugins use these and never a thread pool of their own, so that all of the
 * process stays within `--threads`.
 */
#ifndef GRAFT_THREADS_H
#define GRAFT_THREADS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_THREADS_ID "graft.threads/1"

/* [any] Does the items [begin, end) of a loop, on any of the host's threads. */
typedef void (*graft_parallel_body)(void *data, int64_t begin, int64_t end);

struct graft_threads {
    uint32_t struct_size;
    uint32_t reserved;
    /* [any] Splits [0, items) into runs of at least `grain` items, calls `body` on each, and returns when all are done.
     * Inside a body a nested call runs serially. Which thread does which run is not defined, so results must not depend
     * on it. Errors are the body's to record in `data`. */
    void (*parallel_for)(int64_t items, int64_t grain, graft_parallel_body body, void *data);
    /* [any] How many threads parallel_for uses at most; 1 inside a body. */
    int32_t (*count)(void);
};

struct graft_product;

/* A loop that has not run yet: what parallel_for is given. */
struct graft_loop {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t items;            /* 0: there is none */
    int64_t grain;            /* items of a run, at least */
    graft_parallel_body body; /* with no error to return */
    void *data;               /* of the body */
    /* Of a Linear's: item i makes outputs [i * outputs, (i + 1) * outputs), as far as there are so many, of all tokens,
     * and no others. So who wraps the Linear may add to them in the same loop. 0: it is not known. */
    int64_t outputs;
    /* Of a Linear's, too: products (kernels.h) that the body reads the results of, in the loop's scratch memory.
     * Whoever runs the loop runs them first (graft_linear_run_together). Whoever makes it may leave products to others
     * only where there is this field to say so; else it has run them itself. */
    const struct graft_product *products; /* [n_products] */
    int32_t n_products;
    uint32_t product_stride; /* bytes from one to the next */
};

/* What the body of several loops is given. */
struct graft_loops_all {
    const struct graft_loop *loops; /* [n] */
    int32_t n;                      /* of them */
};

GRAFT_ASSERT_SIZE(struct graft_threads, 24);
GRAFT_ASSERT_SIZE(struct graft_loop, 64);
GRAFT_ASSERT_SIZE(struct graft_loops_all, 16);

/* [any] A loop of no items, to be filled in by others. */
GRAFT_INLINE struct graft_loop graft_loop_none(void) {
    struct graft_loop loop;
    memset(&loop, 0, sizeof loop);
    loop.struct_size = (uint32_t)sizeof loop;
    return loop;
}

/* [any] Fills in a loop that somebody else has made. */
GRAFT_INLINE void graft_loop_set(struct graft_loop *loop, int64_t items, int64_t grain, graft_parallel_body body,
                                 void *data) {
    struct graft_loop value = graft_loop_none();
    value.items = items;
    value.grain = grain;
    value.body = body;
    value.data = data;
    graft_struct_copy(loop, loop->struct_size, &value);
}

/* [any] Says of a loop that has been filled in how many outputs an item of it makes. */
GRAFT_INLINE void graft_loop_set_outputs(struct graft_loop *loop, int64_t outputs) {
    if (GRAFT_HAS(loop, struct graft_loop, outputs)) {
        loop->outputs = outputs;
    }
}

/* [any] Leaves n products to whoever runs the loop, which has been filled in: 1; or 0, where there is no field for it.
 */
GRAFT_INLINE int graft_loop_set_products(struct graft_loop *loop, const struct graft_product *products, int32_t n,
                                         uint32_t stride) {
    const int has = GRAFT_HAS(loop, struct graft_loop, product_stride);
    if (has) {
        loop->products = products;
        loop->n_products = n;
        loop->product_stride = stride;
    }
    return has;
}

/* [any] A body: items [begin, end) of all loops, one behind the other. */
GRAFT_INLINE void graft_loops_body(void *data, int64_t begin, int64_t end) {
    const struct graft_loops_all *all = (const struct graft_loops_all *)data;
    for (int32_t i = 0; i < all->n && end > 0; i++) {
        const struct graft_loop *loop = &all->loops[i];
        const int64_t last = end < loop->items ? end : loop->items;
        if (begin < last) {
            loop->body(loop->data, begin, last);
        }
        begin = begin > loop->items ? begin - loop->items : 0;
        end -= loop->items;
    }
}

/* [any] Runs n loops that do not depend on each other as one, in runs of at least the largest grain; of a loop's last
 * items and the next one's first there may be fewer. */
GRAFT_INLINE void graft_loops_run(const struct graft_threads *threads, const struct graft_loop *loops, int32_t n) {
    struct graft_loops_all all;
    int64_t items = 0, grain = 1;
    all.loops = loops;
    all.n = n;
    for (int32_t i = 0; i < n; i++) {
        items += loops[i].items;
        grain = loops[i].grain > grain ? loops[i].grain : grain;
    }
    threads->parallel_for(items, grain, graft_loops_body, &all);
}

#ifdef __cplusplus
}
#endif

#endif
