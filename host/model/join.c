/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the modules that a class joins, by the class's conversions. */
#include "model/join.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static const char suffix[] = ".weight";

/* The length of a parameter's name without ".weight"; 0 if it does not end with that or has a `*`. */
static size_t module_length(const char *name) {
    size_t length = strlen(name), end = sizeof suffix - 1;
    return length > end && strcmp(name + length - end, suffix) == 0 && strchr(name, '*') == NULL ? length - end : 0;
}

/* Whether the conversion only concatenates the rows of its sources, each of which is a module's weight. */
static int joins_modules(const struct graft_conversion *conversion) {
    int joins = conversion->n_sources > 1 && conversion->n_targets == 1 && conversion->n_operations == 1 &&
                module_length(conversion->targets[0]) > 0;
    for (int32_t i = 0; joins && i < conversion->n_sources; i++) {
        joins = module_length(conversion->sources[i]) > 0;
    }
    const struct graft_operation *operation = joins ? graft_conversion_operation(conversion, 0) : NULL;
    return joins && operation->kind == GRAFT_OP_CONCATENATE && operation->dim == 0;
}

static const struct graft_conversion *find_conversion(const struct graft_class *cls, const char *name) {
    size_t length = strlen(name);
    for (int32_t i = 0; i < cls->n_conversions; i++) {
        const struct graft_conversion *conversion = graft_class_conversion(cls, i);
        int joins = joins_modules(conversion) && module_length(conversion->targets[0]) == length &&
                    memcmp(conversion->targets[0], name, length) == 0;
        if (joins || (conversion->n_operations == 0 && strcmp(conversion->targets[0], name) == 0)) {
            return conversion;
        }
    }
    return NULL;
}

/* Finds out whether it is a renaming of a module, and the checkpoint has no tensor under the other name: none of any
 * module, or none of this one. */
static int find_use(struct builder *builder, const struct graft_node *owner, const struct graft_conversion *conversion,
                    int *is_unused, struct graft_error *error) {
    const struct graft_model_facts *facts = builder->options->facts;
    char path[GRAFT_NAME_BYTES];
    *is_unused = 0;
    if (conversion->n_operations > 0 || facts->has_below == NULL) {
        return GRAFT_OK;
    }
    if (!facts->may_have(facts->data, conversion->sources[0])) {
        *is_unused = 1;
        return GRAFT_OK;
    }
    if (!graft_name_below(owner->path, conversion->sources[0], path)) {
        builder->n_by_place++;
        return GRAFT_OK;
    }
    const int has = facts->has_below(facts->data, path);
    *is_unused = !has;
    return graft_alike_told(builder, path, has, error);
}

static int fill(struct graft_node_join *join, const struct graft_conversion *conversion) {
    const size_t n = (size_t)conversion->n_sources;
    const char *path = join->owner->path;
    join->names = graft_alloc(n, sizeof *join->names);
    join->paths = graft_alloc(n, sizeof *join->paths);
    if (join->names == NULL || join->paths == NULL) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        const int length =
            (int)(join->is_renaming ? strlen(conversion->sources[i]) : module_length(conversion->sources[i]));
        join->joined.n_parts = i + 1;
        join->names[i] = graft_format("%.*s", length, conversion->sources[i]);
        join->paths[i] = graft_format("%s%s%.*s", path, path[0] != '\0' ? "." : "", length, conversion->sources[i]);
        if (join->names[i] == NULL || join->paths[i] == NULL) {
            return -1;
        }
    }
    join->joined.parts = (const char *const *)join->paths;
    return 0;
}

int graft_join_find(struct builder *builder, const char *name, struct graft_node_join **join,
                    struct graft_error *error) {
    struct graft_node *owner = builder->describing;
    const struct graft_model_facts *facts = builder->options->facts;
    const struct graft_conversion *conversion = owner != NULL && builder->assignment != NULL &&
                                                        !builder->options->without_replacements && facts != NULL &&
                                                        facts->tensor != NULL
                                                    ? find_conversion(owner->described_by->cls, name)
                                                    : NULL;
    int is_unused = 0;
    int status = conversion != NULL ? find_use(builder, owner, conversion, &is_unused, error) : GRAFT_OK;
    *join = NULL;
    if (status != GRAFT_OK || conversion == NULL || is_unused) {
        return status;
    }
    struct graft_node_join *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, owner->path);
    }
    made->owner = owner;
    made->name = conversion->targets[0];
    made->name_length = strlen(name);
    made->is_renaming = conversion->n_operations == 0;
    made->joined.by = owner->kernel_on != NULL ? owner->kernel_on : owner->known;
    made->joined.by_path = owner->path;
    if (fill(made, conversion) != 0) {
        graft_join_free(made);
        return graft_fail_memory(error, owner->path);
    }
    *join = made;
    return GRAFT_OK;
}

void graft_join_explain(const struct graft_node *node, struct graft_error *error) {
    enum { NAMED = 4 };
    const struct graft_node *owner = node->parent;
    const struct graft_conversion *conversion =
        owner != NULL && owner->described_by != NULL ? find_conversion(owner->described_by->cls, node->name) : NULL;
    if (conversion == NULL || error == NULL ||
        (strstr(error->source, node->path) == NULL && strstr(error->message, node->path) == NULL)) {
        return;
    }
    graft_error_add(error, "; the checkpoint has it as ");
    for (int32_t i = 0; i < conversion->n_sources && i < NAMED; i++) {
        size_t length = module_length(conversion->sources[i]);
        graft_error_add(error, "%s%s%s%.*s",
                        i == 0                           ? ""
                        : i + 1 == conversion->n_sources ? " and "
                                                         : ", ",
                        owner->path, owner->path[0] != '\0' ? "." : "",
                        (int)(conversion->n_operations > 0 ? length : strlen(conversion->sources[i])),
                        conversion->sources[i]);
    }
    if (conversion->n_sources > NAMED) {
        graft_error_add(error, " and %d more", (int)(conversion->n_sources - NAMED));
    }
}

void graft_join_free(struct graft_node_join *join) {
    if (join != NULL) {
        for (size_t i = 0; i < join->joined.n_parts; i++) {
            graft_free(join->names[i]);
            graft_free(join->paths[i]);
        }
        graft_free(join->names);
        graft_free(join->paths);
        graft_free(join->outputs);
        graft_free(join);
    }
}

int64_t graft_join_count(const struct graft_node *node) {
    const struct graft_node_join *join = graft_node_join(node);
    return join != NULL ? (int64_t)join->joined.n_parts : 1;
}

/* Whether neither the module nor any module above is joined, so that configs use its path. */
static int is_plain(const struct graft_node *node) {
    while (node != NULL && graft_node_join(node) == NULL) {
        node = node->parent;
    }
    return node == NULL;
}

void graft_join_config_path(const struct graft_node *node, size_t i, char path[GRAFT_NAME_BYTES]) {
    if (is_plain(node) && graft_name_below("", node->path, path)) {
        return;
    }
    const struct graft_node_join *join = graft_node_join(node);
    const struct graft_node *above = join != NULL ? join->owner : node->parent;
    size_t length = 0;
    path[0] = '\0';
    if (above != NULL) {
        graft_join_config_path(above, 0, path);
        length = strlen(path);
    }
    (void)snprintf(path + length, GRAFT_NAME_BYTES - length, "%s%s", length > 0 ? "." : "",
                   join != NULL ? join->names[i] : node->name);
}

const struct graft_node_join *graft_node_join(const struct graft_node *node) {
    while (node->wrapper != NULL) {
        node = node->wrapper;
    }
    return node->join;
}
