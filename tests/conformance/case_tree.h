/* SPDX-License-Identifier: Apache-2.0 */
/* A model with exactly the parameters that a case names: a class for each module. */
#ifndef GRAFT_TEST_CONFORMANCE_CASE_TREE_H
#define GRAFT_TEST_CONFORMANCE_CASE_TREE_H

#include "base/json.h"
#include "model/tree.h"

enum { CASE_MODULES = 64, CASE_PATH = 256 };

struct case_module {
    struct graft_class cls;
    char name[32];
    char path[CASE_PATH];
    const struct case_tree *of;
};

struct case_tree {
    const graft_json *params; /* name -> [shape, type] */
    struct case_module modules[CASE_MODULES];
    size_t n;
    struct graft_model_config config;
    struct graft_registry *registry;
    struct graft_tree *tree;
};

/* Returns a status. The caller finishes the tree, also on failure. */
int case_tree_init(struct case_tree *made, const graft_json *params, struct graft_error *error);
void case_tree_finish(struct case_tree *made);

#endif
