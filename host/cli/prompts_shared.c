/* SPDX-License-Identifier: Apache-2.0 */
/* Sends prompts and their images from rank 0, which reads them, to the other processes. */
#include "base/alloc.h"
#include "cli/prompts.h"
#include "graft/host/process.h"
#include "graft/image.h"

static int share_one(const struct graft_parallel *parallel, struct graft_ids *ids, struct graft_error *error) {
    int64_t n = (int64_t)ids->n;
    int status = parallel->broadcast(&n, sizeof n, 0, error);
    for (int64_t i = 0; i < n && status == GRAFT_OK && parallel->rank > 0; i++) {
        graft_ids_add(ids, 0);
    }
    if (status == GRAFT_OK && ids->failed) {
        return graft_fail_memory(error, "prompt");
    }
    return status == GRAFT_OK ? parallel->broadcast(ids->ids, n * (int64_t)sizeof *ids->ids, 0, error) : status;
}

/* The fields of an image or video, sent before its pixels. */
struct image_header {
    int64_t grid[3];
    int64_t patch_dim;
    int64_t is_video;
    double seconds;
    int64_t frames;
};

static int share_image(const struct graft_parallel *parallel, struct graft_image *image, struct graft_error *error) {
    struct image_header header = {{image->grid[0], image->grid[1], image->grid[2]},
                                  image->patch_dim,
                                  image->is_video,
                                  image->seconds,
                                  image->frames};
    float *pixels = NULL;
    int status = parallel->broadcast(&header, sizeof header, 0, error);
    size_t count = (size_t)(header.grid[0] * header.grid[1] * header.grid[2] * header.patch_dim);
    if (status == GRAFT_OK && parallel->rank > 0) {
        pixels = graft_alloc(count, sizeof *pixels);
        *image = (struct graft_image){.struct_size = sizeof *image,
                                      .grid = {header.grid[0], header.grid[1], header.grid[2]},
                                      .patch_dim = header.patch_dim,
                                      .pixel_values = pixels,
                                      .is_video = (int32_t)header.is_video,
                                      .seconds = header.seconds,
                                      .frames = header.frames};
        status = pixels != NULL ? GRAFT_OK : graft_fail_memory(error, "--image");
    }
    /* Broadcasting from rank 0 does not write to its buffer. */
    return status == GRAFT_OK ? parallel->broadcast(pixels != NULL ? pixels : (float *)(uintptr_t)image->pixel_values,
                                                    (int64_t)(count * sizeof *pixels), 0, error)
                              : status;
}

static int share_images(const struct graft_parallel *parallel, struct graft_prompts *prompts, int64_t n_images,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    if (n_images > 0 && parallel->rank > 0) {
        prompts->images = graft_alloc((size_t)n_images, sizeof *prompts->images);
        status = prompts->images != NULL ? GRAFT_OK : graft_fail_memory(error, "--image");
    }
    for (int64_t i = 0; i < n_images && status == GRAFT_OK; i++) {
        status = share_image(parallel, &prompts->images[i], error);
        prompts->n_images = (size_t)(parallel->rank > 0 ? i + 1 : n_images);
    }
    return status;
}

/* Sends a prompt's ids and its number of images, which start at number `*first`. */
static int share_prompt(const struct graft_parallel *parallel, struct graft_prompts *prompts, size_t i, size_t *first,
                        struct graft_error *error) {
    struct graft_ids *ids = &prompts->ids[i];
    int64_t n_images = (int64_t)prompts->prompts[i].n_images;
    int status = share_one(parallel, ids, error);
    if (status == GRAFT_OK) {
        status = parallel->broadcast(&n_images, sizeof n_images, 0, error);
    }
    prompts->prompts[i] = (struct graft_prompt){
        .struct_size = sizeof(struct graft_prompt),
        .ids = ids->ids,
        .count = ids->n,
        .images = n_images > 0 ? prompts->images + *first : NULL,
        .n_images = (size_t)n_images,
    };
    *first += (size_t)n_images;
    return status;
}

int graft_prompts_share(const struct graft_options *options, struct graft_prompts *prompts, struct graft_error *error) {
    const struct graft_parallel *parallel = graft_parallel_get();
    int64_t counts[] = {(int64_t)prompts->count, (int64_t)prompts->n_images};
    size_t first = 0;
    if (parallel->size == 1) {
        return GRAFT_OK;
    }
    int status = parallel->broadcast(counts, sizeof counts, 0, error);
    if (status == GRAFT_OK && parallel->rank > 0) {
        *prompts = (struct graft_prompts){
            .ids = graft_alloc((size_t)counts[0] + 1, sizeof *prompts->ids),
            .prompts = graft_alloc((size_t)counts[0] + 1, sizeof *prompts->prompts),
        };
        if (prompts->ids == NULL || prompts->prompts == NULL) {
            return graft_fail_memory(error, "prompt");
        }
        prompts->count = (size_t)counts[0];
    }
    if (status == GRAFT_OK) {
        status = share_images(parallel, prompts, counts[1], error);
    }
    for (size_t i = 0; i < prompts->count && status == GRAFT_OK; i++) {
        status = share_prompt(parallel, prompts, i, &first, error);
        prompts->prompts[i].adapter = i < options->prompt_adapters.count ? options->prompt_adapters.items[i] : NULL;
    }
    return status;
}
