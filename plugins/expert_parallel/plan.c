/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdio.h>
#include <string.h>

#include "graft/glob.h"

#define FIELD "base_model_ep_plan"

/* Styles of transformers that a rule may name, and whether the style divides the experts. One class here does what
 * transformers divides among several styles, so any of these will do. Styles of other modules belong to the plan of
 * tensor parallelism; those modules stay whole here. */
static const struct {
    const char *name;
    int divides;
} styles[] = {
    {"grouped_gemm", 1},                   /* of weights: each rank has the weights of some experts */
    {"ep_dispatch_experts", 1},            /* of experts: each token is sent to the rank that has its experts */
    {"moe_tp_experts", 1},                 /* of experts: ranks compute their own experts and sum (older versions) */
    {"ep_router", 0},                      /* of a router: leaves out experts of other ranks (older versions) */
    {"colwise", 0},                        /* of an MLP parallel to the experts */
    {"rowwise", 0},                        /* likewise */
    {"packed_colwise", 0},                 /* likewise */
    {"replicate", 0},                      /* whole */
    {"replicated_with_grad_allreduce", 0}, /* likewise */
};

/* Whether rule `i` divides the experts; -1: its style is not known. */
static int style_divides(const struct graft_config *config, int64_t i) {
    char place[64];
    (void)snprintf(place, sizeof place, FIELD ".#%lld", (long long)i);
    const char *style = config->string(config->data, place);
    for (size_t k = 0; style != NULL && k < sizeof styles / sizeof styles[0]; k++) {
        if (strcmp(styles[k].name, style) == 0) {
            return styles[k].divides;
        }
    }
    return -1;
}

/* Whether a rule's glob matches the path of the experts, or that path followed by the name of one of their parameters.
 */
static int is_of(const char *glob, const char *path) {
    size_t length = strlen(glob), matched = graft_glob_match(glob, length, path);
    return matched > 0 && (matched == length || memchr(glob + matched + 1, '.', length - matched - 1) == NULL);
}

int plan_divides(const struct graft_config *config, const char *path, int *divides, struct graft_error *error) {
    const char *glob;
    int any = 0;
    *divides = 1;
    if (!graft_config_has(config, FIELD)) {
        return GRAFT_OK;
    }
    *divides = 0;
    for (int64_t i = 0; (glob = config->key(config->data, FIELD, i)) != NULL; i++) {
        int rule = style_divides(config, i);
        if (rule < 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                   FIELD ": expected grouped_gemm, ep_dispatch_experts or another of transformers' "
                                         "styles, got another one for \"%s\"",
                                   glob);
        }
        any |= rule;
        *divides |= rule && is_of(glob, path);
    }
    return any ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 FIELD ": expected a rule with grouped_gemm or ep_dispatch_experts, got none");
}
