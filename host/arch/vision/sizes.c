/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/choices.h"

void *graft_vision_start(struct graft_outline *of, const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, size_t size, int64_t members,
                         struct graft_error *error) {
    void *self = graft_outline_start(of, cls, config, args, sink, size, members, error);
    graft_reader_start_in(&of->reader, cls->data, config, GRAFT_VISION_SECTION, -1, error);
    return self;
}

void graft_vision_sizes_read(struct graft_reader *of, struct graft_vision_sizes *sizes) {
    *sizes = (struct graft_vision_sizes){
        .depth = graft_read_int(of, V_DEPTH),
        .hidden_size = graft_read_int(of, V_HIDDEN_SIZE),
        .output_size = graft_read_int(of, V_OUTPUT_SIZE),
        .heads = graft_read_int(of, V_ATTENTION_HEADS),
        .channels = graft_read_int(of, V_PATCH_CHANNELS),
        .patch = graft_read_int(of, V_PATCH_SIZE),
        .frames = graft_read_int(of, V_PATCH_FRAMES),
    };
    sizes->run = graft_read_is_null(of, V_RUN) ? sizes->depth : graft_read_int(of, V_RUN);
    if (of->status != GRAFT_OK) {
        return;
    }
    if (sizes->run > sizes->depth) {
        graft_reader_fail(of, V_RUN, "expected 1 to %lld blocks, got %lld", (long long)sizes->depth,
                          (long long)sizes->run);
    }
    for (int64_t i = 0; graft_description_name(of->description, V_DEEPSTACK_NAME) != NULL && i < sizes->depth; i++) {
        of->layer = i;
        sizes->deepstack += graft_read_bool(of, V_DEEPSTACK_USE);
    }
    of->layer = -1;
    sizes->head_dim = sizes->hidden_size / sizes->heads;
    const int rotates = graft_description_name(of->description, V_ROTARY_NAME) != NULL;
    if (sizes->head_dim * sizes->heads != sizes->hidden_size) {
        graft_reader_fail(of, V_ATTENTION_HEADS, "expected a divisor of the tower's hidden size (%lld), got %lld",
                          (long long)sizes->hidden_size, (long long)sizes->heads);
    } else if (rotates && sizes->head_dim % 4 != 0) {
        graft_reader_fail(of, V_ATTENTION_HEADS,
                          "expected a divisor of the tower's hidden size (%lld) that gives a head size divisible by 4, "
                          "because quarters of a head are rotated, got %lld",
                          (long long)sizes->hidden_size, (long long)sizes->heads);
    }
}
