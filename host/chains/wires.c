/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/wires.h"

#include <string.h>

#include "base/alloc.h"
#include "interface/interface.h"

/* The names of a module's arrays, in the order of its interface. */
struct names {
    const char *const *items;
    int32_t n;
};

static const char *const usual[] = {"hidden_states"};

static struct names inputs_of(const struct graft_module_spec *spec) {
    return spec->inputs != NULL ? (struct names){spec->inputs, spec->n_inputs} : (struct names){usual, 1};
}

static struct names outputs_of(const struct graft_module_spec *spec) {
    return spec->outputs != NULL ? (struct names){spec->outputs, spec->n_outputs} : (struct names){usual, 1};
}

static int check_names(const struct graft_node *node, const char *what, struct names names, int32_t most,
                       struct graft_error *error) {
    if (names.n < 1 || names.n > most) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "%d names for %s, but %s has %d", (int)names.n,
                               what, node->made_by->cls->interface_id, (int)most);
    }
    for (int32_t i = 0; i < names.n; i++) {
        if (names.items[i] == NULL || names.items[i][0] == '\0') {
            return graft_error_set(error, GRAFT_ERROR_USAGE, node->path,
                                   "the names for %s: expected non-empty strings, got an empty one or NULL", what);
        }
    }
    return GRAFT_OK;
}

static int check_module(const struct graft_node *node, const struct graft_module_spec *spec,
                        struct graft_error *error) {
    struct graft_interface_chained chained = graft_interface_chained(node->made_by->cls->interface_id);
    const char *why = graft_interface_unchained(node->made_by->cls->interface_id);
    if (why != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "modules of interface %s cannot be fused: %s",
                               node->made_by->cls->interface_id, why);
    }
    int status = check_names(node, "inputs", inputs_of(spec), chained.n_inputs, error);
    return status == GRAFT_OK ? check_names(node, "outputs", outputs_of(spec), 1, error) : status;
}

/* Connects module `index` with the one before it. */
static int connect(struct graft_fused_chain *chain, const struct graft_module_spec *specs, size_t index,
                   struct graft_error *error) {
    const struct graft_node *node = chain->modules[index].node;
    const struct graft_node *before = chain->modules[index - 1].node;
    struct graft_interface_chained taking = graft_interface_chained(node->made_by->cls->interface_id);
    struct graft_interface_chained giving = graft_interface_chained(before->made_by->cls->interface_id);
    struct names inputs = inputs_of(graft_struct_at(specs, index));
    const char *output = outputs_of(graft_struct_at(specs, index - 1)).items[0];
    size_t wires = chain->n_wires;
    for (int32_t i = 0; i < inputs.n && strcmp(output, "_") != 0; i++) {
        if (strcmp(inputs.items[i], output) != 0) {
            continue;
        }
        if (graft_grow(&chain->wires, &chain->wires_capacity, chain->n_wires, sizeof *chain->wires) != 0) {
            return graft_fail_memory(error, node->path);
        }
        chain->wires[chain->n_wires++] = (struct graft_fused_wire){index, giving.output, taking.inputs[i]};
    }
    if (chain->n_wires == wires) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path,
                               "none of its inputs has the name of the output of %s (\"%s\")", before->path, output);
    }
    return GRAFT_OK;
}

int graft_wires_connect(struct graft_fused_chain *chain, const struct graft_module_spec *specs,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < chain->n && status == GRAFT_OK; i++) {
        status = check_module(chain->modules[i].node, graft_struct_at(specs, i), error);
        if (status == GRAFT_OK && i > 0) {
            status = connect(chain, specs, i, error);
        }
    }
    return status;
}
