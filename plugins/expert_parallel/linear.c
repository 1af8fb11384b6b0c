/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of listed experts that cannot be sliced, because the checkpoint's quantization method has tensors of its own
 * for each. The experts keep their numbers, so that the config's module names still apply; Linears of another rank's
 * experts are declared elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "expert_parallel.h"
#include "graft/linear.h"

enum { MAX_PATH = 4096 };

/* Experts are described before their Linears, on the same thread. */
static _Thread_local struct {
    char path[MAX_PATH]; /* "": experts are sliced, or all are here */
    struct run own;
} kept_whole;

void expert_parallel_keep_whole(const char *path, const struct run *own) {
    size_t length = path != NULL ? strlen(path) : 0;
    length = length < MAX_PATH ? length : 0;
    if (length > 0) {
        memcpy(kept_whole.path, path, length);
        kept_whole.own = *own;
    }
    kept_whole.path[length] = '\0';
}

/* The number of the expert that a module belongs to; -1: it belongs to none of those experts. */
static int64_t find_expert(const char *path) {
    size_t length = strlen(kept_whole.path);
    char *end = NULL;
    if (length == 0 || strncmp(path, kept_whole.path, length) != 0 || path[length] != '.' || path[length + 1] < '0' ||
        path[length + 1] > '9') {
        return -1;
    }
    long long number = strtoll(path + length + 1, &end, 10);
    return *end == '.' ? number : -1;
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t number = find_expert(sink->path);
    (void)self;
    (void)config;
    (void)args;
    return number >= 0 && (number < kept_whole.own.begin || number >= kept_whole.own.end)
               ? sink->elsewhere(sink->data, error)
               : GRAFT_OK;
}

/* The instance is the wrapped module; NULL for an expert of another rank, to which no token is routed here. */
static int forward(void *super, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return super != NULL ? graft_linear_forward(super, call, args, error)
                         : graft_error_set(error, GRAFT_ERROR_PLUGIN, "expert_parallel",
                                           "this process was asked to run an expert that another process has");
}

static int32_t as_product(void *super, const struct graft_linear_args *args, struct graft_product *product) {
    return super != NULL ? graft_linear_pass_product(super, args, product) : 0;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward, .as_product = as_product};

const struct graft_class expert_parallel_linear = {
    .struct_size = sizeof expert_parallel_linear,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "ExpertParallelLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .forward = &vtable,
};
