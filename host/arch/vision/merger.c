/* SPDX-License-Identifier: Apache-2.0 */
/* Merges neighbouring patches into one vector for the language model. Each patch is normed; then either their joined
 * vectors go through a small MLP, in some towers with a norm and a gate inside, or their mean is projected. */
#include <string.h>

#include "arch/pass.h"
#include "arch/role.h"
#include "arch/vision/choices.h"

static const double TORCH_EPS = 1e-5; /* torch's default for LayerNorm */

/* Modules that a tower does not have are NULL. */
struct merger {
    struct graft_instance base;
    int64_t context_dim;
    int64_t merged;  /* number of patches in a vector */
    int64_t is_mean; /* 1: patches are averaged; 0: they are joined */
    int64_t normed;  /* width of the norm: context_dim, or that of the joined vector */
    int64_t width;   /* outputs of the first projection */
    int64_t inner;   /* inputs of the second projection: outputs of the first, or of the gate */
    const struct graft_module *norm;
    const struct graft_module *first; /* joined vector -> width */
    const struct graft_module *inner_norm;
    const struct graft_module *act;
    const struct graft_module *gate; /* width -> inner */
    const struct graft_module *up;   /* width -> inner */
    const struct graft_module *gate_act;
    const struct graft_module *second; /* inner -> hidden_size */
};

/* The name of a step after joining: a child, or an element of a Sequential such as "mlp.0". */
static const char *step(struct graft_outline *of, int32_t choice) {
    const char *name = graft_outline_name(of, choice);
    of->flags = name != NULL && strchr(name, '.') != NULL ? GRAFT_CHILD_SEQUENTIAL : 0;
    return name;
}

/* Reads the sizes between the projections; `output` is the width of the last projection's output. */
static void read_sizes(struct graft_outline *of, struct merger *self, int64_t output) {
    const int64_t side = graft_args_int(of->args, "spatial_merge_size", 0);
    const int64_t width = graft_args_int(of->args, "context_dim", 0);
    const int64_t given = graft_read_int(&of->reader, V_MERGER_INNER_SIZE);
    self->context_dim = width;
    self->merged = side * side;
    self->is_mean = graft_read_word(&of->reader, V_MERGER_JOIN) == V_JOIN_MEAN;
    const int64_t joined = self->is_mean ? width : width * side * side;
    self->normed = graft_args_int(of->args, "joined_norm", 0) != 0 ? joined : width;
    self->width = graft_outline_name(of, V_MERGER_SECOND) == NULL ? output : given > 0 ? given : joined;
    self->inner =
        graft_outline_name(of, V_MERGER_GATE) != NULL ? graft_read_int(&of->reader, V_MERGER_GATE_SIZE) : self->width;
}

/* Lays out the activation that the choice names, as in ACT2FN; null means torch's GELU. */
static void outline_act(struct graft_outline *of, const struct graft_module **child, int32_t name, int32_t choice) {
    const char *act = graft_read_text(&of->reader, choice);
    const char *class_name = act != NULL ? of->sink->activation_class(of->sink->data, act) : "GELU";
    if (class_name == NULL) {
        graft_reader_fail(&of->reader, choice, "unknown activation \"%s\"", act);
    }
    graft_outline_child(of, child, step(of, name), class_name, GRAFT_INTERFACE_ACTIVATION, NULL, 0);
}

static void outline(struct graft_outline *of, struct merger *self) {
    const int64_t output = graft_outline_hidden_size(of);
    const double eps = graft_read_real(&of->reader, V_NORM_EPS);
    const int32_t bias = graft_read_bool(&of->reader, V_MERGER_BIAS);
    const char *own = graft_outline_name(of, V_CLASS_MERGER_NORM);
    read_sizes(of, self, output);
    graft_outline_norm(of, &self->norm, graft_outline_name(of, V_MERGER_NORM),
                       own != NULL ? own : graft_outline_name(of, V_CLASS_NORM), self->normed, eps);
    graft_outline_linear(of, &self->first, step(of, V_MERGER_FIRST),
                         self->is_mean ? self->context_dim : self->context_dim * self->merged, self->width, bias);
    of->flags = 0;
    graft_outline_norm(of, &self->inner_norm, graft_outline_name(of, V_MERGER_INNER_NORM), "LayerNorm", self->width,
                       TORCH_EPS);
    if (graft_outline_name(of, V_MERGER_ACT) != NULL) {
        outline_act(of, &self->act, V_MERGER_ACT, V_MERGER_ACT_KIND);
    }
    if (graft_outline_name(of, V_MERGER_GATE) != NULL) {
        graft_outline_linear(of, &self->gate, step(of, V_MERGER_GATE), self->width, self->inner, bias);
        graft_outline_linear(of, &self->up, step(of, V_MERGER_UP), self->width, self->inner, bias);
        outline_act(of, &self->gate_act, V_MERGER_GATE_ACT, V_MLP_ACT);
    }
    graft_outline_linear(of, &self->second, step(of, V_MERGER_SECOND), self->inner, output, bias);
}

GRAFT_VISION_OUTLINED(graft_patch_merger, struct merger)

/* pooled [vectors, context_dim] = means of the patches of each vector. */
static float *pool(const struct merger *self, const struct graft_pass *vectors, const float *patches) {
    const int64_t width = self->context_dim, merged = self->merged;
    float *pooled = graft_pass_floats(vectors, width);
    for (int64_t i = 0; pooled != NULL && i < vectors->rows * width; i++) {
        const float *first = patches + i / width * merged * width + i % width;
        float sum = 0.0f;
        for (int64_t k = 0; k < merged; k++) {
            sum += first[k * width];
        }
        pooled[i] = sum / (float)merged;
    }
    return pooled;
}

/* act(gate(x)) * up(x) [vectors, inner]; x itself where there is no gate. */
static float *gate(const struct merger *self, const struct graft_pass *vectors, float *x) {
    const struct graft_module *const projections[] = {self->gate, self->up};
    if (self->gate == NULL) {
        return x;
    }
    float *const made[] = {graft_pass_floats(vectors, self->inner), graft_pass_floats(vectors, self->inner)};
    graft_pass_linears(vectors, projections, x, made, 2);
    graft_pass_gate_by(vectors, self->gate_act, made[0], made[1], self->inner);
    return made[0];
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_merger_args *args,
                   struct graft_error *error) {
    const struct merger *self = instance;
    const struct graft_pass vectors = {call, args->patches / self->merged, error};
    const int64_t rows = self->is_mean ? vectors.rows : args->patches;
    const struct graft_pass of_norm = {call, rows * self->context_dim / self->normed, error};
    float *x = self->is_mean ? pool(self, &vectors, args->hidden_states) : args->hidden_states;
    x = graft_pass_normed(&of_norm, self->norm, x, self->normed);
    if (self->second == NULL) {
        graft_pass_linear(&vectors, self->first, x, args->output);
        return error->code;
    }
    x = graft_pass_product(&vectors, self->first, x, self->width);
    x = graft_pass_normed(&vectors, self->inner_norm, x, self->width);
    if (self->act != NULL) {
        graft_pass_activate(&vectors, self->act, x, self->width);
    }
    graft_pass_linear(&vectors, self->second, gate(self, &vectors, x), args->output);
    return error->code;
}

const struct graft_patch_merger graft_patch_merger_vtable = {.struct_size = sizeof graft_patch_merger_vtable,
                                                             .forward = forward};
