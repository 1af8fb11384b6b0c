/* SPDX-License-Identifier: Apache-2.0 */
/* A complete adapter: y = W x + factor * B (A x) for each Linear for which an adapter (`--adapter NAME=DIR`) has a
 * low-rank pair (Hu et al. 2021). The Linear itself is called unchanged, whatever its class. */
#include "graft/condition.h"
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/linear.h"
#include "graft/plugin.h"

enum { NAME = 320, PATH = 400, MAX_RANK = 4096, MAX_SIZE = 1 << 24 };

/* Writes "adapter.NAME" for adapter `i`: the name of a field of the config, and of a child of the module. */
static void adapter_name(const struct graft_config *config, int64_t i, char name[NAME]) {
    char path[PATH];
    (void)snprintf(path, sizeof path, "adapters.%lld.name", (long long)i);
    (void)snprintf(name, NAME, "adapter.%s", config->string(config->data, path));
}

/* --- Reading adapter_config.json --- */

/* Fields of PEFT's features that this example does without; they must be null, false or empty. */
static const char *const refused[] = {"use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save"};

static int check_fields(const struct graft_config *config, int64_t i, const char *adapter, struct graft_error *error) {
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        char path[PATH];
        (void)snprintf(path, sizeof path, "%s.%s", adapter, refused[k]);
        int32_t kind = config->kind(config->data, path);
        int32_t empty =
            kind == GRAFT_FIELD_ABSENT || kind == GRAFT_FIELD_NULL ||
            (kind == GRAFT_FIELD_BOOL && config->integer(config->data, path) == 0) ||
            ((kind == GRAFT_FIELD_OBJECT || kind == GRAFT_FIELD_ARRAY) && config->size(config->data, path) == 0);
        if (!empty) {
            (void)snprintf(path, sizeof path, "adapters.%lld.directory", (long long)i);
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->string(config->data, path),
                                   "adapter_config.json: %s: expected none, low_rank_adapter does not do that",
                                   refused[k]);
        }
    }
    return GRAFT_OK;
}

/* Reads the factor of a pair: the user's scale * lora_alpha / rank. */
static int read_factor(const struct graft_config *config, int64_t i, const char *adapter, int64_t rank, double *factor,
                       struct graft_error *error) {
    char path[PATH];
    double alpha = 8.0; /* PEFT's own */
    (void)snprintf(path, sizeof path, "%s.lora_alpha", adapter);
    int status = graft_config_real(config, path, 0.0, &alpha, error);
    (void)snprintf(path, sizeof path, "adapters.%lld.scale", (long long)i);
    *factor = config->real(config->data, path) * alpha / (double)rank;
    return status;
}

/* Reads the rank of the pair that an adapter has for the module; 0 if it has none. */
static int read_rank(const struct graft_sink *sink, const char *adapter, int64_t *rank, struct graft_error *error) {
    struct graft_value_info info = {.struct_size = sizeof info};
    char tensor[PATH];
    (void)snprintf(tensor, sizeof tensor, "%s.lora_A.weight", adapter);
    *rank = 0;
    if (sink->adapter_tensor(sink->data, tensor, &info) == 0) {
        return GRAFT_OK;
    }
    if (info.rank != 2 || info.shape[0] < 1 || info.shape[0] > MAX_RANK) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, sink->path, "%s: expected a matrix of 1 to %d rows", tensor,
                               (int)MAX_RANK);
    }
    *rank = info.shape[0];
    return GRAFT_OK;
}

/* --- Structure: the original, and two Linears for each adapter that has a pair --- */

static int describe_pair(const struct graft_sink *sink, const struct graft_args *args, const char *adapter,
                         int64_t rank, struct graft_error *error) {
    char child[PATH];
    (void)snprintf(child, sizeof child, "%s.lora_A", adapter);
    graft_describe_linear(sink, child, graft_args_int(args, "in_features", 0), rank, 0, error);
    (void)snprintf(child, sizeof child, "%s.lora_B", adapter);
    graft_describe_linear(sink, child, rank, graft_args_int(args, "out_features", 0), 0, error);
    return error->code;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    for (int64_t i = 0; i < config->size(config->data, "adapters"); i++) {
        char adapter[NAME];
        int64_t rank = 0;
        adapter_name(config, i, adapter);
        check_fields(config, i, adapter, error);
        read_rank(sink, adapter, &rank, error);
        if (rank > 0) {
            describe_pair(sink, args, adapter, rank, error);
        }
    }
    return error->code;
}

/* --- Instances --- */

struct pair {
    const struct graft_module *a; /* in_features -> rank */
    const struct graft_module *b; /* rank -> out_features */
    int64_t rank;
    float factor;
};

struct adapted_linear {
    struct graft_instance instance;
    const struct graft_module *original;
    int64_t out_features;
    int64_t n_pairs;
    struct pair pairs[]; /* room for one pair of each adapter */
};

/* Adds the pair of adapter `i`, if it has one. */
static void add_pair(struct adapted_linear *self, const struct graft_build *build, int64_t i,
                     struct graft_error *error) {
    char adapter[NAME], child[PATH];
    struct pair *pair = &self->pairs[self->n_pairs];
    double factor;
    adapter_name(build->config, i, adapter);
    (void)snprintf(child, sizeof child, "%s.lora_A", adapter);
    pair->a = build->child(build->data, child);
    if (pair->a == NULL) {
        return;
    }
    (void)graft_args_size(build->child_args(build->data, child), "out_features", MAX_RANK, build->path, &pair->rank,
                          error);
    (void)snprintf(child, sizeof child, "%s.lora_B", adapter);
    pair->b = graft_build_child(build, child, error);
    if (error->code == GRAFT_OK && read_factor(build->config, i, adapter, pair->rank, &factor, error) == GRAFT_OK) {
        pair->factor = (float)factor;
        self->n_pairs++;
    }
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int64_t n = build->config->size(build->config->data, "adapters");
    struct adapted_linear *self = graft_instance_new(build, sizeof *self + (size_t)n * sizeof self->pairs[0], error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->original = build->super;
    (void)graft_args_size(build->args, "out_features", MAX_SIZE, build->path, &self->out_features, error);
    for (int64_t i = 0; i < n; i++) {
        add_pair(self, build, i, error);
    }
    return graft_instance_finish(self, instance, error);
}

/* y += factor * B (A x) */
static int add(const struct adapted_linear *self, const struct pair *pair, const struct graft_call *call,
               const struct graft_linear_args *args, struct graft_error *error) {
    int64_t count = args->tokens * self->out_features;
    float *narrow = graft_scratch_floats(call, args->tokens, pair->rank, error);       /* [tokens, rank] */
    float *wide = graft_scratch_floats(call, args->tokens, self->out_features, error); /* [tokens, out_features] */
    const struct graft_linear_args a = {sizeof a, 0, args->tokens, args->x, narrow};
    const struct graft_linear_args b = {sizeof b, 0, args->tokens, narrow, wide};
    if (narrow == NULL || wide == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(pair->a, call, &a, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(pair->b, call, &b, error);
    }
    for (int64_t i = 0; i < count && status == GRAFT_OK; i++) {
        args->y[i] += pair->factor * wide[i];
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct adapted_linear *self = instance;
    int status = graft_linear_forward(self->original, call, args, error);
    for (int64_t i = 0; i < self->n_pairs && status == GRAFT_OK; i++) {
        status = add(self, &self->pairs[i], call, args, error);
    }
    return status;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

/* --- Descriptor --- */

static const struct graft_class adapted_linear = {
    .struct_size = sizeof adapted_linear,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "LowRankAdaptedLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = graft_instance_destroy,
    .forward = &vtable,
};

/* Replaces a Linear if an adapter has tensors for it. */
static const char *const pairs[] = {"adapter.*.lora_A.weight", NULL};
static const struct graft_condition conditions[] = {
    {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "adapters", NULL},
    {sizeof conditions[0], GRAFT_CONDITION_TENSOR, NULL, pairs},
};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "Linear",
    .replacement = &adapted_linear,
    .conditions = conditions,
    .n_conditions = 2,
    .condition_stride = sizeof conditions[0],
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "low_rank_adapter",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Adapters of low rank around Linears",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
