/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusion families in a registry, and what a `fusion_config` asks of them. What a family finds in a model:
 * fused_modules.h.
 */
#ifndef GRAFT_REGISTRY_FUSION_H
#define GRAFT_REGISTRY_FUSION_H

#include "base/json.h"
#include "base/text.h"
#include "graft/fusion.h"
#include "registry/registry.h"

/* A family of a registry. Valid as long as a snapshot that has it. */
struct graft_known_fusion;

/* [any] Adds a family. The same one again is no error and changes nothing; another one of its name is. The family stays
 * valid as long as the registry and its snapshots. */
int graft_registry_add_fusion(struct graft_registry *registry, const struct graft_fusion_family *family,
                              const struct graft_origin *origin, struct graft_error *error);

/* [any] A family by its name, or by its number in the order of registration; NULL if there is none. */
const struct graft_known_fusion *graft_snapshot_fusion(const struct graft_snapshot *snapshot, const char *name);
const struct graft_known_fusion *graft_snapshot_fusion_at(const struct graft_snapshot *snapshot, size_t i);

const struct graft_fusion_family *graft_fusion_family_of(const struct graft_known_fusion *known);
const struct graft_origin *graft_fusion_origin(const struct graft_known_fusion *known);

/* [any] Whether one of the target patterns is found in a module's path: 1, 0, or -1 after an error. */
int graft_fusion_targets(const struct graft_known_fusion *known, const char *path, struct graft_error *error);

/* [any] The target patterns, as a message names them. */
void graft_fusion_add_patterns(const struct graft_known_fusion *known, struct graft_text *text);

struct graft_fused_modules;

/* [any] Puts what a family found in models of a type into the mapping that calls register: an element for each class of
 * modules that fit, in the place of one that has its name. It holds for those modules. */
int graft_registry_put_fusion(struct graft_registry *registry, const struct graft_fused_modules *fused,
                              const char *model_type, struct graft_error *error);

/* One family asked for. */
struct graft_fusion_choice {
    const struct graft_known_fusion *known;
    const graft_json *options; /* the mapping given; NULL for `true` */
};

/* What a fusion_config asks for, in its order; families that are `false` are left out. */
struct graft_fusion_request {
    struct graft_fusion_choice *choices;
    size_t n;
};

/* Who wrote a fusion_config, for messages: config.json or the caller of an option. */
struct graft_fusion_source {
    const char *name; /* the file, or the option */
    int code;         /* of errors: GRAFT_ERROR_MODEL or GRAFT_ERROR_USAGE */
};

/* [any] Reads a fusion_config; NULL and null ask for nothing. Values are true, false or a mapping of options; another
 * value and an unknown name are errors, which list the names there are. The document and the snapshot outlive the
 * request, which the caller gives to graft_fusion_request_finish, also after an error. */
int graft_fusion_request_read(const struct graft_snapshot *snapshot, const graft_json *fusion_config,
                              const struct graft_fusion_source *source, struct graft_fusion_request *request,
                              struct graft_error *error);
void graft_fusion_request_finish(struct graft_fusion_request *request);

#endif
