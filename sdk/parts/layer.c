/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graft/attention.h"
#include "graft/describe.h"
#include "graft/parts.h"

struct layer {
    struct graft_instance base;
    const struct graft_module *attention; /* NULL if there is none, as for all modules below */
    const struct graft_module *mixer;
    const struct graft_module *mlp;
    const struct graft_module *attention_norm;
    const struct graft_module *attention_output_norm;
    const struct graft_module *mlp_norm;
    const struct graft_module *mlp_output_norm;
    int64_t hidden_size;
    uint32_t attention_features;
    int32_t parallel;
    int32_t norm_after_add;
    int32_t residual_normed;
    float residual_scale;                          /* 1: none */
    const struct graft_weight *attention_residual; /* [hidden_size]; this and the next NULL: none */
    const struct graft_weight *mlp_residual;
    int32_t mlp_mixes;
    const struct graft_module *cross; /* NULL: none */
    const struct graft_module *cross_norm;
    float attention_skip; /* a factor, as are the next three; 1: no effect */
    float attention_scale;
    float mlp_skip;
    float mlp_scale;
};

/* Declares cross attention. It gets the layer's arguments, like self-attention, but its own layer_idx for its place in
 * the cache. */
static void describe_cross(const struct graft_parts_layer *part, const struct graft_args *args,
                           const struct graft_sink *sink, struct graft_error *error) {
    enum { MAX_ARGS = 32 };
    struct graft_arg items[MAX_ARGS];
    int32_t n = 0;
    const int64_t layer = graft_args_int(args, "cross_layer_idx", 0);
    if (part->cross == NULL) {
        return;
    }
    for (int32_t i = 0; i < args->count && n < MAX_ARGS - 1; i++) {
        const struct graft_arg *arg = graft_args_at(args, i);
        const size_t size = args->item_stride < sizeof *items ? args->item_stride : sizeof *items;
        items[n] = graft_int_arg("layer_idx", layer);
        if (strcmp(arg->name, "layer_idx") != 0) {
            memcpy(&items[n], arg, size);
        }
        n++;
    }
    items[n++] = graft_int_arg("cross", 1);
    graft_describe_child(sink, part->cross, part->cross_class, GRAFT_INTERFACE_SELF_ATTENTION, items, n, error);
    graft_describe_given(sink, part->cross_norm, part->norm_class, GRAFT_INTERFACE_NORM, args, error);
}

int graft_parts_layer_declare(const struct graft_parts_layer *part, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const char *const children[][3] = {
        {part->attention, part->attention_class, GRAFT_INTERFACE_SELF_ATTENTION},
        {part->mixer, part->mixer_class, GRAFT_INTERFACE_MIXER},
        {part->mlp, part->mlp_class, part->mlp_mixes ? GRAFT_INTERFACE_MIXER : GRAFT_INTERFACE_MLP},
        {part->attention_norm, part->norm_class, GRAFT_INTERFACE_NORM},
        {part->attention_output_norm, part->norm_class, GRAFT_INTERFACE_NORM},
        {part->mlp_norm, part->norm_class, GRAFT_INTERFACE_NORM},
        {part->mlp_output_norm, part->norm_class, GRAFT_INTERFACE_NORM},
    };
    struct graft_parts_layer *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *kept = *part;
    if (part->parallel_field != NULL) {
        graft_config_bool(config, part->parallel_field, &kept->parallel, error);
    }
    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        if (children[i][0] != NULL) {
            graft_describe_given(sink, children[i][0], children[i][1], children[i][2], args, error);
        }
    }
    for (int i = 0; i < 2; i++) {
        const char *vector = i == 0 ? part->attention_residual : part->mlp_residual;
        if (vector != NULL) {
            graft_describe_vector(sink, vector, graft_args_int(args, "hidden_size", 0), error);
        }
    }
    describe_cross(part, args, sink, error);
    return error->code;
}

int graft_parts_layer_describe(const struct graft_class *self, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    return graft_parts_layer_declare(self->data, config, args, sink, error);
}

/* Reads a factor of struct graft_parts_layer, where 0 means 1. */
static float factor(double value) {
    return value != 0.0 ? (float)value : 1.0f;
}

/* Finds the child that the part names; NULL if it names none. */
static const struct graft_module *find_child(const struct graft_build *build, const char *name,
                                             struct graft_error *error) {
    return name != NULL ? graft_build_child(build, name, error) : NULL;
}

int graft_parts_layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                             struct graft_error *error) {
    const struct graft_parts_layer *part = build->kept;
    (void)cls;
    struct layer *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->attention_features = graft_self_attention_features(build->args);
    self->parallel = part->parallel;
    if (part->attention_residual != NULL) {
        self->attention_residual = graft_build_weight(build, part->attention_residual, error);
    }
    if (part->mlp_residual != NULL) {
        self->mlp_residual = graft_build_weight(build, part->mlp_residual, error);
    }
    self->norm_after_add = part->norm_after_add;
    self->residual_normed = part->residual_normed;
    self->mlp_mixes = part->mlp_mixes;
    self->attention_skip = factor(part->attention_skip);
    self->attention_scale = factor(part->attention_scale);
    self->mlp_skip = factor(part->mlp_skip);
    self->mlp_scale = factor(part->mlp_scale);
    self->residual_scale = (float)graft_args_real(build->args, "residual_scale", 1.0);
    self->attention = find_child(build, part->attention, error);
    self->mixer = find_child(build, part->mixer, error);
    self->mlp = find_child(build, part->mlp, error);
    self->attention_norm = find_child(build, part->attention_norm, error);
    self->attention_output_norm = find_child(build, part->attention_output_norm, error);
    self->mlp_norm = find_child(build, part->mlp_norm, error);
    self->mlp_output_norm = find_child(build, part->mlp_output_norm, error);
    self->cross = find_child(build, part->cross, error);
    self->cross_norm = part->cross != NULL ? find_child(build, part->cross_norm, error) : NULL;
    return graft_instance_finish(self, instance, error);
}

/* A call of the layer, shared by the steps below. Arrays are [tokens, hidden_size]. */
struct pass {
    const struct layer *layer;
    const struct graft_call *call;
    const struct graft_decoder_layer_args *args;
    const struct graft_parts_layer_steps *steps;
    struct graft_error *error;
};

static int run_norm(const struct pass *pass, const struct graft_module *norm, const float *residual, float *output) {
    const struct graft_norm_args args = {sizeof args, 0,     pass->args->batch->tokens, pass->args->hidden_states,
                                         residual,    output};
    return graft_norm_forward(norm, pass->call, &args, pass->error);
}

/* If there is a norm, writes the normed *x to *spare and swaps both pointers. */
static int norm_output(const struct pass *pass, const struct graft_module *norm, float **x, float **spare) {
    float *before = *x;
    const struct graft_norm_args args = {sizeof args, 0, pass->args->batch->tokens, before, NULL, *spare};
    if (norm == NULL) {
        return GRAFT_OK;
    }
    *x = *spare;
    *spare = before;
    return graft_norm_forward(norm, pass->call, &args, pass->error);
}

static int attend(const struct pass *pass, const float *x, float *output) {
    const struct graft_self_attention_args args = {
        .struct_size = sizeof args,
        .required_features = pass->layer->attention_features,
        .batch = pass->args->batch,
        .hidden_states = x,
        .cos = pass->args->cos,
        .sin = pass->args->sin,
        .mask = pass->args->mask,
        .output = output,
        .shared_keys =
            GRAFT_HAS(pass->args, struct graft_decoder_layer_args, shared_keys) ? pass->args->shared_keys : NULL,
    };
    return graft_self_attention_forward(pass->layer->attention, pass->call, &args, pass->error);
}

/* Runs cross attention to the encoder's hidden states. */
static int attend_across(const struct pass *pass, const float *x, float *output) {
    static const struct graft_mask all = {.struct_size = sizeof all, .kind = GRAFT_MASK_NONE};
    const struct graft_self_attention_args args = {
        .struct_size = sizeof args,
        .required_features = pass->layer->attention_features | GRAFT_SELF_ATTENTION_CROSS,
        .batch = pass->args->batch,
        .hidden_states = x,
        .mask = &all,
        .output = output,
    };
    return graft_self_attention_forward(pass->layer->cross, pass->call, &args, pass->error);
}

static int mix(const struct pass *pass, const struct graft_module *mixer, const float *x, float *output) {
    const struct graft_mixer_args args = {sizeof args, 0, pass->args->batch, x, output};
    return graft_mixer_forward(mixer, pass->call, &args, pass->error);
}

static int feed(const struct pass *pass, const float *x, float *output) {
    const struct graft_mlp_args args = {sizeof args, 0, pass->args->batch->tokens, x, output};
    return pass->layer->mlp_mixes ? mix(pass, pass->layer->mlp, x, output)
                                  : graft_mlp_forward(pass->layer->mlp, pass->call, &args, pass->error);
}

/* Scales the output of attention or MLP before it is added to hidden_states. */
static void scale_output(const struct pass *pass, float own_scale, float *output) {
    const float scale = pass->layer->residual_scale * own_scale;
    for (int64_t i = 0; scale != 1.0f && i < pass->args->batch->tokens * pass->layer->hidden_size; i++) {
        output[i] *= scale;
    }
}

/* sum += x */
static int add_to(const struct pass *pass, float *sum, const float *x) {
    return pass->call->kernels->add(pass->call, sum, x, pass->args->batch->tokens * pass->layer->hidden_size,
                                    pass->error);
}

/* hidden_states += x */
static int add(const struct pass *pass, const float *x) {
    return add_to(pass, pass->args->hidden_states, x);
}

/* Runs attention and mixer on the same input. */
static int attend_and_mix(const struct pass *pass, const float *x, float *output, float *mixed) {
    int status = mix(pass, pass->layer->mixer, x, mixed);
    if (status == GRAFT_OK) {
        status = attend(pass, x, output);
    }
    return status == GRAFT_OK ? add_to(pass, output, mixed) : status;
}

static int run_attention(const struct pass *pass, const float *x, float **output, float **spare) {
    int status;
    if (pass->layer->attention != NULL && pass->layer->mixer != NULL) {
        float *mixed =
            graft_scratch_floats(pass->call, pass->args->batch->tokens, pass->layer->hidden_size, pass->error);
        status = mixed != NULL ? attend_and_mix(pass, x, *output, mixed) : GRAFT_ERROR_INTERNAL;
    } else {
        status = pass->layer->mixer != NULL ? mix(pass, pass->layer->mixer, x, *output) : attend(pass, x, *output);
    }
    float *added = NULL; /* computed before the norm, which may overwrite x */
    if (status == GRAFT_OK && pass->steps->beside_attention != NULL) {
        added = graft_scratch_floats(pass->call, pass->args->batch->tokens, pass->layer->hidden_size, pass->error);
        status = added != NULL
                     ? pass->steps->beside_attention(pass->steps->self, pass->call, pass->args, x, added, pass->error)
                     : GRAFT_ERROR_INTERNAL;
    }
    if (status == GRAFT_OK) {
        status = norm_output(pass, pass->layer->attention_output_norm, output, spare);
    }
    if (status == GRAFT_OK && added != NULL) {
        status = add_to(pass, *output, added);
    }
    scale_output(pass, pass->layer->attention_scale, *output);
    return status;
}

static int run_mlp(const struct pass *pass, const float *x, float **output, float **spare) {
    int status = feed(pass, x, *output);
    if (status == GRAFT_OK && pass->steps->behind_mlp != NULL) {
        status = pass->steps->behind_mlp(pass->steps->self, pass->call, pass->args, *output, pass->error);
    }
    if (status == GRAFT_OK) {
        status = norm_output(pass, pass->layer->mlp_output_norm, output, spare);
    }
    scale_output(pass, pass->layer->mlp_scale, *output);
    return status;
}

/* hidden_states *= vector, for each token; does nothing without a vector. */
static int weigh(const struct pass *pass, const struct graft_weight *vector) {
    const int64_t width = pass->layer->hidden_size;
    const float *numbers = vector != NULL ? graft_scratch_widened(pass->call, vector, pass->error) : NULL;
    for (int64_t i = 0; numbers != NULL && i < pass->args->batch->tokens * width; i++) {
        pass->args->hidden_states[i] *= numbers[i % width];
    }
    return vector == NULL || numbers != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* normed = norm(hidden_states + residual). hidden_states, to which the next output is added, becomes `skip` times that
 * sum or, with residual_normed, `skip` times `normed`. */
static int norm_input(const struct pass *pass, const struct graft_module *norm, const float *residual, float skip,
                      float *normed) {
    const int64_t count = pass->args->batch->tokens * pass->layer->hidden_size;
    int status = run_norm(pass, norm, residual, normed);
    const float *kept = pass->layer->residual_normed ? normed : pass->args->hidden_states;
    for (int64_t i = 0; (kept == normed || skip != 1.0f) && i < count && status == GRAFT_OK; i++) {
        pass->args->hidden_states[i] = skip * kept[i];
    }
    return status;
}

/* Sets `seen` to the input of attention or mixer: norm(hidden_states), written to `normed`, or hidden_states without a
 * norm. */
static int begin(const struct pass *pass, float *normed, const float **seen) {
    const struct graft_module *norm = pass->layer->attention_norm;
    *seen = norm != NULL ? normed : pass->args->hidden_states;
    return norm != NULL ? norm_input(pass, norm, NULL, pass->layer->attention_skip, normed) : GRAFT_OK;
}

/* Adds `attended`, the output of self-attention, to hidden_states, and writes cross attention's output to `output`. */
static int run_cross(const struct pass *pass, const float *attended, float *normed, float *output) {
    int status = run_norm(pass, pass->layer->cross_norm, attended, normed);
    return status == GRAFT_OK ? attend_across(pass, normed, output) : status;
}

/* Runs attention, then the MLP, each with a norm before it. The MLP's norm, if there is one, also adds attention's
 * output to hidden_states. */
static int run_in_turn(const struct pass *pass, float *normed, float *output) {
    const struct layer *layer = pass->layer;
    const int32_t attends = layer->attention != NULL || layer->mixer != NULL;
    const float *seen = pass->args->hidden_states;
    int status = attends ? begin(pass, normed, &seen) : GRAFT_OK;
    if (status == GRAFT_OK && attends) {
        status = run_attention(pass, seen, &output, &normed);
    }
    if (status == GRAFT_OK && attends) {
        status = weigh(pass, layer->attention_residual);
    }
    if (status == GRAFT_OK && layer->cross != NULL) {
        status = run_cross(pass, output, normed, output);
    }
    if (status == GRAFT_OK && attends && (layer->mlp == NULL || layer->mlp_norm == NULL)) {
        status = add(pass, output);
        seen = pass->args->hidden_states;
    }
    if (layer->mlp == NULL || status != GRAFT_OK) {
        return status;
    }
    if (layer->mlp_norm != NULL) {
        status = norm_input(pass, layer->mlp_norm, attends ? output : NULL, layer->mlp_skip, normed);
        seen = normed;
    }
    if (status == GRAFT_OK) {
        status = run_mlp(pass, seen, &output, &normed);
    }
    if (status == GRAFT_OK) {
        status = weigh(pass, layer->mlp_residual);
    }
    return status == GRAFT_OK ? add(pass, output) : status;
}

/* hidden_states = norm(hidden_states + x), or their sum without a norm. */
static int add_and_norm(const struct pass *pass, const struct graft_module *norm, const float *x, float *normed) {
    const size_t bytes = (size_t)(pass->args->batch->tokens * pass->layer->hidden_size) * sizeof *normed;
    int status = norm != NULL ? run_norm(pass, norm, x, normed) : add(pass, x);
    if (status == GRAFT_OK && norm != NULL) {
        memcpy(pass->args->hidden_states, normed, bytes);
    }
    return status;
}

/* Runs a layer with norms after the residual additions, as in the first Transformers (Vaswani et al. 2017). */
static int run_norms_last(const struct pass *pass, float *normed, float *output) {
    const struct layer *layer = pass->layer;
    int status = run_attention(pass, pass->args->hidden_states, &output, &normed);
    if (status == GRAFT_OK) {
        status = add_and_norm(pass, layer->attention_norm, output, normed);
    }
    if (status == GRAFT_OK && layer->cross != NULL) {
        status = attend_across(pass, pass->args->hidden_states, output);
        status = status == GRAFT_OK ? add_and_norm(pass, layer->cross_norm, output, normed) : status;
    }
    if (layer->mlp == NULL || status != GRAFT_OK) {
        return status;
    }
    status = run_mlp(pass, pass->args->hidden_states, &output, &normed);
    return status == GRAFT_OK ? add_and_norm(pass, layer->mlp_norm, output, normed) : status;
}

static int run_in_parallel(const struct pass *pass, float *normed, float *attended, float *output) {
    const float *seen;
    int status = begin(pass, normed, &seen);
    if (status == GRAFT_OK) {
        status = run_attention(pass, seen, &attended, &output);
    }
    if (status == GRAFT_OK && pass->layer->mlp_norm != NULL) {
        status = run_norm(pass, pass->layer->mlp_norm, NULL, normed);
        seen = normed;
    }
    if (status == GRAFT_OK) {
        status = run_mlp(pass, seen, &output, &normed);
    }
    if (status == GRAFT_OK) {
        status = add(pass, attended);
    }
    return status == GRAFT_OK ? add(pass, output) : status;
}

int graft_parts_layer_run(void *layer, const struct graft_parts_layer_steps *steps, const struct graft_call *call,
                          const struct graft_decoder_layer_args *args, struct graft_error *error) {
    const struct layer *self = layer;
    const struct pass pass = {self, call, args, steps, error};
    int64_t tokens = args->batch->tokens;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (self->norm_after_add) {
        return run_norms_last(&pass, normed, output);
    }
    if (!self->parallel) {
        return run_in_turn(&pass, normed, output);
    }
    float *attended = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    return attended != NULL ? run_in_parallel(&pass, normed, attended, output) : GRAFT_ERROR_INTERNAL;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    static const struct graft_parts_layer_steps none = {NULL, NULL, NULL};
    return graft_parts_layer_run(instance, &none, call, args, error);
}

const struct graft_decoder_layer graft_parts_layer_vtable = {
    .struct_size = sizeof graft_parts_layer_vtable,
    .features = GRAFT_DECODER_LAYER_SHARED_KEYS,
    .forward = forward,
};
