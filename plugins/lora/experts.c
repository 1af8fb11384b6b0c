/* SPDX-License-Identifier: Apache-2.0 */
/* Loads LoraExperts: stacked experts, and what adapters add to the projections of each expert. Adapters store this for
 * each expert, or for all experts together (stack.h). */
#include "experts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters.h"
#include "graft/describe.h"
#include "lora.h"
#include "stack.h"

enum { BELOW = 32, MAX_PATH = 4096, SPELLINGS = 2 };

/* Names of the projections in adapters; Mixtral has its own. */
static const char *const names[SPELLINGS][LORA_PROJECTIONS] = {{"gate_proj", "up_proj", "down_proj"},
                                                               {"w1", "w3", "w2"}};

/* "3.up_proj" */
static void name_projection(int64_t expert, int spelling, int projection, char below[BELOW]) {
    (void)snprintf(below, BELOW, "%lld.%s", (long long)expert, names[spelling][projection]);
}

static int describe_pair(const struct graft_sink *sink, const struct graft_args *args, int projection,
                         const struct lora_adapter *adapter, struct graft_error *error) {
    const int64_t hidden = graft_args_int(args, "hidden_size", 0);
    const int64_t inner = graft_args_int(args, "intermediate_size", 0);
    const struct graft_arg pair[] = {
        graft_int_arg("in_features", projection == LORA_OF_DOWN ? inner : hidden),
        graft_int_arg("out_features", projection == LORA_OF_DOWN ? hidden : inner),
        graft_int_arg("bias", 0),
        graft_int_arg("rank", adapter->rank),
        graft_real_arg("factor", adapter->factor),
    };
    return graft_describe_child(sink, adapter->child, lora_pair_class.name, GRAFT_INTERFACE_LINEAR, pair, 5, error);
}

/* Describes what adapter `i` has for one expert. */
static int describe_expert(const struct graft_config *config, const struct graft_args *args,
                           const struct graft_sink *sink, int64_t i, int64_t expert, struct graft_error *error) {
    for (int k = 0; k < SPELLINGS * LORA_PROJECTIONS; k++) {
        const int projection = k % LORA_PROJECTIONS;
        struct lora_adapter adapter;
        char below[BELOW], path[MAX_PATH];
        const struct lora_place place = {.below = below, .path = path};
        name_projection(expert, k / LORA_PROJECTIONS, projection, below);
        (void)snprintf(path, sizeof path, "%s.%s", sink->path, below);
        lora_read(config, sink, i, &place, &adapter, error);
        if (error->code == GRAFT_OK && adapter.kind == LORA_PAIR && (adapter.has_magnitude || adapter.has_bias)) {
            graft_error_set(error, GRAFT_ERROR_MODEL, path,
                            "%s: not supported for stacked experts; load sequential_experts as well",
                            adapter.has_magnitude ? "use_dora" : "lora_bias");
        } else if (error->code == GRAFT_OK && adapter.kind == LORA_PAIR && adapter.made.method == LORA_METHOD_LORA) {
            describe_pair(sink, args, projection, &adapter, error);
        }
    }
    return error->code;
}

/* Whether rows of gate and up alternate, as in gpt-oss: adapters are trained on the published layout. */
static int is_by_turns(const struct graft_config *config) {
    const char *type = config->string(config->data, "model_type");
    return type != NULL && strcmp(type, "gpt_oss") == 0;
}

static int describe_stack(const struct graft_config *config, const struct graft_args *args,
                          const struct graft_sink *sink, int64_t i, struct graft_error *error) {
    struct lora_adapter adapters[LORA_STACKED];
    lora_read_parameters(config, sink, i, lora_stacked_names, adapters, error);
    const struct lora_adapter *gate_up = &adapters[LORA_GATE_UP], *down = &adapters[LORA_DOWN];
    if (error->code != GRAFT_OK || (gate_up->kind == LORA_NOTHING && down->kind == LORA_NOTHING)) {
        return error->code;
    }
    const struct graft_arg given[] = {
        graft_int_arg("num_experts", graft_args_int(args, "num_experts", 0)),
        graft_int_arg("hidden_size", graft_args_int(args, "hidden_size", 0)),
        graft_int_arg("intermediate_size", graft_args_int(args, "intermediate_size", 0)),
        graft_int_arg("gate_up_proj_rank", gate_up->rank),
        graft_real_arg("gate_up_proj_factor", gate_up->factor),
        graft_int_arg("down_proj_rank", down->rank),
        graft_real_arg("down_proj_factor", down->factor),
        graft_int_arg("by_turns", is_by_turns(config)),
    };
    return graft_describe_child(sink, gate_up->child, lora_experts_pairs_class.name, LORA_INTERFACE_EXPERTS_PAIRS,
                                given, sizeof given / sizeof given[0], error);
}

/* Checks experts that are separate modules. Adapters apply to their Linears; an adapter for stacked experts does not
 * apply and is an error. */
static int check_listed(const struct graft_config *config, const struct graft_sink *sink, struct graft_error *error) {
    for (int64_t i = 0; i < lora_count(config); i++) {
        struct lora_adapter adapters[LORA_STACKED];
        lora_read_parameters(config, sink, i, lora_stacked_names, adapters, error);
        if (error->code == GRAFT_OK &&
            (adapters[LORA_GATE_UP].kind != LORA_NOTHING || adapters[LORA_DOWN].kind != LORA_NOTHING)) {
            graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                            "%s: an adapter for stacked experts (target_parameters), which these are not",
                            adapters[LORA_DOWN].child);
        }
    }
    return error->code;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t n = lora_count(config), num_experts = graft_args_int(args, "num_experts", 0);
    (void)cls;
    if ((sink->super_flags & GRAFT_CLASS_CALLS_EXPERTS) == 0) {
        return check_listed(config, sink, error);
    }
    for (int64_t i = 0; i < n; i++) {
        describe_stack(config, args, sink, i, error);
        for (int64_t expert = 0; expert < num_experts; expert++) {
            describe_expert(config, args, sink, i, expert, error);
        }
    }
    lora_describe_by_row(sink, error);
    return error->code;
}

/* The adapter's pair for a projection of an expert; NULL: none. */
static const struct graft_module *find_pair(const struct graft_build *build, int64_t i, int64_t expert,
                                            int projection) {
    const struct graft_module *found = NULL;
    for (int spelling = 0; spelling < SPELLINGS && found == NULL; spelling++) {
        char below[BELOW], name[LORA_CHILD_NAME];
        name_projection(expert, spelling, projection, below);
        lora_child_name(build->config, i, below, name);
        found = build->child(build->data, name);
    }
    return found;
}

static void find_adapter(struct lora_experts *self, const struct graft_build *build, int64_t i) {
    struct lora_experts_adapter *adapter = &self->adapters[i];
    char name[LORA_CHILD_NAME];
    lora_child_name(build->config, i, "", name);
    adapter->stack = build->child(build->data, name);
    adapter->pairs = self->pairs + i * self->num_experts * LORA_PROJECTIONS;
    int has_any = adapter->stack != NULL;
    for (int64_t k = 0; k < self->num_experts * LORA_PROJECTIONS; k++) {
        adapter->pairs[k] = find_pair(build, i, k / LORA_PROJECTIONS, (int)(k % LORA_PROJECTIONS));
        has_any |= adapter->pairs[k] != NULL;
    }
    self->n_adapters = has_any ? i + 1 : self->n_adapters;
}

static void destroy(void *instance) {
    struct lora_experts *self = instance;
    free(self->adapters);
    free(self->pairs);
    free(self);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const int64_t num_experts = graft_args_int(build->args, "num_experts", 0), n = lora_count(build->config);
    struct lora_experts *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->original = build->super;
    self->num_experts = num_experts;
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->intermediate_size = graft_args_int(build->args, "intermediate_size", 0);
    self->adapters = calloc((size_t)n + 1, sizeof *self->adapters);
    self->pairs = calloc((size_t)(n * num_experts * LORA_PROJECTIONS) + 1, sizeof *self->pairs);
    if (self->adapters == NULL || self->pairs == NULL) {
        destroy(self);
        return graft_fail_memory(error, build->path);
    }
    for (int64_t i = 0; i < n; i++) {
        find_adapter(self, build, i);
    }
    *instance = self;
    return GRAFT_OK;
}

static const struct graft_experts vtable = {.struct_size = sizeof vtable,
                                            .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING,
                                            .forward = lora_experts_forward};

const struct graft_class lora_experts_class = {
    .struct_size = sizeof lora_experts_class,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "LoraExperts",
    .interface_id = GRAFT_INTERFACE_EXPERTS,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};
