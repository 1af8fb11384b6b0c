/* SPDX-License-Identifier: Apache-2.0 */
/* Describes and creates the vision tower: a patch embedding, blocks in which the patches of a frame attend to each
 * other, and a merger. */
#include "arch/vision/tower.h"

#include "graft/describe.h"

/* Lays out a norm of patches, if the tower has the one that the choice names. */
static void outline_norm(struct graft_outline *of, const struct graft_module **norm, int32_t name, int64_t width) {
    graft_outline_norm(of, norm, graft_outline_name(of, name), graft_outline_name(of, V_CLASS_NORM), width,
                       graft_read_real(&of->reader, V_NORM_EPS));
}

static void outline_start(struct graft_outline *of, struct graft_tower *self) {
    const struct graft_vision_sizes *sizes = &self->sizes;
    const int64_t side = self->stretch.side;
    const struct graft_arg patch_args[] = {
        graft_int_arg("in_channels", sizes->channels), graft_int_arg("temporal_patch_size", sizes->frames),
        graft_int_arg("patch_size", sizes->patch), graft_int_arg("embed_dim", sizes->hidden_size)};
    graft_outline_embedding(of, &self->positions, graft_outline_name(of, V_POSITION_NAME), side * side,
                            sizes->hidden_size);
    graft_outline_child(of, &self->patch_embed, graft_outline_name(of, V_PATCH_NAME),
                        graft_outline_name(of, V_CLASS_PATCH_EMBED), GRAFT_INTERFACE_PATCH_EMBED, patch_args, 4);
    outline_norm(of, &self->patch_norm, V_PATCH_NORM, sizes->hidden_size);
    graft_outline_child(of, &self->rotary_pos_emb, graft_outline_name(of, V_ROTARY_NAME),
                        graft_outline_name(of, V_CLASS_ROTARY), GRAFT_INTERFACE_VISION_ROTARY, NULL, 0);
}

/* A convolution turns each square of patches into one vector, so the merger has nothing to join. */
static void outline_end(struct graft_outline *of, struct graft_tower *self) {
    const struct graft_vision_sizes *sizes = &self->sizes;
    const char *conv = graft_outline_name(of, V_MERGER_CONV);
    const struct graft_arg merger_args[] = {
        graft_int_arg("context_dim", conv != NULL ? sizes->output_size : sizes->hidden_size),
        graft_int_arg("hidden_size", sizes->output_size),
        graft_int_arg("spatial_merge_size", conv != NULL ? 1 : self->merge)};
    const struct graft_arg conv_args[] = {graft_int_arg("in_channels", sizes->hidden_size),
                                          graft_int_arg("out_channels", sizes->output_size),
                                          graft_int_arg("kernel_t", 1),
                                          graft_int_arg("kernel_h", self->merge),
                                          graft_int_arg("kernel_w", self->merge),
                                          graft_int_arg("stride_h", self->merge),
                                          graft_int_arg("stride_w", self->merge)};
    outline_norm(of, &self->last_norm, V_NORM_LAST, sizes->hidden_size);
    graft_outline_child(of, &self->conv, conv, "Conv2d", GRAFT_INTERFACE_CONV3D, conv_args,
                        (int32_t)(sizeof conv_args / sizeof conv_args[0]));
    if (graft_outline_name(of, V_MODEL_PROJECTOR) == NULL) {
        graft_outline_child(of, &self->merger, graft_outline_name(of, V_MERGER_NAME),
                            graft_outline_name(of, V_CLASS_MERGER), GRAFT_INTERFACE_PATCH_MERGER, merger_args, 3);
    }
}

/* Lays out the deepstack mergers, which norm patches after joining them. */
static void outline_deepstack(struct graft_outline *of, struct graft_tower *self) {
    const struct graft_arg args[] = {graft_int_arg("context_dim", self->sizes.hidden_size),
                                     graft_int_arg("hidden_size", self->sizes.output_size),
                                     graft_int_arg("spatial_merge_size", self->merge), graft_int_arg("joined_norm", 1)};
    int64_t n = 0;
    for (int64_t i = 0; self->sizes.deepstack > 0 && i < self->sizes.depth; i++) {
        of->reader.layer = i;
        if (graft_read_bool(&of->reader, V_DEEPSTACK_USE)) {
            of->index = n++;
            graft_outline_child(of, &self->blocks[i].merger, graft_outline_name(of, V_DEEPSTACK_NAME),
                                graft_outline_name(of, V_CLASS_MERGER), GRAFT_INTERFACE_PATCH_MERGER, args, 4);
        }
    }
    of->index = of->reader.layer = -1;
}

static void outline_blocks(struct graft_outline *of, struct graft_tower *self) {
    for (int64_t i = 0; of->error->code == GRAFT_OK && i < self->sizes.depth; i++) {
        const struct graft_arg args[] = {graft_int_arg("layer_idx", i),
                                         graft_int_arg("hidden_size", self->sizes.hidden_size)};
        of->index = i;
        graft_outline_child(of, &self->blocks[i].module, graft_outline_name(of, V_BLOCK_LIST),
                            graft_outline_name(of, V_CLASS_BLOCK), GRAFT_INTERFACE_VISION_BLOCK, args, 2);
    }
    of->index = -1;
}

/* Reads the side of the square of learned positions, and how it is interpolated. */
static void read_positions(struct graft_reader *reader, struct graft_tower *self) {
    struct graft_stretch *stretch = &self->stretch;
    const int64_t rows = graft_read_int(reader, V_POSITION_ROWS);
    while (stretch->side * stretch->side < rows) {
        stretch->side++;
    }
    const int32_t between = graft_read_word(reader, V_POSITION_BETWEEN);
    stretch->is_bicubic = between == V_BETWEEN_BICUBIC;
    self->square = between == V_BETWEEN_NONE ? stretch->side : 0;
    stretch->has_corners = graft_read_bool(reader, V_POSITION_CORNERS);
    if (stretch->side * stretch->side != rows) {
        graft_reader_fail(reader, V_POSITION_ROWS, "expected the square of an integer, got %lld", (long long)rows);
    }
}

/* Reads the size of windows, and in which blocks patches attend only to their window. */
static void read_windows(struct graft_reader *reader, struct graft_tower *self) {
    const int64_t pixels = graft_read_int(reader, V_ATTENTION_WINDOW);
    if (pixels == 0) {
        return;
    }
    self->window = pixels / self->merge / self->sizes.patch;
    if (self->window == 0) {
        graft_reader_fail(reader, V_ATTENTION_WINDOW, "expected at least the %lld pixels of a merged patch, got %lld",
                          (long long)(self->merge * self->sizes.patch), (long long)pixels);
    }
    if (self->square > 0) {
        graft_reader_fail(reader, V_ATTENTION_WINDOW, "expected null, since images have as many patches each");
    }
    for (int64_t i = 0; i < self->sizes.depth; i++) {
        reader->layer = i;
        self->blocks[i].windowed = graft_read_bool(reader, V_ATTENTION_WINDOWED);
    }
    reader->layer = -1;
}

int graft_vision_tower_describe(const struct graft_class *cls, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    struct graft_outline of;
    struct graft_vision_sizes sizes;
    graft_reader_start_in(&of.reader, cls->data, config, GRAFT_VISION_SECTION, -1, error);
    graft_vision_sizes_read(&of.reader, &sizes);
    if (of.reader.status != GRAFT_OK) {
        return of.reader.status;
    }
    struct graft_tower *self =
        graft_vision_start(&of, cls, config, args, sink, sizeof *self + (size_t)sizes.depth * sizeof self->blocks[0],
                           GRAFT_OUTLINE_MEMBERS + 2 * sizes.depth, error);
    if (self == NULL) {
        return error->code;
    }
    self->sizes = sizes;
    self->merge = graft_args_int(args, "patch_square", 1);
    self->has_places = graft_outline_name(&of, V_PATCH_POSITIONS) != NULL;
    self->has_class = graft_outline_name(&of, V_PATCH_CLASS) != NULL;
    if (graft_outline_name(&of, V_POSITION_NAME) != NULL || self->has_places) {
        read_positions(&of.reader, self);
    }
    if ((self->has_places || self->has_class) && self->square == 0) {
        graft_reader_fail(&of.reader, V_POSITION_BETWEEN, "expected none with patch.positions or patch.class");
    }
    self->norms_last = graft_read_bool(&of.reader, V_NORM_LAST_USED);
    read_windows(&of.reader, self);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    graft_describe_number(sink, "patch_size", sizes.patch, error);
    graft_describe_number(sink, "temporal_patch_size", sizes.frames, error);
    if (self->square > 0) {
        graft_describe_number(sink, "image_side", self->square, error);
    }
    outline_start(&of, self);
    outline_end(&of, self);
    outline_deepstack(&of, self);
    outline_blocks(&of, self);
    return error->code;
}
