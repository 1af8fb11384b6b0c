/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that plugins borrow during a call, and memory that they take from the host. Usually these are the host's own
 * structs and the C library's memory. `validate` sets a lender: it lends copies between guard pages, which cannot be
 * accessed after the call, and keeps track of the memory. */
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

/* [load] Sets the lender, which must outlive everything that it lends; NULL: none. */
void graft_lender_set(const struct graft_lender *lender);

/* [any] The lender; NULL: none. */
const struct graft_lender *graft_lender(void);

/* [any] Return what a plugin is given instead of the host's own struct; without a lender, that struct itself. Take each
 * back after the call, in reverse order. */
const struct graft_args *graft_lend_args(const struct graft_args *args);
const struct graft_sink *graft_lend_sink(const struct graft_sink *sink);
const struct graft_build *graft_lend_build(const struct graft_build *build);
void graft_take_back(const void *lent);

#endif
