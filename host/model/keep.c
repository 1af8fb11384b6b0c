/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a class's `describe` fills for its own `create`. */
#include "base/alloc.h"
#include "base/fail.h"
#include "graft/state.h"
#include "model/describe.h"

enum { MAX_KEPT = 1 << 20 };

void *graft_builder_keep(void *data, int64_t bytes, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    const char *name = builder->describing_class->cls->name;
    if (error->code != GRAFT_OK) {
        return NULL;
    }
    if (node->kept != NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path, "%s keeps memory twice in one description", name);
        return NULL;
    }
    if (bytes < 1 || bytes > MAX_KEPT) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path, "%s keeps %lld bytes, expected 1 to %d", name,
                              (long long)bytes, MAX_KEPT);
        return NULL;
    }
    node->kept = graft_alloc(1, (size_t)bytes);
    node->kept_bytes = (size_t)bytes;
    if (node->kept == NULL) {
        (void)graft_fail_memory(error, node->path);
    }
    return node->kept;
}

static int ignore_parameter(void *data, const struct graft_parameter_info *info, struct graft_error *error) {
    (void)data;
    (void)info;
    (void)error;
    return GRAFT_OK;
}

static int ignore_child(void *data, const struct graft_child_info *info, struct graft_error *error) {
    (void)data;
    (void)info;
    (void)error;
    return GRAFT_OK;
}

static int ignore_attribute(void *data, const char *name, const int64_t *values, int32_t count,
                            struct graft_error *error) {
    (void)data;
    (void)name;
    (void)values;
    (void)count;
    (void)error;
    return GRAFT_OK;
}

static int ignore_tie(void *data, const char *name, const char *source, struct graft_error *error) {
    (void)data;
    (void)name;
    (void)source;
    (void)error;
    return GRAFT_OK;
}

static int ignore_state(void *data, const struct graft_state_info *info, struct graft_error *error) {
    (void)data;
    (void)info;
    (void)error;
    return GRAFT_OK;
}

static int ignore_conversion(void *data, const struct graft_conversion *conversion, struct graft_error *error) {
    (void)data;
    (void)conversion;
    (void)error;
    return GRAFT_OK;
}

static int ignore_share(void *data, const char *name, int32_t of, const struct graft_operation *slice,
                        struct graft_error *error) {
    (void)data;
    (void)name;
    (void)of;
    (void)slice;
    (void)error;
    return GRAFT_OK;
}

static int ignore_super(void *data, const struct graft_args *more, struct graft_error *error) {
    (void)data;
    (void)more;
    (void)error;
    return GRAFT_OK;
}

void graft_builder_ignore_structure(struct graft_sink *sink) {
    sink->child = ignore_child;
    sink->attribute = ignore_attribute;
    sink->tie = ignore_tie;
    sink->state = ignore_state;
    sink->conversion = ignore_conversion;
    sink->super = ignore_super;
    sink->share = ignore_share;
}

static int ignore_coded(void *data, const struct graft_coded_info *info, struct graft_error *error) {
    (void)data;
    (void)info;
    (void)error;
    return GRAFT_OK;
}

int graft_builder_keep_for_create(struct builder *builder, struct graft_node *node, const struct graft_sink *sink,
                                  struct graft_error *error) {
    struct graft_sink keeping = *sink;
    keeping.parameter = ignore_parameter;
    keeping.coded = ignore_coded;
    graft_builder_ignore_structure(&keeping);
    const struct graft_known_class *keeper = NULL;
    int status = graft_snapshot_describing_class(builder->options->snapshot, node->made_by, &keeper, error);
    if (status != GRAFT_OK || keeper == node->described_by) {
        return status;
    }
    graft_free(node->kept);
    node->kept = NULL;
    builder->describing_class = keeper;
    return keeper != NULL ? graft_builder_run_describe(builder, node, &keeping, error) : GRAFT_OK;
}
