/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains: modules of a built model that run as one. A chain is matched (match.c), which works on a meta tree too, then
 * put in place (chain.c), tried (library/chain_probe.c), and given a plugin's implementation (chain_instance.c).
 */
#ifndef GRAFT_CHAINS_CHAIN_H
#define GRAFT_CHAINS_CHAIN_H

#include "graft/chain.h"
#include "graft/host/modules.h"
#include "interface/interface.h"
#include "model/tree.h"

struct graft_fused_chain;

/* A module of a chain. While the chain is in place, it is the `self` of the module that the parent calls. */
struct graft_chain_module {
    struct graft_forward_hook base;
    struct graft_fused_chain *chain;
    struct graft_node *node;
    size_t index;
    void *args; /* args of the module's last call in the current round; NULL for the chain's last module, which runs at
                   once */
    size_t args_size; /* size of the interface's args */
};

/* An output of module `index` - 1 that is an input of module `index`, as the offsets of the pointers in both args. */
struct graft_fused_wire {
    size_t index;
    size_t output;
    size_t input;
};

struct graft_fused_chain {
    struct graft_chain_module *modules; /* [n] */
    struct graft_module *plain;         /* [n] the original modules; set when the chain is in place */
    const void **args;                  /* [n] args of the current round */
    size_t n;
    struct graft_fused_wire *wires;
    size_t n_wires;
    size_t wires_capacity;
    size_t next;                              /* index of the module to be called next; 0 between rounds */
    int32_t in_place;                         /* 1: the parent calls the chain */
    const struct graft_chain *implementation; /* the implementation that a plugin offers for these classes; or NULL */
    const char *plugin;                       /* id of that plugin */
    void *instance;                           /* instance of the implementation, once created */
    int32_t implemented;                      /* 1: the implementation is created and runs the chain */
    struct graft_chain_info info;             /* what the library shows of the chain; zero until it is known */
};

/* Starts as {0}. */
struct graft_chains {
    struct graft_fused_chain **items;
    size_t count;
    size_t capacity;
};

/* [load] Adds the chains that `n` specs name in a tree, with the implementations that plugins offer. The chains are not
 * in place yet. On failure no chain is added. */
int graft_chains_match(struct graft_tree *tree, const struct graft_module_spec *specs, size_t n,
                       struct graft_chains *fusions, struct graft_error *error);

/* [any] The chain that a module is in, or NULL. */
struct graft_fused_chain *graft_chains_find(const struct graft_chains *fusions, const struct graft_node *node);

/* [load] Removes and frees the chains from index `first` on. */
void graft_chains_cut(struct graft_chains *fusions, size_t first);
void graft_chains_finish(struct graft_chains *fusions);

/* [load] Puts a chain between its instantiated modules and their parent. */
void graft_chain_place(struct graft_fused_chain *chain);

/* [load] Creates the implementation offered for a chain that is in place, if there is one, and lets it run the
 * chain. */
int graft_chain_implement(struct graft_fused_chain *chain, const struct graft_tree *tree, struct graft_error *error);

/* [load] Undoes graft_chain_place and graft_chain_implement, and frees the chain. */
void graft_chain_free(struct graft_fused_chain *chain);

#endif
