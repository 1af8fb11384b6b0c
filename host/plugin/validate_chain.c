/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/chain.h"
#include "interface/interface.h"
#include "plugin/validate.h"

enum { MAX_CHAINS = 256, MAX_CLASSES = 16 };

static int validate_class_name(const struct graft_place *place, const struct graft_chain *chain, int32_t i,
                               struct graft_error *error) {
    const struct graft_place name = {.parent = place, .field = "class_names", .index = i};
    const struct graft_place interface = {.parent = place, .field = "interface_ids", .index = i};
    int status = graft_check_class_name(&name, NULL, chain->class_names[i], error);
    if (status == GRAFT_OK) {
        status = graft_check_text(&interface, NULL, chain->interface_ids[i], GRAFT_MAX_NAME, error);
    }
    if (status == GRAFT_OK && graft_interface_find(chain->interface_ids[i]) == NULL) {
        status = graft_check_failed(&interface, NULL, error, "expected an interface of this host, got \"%s\"",
                                    chain->interface_ids[i]);
    }
    return status;
}

static int validate_chain(const struct graft_place *place, const struct graft_chain *chain, struct graft_error *error) {
    int status = graft_check_text(place, "name", chain->name, GRAFT_MAX_NAME, error);
    if (status == GRAFT_OK && (chain->n_classes < 2 || chain->n_classes > MAX_CLASSES)) {
        status = graft_check_failed(place, "n_classes", error, "expected 2 to %d, got %d", MAX_CLASSES,
                                    (int)chain->n_classes);
    }
    if (status == GRAFT_OK && (chain->class_names == NULL || chain->interface_ids == NULL)) {
        status = graft_check_failed(place, chain->class_names == NULL ? "class_names" : "interface_ids", error,
                                    "expected an array, got NULL");
    }
    for (int32_t i = 0; status == GRAFT_OK && i < chain->n_classes; i++) {
        status = validate_class_name(place, chain, i, error);
    }
    if (status == GRAFT_OK && (chain->create == NULL || chain->forward == NULL)) {
        status = graft_check_failed(place, chain->create == NULL ? "create" : "forward", error,
                                    "expected a function, got NULL");
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/chain.h says what a chain must hold");
    }
    return status;
}

int graft_chains_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                          struct graft_error *error) {
    const struct graft_array array = {"chains", "n_chains", "chain_stride",       plugin->chains,      plugin->n_chains,
                                      0,        MAX_CHAINS, plugin->chain_stride, GRAFT_CHAIN_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_chains && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "chains", .index = i};
        status = validate_chain(&element, graft_array_at(plugin->chains, plugin->chain_stride, i), error);
    }
    return status;
}
