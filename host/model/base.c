/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions that call the description of the class's base. */
#include "base/alloc.h"
#include "base/args.h"
#include "base/fail.h"
#include "model/describe.h"

/* Runs the base's `describe`. What the base keeps for its own `create` is handled by graft_builder_keep_for_create. */
static int run(struct builder *builder, const struct graft_known_class *base, struct graft_error *error) {
    struct graft_node *node = builder->describing;
    const struct graft_known_class *outer = builder->describing_class;
    void *kept = node->kept;
    const size_t kept_bytes = node->kept_bytes;
    node->kept = NULL;
    builder->describing_class = base;
    builder->depth++;
    int status = builder->depth > GRAFT_MAX_DEPTH
                     ? graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path, "%s describes bases of bases without end",
                                       outer->cls->name)
                     : graft_builder_run_describe(builder, node, builder->sink, error);
    builder->depth--;
    builder->describing_class = outer;
    graft_free(node->kept);
    node->kept = kept;
    node->kept_bytes = kept_bytes;
    return status;
}

/* Adds the arguments that the class passes to its base to those of the module. */
static int give(struct builder *builder, const struct graft_args *more, struct graft_error *error) {
    struct graft_node *node = builder->describing;
    const struct graft_class *cls = builder->describing_class->cls;
    builder->n_by_place += more != NULL; /* modules are compared by the arguments that they were given */
    if (!graft_args_valid(more)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path, "%s describes its base: invalid arguments",
                               cls->name);
    }
    if (graft_args_override(&node->args, more) != 0) {
        return graft_fail_memory(error, node->path);
    }
    if (node->args.count > GRAFT_MAX_ARGS) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path,
                               "%s describes its base: expected at most %d arguments, got %d", cls->name,
                               (int)GRAFT_MAX_ARGS, (int)node->args.count);
    }
    return graft_builder_check_arguments(builder, "its base", "", cls->interface_id, &node->args, error);
}

int graft_builder_base(void *data, const struct graft_args *more, struct graft_error *error) {
    struct builder *builder = data;
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const struct graft_snapshot *snapshot = builder->options->snapshot;
    const struct graft_known_class *known = builder->describing_class;
    const struct graft_known_class *base =
        known->cls->base == NULL ? builder->describing->original : graft_snapshot_base(snapshot, known);
    base = base != known ? base : NULL;
    if (base == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, builder->describing->path,
                               "%s describes its base, \"%s\", but there is none", known->cls->name,
                               known->cls->base != NULL ? known->cls->base : "(null)");
    }
    int status = give(builder, more, error);
    if (status == GRAFT_OK) {
        status = graft_snapshot_describing_class(snapshot, base, &base, error);
    }
    return status == GRAFT_OK && base != NULL ? run(builder, base, error) : status;
}
