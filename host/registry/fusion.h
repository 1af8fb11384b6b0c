/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusion families of a registry, and what a `fusion_config` asks of them. fused_modules.h has what a family finds in a
 * model.
 */
#ifndef GRAFT_REGISTRY_FUSION_H
#define GRAFT_REGISTRY_FUSION_H

#include "base/json.h"
#include "base/text.h"
#include "graft/fusion.h"
#include "registry/registry.h"

/* A family of a registry, valid as long as a snapshot that has it. */
struct graft_known_fusion;

/* [any] Adds a family. Adding the same family again changes nothing; another family of its name is an error. The family
 * must stay valid as long as the registry and its snapshots. */
int graft_registry_add_fusion(struct graft_registry *registry, const struct graft_fusion_family *family,
                              const struct graft_origin *origin, struct graft_error *error);

/* [any] A family by its name, or by its index in the order of registration; NULL if there is none. */
const struct graft_known_fusion *graft_snapshot_fusion(const struct graft_snapshot *snapshot, const char *name);
const struct graft_known_fusion *graft_snapshot_fusion_at(const struct graft_snapshot *snapshot, size_t i);

const struct graft_fusion_family *graft_fusion_family_of(const struct graft_known_fusion *known);
const struct graft_origin *graft_fusion_origin(const struct graft_known_fusion *known);

/* [any] Whether a target pattern occurs in a module's path: 1, 0, or -1 with an error set. */
int graft_fusion_targets(const struct graft_known_fusion *known, const char *path, struct graft_error *error);

/* [any] Adds the target patterns to a message. */
void graft_fusion_add_patterns(const struct graft_known_fusion *known, struct graft_text *text);

struct graft_fused_modules;

/* [any] Adds what a family found in models of a type to the mapping of library calls: one element for each class of
 * modules that can be fused, which replaces an element of that name. The elements apply to those modules only. */
int graft_registry_put_fusion(struct graft_registry *registry, const struct graft_fused_modules *fused,
                              const char *model_type, struct graft_error *error);

/* A fusion family that was asked for. */
struct graft_fusion_choice {
    const struct graft_known_fusion *known;
    const graft_json *options; /* its options; NULL for `true` */
};

/* The families that a fusion_config asks for, in its order, without those that are `false`. */
struct graft_fusion_request {
    struct graft_fusion_choice *choices;
    size_t n;
};

/* Where a fusion_config comes from, for messages: config.json or an option. */
struct graft_fusion_source {
    const char *name; /* name of the file or option */
    int code;         /* code of errors: GRAFT_ERROR_MODEL or GRAFT_ERROR_USAGE */
};

/* [any] Reads a fusion_config; NULL and null ask for nothing. Values are true, false or an object of options. Other
 * values and unknown names are errors, which list the known names. Document and snapshot outlive the request, which the
 * caller passes to graft_fusion_request_finish, also after an error. */
int graft_fusion_request_read(const struct graft_snapshot *snapshot, const graft_json *fusion_config,
                              const struct graft_fusion_source *source, struct graft_fusion_request *request,
                              struct graft_error *error);
void graft_fusion_request_finish(struct graft_fusion_request *request);

#endif
