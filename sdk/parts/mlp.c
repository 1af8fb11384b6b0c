/* SPDX-License-Identifier: Apache-2.0 */
/* The MLP of a layer, with a gate (Shazeer 2020) or without one. */
#include <math.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/parts.h"
#include "graft/swiglu.h"

struct kept {
    struct graft_parts_mlp part;
    int64_t hidden_size;
    int64_t intermediate_size;
};

struct mlp {
    struct graft_instance base;
    const struct graft_module *gate;    /* hidden_size -> intermediate_size; NULL: none */
    const struct graft_module *up;      /* hidden_size -> intermediate_size; NULL: gate_up has it */
    const struct graft_module *gate_up; /* hidden_size -> 2 * intermediate_size */
    const struct graft_module *down;    /* intermediate_size -> hidden_size */
    const struct graft_module *act;     /* NULL: `swiglu` */
    struct graft_swiglu swiglu;
    const struct graft_module *norm; /* norm before `down`; NULL: none */
    int64_t hidden_size;
    int64_t intermediate_size;
    float gate_scale;   /* 1: none */
    float output_scale; /* likewise */
    float deviations; /* for gates cut off at a quantile: its distance from the mean in standard deviations; -INFINITY:
                         no cut */
};

/* The quantile `part` of the standard normal distribution, by bisection. */
static float deviations(double part) {
    double low = -40.0, high = 40.0;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2.0;
        if (0.5 * erfc(-middle / sqrt(2.0)) < part) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (float)high;
}

int graft_parts_mlp_declare(const struct graft_parts_mlp *part, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden_size = graft_args_int(args, "hidden_size", 0);
    int64_t intermediate_size = graft_args_int(args, "intermediate_size", 0);
    int32_t bias = graft_args_int(args, "mlp_bias", 0) != 0;
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    const int32_t down_bias = part->down_bias == GRAFT_PARTS_AS_BIAS ? bias : part->down_bias == GRAFT_PARTS_BIAS;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *kept = (struct kept){*part, hidden_size, intermediate_size};
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {part->gate, part->up, part->gate_up};
        if (names[i] != NULL) {
            graft_describe_linear(sink, names[i], hidden_size, (i == 2 ? 2 : 1) * intermediate_size, bias, error);
        }
    }
    graft_describe_linear(sink, part->down, intermediate_size, hidden_size, down_bias, error);
    if (part->norm != NULL) {
        graft_describe_norm(sink, part->norm, part->norm_class, intermediate_size, graft_args_real(args, "eps", 1e-6),
                            error);
    }
    if (part->swiglu_limit == 0.0) {
        graft_describe_activation(sink, part->act, config, args, "hidden_act", error);
    }
    return error->code;
}

int graft_parts_mlp_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    return graft_parts_mlp_declare(self->data, config, args, sink, error);
}

int graft_parts_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct kept *kept = build->kept;
    const struct graft_parts_mlp *part = &kept->part;
    (void)cls;
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct {
        const struct graft_module **child;
        const char *name;
    } children[] = {{&self->gate, part->gate},
                    {&self->up, part->gate_up == NULL ? part->up : NULL},
                    {&self->gate_up, part->gate_up},
                    {&self->down, part->down},
                    {&self->act, part->swiglu_limit == 0.0 ? part->act : NULL},
                    {&self->norm, part->norm}};
    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        *children[i].child = children[i].name != NULL ? graft_build_child(build, children[i].name, error) : NULL;
    }
    self->hidden_size = kept->hidden_size;
    self->intermediate_size = kept->intermediate_size;
    self->swiglu = (struct graft_swiglu){(float)part->swiglu_alpha, (float)part->swiglu_limit};
    self->gate_scale = part->gate_scale != 0.0 ? (float)part->gate_scale : 1.0f;
    self->output_scale = part->output_scale != 0.0 ? (float)part->output_scale : 1.0f;
    self->deviations = part->gate_quantile > 0.0 ? deviations(part->gate_quantile) : -INFINITY;
    return graft_instance_finish(self, instance, error);
}

/* Fills in products [2] for gate and up and returns 1; returns 0 if their modules are not plain products. */
static int32_t as_gate_up(const struct mlp *self, const struct graft_mlp_args *args, float *inner, float *up,
                          struct graft_product *products) {
    const struct graft_linear_args gate_args = {sizeof gate_args, 0, args->tokens, args->hidden_states, inner};
    const struct graft_linear_args up_args = {sizeof up_args, 0, args->tokens, args->hidden_states, up};
    if (self->gate_up == NULL) {
        return graft_linear_as_product(self->gate, &gate_args, &products[0]) &&
               graft_linear_as_product(self->up, &up_args, &products[1]);
    }
    if (!graft_linear_as_product(self->gate_up, &gate_args, &products[0])) {
        return 0;
    }
    products[0].rows = self->intermediate_size;
    products[0].y_stride = self->intermediate_size;
    products[1] = products[0];
    products[1].first_row += self->intermediate_size;
    products[1].y = up;
    return 1;
}

/* Runs the whole MLP in one kernel call and sets *done, if its children are plain products and the activation is a
 * kernel of the host. */
static int run_products(const struct mlp *self, const struct graft_call *call, const struct graft_mlp_args *args,
                        float *inner, float *up, int *done, struct graft_error *error) {
    const struct graft_linear_args down_args = {sizeof down_args, 0, args->tokens, inner, args->output};
    struct graft_product gate_up[2], down;
    const struct graft_gated_products products = {sizeof products,
                                                  self->act != NULL ? graft_activation_as_kernel(self->act) : -1,
                                                  &gate_up[0], &gate_up[1], &down};
    *done = GRAFT_HAS(call->kernels, struct graft_kernels, gated_linear) && products.activation >= 0 &&
            self->gate_scale == 1.0f && self->deviations == -INFINITY && as_gate_up(self, args, inner, up, gate_up) &&
            graft_linear_as_product(self->down, &down_args, &down);
    return *done ? call->kernels->gated_linear(call, &products, 1, sizeof products, error) : GRAFT_OK;
}

static void scale(float *x, int64_t count, float factor) {
    for (int64_t i = 0; factor != 1.0f && i < count; i++) {
        x[i] *= factor;
    }
}

/* Replaces each number of gate [tokens, n] by its excess over the row's quantile, or 0. */
static void cut(float *gate, int64_t tokens, int64_t n, float deviations) {
    for (int64_t t = 0; t < tokens && deviations > -INFINITY; t++, gate += n) {
        double mean = 0.0, variance = 0.0;
        for (int64_t i = 0; i < n; i++) {
            mean += gate[i];
        }
        mean /= (double)n;
        for (int64_t i = 0; i < n; i++) {
            variance += (gate[i] - mean) * (gate[i] - mean);
        }
        const float quantile = (float)mean + (float)sqrt(variance / (double)n) * deviations;
        for (int64_t i = 0; i < n; i++) {
            gate[i] = gate[i] > quantile ? gate[i] - quantile : 0.0f;
        }
    }
}

/* Computes gate and up [tokens, intermediate_size], of a projection each, or of one that gives both in one row; then
 * `up` has room for both. */
static int project(const struct mlp *self, const struct graft_call *call, const struct graft_mlp_args *args,
                   float *gate, float *up, struct graft_error *error) {
    const struct graft_module *const projections[] = {self->gate, self->up};
    const struct graft_linear_args of_gate = {sizeof of_gate, 0, args->tokens, args->hidden_states, gate};
    const struct graft_linear_args of_up = {sizeof of_up, 0, args->tokens, args->hidden_states, up};
    const struct graft_linear_args of_both[] = {of_gate, of_up};
    const int64_t columns = self->intermediate_size;
    if (self->gate_up == NULL) {
        return graft_linear_forward_all(projections, call, of_both, 2, error);
    }
    const int status = graft_linear_forward(self->gate_up, call, &of_up, error);
    for (int64_t t = 0; t < args->tokens && status == GRAFT_OK; t++) {
        const float *row = up + t * 2 * columns;
        memcpy(gate + t * columns, row, (size_t)columns * sizeof *row);
        memmove(up + t * columns, row + columns, (size_t)columns * sizeof *row); /* over rows that were read already */
    }
    return status;
}

/* inner [tokens, intermediate_size] = act(gate(x)) * up(x), or the part's own function of both; without a gate
 * act(up(x)). */
static int run_inner(const struct mlp *self, const struct graft_call *call, const struct graft_mlp_args *args,
                     float *inner, float *up, struct graft_error *error) {
    const int64_t tokens = args->tokens, columns = self->intermediate_size;
    const struct graft_linear_args up_args = {sizeof up_args, 0, tokens, args->hidden_states, inner};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * columns, inner, inner};
    struct graft_swiglu swiglu = self->swiglu;
    if (self->gate == NULL && self->gate_up == NULL) {
        const int status = graft_linear_forward(self->up, call, &up_args, error);
        return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
    }
    const int status = project(self, call, args, inner, up, error);
    if (status != GRAFT_OK) {
        return status;
    }
    scale(inner, tokens * columns, self->gate_scale);
    cut(inner, tokens, columns, self->deviations);
    return self->act != NULL ? graft_activation_gate(self->act, call, inner, up, tokens, columns, error)
                             : graft_swiglu_gate(&swiglu, call, inner, up, tokens, columns, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    const int64_t width = self->intermediate_size;
    const int has_gate = self->gate != NULL || self->gate_up != NULL;
    float *inner = graft_scratch_floats(call, args->tokens, width, error);
    /* [tokens, width] for up alone, or [tokens, 2, width] for both. */
    float *up = has_gate || self->norm != NULL
                    ? graft_scratch_floats(call, args->tokens, (self->gate_up != NULL ? 2 : 1) * width, error)
                    : inner;
    int done = 0, status = inner != NULL && up != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && has_gate && self->norm == NULL) {
        status = run_products(self, call, args, inner, up, &done, error);
    }
    if (status == GRAFT_OK && !done) {
        status = run_inner(self, call, args, inner, up, error);
    }
    if (status == GRAFT_OK && self->norm != NULL) {
        const struct graft_norm_args norm_args = {sizeof norm_args, 0, args->tokens, inner, NULL, up};
        status = graft_norm_forward(self->norm, call, &norm_args, error);
    }
    if (status == GRAFT_OK && !done) {
        const float *x = self->norm != NULL ? up : inner;
        const struct graft_linear_args down_args = {sizeof down_args, 0, args->tokens, x, args->output};
        status = graft_linear_forward(self->down, call, &down_args, error);
    }
    scale(args->output, args->tokens * self->hidden_size, self->output_scale);
    return status;
}

const struct graft_mlp graft_parts_mlp_vtable = {.struct_size = sizeof graft_parts_mlp_vtable, .forward = forward};
