/* SPDX-License-Identifier: Apache-2.0 */
/* Merges neighbouring patches into one vector for the language model. Each patch is normed; then either their joined
 * vectors go through a small MLP, in some towers with a norm and a gate inside, or their mean is projected. */
#include <string.h>

#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"

static const double TORCH_EPS = 1e-5; /* torch's default for LayerNorm */

struct sizes {
    int64_t context_dim;
    int64_t merged;  /* number of patches in a vector */
    int64_t is_mean; /* 1: patches are averaged; 0: they are joined */
    int64_t normed;  /* width of the norm: context_dim, or that of the joined vector */
    int64_t first;   /* outputs of the first projection */
    int64_t inner;   /* inputs of the second projection: outputs of the first, or of the gate */
};

/* Modules that a tower does not have are NULL. */
struct merger {
    struct graft_instance base;
    const struct graft_module *norm;
    const struct graft_module *first; /* joined vector -> first */
    const struct graft_module *inner_norm;
    const struct graft_module *act;
    const struct graft_module *gate; /* first -> inner */
    const struct graft_module *up;   /* first -> inner */
    const struct graft_module *gate_act;
    const struct graft_module *second; /* inner -> hidden_size */
    struct sizes sizes;
};

/* Declares a step after joining: a child, or an element of a Sequential such as "mlp.0". */
static void describe_step(const struct graft_sink *sink, const char *name, const char *class_name,
                          const char *interface_id, const struct graft_arg *args, int32_t count,
                          struct graft_error *error) {
    const struct graft_args list = graft_args_of(args, count);
    const struct graft_child_info info = {
        .struct_size = sizeof info,
        .flags = strchr(name, '.') != NULL ? GRAFT_CHILD_SEQUENTIAL : 0,
        .name = name,
        .class_name = class_name,
        .interface_id = interface_id,
        .args = &list,
    };
    sink->child(sink->data, &info, error);
}

static void describe_linear(const struct graft_sink *sink, const char *name, int64_t from, int64_t to, int32_t bias,
                            struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("in_features", from), graft_int_arg("out_features", to),
                                     graft_int_arg("bias", bias)};
    describe_step(sink, name, "Linear", GRAFT_INTERFACE_LINEAR, args, 3, error);
}

static const char *name_of(const struct graft_class *cls, int32_t choice) {
    return graft_description_name(cls->data, choice);
}

/* Reads the sizes between the projections; `output` is the width of the last projection's output. */
static void read_sizes(struct graft_vision_reader *reader, const struct graft_args *args, int64_t output,
                       struct sizes *sizes) {
    const struct graft_description *description = reader->of.description;
    const int64_t side = graft_args_int(args, "spatial_merge_size", 0);
    const int64_t width = graft_args_int(args, "context_dim", 0);
    const int32_t is_mean = graft_read_word(&reader->of, V_MERGER_JOIN) == V_JOIN_MEAN;
    const int64_t joined = is_mean ? width : width * side * side;
    const int64_t given = graft_read_int(&reader->of, V_MERGER_INNER_SIZE);
    *sizes = (struct sizes){
        .context_dim = width,
        .merged = side * side,
        .is_mean = is_mean,
        .normed = graft_args_int(args, "joined_norm", 0) != 0 ? joined : width,
        .first = graft_description_name(description, V_MERGER_SECOND) == NULL ? output
                 : given > 0                                                  ? given
                                                                              : joined,
    };
    sizes->inner = graft_description_name(description, V_MERGER_GATE) != NULL
                       ? graft_read_int(&reader->of, V_MERGER_GATE_SIZE)
                       : sizes->first;
}

/* Declares the activation that the choice names, as in ACT2FN; null means torch's GELU. */
static void describe_act(struct graft_vision_reader *reader, int32_t name, int32_t choice,
                         const struct graft_sink *sink, struct graft_error *error) {
    const char *act = graft_read_text(&reader->of, choice);
    const char *class_name = act != NULL ? sink->activation_class(sink->data, act) : "GELU";
    if (reader->of.status == GRAFT_OK && class_name == NULL) {
        graft_reader_fail(&reader->of, choice, "unknown activation \"%s\"", act);
    }
    if (reader->of.status == GRAFT_OK) {
        describe_step(sink, graft_description_name(reader->of.description, name), class_name,
                      GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
    }
}

int graft_patch_merger_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const int64_t output = graft_args_int(args, "hidden_size", 0);
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    struct graft_vision_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_vision_reader_start(&reader, self->data, config, error);
    read_sizes(&reader, args, output, sizes);
    const int has_gate = name_of(self, V_MERGER_GATE) != NULL;
    const double eps = graft_read_real(&reader.of, V_NORM_EPS);
    const int32_t bias = graft_read_bool(&reader.of, V_MERGER_BIAS);
    if (reader.of.status != GRAFT_OK) {
        return reader.of.status;
    }
    if (name_of(self, V_MERGER_NORM) != NULL) {
        const char *own = name_of(self, V_CLASS_MERGER_NORM);
        graft_describe_norm(sink, name_of(self, V_MERGER_NORM), own != NULL ? own : name_of(self, V_CLASS_NORM),
                            sizes->normed, eps, error);
    }
    describe_linear(sink, name_of(self, V_MERGER_FIRST),
                    sizes->is_mean ? sizes->context_dim : sizes->context_dim * sizes->merged, sizes->first, bias,
                    error);
    if (name_of(self, V_MERGER_INNER_NORM) != NULL) {
        graft_describe_layer_norm(sink, name_of(self, V_MERGER_INNER_NORM), sizes->first, TORCH_EPS, error);
    }
    if (name_of(self, V_MERGER_ACT) != NULL) {
        describe_act(&reader, V_MERGER_ACT, V_MERGER_ACT_KIND, sink, error);
    }
    if (has_gate) {
        describe_linear(sink, name_of(self, V_MERGER_GATE), sizes->first, sizes->inner, bias, error);
        describe_linear(sink, name_of(self, V_MERGER_UP), sizes->first, sizes->inner, bias, error);
        describe_act(&reader, V_MERGER_GATE_ACT, V_MLP_ACT, sink, error);
    }
    if (name_of(self, V_MERGER_SECOND) != NULL) {
        describe_linear(sink, name_of(self, V_MERGER_SECOND), sizes->inner, output, bias, error);
    }
    return error->code;
}

int graft_patch_merger_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    struct merger *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct {
        const struct graft_module **module;
        int32_t name;
        int32_t is_gate;
    } children[] = {
        {&self->norm, V_MERGER_NORM, 0}, {&self->first, V_MERGER_FIRST, 0},
        {&self->act, V_MERGER_ACT, 0},   {&self->inner_norm, V_MERGER_INNER_NORM, 0},
        {&self->gate, V_MERGER_GATE, 1}, {&self->gate_act, V_MERGER_GATE_ACT, 1},
        {&self->up, V_MERGER_UP, 1},     {&self->second, V_MERGER_SECOND, 0},
    };
    self->sizes = *(const struct sizes *)build->kept;
    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        const char *name = name_of(cls, children[i].name);
        if (name != NULL && (!children[i].is_gate || name_of(cls, V_MERGER_GATE) != NULL)) {
            *children[i].module = graft_build_child(build, name, error);
        }
    }
    return graft_instance_finish(self, instance, error);
}

/* output [count / columns, columns] = norm(x), and `*x` becomes `output`. Without a norm `*x` is unchanged. */
static int norm(const struct graft_module *module, const struct graft_call *call, int64_t rows, float **x,
                float *output, struct graft_error *error) {
    const struct graft_norm_args args = {sizeof args, 0, rows, *x, NULL, output};
    if (module == NULL) {
        return GRAFT_OK;
    }
    *x = output;
    return graft_norm_forward(module, call, &args, error);
}

/* If there is a gate, x [vectors, joined] becomes [vectors, inner]: act(gate(x)) * up(x). */
static int gate(const struct merger *self, const struct graft_call *call, int64_t vectors, float **x,
                struct graft_error *error) {
    const struct graft_module *const projections[] = {self->gate, self->up};
    if (self->gate == NULL) {
        return GRAFT_OK;
    }
    float *gates = graft_scratch_floats(call, vectors, self->sizes.inner, error);
    float *up = graft_scratch_floats(call, vectors, self->sizes.inner, error);
    if (gates == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args args[] = {{sizeof args[0], 0, vectors, *x, gates},
                                             {sizeof args[0], 0, vectors, *x, up}};
    int status = graft_linear_forward_all(projections, call, args, 2, error);
    *x = gates;
    return status == GRAFT_OK
               ? graft_activation_gate(self->gate_act, call, gates, up, vectors, self->sizes.inner, error)
               : status;
}

/* pooled [vectors, context_dim] = means of the patches of each vector. */
static void pool(const struct merger *self, int64_t vectors, const float *patches, float *pooled) {
    const int64_t width = self->sizes.context_dim, merged = self->sizes.merged;
    for (int64_t i = 0; i < vectors * width; i++) {
        const float *first = patches + i / width * merged * width + i % width;
        float sum = 0.0f;
        for (int64_t k = 0; k < merged; k++) {
            sum += first[k * width];
        }
        pooled[i] = sum / (float)merged;
    }
}

/* Computes output [vectors, ...] from x [vectors, first], the output of the first projection; `spare` has room for as
 * many numbers. */
static int finish(const struct merger *self, const struct graft_call *call, int64_t vectors, float *x, float *spare,
                  float *output, struct graft_error *error) {
    int status = norm(self->inner_norm, call, vectors, &x, spare, error);
    const struct graft_activation_args act_args = {sizeof act_args, 0, vectors * self->sizes.first, x, x};
    if (status == GRAFT_OK && self->act != NULL) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    if (status == GRAFT_OK) {
        status = gate(self, call, vectors, &x, error);
    }
    const struct graft_linear_args second = {sizeof second, 0, vectors, x, output};
    return status == GRAFT_OK ? graft_linear_forward(self->second, call, &second, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_merger_args *args,
                   struct graft_error *error) {
    const struct merger *self = instance;
    const struct sizes *sizes = &self->sizes;
    const int64_t vectors = args->patches / sizes->merged;
    const int64_t rows = (sizes->is_mean ? vectors : args->patches) * sizes->context_dim / sizes->normed;
    const int64_t room =
        sizes->first > sizes->context_dim * sizes->merged ? sizes->first : sizes->context_dim * sizes->merged;
    float *pooled = sizes->is_mean ? graft_scratch_floats(call, vectors, sizes->context_dim, error) : NULL;
    float *normed = graft_scratch_floats(call, vectors, room, error);
    float *inner = self->second != NULL ? graft_scratch_floats(call, vectors, room, error) : args->output;
    float *x = sizes->is_mean ? pooled : args->hidden_states;
    if (x == NULL || normed == NULL || inner == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (sizes->is_mean) {
        pool(self, vectors, args->hidden_states, pooled);
    }
    int status = norm(self->norm, call, rows, &x, normed, error);
    const struct graft_linear_args first = {sizeof first, 0, vectors, x, inner};
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->first, call, &first, error);
    }
    return status == GRAFT_OK && self->second != NULL ? finish(self, call, vectors, inner, normed, args->output, error)
                                                      : status;
}

const struct graft_patch_merger graft_patch_merger_vtable = {
    .struct_size = sizeof graft_patch_merger_vtable,
    .forward = forward,
};
