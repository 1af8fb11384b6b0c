/* SPDX-License-Identifier: Apache-2.0 */
/* Describes and creates the vision tower: a patch embedding, blocks in which the patches of a frame attend to each
 * other, and a merger. */
#include "arch/vision/tower.h"

#include <stdio.h>

#include "graft/describe.h"

enum { MAX_NAME = 256 };

/* Passed from `describe` to `create`. */
struct kept {
    struct graft_vision_sizes sizes;
    struct graft_stretch stretch; /* of learned positions; side 0: there are none */
    int64_t square;
    int64_t window;
    int32_t norms_last; /* 1: the norm after the blocks applies to the tower's output */
    struct {
        int32_t windowed;
        int32_t deepstack; /* 1 + index of the deepstack merger that takes this block's output; 0: none */
    } blocks[];            /* [depth] */
};

static void list_name(const char *list, int64_t i, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%.200s.%lld", list, (long long)i);
}

static void describe_sizes(const struct graft_vision_sizes *sizes, int64_t square, const struct graft_sink *sink,
                           struct graft_error *error) {
    const struct graft_arg attributes[] = {graft_int_arg("patch_size", sizes->patch),
                                           graft_int_arg("temporal_patch_size", sizes->frames)};
    for (int32_t i = 0; i < 2; i++) {
        sink->attribute(sink->data, attributes[i].name, &attributes[i].integer, 1, error);
    }
    if (square > 0) {
        graft_describe_number(sink, "image_side", square, error);
    }
}

static void describe_positions(const struct graft_description *description, const struct kept *kept,
                               const struct graft_sink *sink, struct graft_error *error) {
    const int64_t side = kept->stretch.side;
    const char *name = graft_description_name(description, V_POSITION_NAME);
    if (name != NULL) {
        graft_describe_embedding(sink, name, "Embedding", side * side, kept->sizes.hidden_size, error);
    }
}

/* Declares the deepstack mergers, which norm patches after joining them. */
static void describe_deepstack(const struct graft_description *description, const struct graft_vision_sizes *sizes,
                               const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg args[] = {
        graft_int_arg("context_dim", sizes->hidden_size), graft_int_arg("hidden_size", sizes->output_size),
        graft_int_arg("spatial_merge_size", sizes->merge), graft_int_arg("joined_norm", 1)};
    for (int64_t i = 0; i < sizes->deepstack; i++) {
        char name[MAX_NAME];
        list_name(graft_description_name(description, V_DEEPSTACK_NAME), i, name);
        graft_describe_child(sink, name, graft_description_name(description, V_CLASS_MERGER),
                             GRAFT_INTERFACE_PATCH_MERGER, args, 4, error);
    }
}

/* Declares a norm of patches, if the tower has the one that the choice names. */
static void describe_norm(struct graft_vision_reader *reader, int32_t choice, int64_t width,
                          const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->of.description;
    const char *name = graft_description_name(description, choice);
    const double eps = graft_read_real(&reader->of, V_NORM_EPS);
    if (name != NULL && reader->of.status == GRAFT_OK) {
        graft_describe_norm(sink, name, graft_description_name(description, V_CLASS_NORM), width, eps, error);
    }
}

static void describe_start(struct graft_vision_reader *reader, const struct graft_vision_sizes *sizes,
                           const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->of.description;
    const struct graft_arg patch_args[] = {
        graft_int_arg("in_channels", sizes->channels), graft_int_arg("temporal_patch_size", sizes->frames),
        graft_int_arg("patch_size", sizes->patch), graft_int_arg("embed_dim", sizes->hidden_size)};
    const char *rotary = graft_description_name(description, V_ROTARY_NAME);
    graft_describe_child(sink, graft_description_name(description, V_PATCH_NAME),
                         graft_description_name(description, V_CLASS_PATCH_EMBED), GRAFT_INTERFACE_PATCH_EMBED,
                         patch_args, 4, error);
    describe_norm(reader, V_PATCH_NORM, sizes->hidden_size, sink, error);
    if (rotary != NULL) {
        graft_describe_child(sink, rotary, graft_description_name(description, V_CLASS_ROTARY),
                             GRAFT_INTERFACE_VISION_ROTARY, NULL, 0, error);
    }
}

/* A convolution turns each square of patches into one vector, so the merger has nothing to join. */
static void describe_end(struct graft_vision_reader *reader, const struct graft_vision_sizes *sizes,
                         const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->of.description;
    const char *conv = graft_description_name(description, V_MERGER_CONV);
    const struct graft_arg merger_args[] = {
        graft_int_arg("context_dim", conv != NULL ? sizes->output_size : sizes->hidden_size),
        graft_int_arg("hidden_size", sizes->output_size),
        graft_int_arg("spatial_merge_size", conv != NULL ? 1 : sizes->merge)};
    const struct graft_arg conv_args[] = {graft_int_arg("in_channels", sizes->hidden_size),
                                          graft_int_arg("out_channels", sizes->output_size),
                                          graft_int_arg("kernel_t", 1),
                                          graft_int_arg("kernel_h", sizes->merge),
                                          graft_int_arg("kernel_w", sizes->merge),
                                          graft_int_arg("stride_h", sizes->merge),
                                          graft_int_arg("stride_w", sizes->merge)};
    describe_norm(reader, V_NORM_LAST, sizes->hidden_size, sink, error);
    if (conv != NULL) {
        graft_describe_child(sink, conv, "Conv2d", GRAFT_INTERFACE_CONV3D, conv_args,
                             (int32_t)(sizeof conv_args / sizeof conv_args[0]), error);
    }
    if (graft_description_name(description, V_MODEL_PROJECTOR) == NULL) {
        graft_describe_child(sink, graft_description_name(description, V_MERGER_NAME),
                             graft_description_name(description, V_CLASS_MERGER), GRAFT_INTERFACE_PATCH_MERGER,
                             merger_args, 3, error);
    }
}

static void describe_blocks(const struct graft_description *description, const struct graft_vision_sizes *sizes,
                            const struct graft_sink *sink, struct graft_error *error) {
    for (int64_t i = 0; error->code == GRAFT_OK && i < sizes->depth; i++) {
        const struct graft_arg args[] = {graft_int_arg("layer_idx", i),
                                         graft_int_arg("hidden_size", sizes->hidden_size)};
        char name[MAX_NAME];
        list_name(graft_description_name(description, V_BLOCK_LIST), i, name);
        graft_describe_child(sink, name, graft_description_name(description, V_CLASS_BLOCK),
                             GRAFT_INTERFACE_VISION_BLOCK, args, 2, error);
    }
}

/* Reads the side of the square of learned positions, and how it is interpolated. */
static void read_positions(struct graft_vision_reader *reader, struct graft_stretch *stretch, int64_t *square) {
    const int64_t rows = graft_read_int(&reader->of, V_POSITION_ROWS);
    while (stretch->side * stretch->side < rows) {
        stretch->side++;
    }
    const int32_t between = graft_read_word(&reader->of, V_POSITION_BETWEEN);
    stretch->is_bicubic = between == V_BETWEEN_BICUBIC;
    *square = between == V_BETWEEN_NONE ? stretch->side : 0;
    stretch->has_corners = graft_read_bool(&reader->of, V_POSITION_CORNERS);
    if (stretch->side * stretch->side != rows) {
        graft_reader_fail(&reader->of, V_POSITION_ROWS, "expected the square of an integer, got %lld", (long long)rows);
    }
}

static void read_deepstack(struct graft_vision_reader *reader, struct kept *kept) {
    int32_t n = 0;
    for (int64_t i = 0; kept->sizes.deepstack > 0 && i < kept->sizes.depth; i++) {
        reader->of.layer = i;
        kept->blocks[i].deepstack = graft_read_bool(&reader->of, V_DEEPSTACK_USE) ? ++n : 0;
    }
}

/* Reads the size of windows, and in which blocks patches attend only to their window. */
static void read_windows(struct graft_vision_reader *reader, struct kept *kept) {
    const int64_t pixels = graft_read_int(&reader->of, V_ATTENTION_WINDOW);
    if (reader->of.status != GRAFT_OK || pixels == 0) {
        return;
    }
    kept->window = pixels / kept->sizes.merge / kept->sizes.patch;
    if (kept->window == 0) {
        graft_reader_fail(&reader->of, V_ATTENTION_WINDOW,
                          "expected at least the %lld pixels of a merged patch, got %lld",
                          (long long)(kept->sizes.merge * kept->sizes.patch), (long long)pixels);
    }
    for (int64_t i = 0; i < kept->sizes.depth; i++) {
        reader->of.layer = i;
        kept->blocks[i].windowed = graft_read_bool(&reader->of, V_ATTENTION_WINDOWED);
    }
}

int graft_vision_tower_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_vision_reader reader;
    struct graft_vision_sizes sizes;
    graft_vision_reader_start(&reader, description, config, error);
    graft_vision_sizes_read(&reader, &sizes);
    sizes.merge = graft_args_int(args, "patch_square", 1);
    if (reader.of.status != GRAFT_OK) {
        return reader.of.status;
    }
    struct kept *kept = sink->keep(sink->data, sizeof *kept + (size_t)sizes.depth * sizeof kept->blocks[0], error);
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    kept->sizes = sizes;
    if (graft_description_name(description, V_POSITION_NAME) != NULL ||
        graft_description_name(description, V_PATCH_POSITIONS) != NULL) {
        read_positions(&reader, &kept->stretch, &kept->square);
    }
    if ((graft_description_name(description, V_PATCH_POSITIONS) != NULL ||
         graft_description_name(description, V_PATCH_CLASS) != NULL) &&
        kept->square == 0) {
        graft_reader_fail(&reader.of, V_POSITION_BETWEEN, "expected none with patch.positions or patch.class");
    }
    kept->norms_last = graft_read_bool(&reader.of, V_NORM_LAST_USED);
    read_windows(&reader, kept);
    if (kept->window > 0 && kept->square > 0) {
        graft_reader_fail(&reader.of, V_ATTENTION_WINDOW, "expected null, since images have as many patches each");
    }
    read_deepstack(&reader, kept);
    if (reader.of.status == GRAFT_OK) {
        describe_sizes(&sizes, kept->square, sink, error);
        describe_positions(description, kept, sink, error);
        describe_start(&reader, &sizes, sink, error);
        describe_end(&reader, &sizes, sink, error);
        describe_deepstack(description, &sizes, sink, error);
        describe_blocks(description, &sizes, sink, error);
    }
    return error->code;
}

/* Finds the child that the choice names; NULL: none. */
static const struct graft_module *find(const struct graft_build *build, const struct graft_description *description,
                                       int32_t choice, struct graft_error *error) {
    const char *name = graft_description_name(description, choice);
    return name != NULL ? graft_build_child(build, name, error) : NULL;
}

int graft_vision_tower_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct kept *kept = build->kept;
    const int64_t depth = kept->sizes.depth;
    const struct graft_description *description = cls->data;
    struct graft_tower *self = graft_instance_new(build, sizeof *self + (size_t)depth * sizeof self->blocks[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = kept->sizes;
    self->window = kept->window;
    self->stretch = kept->stretch;
    self->square = kept->square;
    self->has_places = graft_description_name(description, V_PATCH_POSITIONS) != NULL;
    self->has_class = graft_description_name(description, V_PATCH_CLASS) != NULL;
    self->positions = find(build, description, V_POSITION_NAME, error);
    self->patch_embed = find(build, description, V_PATCH_NAME, error);
    self->patch_norm = find(build, description, V_PATCH_NORM, error);
    self->last_norm = kept->norms_last ? find(build, description, V_NORM_LAST, error) : NULL;
    self->conv = find(build, description, V_MERGER_CONV, error);
    self->rotary_pos_emb = find(build, description, V_ROTARY_NAME, error);
    if (graft_description_name(description, V_MODEL_PROJECTOR) == NULL) {
        self->merger = find(build, description, V_MERGER_NAME, error);
    }
    for (int64_t i = 0; i < depth && error->code == GRAFT_OK; i++) {
        char name[MAX_NAME];
        list_name(graft_description_name(description, V_BLOCK_LIST), i, name);
        self->blocks[i].module = graft_build_child(build, name, error);
        self->blocks[i].windowed = kept->blocks[i].windowed;
        if (kept->blocks[i].deepstack > 0) {
            list_name(graft_description_name(description, V_DEEPSTACK_NAME), kept->blocks[i].deepstack - 1, name);
            self->blocks[i].merger = graft_build_child(build, name, error);
        }
    }
    return graft_instance_finish(self, instance, error);
}
