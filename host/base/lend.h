/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins are lent for the time of a call, and the memory that they take of the host. Usually they get the host's
 * own structs and the C library's memory. `validate` sets a lender: it gives them copies between guard pages, which
 * cannot be touched after the call, and counts the memory.
 */
#ifndef GRAFT_BASE_LEND_H
#define GRAFT_BASE_LEND_H

#include <stdint.h>

struct graft_args;
struct graft_build;
struct graft_sink;

/* [any] Each function that lends returns a copy, or what it was given where the call is none of a plugin's or there is
 * no memory; `take_back` takes either. */
struct graft_lender {
    const struct graft_args *(*args)(const struct graft_args *args);
    const struct graft_sink *(*sink)(const struct graft_sink *sink);
    const struct graft_build *(*build)(const struct graft_build *build);
    void (*take_back)(const void *lent);
    void *(*alloc)(int64_t bytes); /* zeroed; what struct graft_host does */
    void (*free)(void *block);
};

/* [load] From now on that one lends; NULL: nobody does. It has to outlive what it lends. */
void graft_lender_set(const struct graft_lender *lender);

/* [any] Who lends; NULL: nobody. */
const struct graft_lender *graft_lender(void);

/* [any] What a plugin is given in the place of the host's own: usually that itself. Each is taken back behind the call,
 * the last one first. */
const struct graft_args *graft_lend_args(const struct graft_args *args);
const struct graft_sink *graft_lend_sink(const struct graft_sink *sink);
const struct graft_build *graft_lend_build(const struct graft_build *build);
void graft_take_back(const void *lent);

#endif
