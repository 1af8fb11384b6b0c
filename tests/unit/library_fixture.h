/* SPDX-License-Identifier: Apache-2.0 */
/* A library, the golden llama, and replacements for its classes, for tests of library calls. */
#ifndef GRAFT_TEST_LIBRARY_FIXTURE_H
#define GRAFT_TEST_LIBRARY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graft/host/graft.h"
#include "graft/linear.h"
#include "graft/mlp.h"

/* Calls the original. */
static inline int forward_to_super(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                                   struct graft_error *error) {
    return graft_mlp_forward((const struct graft_module *)self, call, args, error);
}

static inline int linear_to_super(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                                  struct graft_error *error) {
    return graft_linear_forward((const struct graft_module *)self, call, args, error);
}

static const struct graft_mlp mlp_vtable = {.struct_size = sizeof mlp_vtable, .forward = forward_to_super};
static const struct graft_linear linear_vtable = {.struct_size = sizeof linear_vtable, .forward = linear_to_super};

#define SUPER_CLASS(class_name, interface, vtable)                                                         \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_SUPER, .name = (class_name), \
        .interface_id = (interface), .forward = (vtable)                                                   \
    }

static const struct graft_class first_mlp = SUPER_CLASS("FirstMLP", GRAFT_INTERFACE_MLP, &mlp_vtable);
static const struct graft_class second_mlp = SUPER_CLASS("SecondMLP", GRAFT_INTERFACE_MLP, &mlp_vtable);
static const struct graft_class my_linear = SUPER_CLASS("MyLinear", GRAFT_INTERFACE_LINEAR, &linear_vtable);

static inline struct graft_library *new_library(void) {
    struct graft_library *library = NULL;
    assert_int_equal(graft_library_create(&library, NULL), GRAFT_OK);
    return library;
}

static inline const char *llama_directory(char path[512]) {
    (void)snprintf(path, 512, "%s/goldens/plain/llama", getenv("GRAFT_TEST_DATA"));
    return path;
}

/* Registers one element, which must succeed. */
static inline void put(struct graft_library *library, const char *key, const struct graft_class *cls) {
    const struct graft_patch patch = {.struct_size = sizeof patch, .key = key, .replacement = cls};
    struct graft_error error = graft_error_none();
    if (graft_library_register(library, &patch, 1, 0, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

#endif
