/* SPDX-License-Identifier: Apache-2.0 */
#include "interface/interface.h"

#include <string.h>

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_conv1d.h"
#include "graft/causal_lm.h"
#include "graft/conv3d.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/gated_norm.h"
#include "graft/linear.h"
#include "graft/masked_lm.h"
#include "graft/mixer.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/patch_embed.h"
#include "graft/patch_merger.h"
#include "graft/rotary.h"
#include "graft/router.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"
#include "graft/vision_attention.h"
#include "graft/vision_block.h"
#include "graft/vision_rotary.h"
#include "graft/vision_tower.h"
#include "interface/views.h"

/* The product of the three sizes. */

static int64_t volume(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

static int64_t conv3d_input(const struct graft_widths *widths, const void *args) {
    const struct graft_conv3d_args *in = args;
    return graft_args_int(&widths->args, "in_channels", 0) * volume(in->size);
}

static int64_t conv3d_output(const struct graft_widths *widths, const void *args) {
    const struct graft_conv3d_args *in = args;
    return graft_args_int(&widths->args, "out_channels", 0) * volume(in->output_size);
}

static int64_t patch_pixels(const struct graft_widths *widths, const void *args) {
    int64_t side = graft_args_int(&widths->args, "patch_size", 0);
    (void)args;
    return graft_args_int(&widths->args, "in_channels", 0) * graft_args_int(&widths->args, "temporal_patch_size", 0) *
           side * side;
}

static int64_t merged(const struct graft_widths *widths, int64_t patches) {
    int64_t side = graft_args_int(&widths->args, "spatial_merge_size", 1);
    return patches / (side * side);
}

static int64_t merged_patches(const struct graft_widths *widths, const void *args) {
    const struct graft_patch_merger_args *in = args;
    return merged(widths, in->patches);
}

static int64_t tower_rows(const struct graft_widths *widths, const void *args) {
    const struct graft_vision_tower_args *in = args;
    return merged(widths, volume(in->image->grid));
}

/* all hook vtables have the same head */
#define SAME_PLACE(name, field) (offsetof(struct graft_##name, field) == offsetof(struct graft_vtable, field))
#define INTERFACE(ID, name, ...)                                                                                    \
    GRAFT_STATIC_ASSERT(SAME_PLACE(name, struct_size) && SAME_PLACE(name, features) && SAME_PLACE(name, forward) && \
                            offsetof(struct graft_##name##_args, required_features) ==                              \
                                offsetof(struct graft_call_args, required_features),                                \
                        #name " begins as every interface does");
#include "interface/interfaces.inc"
#undef INTERFACE

/* Defines, for interface NAME, the vtable NAME_hook, which passes calls to a hook and queries to the module itself, and
 * NAME_run, which calls a module with untyped args. */
#define INTERFACE(ID, name, ...)                                                                                 \
    static int name##_forward(void *self, const struct graft_call *call, const struct graft_##name##_args *args, \
                              struct graft_error *error) {                                                       \
        const struct graft_forward_hook *hook = self;                                                            \
        return hook->forward(self, call, args, error);                                                           \
    }                                                                                                            \
    static const struct graft_##name name##_hook = {                                                             \
        .struct_size = sizeof name##_hook, .features = UINT32_MAX, .forward = name##_forward};                   \
    static int name##_run(const struct graft_module *module, const struct graft_call *call, const void *args,    \
                          struct graft_error *error) {                                                           \
        return graft_##name##_forward(module, call, args, error);                                                \
    }
#include "interface/interfaces.inc"
#undef INTERFACE

#define FIELD_OF(name, field) offsetof(struct graft_##name##_args, field)
#define BATCH(name) FIELD_OF(name, batch)

#define ONE \
    { GRAFT_SIZE_ONE, 0, NULL, NULL }
#define TOKENS \
    { GRAFT_SIZE_TOKENS, 0, NULL, NULL }
#define SEQUENCES \
    { GRAFT_SIZE_SEQUENCES, 0, NULL, NULL }
#define FIELD(name, field) \
    { GRAFT_SIZE_FIELD, FIELD_OF(name, field), NULL, NULL }
#define WIDTH(which) \
    { GRAFT_SIZE_WIDTH, offsetof(struct graft_widths, which), NULL, NULL }
#define ARG(which) \
    { GRAFT_SIZE_ARG, 0, #which, NULL }
#define FUNCTION(which) \
    { GRAFT_SIZE_FUNCTION, 0, NULL, which }

#define CHAINED GRAFT_ARRAY_CHAINED
#define OPTIONAL GRAFT_ARRAY_OPTIONAL
#define WITH_RESIDUAL GRAFT_ARRAY_WITH_RESIDUAL

#define IN(name, field, rows, columns, flags) \
    { #field, FIELD_OF(name, field), GRAFT_VIEW_IN, GRAFT_DTYPE_F32, rows, columns, flags }
#define OUT(name, field, rows, columns, flags) \
    { #field, FIELD_OF(name, field), GRAFT_VIEW_OUT, GRAFT_DTYPE_F32, rows, columns, flags }
#define IN_OUT(name, field, rows, columns, flags) \
    { #field, FIELD_OF(name, field), GRAFT_VIEW_IN_OUT, GRAFT_DTYPE_F32, rows, columns, flags }
#define IDS(name, field, direction, rows, columns) \
    { #field, FIELD_OF(name, field), GRAFT_VIEW_##direction, GRAFT_DTYPE_I32, rows, columns, 0 }

#define OWED(name, kind) \
    { #name, GRAFT_ARG_##kind, 1 }
#define MAY(name, kind) \
    { #name, GRAFT_ARG_##kind, 0 }
#define ARGS(...) \
    { __VA_ARGS__ }
#define NO_ARGS        \
    {                  \
        { NULL, 0, 0 } \
    }

#define INTERFACE(ID, name, batch, args, ...) \
    {GRAFT_INTERFACE_##ID, &name##_hook, sizeof(struct graft_##name##_args), batch, name##_run, args, {__VA_ARGS__}},

static const struct graft_interface interfaces[] = {
#include "interface/interfaces.inc"
    {.id = NULL},
};

const struct graft_interface *graft_interface_find(const char *id) {
    for (const struct graft_interface *at = interfaces; at->id != NULL; at++) {
        if (strcmp(at->id, id) == 0) {
            return at;
        }
    }
    return NULL;
}

const struct graft_interface *graft_interfaces(void) {
    return interfaces;
}

const struct graft_interface_argument *graft_interface_find_fault(const struct graft_interface *interface,
                                                                  const struct graft_args *args,
                                                                  const struct graft_arg **given) {
    for (const struct graft_interface_argument *at = interface->arguments; at->name != NULL; at++) {
        *given = NULL;
        for (int32_t i = 0; args != NULL && i < args->count && *given == NULL; i++) {
            const struct graft_arg *arg = graft_args_at(args, i);
            *given = strcmp(arg->name, at->name) == 0 ? arg : NULL;
        }
        if (*given != NULL ? (*given)->kind != at->kind : at->owed) {
            return at;
        }
    }
    return NULL;
}

struct graft_interface_chained graft_interface_chained(const char *id) {
    struct graft_interface_chained chained = {.n_inputs = 0};
    const struct graft_interface *interface = graft_interface_find(id);
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL; at++) {
        if ((at->flags & GRAFT_ARRAY_CHAINED) == 0) {
            continue;
        }
        if (at->direction != GRAFT_VIEW_IN) {
            chained.output = at->field;
        }
        if (at->direction != GRAFT_VIEW_OUT) {
            chained.inputs[chained.n_inputs++] = at->field;
        }
    }
    return chained;
}

const char *graft_interface_unchained(const char *id) {
    const struct graft_interface *interface = graft_interface_find(id);
    int n_inputs = 0, n_ids = 0, n_outputs = 0;
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL; at++) {
        n_ids += at->direction == GRAFT_VIEW_IN && at->dtype != GRAFT_DTYPE_F32;
        n_inputs += at->direction != GRAFT_VIEW_OUT;
        n_outputs += at->direction != GRAFT_VIEW_IN;
    }
    return graft_interface_chained(id).n_inputs > 0 ? NULL
           : n_ids > 0                              ? "they take ids"
           : n_outputs > 1                          ? "they give several arrays"
           : n_inputs == 0                          ? "they take no array"
                                                    : "what they take or give is no hidden state of each token";
}
