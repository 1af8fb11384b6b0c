/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares: modules of whose outputs or inputs a class above takes a part. Adds conversions that slice each tensor, as
 * described by the class built there.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/args.h"
#include "model/describe.h"
#include "model/join.h"
#include "model/node.h"

/* A share that a class above declared, applied to a module or to one of its joined parts. */
struct sharing {
    struct builder *builder;
    struct graft_node *node;  /* the module described */
    struct graft_node *owner; /* the module whose class declared the share */
    const struct graft_node_share *share;
    const char *path; /* path of the module, or of the part, whose tensors are sliced */
    int32_t is_part;  /* 1: `path` is a joined part */
    int64_t count;    /* number of outputs or inputs over all shares; unknown, 0, if is_part */
};

/* --- Conversions --- */

/* The owner's conversion that slices the tensor `name` below the module, which is added if it does not exist; NULL if
 * memory ran out. */
static struct graft_derived *conversion_of(struct graft_node *owner, const struct graft_node_share *share,
                                           const char *name) {
    char *target = graft_format("%s%s%s", share->name, share->name[0] != '\0' ? "." : "", name);
    for (size_t i = 0; i < owner->n_derived && target != NULL; i++) {
        if (owner->derived[i]->target != NULL && strcmp(owner->derived[i]->target, target) == 0) {
            graft_free(target);
            return owner->derived[i];
        }
    }
    struct graft_derived *derived = target != NULL ? graft_node_derive(owner, 1) : NULL;
    if (derived == NULL || (derived->sources[0] = graft_strdup(target)) == NULL) {
        graft_free(target);
        return NULL;
    }
    derived->target = target;
    derived->conversion.n_operations = 1;
    derived->conversion.operations = derived->operations;
    return derived;
}

/* Adds a slice along `dim`, each of whose indices stands for `step` of `count` outputs or inputs. */
static int take(struct graft_node *owner, const struct graft_node_share *share, const char *name, int32_t dim,
                int64_t step, int64_t count, struct graft_error *error) {
    struct graft_derived *derived = conversion_of(owner, share, name);
    if (derived == NULL) {
        return graft_fail_memory(error, owner->path);
    }
    struct graft_operation *slice = derived->operations;
    *slice = share->slice;
    slice->dim = dim;
    if (step > 1 && slice->of == count) { /* a contiguous share, which may be smaller than those of other processes */
        slice->begin /= step;
        slice->length = (slice->length + step - 1) / step;
        slice->of = (count + step - 1) / step;
    }
    return GRAFT_OK;
}

/* Slices a plain weight or bias, whose layout needs no description. */
static int take_plain(struct graft_node *owner, const struct graft_node_share *share, struct graft_error *error) {
    const int is_of_inputs = share->of == GRAFT_SHARE_INPUTS;
    int status = take(owner, share, "weight", is_of_inputs, 1, 0, error);
    return status == GRAFT_OK && !is_of_inputs ? take(owner, share, "bias", 0, 1, 0, error) : status;
}

/* --- Declaring --- */

int graft_builder_share(void *data, const char *name, int32_t of, const struct graft_operation *slice,
                        struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    const int is_slice = slice != NULL && slice->struct_size >= GRAFT_OPERATION_SIZE_1_0 &&
                         slice->kind == GRAFT_OP_SLICE && slice->begin >= 0 && slice->length >= 1 &&
                         slice->of - slice->length >= slice->begin;
    const int is_own = name != NULL && name[0] == '\0';
    if (name == NULL || !is_slice || (of != GRAFT_SHARE_OUTPUTS && of != GRAFT_SHARE_INPUTS) ||
        (is_own && node->super == NULL)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path,
                               "%s describes a share of \"%s\" that is none: expected a module of its own, outputs or "
                               "inputs, and a Slice with `of`",
                               builder->describing_class->cls->name, name != NULL ? name : "(null)");
    }
    builder->n_shares++;
    if (graft_grow(&node->shares, &node->shares_capacity, node->n_shares, sizeof *node->shares) != 0) {
        return graft_fail_memory(error, node->path);
    }
    struct graft_node_share *share = &node->shares[node->n_shares++];
    *share = (struct graft_node_share){.name = graft_strdup(name), .of = of};
    graft_struct_copy(&share->slice, sizeof share->slice, slice);
    share->slice.struct_size = sizeof share->slice;
    return share->name != NULL ? take_plain(node, share, error) : graft_fail_memory(error, node->path);
}

/* --- Dividing --- */

static const char *what(const struct sharing *sharing) {
    return sharing->share->of == GRAFT_SHARE_INPUTS ? "inputs" : "outputs";
}

static int refuse_unknown(const struct sharing *sharing, const char *name, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, sharing->path,
                           "%s cannot be divided in %lld: %s does not say how they lie in \"%s\"", what(sharing),
                           (long long)sharing->share->slice.of, sharing->node->described_by->cls->name, name);
}

static int refuse_step(const struct sharing *sharing, const char *name, int64_t step, struct graft_error *error) {
    return graft_error_set(
        error, GRAFT_ERROR_USAGE, sharing->path, "%lld %s cannot be divided in %lld: \"%s\" has them in steps of %lld",
        (long long)sharing->count, what(sharing), (long long)sharing->share->slice.of, name, (long long)step);
}

/* Whether shares of `count`, or of each part of it, end at a step. */
static int ends_with_steps(const struct graft_operation *slice, int64_t count, int64_t step) {
    int64_t sum = 0;
    if (slice->parts[0] == 0) {
        const int64_t unit = count / slice->of, end = (slice->begin + slice->length) * unit;
        return count % slice->of == 0 && slice->begin * unit % step == 0 && (end == count || end % step == 0);
    }
    for (int i = 0; i < GRAFT_SLICE_PARTS && slice->parts[i] > 0; i++) {
        sum += slice->parts[i];
    }
    for (int i = 0; i < GRAFT_SLICE_PARTS && slice->parts[i] > 0; i++) {
        if (count % sum != 0 || count / sum * slice->parts[i] % (slice->of * step) != 0) {
            return 0;
        }
    }
    return 1;
}

static int is_plain(const struct graft_parameter *parameter) {
    return parameter->join.kind == GRAFT_JOIN_NONE && parameter->inputs.kind == GRAFT_JOIN_NONE &&
           parameter->dtype == GRAFT_DTYPE_NONE &&
           (strcmp(parameter->own_name, "weight") == 0 || strcmp(parameter->own_name, "bias") == 0);
}

/* Slices a parameter that the checkpoint has. A tensor of exactly the share's length is shared by all processes. */
static int divide_tensor(const struct sharing *sharing, const struct graft_parameter *parameter, const char *name,
                         const struct graft_tensor_view *view, struct graft_error *error) {
    const int is_of_inputs = sharing->share->of == GRAFT_SHARE_INPUTS;
    const struct graft_join *lies = is_of_inputs ? &parameter->inputs : &parameter->join;
    const int is_each_unknown = lies->kind == GRAFT_JOIN_EACH && parameter->inputs.kind == GRAFT_JOIN_NONE;
    if (lies->kind == GRAFT_JOIN_NONE || is_each_unknown) {
        return refuse_unknown(sharing, name, error);
    }
    if (lies->kind != GRAFT_JOIN_ROWS ||
        (!sharing->is_part && lies->dim < view->rank && view->shape[lies->dim] == parameter->shape[lies->dim])) {
        return GRAFT_OK;
    }
    return sharing->is_part || ends_with_steps(&sharing->share->slice, sharing->count, lies->rows)
               ? take(sharing->owner, sharing->share, name, lies->dim, lies->rows, sharing->count, error)
               : refuse_step(sharing, name, lies->rows, error);
}

static int divide_parameter(const struct sharing *sharing, const struct graft_parameter *parameter,
                            struct graft_error *error) {
    const struct graft_model_facts *facts = sharing->builder->options->facts;
    const struct graft_tensor_view *view = NULL;
    const char *name = parameter->own_name;
    if (is_plain(parameter) || facts == NULL || facts->tensor == NULL) {
        return GRAFT_OK;
    }
    for (size_t i = 0; name != NULL && (view = facts->tensor(facts->data, sharing->path, name)) == NULL; i++) {
        name = graft_node_renamed(sharing->node, parameter->own_name, i);
    }
    return view != NULL ? divide_tensor(sharing, parameter, name, view, error) : GRAFT_OK;
}

static int divide(const struct sharing *sharing, struct graft_error *error) {
    const struct graft_node *node = sharing->node;
    int status = GRAFT_OK;
    for (size_t i = 0; i < node->n_parameters && status == GRAFT_OK; i++) {
        status = divide_parameter(sharing, node->parameters[i], error);
    }
    for (size_t i = 0; i < node->n_sources && status == GRAFT_OK; i++) {
        status = divide_parameter(sharing, node->sources[i], error);
    }
    return status;
}

/* Whether the share applies to the module at `path`. */
static int is_of(const struct graft_node *owner, const struct graft_node_share *share, const char *path) {
    const size_t length = strlen(owner->path);
    if (strncmp(owner->path, path, length) != 0) {
        return 0;
    }
    const char *below = path + length + (length > 0 && path[length] == '.');
    return strcmp(below, share->name) == 0;
}

/* Applies a share that a class above declared, to the module or to each of its parts. */
static int share_out(struct builder *builder, struct graft_node *node, struct graft_node *owner,
                     const struct graft_node_share *share, struct graft_error *error) {
    const struct graft_node_join *join = graft_node_join(node);
    const struct graft_operation *slice = &share->slice;
    struct sharing sharing = {.builder = builder, .node = node, .owner = owner, .share = share, .path = node->path};
    int status = GRAFT_OK;
    if (is_of(owner, share, node->path)) {
        const char *name = share->of == GRAFT_SHARE_INPUTS ? "in_features" : "out_features";
        sharing.count = graft_args_int(&node->args, name, 0) / slice->length * slice->of;
        status = divide(&sharing, error);
    }
    for (size_t i = 0; join != NULL && !join->is_renaming && i < join->joined.n_parts && status == GRAFT_OK; i++) {
        if (is_of(owner, share, join->paths[i])) {
            sharing.is_part = 1;
            sharing.path = join->paths[i];
            status = divide(&sharing, error);
        }
    }
    return status;
}

int graft_share_parameters(struct builder *builder, struct graft_node *node, struct graft_error *error) {
    int status = GRAFT_OK;
    for (struct graft_node *owner = graft_node_above(node); owner != NULL; owner = graft_node_above(owner)) {
        for (size_t i = 0; i < owner->n_shares && status == GRAFT_OK; i++) {
            status = share_out(builder, node, owner, &owner->shares[i], error);
        }
    }
    return status;
}
