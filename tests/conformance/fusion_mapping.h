/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of cases in fusion_mapping.json and their shared helpers: the shipped family, and models invented for a
 * case. */
#ifndef GRAFT_TEST_CONFORMANCE_FUSION_MAPPING_H
#define GRAFT_TEST_CONFORMANCE_FUSION_MAPPING_H

#include "model/fusion.h"
#include "registry/fusion_transforms.h"
#include "runner.h"

/* Requests, modules that can be fused, transforms of a config: fusion_mapping.c. */

/* Sequences of registry calls: fusion_register.c. */
enum verdict fusion_register_judge(const graft_json *row, struct graft_text *why);

/* The family `patch_embeddings` of the shipped plugin. */
const struct graft_fusion_family *shipped_family(void);

/* A registry with that family; NULL if memory ran out. */
struct graft_registry *family_registry(void);

/* --- fusion_model.c: a model class that describes itself from a case --- */

enum { MAX_MODULES = 8, MAX_MODULE_NAME = 128 };

struct made_class {
    struct graft_class cls;
    const char *name;
    const graft_json *proj; /* the children of its module */
};

struct made_model {
    struct graft_class root;
    const graft_json *modules; /* path -> [class, proj] */
    struct made_class classes[MAX_MODULES];
    size_t n_classes;
};

/* Adds the classes of "modules" ({path: [class, proj]}) to the registry, and a model class `name` that has them as
 * children. `model` must outlive the registry. Returns 0, or -1. */
int made_model_add(struct made_model *model, const char *name, const graft_json *modules,
                   struct graft_registry *registry);

/* The modules that the family finds in the model for a config and the family's own options; NULL with the reason in
 * `error`. The caller releases the result. */
const struct graft_fused_modules *made_model_discover(const struct made_model *model, struct graft_registry *registry,
                                                      const graft_json *config, const graft_json *options,
                                                      struct graft_error *error);

/* --- fusion_list.c: transforms as the cases write them --- */

/* Whether the transforms equal the array `expected`. */
enum verdict compare_transforms(const struct graft_weight_transform *transforms, size_t n, const graft_json *expected,
                                struct graft_text *why);

/* Whether their reversals equal the array `expected`. */
enum verdict compare_reverse(const struct graft_weight_transform *transforms, size_t n, const graft_json *expected,
                             struct graft_text *why);

#endif
