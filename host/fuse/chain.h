/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of modules on a built model. Matched first (match.c), which works on a meta tree too; then put in place
 * (chain.c), tried out (library/fuse_probe.c), and given a plugin's implementation (chain_instance.c).
 */
#ifndef GRAFT_FUSE_CHAIN_H
#define GRAFT_FUSE_CHAIN_H

#include "graft/chain.h"
#include "graft/host/modules.h"
#include "interface/interface.h"
#include "model/tree.h"

struct graft_fused_chain;

/* A module's place in a chain: while it is fused, the `self` of the module that its parent calls. */
struct graft_fused_module {
    struct graft_forward_hook base;
    struct graft_fused_chain *chain;
    struct graft_node *node;
    size_t index;
    void *args;       /* of the last call, in the chain's round; NULL for the last module, which runs at once */
    size_t args_size; /* of its interface */
};

/* An output of module `index` - 1 that is an input of module `index`: offsets of the pointers in their args. */
struct graft_fused_wire {
    size_t index;
    size_t output;
    size_t input;
};

struct graft_fused_chain {
    struct graft_fused_module *modules; /* [n] */
    struct graft_module *plain;         /* [n] the modules as they are unfused, once in place */
    const void **args;                  /* [n] of the round that runs */
    size_t n;
    struct graft_fused_wire *wires;
    size_t n_wires;
    size_t wires_capacity;
    size_t next;                              /* the module that is to be called next; 0: between rounds */
    int32_t in_place;                         /* 1: the parent calls the chain */
    const struct graft_chain *implementation; /* that a plugin offers for these classes; or NULL */
    const char *plugin;                       /* its id */
    void *instance;                           /* the implementation's, once made */
    int32_t implemented;                      /* 1: it is made and does the work */
    struct graft_chain_info info;             /* as the library shows it; all zero until then */
};

/* Starts as {0}. */
struct graft_chains {
    struct graft_fused_chain **items;
    size_t count;
    size_t capacity;
};

/* [load] Adds the chains that `n` specs name in a tree, and the implementations that plugins offer for them. Nothing is
 * in place yet. On failure nothing is added. */
int graft_chains_match(struct graft_tree *tree, const struct graft_module_spec *specs, size_t n,
                       struct graft_chains *fusions, struct graft_error *error);

/* [any] The chain that a module is in, or NULL. */
struct graft_fused_chain *graft_chains_find(const struct graft_chains *fusions, const struct graft_node *node);

/* [load] Takes apart and frees the chains from number `first` on. */
void graft_chains_cut(struct graft_chains *fusions, size_t first);
void graft_chains_finish(struct graft_chains *fusions);

/* [load] Puts a chain between its instantiated modules and their parent. */
void graft_chain_place(struct graft_fused_chain *chain);

/* [load] Makes the implementation offered for a chain that is in place, if there is one, and lets it do the work. */
int graft_chain_implement(struct graft_fused_chain *chain, const struct graft_tree *tree, struct graft_error *error);

/* [load] Undoes both, and frees. */
void graft_chain_free(struct graft_fused_chain *chain);

#endif
