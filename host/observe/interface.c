/* SPDX-License-Identifier: Apache-2.0 */
/* A vtable for each interface that leads to watch_forward. */
#include "observe/interface.h"

#include <string.h>

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/rotary.h"
#include "graft/router.h"
#include "observe/views.h"

/* For interface NAME: the vtable NAME_vtable, and NAME_run, which calls a module with untyped args. */
#define INTERFACE_FUNCTIONS(name)                                                                                      \
    static int name##_forward(void *self, const struct graft_call *call, const struct graft_##name##_args *args,       \
                              struct graft_error *error) {                                                             \
        return watch_forward(self, call, args, error);                                                                 \
    }                                                                                                                  \
    static const struct graft_##name name##_vtable = {.struct_size = sizeof name##_vtable, .forward = name##_forward}; \
    static int name##_run(const struct graft_module *module, const struct graft_call *call, const void *args,          \
                          struct graft_error *error) {                                                                 \
        return graft_##name##_forward(module, call, args, error);                                                      \
    }

INTERFACE_FUNCTIONS(activation)
INTERFACE_FUNCTIONS(base_model)
INTERFACE_FUNCTIONS(causal_lm)
INTERFACE_FUNCTIONS(decoder_layer)
INTERFACE_FUNCTIONS(embedding)
INTERFACE_FUNCTIONS(experts)
INTERFACE_FUNCTIONS(linear)
INTERFACE_FUNCTIONS(mlp)
INTERFACE_FUNCTIONS(norm)
INTERFACE_FUNCTIONS(rotary)
INTERFACE_FUNCTIONS(router)
INTERFACE_FUNCTIONS(self_attention)

#define INTERFACE(id, name, batch_field) \
    { id, &name##_vtable, sizeof(struct graft_##name##_args), batch_field, name##_run, views_of_##name }

static const struct interface interfaces[] = {
    INTERFACE(GRAFT_INTERFACE_ACTIVATION, activation, 0),
    INTERFACE(GRAFT_INTERFACE_BASE_MODEL, base_model, offsetof(struct graft_base_model_args, batch)),
    INTERFACE(GRAFT_INTERFACE_CAUSAL_LM, causal_lm, offsetof(struct graft_causal_lm_args, batch)),
    INTERFACE(GRAFT_INTERFACE_DECODER_LAYER, decoder_layer, offsetof(struct graft_decoder_layer_args, batch)),
    INTERFACE(GRAFT_INTERFACE_EMBEDDING, embedding, 0),
    INTERFACE(GRAFT_INTERFACE_EXPERTS, experts, 0),
    INTERFACE(GRAFT_INTERFACE_LINEAR, linear, 0),
    INTERFACE(GRAFT_INTERFACE_MLP, mlp, 0),
    INTERFACE(GRAFT_INTERFACE_NORM, norm, 0),
    INTERFACE(GRAFT_INTERFACE_ROTARY, rotary, offsetof(struct graft_rotary_args, batch)),
    INTERFACE(GRAFT_INTERFACE_ROUTER, router, 0),
    INTERFACE(GRAFT_INTERFACE_SELF_ATTENTION, self_attention, offsetof(struct graft_self_attention_args, batch)),
};

const struct interface *interface_find(const char *id) {
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++) {
        if (strcmp(interfaces[i].id, id) == 0) {
            return &interfaces[i];
        }
    }
    return NULL;
}

int graft_observe_run(const char *interface_id, const struct graft_module *module, const struct graft_call *call,
                      const void *args, struct graft_error *error) {
    return interface_find(interface_id)->run(module, call, args, error);
}

size_t graft_observe_args_size(const char *interface_id, size_t *batch_field) {
    const struct interface *interface = interface_find(interface_id);
    *batch_field = interface != NULL ? interface->batch_field : 0;
    return interface != NULL ? interface->args_size : 0;
}
