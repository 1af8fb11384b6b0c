/* SPDX-License-Identifier: Apache-2.0 */
/* For fake parents in tests: passes a child the arguments that its interface requires. */
#ifndef GRAFT_TESTS_OWED_ARGS_H
#define GRAFT_TESTS_OWED_ARGS_H

#include "interface/interface.h"

/* Describes a child with the value 1 for every argument that parents of its interface must pass. */
static inline int describe_owed_child(const struct graft_sink *sink, const char *name, const char *class_name,
                                      const char *interface_id, struct graft_error *error) {
    const struct graft_interface *interface = interface_id != NULL ? graft_interface_find(interface_id) : NULL;
    struct graft_arg args[GRAFT_MAX_INTERFACE_ARGUMENTS];
    int32_t count = 0;
    for (int32_t i = 0; interface != NULL && interface->arguments[i].name != NULL; i++) {
        if (interface->arguments[i].owed) {
            args[count++] = graft_int_arg(interface->arguments[i].name, 1); /* all of these arguments are integers */
        }
    }
    return graft_describe_child(sink, name, class_name, interface_id, args, count, error);
}

#endif
