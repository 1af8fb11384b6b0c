/* SPDX-License-Identifier: Apache-2.0 */
/* The single parts of a joined module, for classes that add to the outputs of some parts. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "model/join.h"
#include "model/node.h"

/* Reads the parts' outputs from the model without replacements. Returns 0 if they are not those of the joined
 * module. */
static int count_outputs(const struct builder *builder, struct graft_node_join *join, int64_t sum) {
    for (size_t i = 0; i < join->joined.n_parts; i++) {
        const struct graft_node *part = graft_node_find(builder->options->plain->root, join->paths[i]);
        join->outputs[i] = part != NULL ? graft_args_int(&part->args, "out_features", 0) : 0;
        if (join->outputs[i] <= 0 || join->outputs[i] > sum) {
            return 0;
        }
        sum -= join->outputs[i];
    }
    return sum == 0;
}

/* Makes names below the joined module that begin with a part's name refer to the part. */
static int rename_part(struct graft_node_join *join, size_t i) {
    struct graft_derived *derived = graft_node_derive(join->owner, 1);
    if (derived == NULL) {
        return -1;
    }
    derived->sources[0] = graft_strdup(join->names[i]);
    derived->target = graft_format("%.*s.%s", (int)join->name_length, join->name, join->names[i]);
    return derived->sources[0] != NULL && derived->target != NULL ? 0 : -1;
}

int graft_join_take_parts(const struct builder *builder, struct graft_node_join *join, const struct graft_args *args,
                          struct graft_error *error) {
    if (join->is_renaming || args == NULL || builder->options->plain == NULL) {
        return GRAFT_OK;
    }
    join->outputs = graft_alloc(join->joined.n_parts, sizeof *join->outputs);
    if (join->outputs == NULL) {
        return graft_fail_memory(error, join->owner->path);
    }
    if (!count_outputs(builder, join, graft_args_int(args, "out_features", 0))) {
        graft_free(join->outputs);
        join->outputs = NULL;
        return GRAFT_OK;
    }
    join->joined.outputs = join->outputs;
    int failed = 0;
    for (size_t i = 0; i < join->joined.n_parts && !failed; i++) {
        failed = rename_part(join, i);
    }
    return failed ? graft_fail_memory(error, join->owner->path) : GRAFT_OK;
}

int32_t graft_join_part(void *data, int32_t i, struct graft_part_info *info) {
    struct builder *builder = data;
    const struct graft_node *node = builder->describing;
    const struct graft_node_join *join = graft_node_join(node);
    builder->n_by_place++;
    struct graft_part_info part = {.struct_size = sizeof part};
    if (join == NULL || join->outputs == NULL) {
        part.name = "";
        part.path = node->path;
        part.outputs = graft_args_int(&node->args, "out_features", 0);
    } else if (i >= 0 && (size_t)i < join->joined.n_parts) {
        part.name = join->names[i];
        part.path = join->paths[i];
        part.outputs = join->outputs[i];
        for (int32_t k = 0; k < i; k++) {
            part.first += join->outputs[k];
        }
    }
    if (part.name == NULL || (part.name[0] == '\0' && i != 0)) {
        return 0;
    }
    graft_struct_copy(info, info->struct_size, &part);
    return 1;
}

int graft_join_name(const struct graft_node *node, const char *name, char full[GRAFT_NAME_BYTES]) {
    const struct graft_node_join *join = graft_node_join(node);
    const char *path = node->path;
    for (size_t i = 0; join != NULL && join->outputs != NULL && i < join->joined.n_parts; i++) {
        const size_t length = strlen(join->names[i]);
        if (strncmp(name, join->names[i], length) == 0 && name[length] == '.') {
            path = join->paths[i];
            name += length + 1;
            break;
        }
    }
    return graft_name_below(path, name, full);
}
