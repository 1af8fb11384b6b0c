/* SPDX-License-Identifier: Apache-2.0 */
#include "rope/service.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "rope/angles.h"

static void destroy(struct graft_rope *rope) {
    if (rope != NULL) {
        graft_rope_finish(rope);
        graft_free(rope);
    }
}

static int create(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope **rope,
                  struct graft_error *error) {
    struct graft_rope *made = graft_alloc(1, sizeof *made);
    int status = made != NULL ? graft_rope_read(config, info, made, error) : graft_fail_memory(error, config->file);
    if (status != GRAFT_OK) {
        destroy(made);
        return status;
    }
    *rope = made;
    return GRAFT_OK;
}

static int64_t width(const struct graft_rope *rope) {
    return rope->width;
}

static float frequencies(const struct graft_rope *rope, int64_t length, float *inv_freq) {
    graft_rope_inv_freq(rope, length, inv_freq);
    return graft_rope_scale(rope, length);
}

const struct graft_rope_service *graft_rope_service_get(void) {
    static const struct graft_rope_service service = {
        .struct_size = sizeof service,
        .create = create,
        .destroy = destroy,
        .width = width,
        .frequencies = frequencies,
        .angles = graft_rope_angles,
    };
    return &service;
}
