/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/layer.h"

#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"

/* --- Layout --- */

/* Lays out cross attention. It gets the arguments of the layer, as attention does, but a layer_idx of its own for its
 * place in the cache. */
static void outline_cross(struct graft_outline *of, struct graft_layer *self, int attends) {
    enum { MAX_ARGS = 32 };
    struct graft_arg items[MAX_ARGS];
    int32_t n = 0;
    if (graft_args_find(of->args, "cross_layer_idx", GRAFT_ARG_INT) == NULL) {
        return;
    }
    if (self->parallel) {
        graft_reader_fail(&of->reader, D_LAYER_PARALLEL, "not supported with an encoder");
    }
    if (!attends) {
        graft_reader_fail(&of->reader, D_LAYER_HAS_ATTENTION, "expected true in a layer that has layer.cross");
    }
    for (int32_t i = 0; i < of->args->count && n < MAX_ARGS - 1; i++) {
        const struct graft_arg *arg = graft_args_at(of->args, i);
        const size_t size = of->args->item_stride < sizeof *items ? of->args->item_stride : sizeof *items;
        items[n] = graft_int_arg("layer_idx", graft_args_int(of->args, "cross_layer_idx", 0));
        if (strcmp(arg->name, "layer_idx") != 0) {
            memcpy(&items[n], arg, size);
        }
        n++;
    }
    items[n++] = graft_int_arg("cross", 1);
    graft_outline_child(of, &self->cross, graft_outline_name(of, D_LAYER_CROSS),
                        graft_outline_name(of, D_CLASS_CROSS_ATTENTION), GRAFT_INTERFACE_SELF_ATTENTION, items, n);
    graft_outline_given(of, &self->cross_norm, graft_outline_name(of, D_LAYER_CROSS_NORM),
                        graft_outline_name(of, D_CLASS_NORM), GRAFT_INTERFACE_NORM);
}

/* A norm that the argument of a derived class names (graft/decoder_layer.h), or that a choice names if it is there. */
static void outline_norm(struct graft_outline *of, const struct graft_module **norm, const char *argument, int is_there,
                         int32_t choice) {
    const char *name = graft_args_string(of->args, argument, is_there ? graft_outline_name(of, choice) : NULL);
    graft_outline_given(of, norm, name != NULL && name[0] != '\0' ? name : NULL, graft_outline_name(of, D_CLASS_NORM),
                        GRAFT_INTERFACE_NORM);
}

/* Lays out attention and mixer, of which a layer may have either or both. Returns whether it has any. */
static int outline_attention(struct graft_outline *of, struct graft_layer *self) {
    const int attends = graft_read_bool(&of->reader, D_LAYER_HAS_ATTENTION);
    const int mixed = attends && graft_read_bool(&of->reader, D_LAYER_MIXED);
    const int beside = attends && graft_read_bool(&of->reader, D_LAYER_BESIDE);
    const char *own = graft_outline_name(of, D_LAYER_MIXER), *own_class = graft_outline_name(of, D_CLASS_MIXER);
    const char *mixer = graft_args_string(of->args, "mixer", mixed || beside ? own : NULL);
    if ((mixed || beside) && (own == NULL || own_class == NULL ||
                              graft_description_word(of->reader.description, D_MIXER_KIND) <= D_MIXER_NONE)) {
        graft_reader_fail(&of->reader, mixed ? D_LAYER_MIXED : D_LAYER_BESIDE,
                          "a mixer needs layer.mixer and class.mixer, and mixer.kind as a word");
    }
    const char *attention = attends && (mixer == NULL || beside) ? graft_outline_name(of, D_LAYER_ATTENTION) : NULL;
    graft_outline_given(of, &self->attention, attention, graft_outline_name(of, D_CLASS_ATTENTION),
                        GRAFT_INTERFACE_SELF_ATTENTION);
    graft_outline_given(of, &self->mixer, mixer, graft_args_string(of->args, "mixer_class", own_class),
                        GRAFT_INTERFACE_MIXER);
    return attention != NULL || mixer != NULL;
}

/* Refuses layer.parallel together with layer.norm_after_add; layer.parallel in a layer that lacks attention and mixer,
 * or an MLP; and layer.norm_after_add in one that lacks attention and mixer. */
static void check_order(struct graft_outline *of, const struct graft_layer *self, int attends, int feeds) {
    if (self->parallel && self->norm_after_add) {
        graft_reader_fail(&of->reader, D_LAYER_PARALLEL, "expected false, as layer.norm_after_add is true");
    }
    if (self->parallel && !(attends && feeds)) {
        graft_reader_fail(&of->reader, D_LAYER_PARALLEL, "expected false in a layer without %s",
                          attends ? "an MLP" : "attention or mixer");
    }
    if (self->norm_after_add && !attends) {
        graft_reader_fail(&of->reader, D_LAYER_NORM_AFTER_ADD, "expected false in a layer without attention or mixer");
    }
}

void graft_layer_outline(struct graft_outline *of, struct graft_layer *self) {
    struct graft_reader *reader = &of->reader;
    self->hidden_size = graft_outline_hidden_size(of);
    self->attention_features = graft_self_attention_features(of->args);
    self->parallel = graft_read_bool(reader, D_LAYER_PARALLEL);
    self->norm_after_add = graft_read_bool(reader, D_LAYER_NORM_AFTER_ADD);
    self->residual_normed = graft_read_bool(reader, D_LAYER_RESIDUAL_NORMED);
    self->mlp_mixes = graft_description_word(reader->description, D_MIXER_KIND) == D_MIXER_RWKV;
    self->residual_scale = (float)graft_args_real(of->args, "residual_scale", 1.0);
    self->attention_skip = (float)graft_read_real(reader, D_LAYER_ATTENTION_SKIP);
    self->attention_scale = (float)graft_read_real(reader, D_LAYER_ATTENTION_SCALE);
    self->mlp_skip = (float)graft_read_real(reader, D_LAYER_MLP_SKIP);
    self->mlp_scale = (float)graft_read_real(reader, D_LAYER_MLP_SCALE);
    const char *mlp = graft_read_bool(reader, D_LAYER_HAS_MLP) ? graft_outline_name(of, D_LAYER_MLP) : NULL;
    const int feeds = mlp != NULL, sparse = graft_read_bool(reader, D_LAYER_EXPERTS);
    const int before = graft_read_bool(reader, D_LAYER_NORMS_BEFORE),
              after = graft_read_bool(reader, D_LAYER_NORMS_AFTER);
    const int shared_norm = self->parallel && graft_read_bool(reader, D_LAYER_SHARED_NORM);
    const int attends = outline_attention(of, self);
    const int is_normed = attends && before && graft_read_bool(reader, D_LAYER_ATTENTION_NORMED);
    check_order(of, self, attends, feeds);
    graft_outline_given(of, &self->mlp, mlp, graft_outline_name(of, sparse ? D_CLASS_MOE : D_CLASS_MLP),
                        self->mlp_mixes ? GRAFT_INTERFACE_MIXER : GRAFT_INTERFACE_MLP);
    outline_norm(of, &self->attention_norm, "attention_norm", is_normed, D_LAYER_ATTENTION_NORM);
    outline_norm(of, &self->attention_output_norm, "attention_output_norm", attends && after,
                 D_LAYER_ATTENTION_OUTPUT_NORM);
    outline_norm(of, &self->mlp_norm, "mlp_norm", feeds && before && !shared_norm, D_LAYER_MLP_NORM);
    outline_norm(of, &self->mlp_output_norm, "mlp_output_norm", feeds && after, D_LAYER_MLP_OUTPUT_NORM);
    graft_outline_vector(of, &self->attention_residual, graft_outline_name(of, D_LAYER_ATTENTION_RESIDUAL),
                         self->hidden_size);
    graft_outline_vector(of, &self->mlp_residual, graft_outline_name(of, D_LAYER_MLP_RESIDUAL), self->hidden_size);
    outline_cross(of, self, attends);
}

struct plain_layer {
    struct graft_instance base;
    struct graft_layer layer;
};

static void outline(struct graft_outline *of, struct plain_layer *self) {
    graft_layer_outline(of, &self->layer);
}

GRAFT_OUTLINED(graft_decoder_layer, struct plain_layer)

/* --- Forward --- */

static void run_norm(const struct graft_layer_pass *pass, const struct graft_module *norm, const float *residual,
                     float *output) {
    graft_pass_norm(&pass->of, norm, pass->args->hidden_states, residual, output);
}

/* If there is a norm, writes the normed *x to *spare and swaps both pointers. */
static void norm_output(const struct graft_layer_pass *pass, const struct graft_module *norm, float **x,
                        float **spare) {
    float *before = *x;
    if (norm != NULL) {
        graft_pass_norm(&pass->of, norm, before, NULL, *spare);
        *x = *spare;
        *spare = before;
    }
}

/* Self-attention; or cross attention, to the encoder's hidden states. */
static void attend(const struct graft_layer_pass *pass, const struct graft_module *attention, const float *x,
                   float *output) {
    static const struct graft_mask all = {.struct_size = sizeof all, .kind = GRAFT_MASK_NONE};
    const struct graft_decoder_layer_args *own = pass->args;
    const int is_cross = attention == pass->layer->cross;
    const struct graft_self_attention_args args = {
        .struct_size = sizeof args,
        .required_features = pass->layer->attention_features | (is_cross ? (uint32_t)GRAFT_SELF_ATTENTION_CROSS : 0),
        .batch = own->batch,
        .hidden_states = x,
        .cos = is_cross ? NULL : own->cos,
        .sin = is_cross ? NULL : own->sin,
        .mask = is_cross ? &all : own->mask,
        .output = output,
        .shared_keys =
            !is_cross && GRAFT_HAS(own, struct graft_decoder_layer_args, shared_keys) ? own->shared_keys : NULL,
    };
    if (graft_pass_ok(&pass->of)) {
        (void)graft_self_attention_forward(attention, pass->of.call, &args, pass->of.error);
    }
}

static void mix(const struct graft_layer_pass *pass, const struct graft_module *mixer, const float *x, float *output) {
    const struct graft_mixer_args args = {sizeof args, 0, pass->args->batch, x, output};
    if (graft_pass_ok(&pass->of)) {
        (void)graft_mixer_forward(mixer, pass->of.call, &args, pass->of.error);
    }
}

/* sum += x */
static void add(const struct graft_layer_pass *pass, float *sum, const float *x) {
    graft_pass_add(&pass->of, sum, x, pass->layer->hidden_size);
}

/* Scales the output of attention or MLP, before it is added to hidden_states. */
static void scale_output(const struct graft_layer_pass *pass, float own_scale, float *output) {
    graft_pass_scale(&pass->of, output, pass->layer->hidden_size, pass->layer->residual_scale * own_scale);
}

/* Attention or a mixer, or both side by side. */
static void run_attention(const struct graft_layer_pass *pass, const float *x, float **output, float **spare) {
    const struct graft_layer *layer = pass->layer;
    float *added = NULL; /* made of x before the norm, which may overwrite x */
    if (layer->attention != NULL) {
        attend(pass, layer->attention, x, *output);
    }
    if (layer->mixer != NULL) {
        float *mixed = layer->attention != NULL ? graft_pass_floats(&pass->of, layer->hidden_size) : *output;
        mix(pass, layer->mixer, x, mixed);
        if (layer->attention != NULL) {
            add(pass, *output, mixed);
        }
    }
    if (pass->steps->beside_attention != NULL) {
        added = graft_pass_floats(&pass->of, layer->hidden_size);
        pass->steps->beside_attention(pass->steps->self, pass, x, added);
    }
    norm_output(pass, layer->attention_output_norm, output, spare);
    if (added != NULL) {
        add(pass, *output, added);
    }
    scale_output(pass, layer->attention_scale, *output);
}

static void run_mlp(const struct graft_layer_pass *pass, const float *x, float **output, float **spare) {
    const struct graft_layer *layer = pass->layer;
    const struct graft_mlp_args args = {sizeof args, 0, pass->of.rows, x, *output};
    if (layer->mlp_mixes) {
        mix(pass, layer->mlp, x, *output);
    } else if (graft_pass_ok(&pass->of)) {
        (void)graft_mlp_forward(layer->mlp, pass->of.call, &args, pass->of.error);
    }
    if (pass->steps->after_mlp != NULL) {
        pass->steps->after_mlp(pass->steps->self, pass, *output);
    }
    norm_output(pass, layer->mlp_output_norm, output, spare);
    scale_output(pass, layer->mlp_scale, *output);
}

/* normed = norm(hidden_states + residual), and hidden_states = `skip` times that sum, or with residual_normed `skip`
 * times `normed`: what the next output is added to. */
static void norm_input(const struct graft_layer_pass *pass, const struct graft_module *norm, const float *residual,
                       float skip, float *normed) {
    const int64_t width = pass->layer->hidden_size;
    float *hidden_states = pass->args->hidden_states;
    run_norm(pass, norm, residual, normed);
    if (pass->layer->residual_normed && graft_pass_ok(&pass->of)) {
        memcpy(hidden_states, normed, (size_t)(pass->of.rows * width) * sizeof *normed);
    }
    graft_pass_scale(&pass->of, hidden_states, width, skip);
}

/* The input of attention or mixer: `normed`, filled in here, or hidden_states where there is no norm. */
static const float *begin(const struct graft_layer_pass *pass, float *normed) {
    const struct graft_module *norm = pass->layer->attention_norm;
    if (norm == NULL) {
        return pass->args->hidden_states;
    }
    norm_input(pass, norm, NULL, pass->layer->attention_skip, normed);
    return normed;
}

/* Attention, then the MLP, each with its norm before it. The MLP's norm, if there is one, adds attention's output to
 * hidden_states. */
static void run_in_turn(const struct graft_layer_pass *pass, float *normed, float *output) {
    const struct graft_layer *layer = pass->layer;
    const int attends = layer->attention != NULL || layer->mixer != NULL;
    float *hidden_states = pass->args->hidden_states;
    const float *seen = hidden_states;
    if (attends) {
        seen = begin(pass, normed);
        run_attention(pass, seen, &output, &normed);
        graft_pass_multiply(&pass->of, hidden_states, layer->hidden_size, layer->attention_residual);
    }
    if (layer->cross != NULL) {
        run_norm(pass, layer->cross_norm, output, normed);
        attend(pass, layer->cross, normed, output);
    }
    if (attends && (layer->mlp == NULL || layer->mlp_norm == NULL)) {
        add(pass, hidden_states, output);
        seen = hidden_states;
    }
    if (layer->mlp == NULL) {
        return;
    }
    if (layer->mlp_norm != NULL) {
        norm_input(pass, layer->mlp_norm, attends ? output : NULL, layer->mlp_skip, normed);
        seen = normed;
    }
    run_mlp(pass, seen, &output, &normed);
    graft_pass_multiply(&pass->of, hidden_states, layer->hidden_size, layer->mlp_residual);
    add(pass, hidden_states, output);
}

/* hidden_states = norm(hidden_states + x), or their sum without a norm. */
static void add_and_norm(const struct graft_layer_pass *pass, const struct graft_module *norm, const float *x,
                         float *normed) {
    const size_t bytes = (size_t)(pass->of.rows * pass->layer->hidden_size) * sizeof *normed;
    if (norm == NULL) {
        add(pass, pass->args->hidden_states, x);
        return;
    }
    run_norm(pass, norm, x, normed);
    if (graft_pass_ok(&pass->of)) {
        memcpy(pass->args->hidden_states, normed, bytes);
    }
}

/* Norms after the sums, as in the first Transformers (Vaswani et al. 2017). */
static void run_norms_last(const struct graft_layer_pass *pass, float *normed, float *output) {
    const struct graft_layer *layer = pass->layer;
    run_attention(pass, pass->args->hidden_states, &output, &normed);
    add_and_norm(pass, layer->attention_norm, output, normed);
    if (layer->cross != NULL) {
        attend(pass, layer->cross, pass->args->hidden_states, output);
        add_and_norm(pass, layer->cross_norm, output, normed);
    }
    if (layer->mlp != NULL) {
        run_mlp(pass, pass->args->hidden_states, &output, &normed);
        add_and_norm(pass, layer->mlp_norm, output, normed);
    }
}

static void run_in_parallel(const struct graft_layer_pass *pass, float *normed, float *output) {
    float *attended = graft_pass_floats(&pass->of, pass->layer->hidden_size);
    const float *seen = begin(pass, normed);
    run_attention(pass, seen, &attended, &output);
    if (pass->layer->mlp_norm != NULL) {
        run_norm(pass, pass->layer->mlp_norm, NULL, normed);
        seen = normed;
    }
    run_mlp(pass, seen, &output, &normed);
    add(pass, pass->args->hidden_states, attended);
    add(pass, pass->args->hidden_states, output);
}

void graft_layer_run(const struct graft_layer *self, const struct graft_layer_steps *steps,
                     const struct graft_pass *pass, const struct graft_decoder_layer_args *args) {
    const struct graft_layer_pass own = {*pass, self, args, steps};
    float *normed = graft_pass_floats(pass, self->hidden_size), *output = graft_pass_floats(pass, self->hidden_size);
    if (self->norm_after_add) {
        run_norms_last(&own, normed, output);
    } else if (self->parallel) {
        run_in_parallel(&own, normed, output);
    } else {
        run_in_turn(&own, normed, output);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    static const struct graft_layer_steps none = {NULL, NULL, NULL};
    const struct graft_pass pass = {call, args->batch->tokens, error};
    graft_layer_run(&((const struct plain_layer *)instance)->layer, &none, &pass, args);
    return error->code;
}

const struct graft_decoder_layer graft_decoder_layer_vtable = {
    .struct_size = sizeof graft_decoder_layer_vtable,
    .features = GRAFT_DECODER_LAYER_SHARED_KEYS,
    .forward = forward,
};
