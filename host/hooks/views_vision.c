/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays in the args of a vision tower's interfaces, whose widths are among what parents give. */
#include "graft/conv3d.h"
#include "graft/describe.h"
#include "graft/patch_embed.h"
#include "graft/patch_merger.h"
#include "graft/vision_attention.h"
#include "graft/vision_block.h"
#include "graft/vision_rotary.h"
#include "graft/vision_tower.h"
#include "hooks/views.h"

static struct graft_view view(const char *name, int32_t direction, const void *args, size_t field, int64_t rows,
                              int64_t columns) {
    void *const *pointer = (void *const *)(const void *)((const char *)args + field);
    return (struct graft_view){name, direction, GRAFT_DTYPE_F32, rows, columns, *pointer, field};
}

static int64_t volume(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

int32_t graft_views_of_conv3d(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_conv3d_args *in = args;
    views[0] = view("x", GRAFT_VIEW_IN, args, offsetof(struct graft_conv3d_args, x), in->count,
                    graft_arg(&widths->args, "in_channels", 0) * volume(in->size));
    views[1] = view("y", GRAFT_VIEW_OUT, args, offsetof(struct graft_conv3d_args, y), in->count,
                    graft_arg(&widths->args, "out_channels", 0) * volume(in->output_size));
    return 2;
}

int32_t graft_views_of_patch_embed(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_patch_embed_args *in = args;
    int64_t side = graft_arg(&widths->args, "patch_size", 0);
    int64_t pixels = graft_arg(&widths->args, "temporal_patch_size", 0) * side * side;
    views[0] = view("pixel_values", GRAFT_VIEW_IN, args, offsetof(struct graft_patch_embed_args, pixel_values),
                    in->patches, graft_arg(&widths->args, "in_channels", 0) * pixels);
    views[1] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_patch_embed_args, output), in->patches,
                    graft_arg(&widths->args, "embed_dim", 0));
    return 2;
}

int32_t graft_views_of_patch_merger(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_patch_merger_args *in = args;
    int64_t side = graft_arg(&widths->args, "spatial_merge_size", 1);
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_patch_merger_args, hidden_states),
                    in->patches, graft_arg(&widths->args, "context_dim", 0));
    views[1] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_patch_merger_args, output),
                    in->patches / (side * side), widths->hidden);
    return 2;
}

int32_t graft_views_of_vision_attention(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_vision_attention_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_vision_attention_args, hidden_states),
                    in->batch->tokens, widths->hidden);
    views[1] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_vision_attention_args, output),
                    in->batch->tokens, widths->hidden);
    return 2;
}

int32_t graft_views_of_vision_block(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_vision_block_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN_OUT, args, offsetof(struct graft_vision_block_args, hidden_states),
                    in->batch->tokens, widths->hidden);
    return 1;
}

int32_t graft_views_of_vision_rotary(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_vision_rotary_args *in = args;
    (void)widths;
    views[0] =
        view("cos", GRAFT_VIEW_OUT, args, offsetof(struct graft_vision_rotary_args, cos), in->patches, in->head_dim);
    views[1] =
        view("sin", GRAFT_VIEW_OUT, args, offsetof(struct graft_vision_rotary_args, sin), in->patches, in->head_dim);
    return 2;
}

int32_t graft_views_of_vision_tower(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_vision_tower_args *in = args;
    int64_t side = graft_arg(&widths->args, "spatial_merge_size", 1);
    views[0] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_vision_tower_args, output),
                    volume(in->image->grid) / (side * side), widths->hidden);
    return 1;
}
