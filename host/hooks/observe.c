/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/observe.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "graft/describe.h"
#include "graft/embedding.h"

/* One watched module: the `self` of the vtables. */
struct watch {
    struct graft_forward_hook base;
    struct graft_observing *observing;
    struct graft_node *node;
    struct graft_module original;
    const struct graft_interface *interface;
    struct graft_widths widths;
};

struct graft_observing {
    struct graft_tree *tree;
    struct graft_observer observer;
    struct watch *watches;
    size_t count;
    double observer_seconds; /* spent in the observer's functions so far */
    double module_seconds;   /* spent in watched modules that have returned to the one that runs now */
};

static int tell(struct graft_observing *observing,
                int (*function)(void *data, struct graft_observation *observation, struct graft_error *error),
                struct graft_observation *observation, struct graft_error *error) {
    if (function == NULL) {
        return GRAFT_OK;
    }
    double start = graft_seconds();
    int status = function(observing->observer.data, observation, error);
    observing->observer_seconds += graft_seconds() - start;
    return status;
}

static int watch_forward(void *self, const struct graft_call *call, const void *args, struct graft_error *error) {
    struct watch *watch = self;
    struct graft_observing *observing = watch->observing;
    struct graft_observation observation = {
        .node = watch->node, .module = &watch->original, .call = call, .args = args};
    double siblings = observing->module_seconds;
    observation.n_views = graft_interface_views(watch->interface, &watch->widths, args, observation.views);
    int status = tell(observing, observing->observer.before, &observation, error);
    if (status == GRAFT_OK) {
        double observer = observing->observer_seconds;
        double start = graft_seconds();
        observing->module_seconds = 0.0;
        status = watch->interface->run(&watch->original, call, args, error);
        observation.seconds = graft_seconds() - start - (observing->observer_seconds - observer);
        observation.own_seconds = observation.seconds - observing->module_seconds;
        observing->module_seconds = siblings + observation.seconds;
    }
    return status == GRAFT_OK ? tell(observing, observing->observer.after, &observation, error) : status;
}

/* Of a classifier, as the encoders' config has it. */
static int64_t count_labels(const struct graft_config *config) {
    int64_t named = config->size(config->data, "id2label");
    int64_t given = config->integer(config->data, "num_labels");
    return named > 0 ? named : given > 0 ? given : 2;
}

static struct graft_widths find_widths(const struct graft_tree *tree, const struct graft_node *node) {
    const struct graft_config *config = &tree->config->view;
    const struct graft_args *args = &node->args;
    struct graft_widths widths = {
        .hidden = graft_args_int(args, "hidden_size", graft_tree_number(tree, "hidden_size", 0)),
        .vocab = graft_tree_number(tree, "vocab_size", 0),
        .labels = count_labels(config),
        .input = graft_args_int(args, "in_features", 0),
        .args = *args,
    };
    const char *interface = node->maker->cls->interface_id;
    widths.output = graft_args_int(args, "out_features", 0);
    if (strcmp(interface, GRAFT_INTERFACE_EMBEDDING) == 0) {
        widths.output = graft_args_int(args, "embedding_dim", 0);
    } else if (widths.output == 0) {
        widths.output = graft_args_int(args, "hidden_size", widths.hidden);
    }
    return widths;
}

static int count(void *data, struct graft_node *node, struct graft_error *error) {
    size_t *nodes = data;
    (void)node;
    (void)error;
    (*nodes)++;
    return GRAFT_OK;
}

int graft_can_observe(const struct graft_node *node) {
    return node->maker != NULL && graft_interface_find(node->maker->cls->interface_id) != NULL;
}

static int begin(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_observing *observing = data;
    const struct graft_observer *observer = &observing->observer;
    (void)error;
    if (node->module.forward == NULL || !graft_can_observe(node) ||
        (observer->wants != NULL && !observer->wants(observer->data, node))) {
        return GRAFT_OK;
    }
    const struct graft_interface *interface = graft_interface_find(node->maker->cls->interface_id);
    struct watch *watch = &observing->watches[observing->count++];
    *watch =
        (struct watch){{watch_forward}, observing, node, node->module, interface, find_widths(observing->tree, node)};
    node->module.forward = interface->hook_vtable;
    node->module.instance = watch;
    return GRAFT_OK;
}

int graft_has_forward_hook(const struct graft_node *node) {
    return node->module.forward != NULL && graft_can_observe(node) &&
           node->module.forward == graft_interface_find(node->maker->cls->interface_id)->hook_vtable;
}

int graft_observe(struct graft_tree *tree, const struct graft_observer *observer, struct graft_observing **observing,
                  struct graft_error *error) {
    size_t nodes = 0;
    (void)graft_tree_walk(tree, count, &nodes, NULL);
    struct graft_observing *result = graft_alloc(1, sizeof *result);
    struct watch *watches = graft_alloc(nodes, sizeof *watches);
    if (result == NULL || watches == NULL) {
        graft_free(watches);
        graft_free(result);
        return graft_fail_memory(error, "observe");
    }
    *result = (struct graft_observing){.tree = tree, .observer = *observer, .watches = watches};
    (void)graft_tree_walk(tree, begin, result, NULL);
    *observing = result;
    return GRAFT_OK;
}

void graft_observe_end(struct graft_observing *observing) {
    if (observing != NULL) {
        for (size_t i = 0; i < observing->count; i++) {
            observing->watches[i].node->module = observing->watches[i].original;
        }
        graft_free(observing->watches);
        graft_free(observing);
    }
}
