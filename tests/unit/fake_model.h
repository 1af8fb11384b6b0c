/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, models and checkpoints for tests of trees and plans: classes are data, and config.json is not read. */
#ifndef GRAFT_TEST_FAKE_MODEL_H
#define GRAFT_TEST_FAKE_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"
#include "graft/describe.h"
#include "model/tree.h"
#include "owed_args.h"
#include "weights/checkpoint.h"
#include "weights/safetensors_write.h"

struct fake_parameter {
    const char *name;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK];
    uint32_t flags;
    int32_t init;
};

struct fake_child {
    const char *name;
    const char *class_name;
    const char *interface_id;
};

/* The description of a class; all lists end with a name that is NULL, and may be NULL. */
struct fake_structure {
    const struct fake_parameter *parameters;
    const struct fake_child *children;
    const char *const (*ties)[2];
    const struct graft_state_info *states;
};

/* A `describe` that declares what the class's `data` lists. */
static inline int fake_describe(const struct graft_class *cls, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct fake_structure *structure = cls->data;
    int status = GRAFT_OK;
    (void)config;
    (void)args;
    for (const struct fake_parameter *at = structure->parameters; at != NULL && at->name != NULL && status == GRAFT_OK;
         at++) {
        status = graft_describe_parameter(sink, at->name, at->rank, at->shape, at->flags, at->init, error);
    }
    for (const struct fake_child *at = structure->children; at != NULL && at->name != NULL && status == GRAFT_OK;
         at++) {
        status = describe_owed_child(sink, at->name, at->class_name, at->interface_id, error);
    }
    for (size_t i = 0; structure->ties != NULL && structure->ties[i][0] != NULL && status == GRAFT_OK; i++) {
        status = sink->tie(sink->data, structure->ties[i][0], structure->ties[i][1], error);
    }
    for (const struct graft_state_info *at = structure->states; at != NULL && at->name != NULL && status == GRAFT_OK;
         at++) {
        status = sink->state(sink->data, at, error);
    }
    return status;
}

/* A class with a description and nothing else. */
#define FAKE_CLASS(class_name, interface, structure)                                                    \
    {                                                                                                   \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface),   \
        .describe = fake_describe, .create = graft_create_stateless, .forward = "", .data = (structure) \
    }

struct fake_model {
    struct graft_registry *registry;
    struct graft_model_config config;
    struct graft_tree *tree;
    const struct graft_model_facts *facts; /* for conditions; NULL: none */
    struct graft_tree *plain;              /* the model without replacements, if it is known */
    struct graft_error error;
};

static inline void fake_model_init(struct fake_model *model) {
    memset(model, 0, sizeof *model);
    model->registry = graft_registry_create(NULL);
    model->config.file = (char *)(uintptr_t) "config.json";
    model->config.model_type = "fake";
    model->config.view = graft_config_view(model->config.document, model->config.file);
    model->error = graft_error_none();
    assert_non_null(model->registry);
}

static inline void fake_model_finish(struct fake_model *model) {
    graft_tree_free(model->tree);
    graft_registry_free(model->registry);
}

static inline void fake_model_add(struct fake_model *model, const struct graft_class *cls) {
    assert_int_equal(graft_registry_add_class(model->registry, cls, NULL, 0, &model->error), GRAFT_OK);
}

static inline void fake_model_replace(struct fake_model *model, const struct graft_replacement *replacement) {
    static const struct graft_origin origin = {.plugin = "test", .file = "test.so"};
    assert_int_equal(graft_registry_add_replacement(model->registry, replacement, &origin, &model->error), GRAFT_OK);
}

/* Builds the tree, replacing an earlier one. Returns the status of graft_tree_build, whose error becomes the
 * model's. */
static inline int fake_model_build(struct fake_model *model, const char *class_name) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(model->registry);
    struct graft_tree_options options = {.config = &model->config,
                                         .snapshot = snapshot,
                                         .class_name = class_name,
                                         .facts = model->facts,
                                         .plain = model->plain};
    graft_tree_free(model->tree);
    model->tree = NULL;
    model->error = graft_error_none();
    int status = graft_tree_build(&options, &model->tree, &model->error);
    graft_snapshot_release(snapshot);
    assert_int_equal(status, model->error.code);
    return status;
}

static inline struct graft_node *fake_model_node(const struct fake_model *model, const char *path) {
    return graft_node_find(model->tree->root, path);
}

/* A tensor of a checkpoint; its numbers are f32 unless `dtype` says otherwise. */
struct fake_tensor {
    const char *name;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK];
    graft_dtype dtype; /* GRAFT_DTYPE_NONE: F32 */
};

enum { FAKE_TENSORS = 32, FAKE_BYTES = 4096 };

/* Writes the tensors, up to one without a name, as DIR/model.safetensors. Each byte differs from the one before. */
static inline void fake_checkpoint_write(const char *folder, const struct fake_tensor *tensors) {
    static unsigned char bytes[FAKE_BYTES + FAKE_TENSORS];
    struct graft_tensor_view views[FAKE_TENSORS];
    struct graft_error error = graft_error_none();
    size_t n = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i % 251);
    }
    for (; tensors[n].name != NULL; n++) {
        graft_dtype dtype = tensors[n].dtype != GRAFT_DTYPE_NONE ? tensors[n].dtype : GRAFT_DTYPE_F32;
        views[n] = (struct graft_tensor_view){.name = tensors[n].name, .dtype = dtype, .rank = tensors[n].rank};
        for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
            views[n].shape[i] = i < tensors[n].rank ? tensors[n].shape[i] : 1;
        }
        views[n].data = bytes + n;
        views[n].bytes = graft_tensor_view_size(dtype, views[n].rank, views[n].shape);
        assert_in_range(views[n].bytes, 0, FAKE_BYTES);
    }
    assert_in_range(n, 0, FAKE_TENSORS);
    assert_int_equal(graft_safetensors_write(folder_path(folder, "model.safetensors"), views, n, NULL, &error),
                     GRAFT_OK);
}

#endif
