/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the parameters of a joined module can be made of those of its parts, and adds the conversions that make
 * them. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "model/join.h"
#include "model/node.h"
#include "registry/assignment.h"

struct joining {
    struct builder *builder;
    struct graft_node *node; /* the joined module */
    const struct graft_node_join *join;
    size_t n;                               /* number of parts */
    const struct graft_tensor_view **views; /* [n] the parts' tensors of one parameter */
    struct graft_text why;                  /* why the parts cannot be joined; empty as long as they can */
};

static void refuse(struct joining *joining, const char *tensor, const char *why, size_t i, size_t k) {
    char *const *names = joining->join->names;
    if (joining->why.length == 0) {
        graft_text_printf(&joining->why, "\"%s\" of %s %s %s", tensor, names[i], why, names[k]);
    }
}

/* Finds the checkpoint's tensors of the parts under a name. Returns how many there are. */
static size_t find(const struct joining *joining, const char *name) {
    const struct graft_model_facts *facts = joining->builder->options->facts;
    size_t n = 0;
    for (size_t i = 0; i < joining->n; i++) {
        joining->views[i] = facts->tensor(facts->data, joining->join->paths[i], name);
        n += joining->views[i] != NULL;
    }
    return n;
}

/* Finds the parts' tensors of a parameter, which the class may rename. Returns their name; NULL if there are none. */
static const char *find_tensors(const struct joining *joining, const char *name) {
    const char *found = name;
    for (size_t i = 0; found != NULL && find(joining, found) == 0; i++) {
        found = graft_node_renamed(joining->node, name, i);
    }
    return found;
}

/* Whether a conversion of the owner's class makes the parameter. */
static int is_made(const struct joining *joining, const char *name) {
    const struct graft_node_join *join = joining->join;
    const struct graft_class *cls = join->owner->described_by->cls;
    for (int32_t i = 0; i < cls->n_conversions; i++) {
        const struct graft_conversion *conversion = graft_class_conversion(cls, i);
        for (int32_t k = 0; k < conversion->n_targets; k++) {
            const char *target = conversion->targets[k];
            if (strncmp(target, join->name, join->name_length) == 0 && target[join->name_length] == '.' &&
                strcmp(target + join->name_length + 1, name) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether some parts may lack the parameter, as only keys and values have scales for their cache. */
static int parts_may_lack(const struct graft_parameter *parameter) {
    return parameter->init == GRAFT_INIT_ABSENT && parameter->join.kind == GRAFT_JOIN_EACH &&
           (parameter->flags & GRAFT_PARAMETER_ANY_LENGTH) != 0;
}

static int is_complete(struct joining *joining, const char *name) {
    size_t with = 0;
    while (joining->views[with] == NULL) {
        with++;
    }
    for (size_t i = 0; i < joining->n; i++) {
        if (joining->views[i] == NULL) {
            refuse(joining, name, "is there, but there is none of", with, i);
            return 0;
        }
    }
    return 1;
}

/* Checks that the shapes agree with the parameter's except along `dim`, where they add up to it. */
static int fit_rows(struct joining *joining, const struct graft_parameter *parameter, const char *name) {
    const int32_t dim = parameter->join.dim;
    int64_t sum = 0;
    for (size_t i = 0; i < joining->n; i++) {
        const struct graft_tensor_view *view = joining->views[i];
        int fits = view->rank == parameter->rank;
        for (int32_t k = 0; fits && k < view->rank; k++) {
            fits = k == dim || view->shape[k] == parameter->shape[k];
        }
        if (!fits || view->shape[dim] > parameter->shape[dim] - sum) {
            refuse(joining, name, "has a shape that does not join that of", i, i == 0);
            return 0;
        }
        sum += view->shape[dim];
    }
    if (sum != parameter->shape[dim]) {
        refuse(joining, name, "has fewer outputs than it should, together with that of", 0, joining->n - 1);
    }
    return sum == parameter->shape[dim];
}

/* Checks that each part but the last ends at a step. */
static int fit_steps(struct joining *joining, const struct graft_parameter *parameter, const char *name) {
    const int64_t rows = parameter->join.rows, *outputs = joining->join->outputs;
    for (size_t i = 0; i < joining->n && rows > 1; i++) {
        if (outputs == NULL || (i + 1 < joining->n && outputs[i] % rows != 0)) {
            refuse(joining, name, "ends inside a block, and cannot be followed by that of", i, (i + 1) % joining->n);
            return 0;
        }
    }
    return 1;
}

static int are_equal(struct joining *joining, const char *name) {
    const struct graft_tensor_view *first = joining->views[0];
    for (size_t i = 1; i < joining->n; i++) {
        const struct graft_tensor_view *view = joining->views[i];
        if (first->data == NULL || view->data == NULL || view->dtype != first->dtype || view->bytes != first->bytes ||
            memcmp(view->data, first->data, (size_t)first->bytes) != 0) {
            refuse(joining, name, "differs from that of", i, 0);
            return 0;
        }
    }
    return 1;
}

/* Whether the tensors found can be joined; if not, records the reason. */
static int fits(struct joining *joining, const struct graft_parameter *parameter, const char *name) {
    if (!parts_may_lack(parameter) && !is_complete(joining, name)) {
        return 0;
    }
    switch (parameter->join.kind) {
    case GRAFT_JOIN_ROWS:
        return fit_steps(joining, parameter, name) && fit_rows(joining, parameter, name);
    case GRAFT_JOIN_EQUAL:
        return are_equal(joining, name);
    case GRAFT_JOIN_EACH:
        return 1;
    default:
        refuse(joining, name, "is nothing that can be joined with that of", 0, 1);
        return 0;
    }
}

/* Adds a conversion to the owner that joins the parts' tensors called `name`. */
static int derive(struct joining *joining, const struct graft_parameter *parameter, const char *name) {
    const struct graft_node_join *join = joining->join;
    struct graft_derived *derived = graft_node_derive(join->owner, find(joining, name));
    int is_scalar = 0, failed = derived == NULL;
    for (size_t i = 0, n = 0; i < joining->n && !failed; i++) {
        if (joining->views[i] != NULL) {
            /* tensors without dimensions are stacked to vectors, which can be joined */
            is_scalar = joining->views[i]->rank == 0;
            derived->sources[n] = graft_format("%s.%s", join->names[i], name);
            failed = derived->sources[n++] == NULL;
        }
    }
    if (failed || (derived->target = graft_format("%.*s.%s", (int)join->name_length, join->name, name)) == NULL) {
        return -1;
    }
    const int32_t dim = parameter->join.kind == GRAFT_JOIN_ROWS ? parameter->join.dim : 0;
    derived->operations[0] =
        (struct graft_operation){.struct_size = sizeof derived->operations[0], .kind = GRAFT_OP_MERGE_MODULELIST};
    derived->operations[1] = (struct graft_operation){
        .struct_size = sizeof derived->operations[1], .kind = GRAFT_OP_CONCATENATE, .dim = dim};
    derived->conversion.n_operations = is_scalar ? 2 : 1;
    derived->conversion.operations = is_scalar ? derived->operations : &derived->operations[1];
    return 0;
}

/* Joins the parameters of a list for which the parts have tensors, until one does not fit. Returns how many were
 * joined. */
static int join_all(struct joining *joining, struct graft_parameter *const *list, size_t n, size_t *n_joined,
                    struct graft_error *error) {
    const struct graft_model_facts *facts = joining->builder->options->facts;
    const struct graft_node *node = joining->node;
    for (size_t p = 0; p < n && joining->why.length == 0; p++) {
        const struct graft_parameter *parameter = list[p];
        const char *name = parameter->own_name;
        if (is_made(joining, name) || facts->tensor(facts->data, node->path, name) != NULL ||
            (name = find_tensors(joining, name)) == NULL) {
            continue;
        }
        if (!fits(joining, parameter, name)) {
            return GRAFT_OK;
        }
        if (derive(joining, parameter, name) != 0) {
            return graft_fail_memory(error, node->path);
        }
        ++*n_joined;
    }
    return GRAFT_OK;
}

static int join(struct joining *joining, struct graft_error *error) {
    const char *other = NULL;
    size_t n_joined = 0;
    const struct graft_node *node = joining->node;
    int status = join_all(joining, node->parameters, node->n_parameters, &n_joined, error);
    if (status == GRAFT_OK) {
        status = join_all(joining, node->sources, node->n_sources, &n_joined, error);
    }
    if (status == GRAFT_OK && joining->why.length == 0 && n_joined > 0) {
        status = graft_join_compare_parts(joining->builder, joining->node, &other, error);
    }
    if (status == GRAFT_OK && other != NULL) {
        graft_text_printf(&joining->why, "%s is stored in another way than %s", other, joining->join->names[0]);
    }
    if (status == GRAFT_OK && joining->why.failed) {
        status = graft_fail_memory(error, joining->node->path);
    }
    return status == GRAFT_OK && joining->why.length > 0
               ? graft_assignment_veto(joining->builder->assignment, &joining->join->joined, joining->why.bytes, error)
               : status;
}

int graft_join_parameters(struct builder *builder, struct graft_node *node, struct graft_error *error) {
    const struct graft_node_join *of = graft_node_join(node);
    if (of == NULL || of->is_renaming) {
        return GRAFT_OK;
    }
    struct joining joining = {.builder = builder, .node = node, .join = of, .n = of->joined.n_parts};
    joining.views = graft_alloc(joining.n, sizeof *joining.views);
    int status = joining.views != NULL ? join(&joining, error) : graft_fail_memory(error, node->path);
    graft_text_free(&joining.why);
    graft_free(joining.views);
    return status;
}
