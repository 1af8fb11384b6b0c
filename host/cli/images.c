/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/images.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/chat.h"
#include "graft/host/images.h"

static int read_files(const struct graft_options *options, const struct graft_model *model,
                      struct graft_prompts *prompts, struct graft_error *error) {
    struct graft_image_processor *processor = NULL;
    prompts->images = graft_alloc(options->images.count, sizeof *prompts->images);
    int status = prompts->images != NULL ? GRAFT_OK : graft_fail_memory(error, "--image");
    if (status == GRAFT_OK) {
        status = graft_image_processor_open(model, &processor, error);
    }
    for (size_t i = 0; i < options->images.count && status == GRAFT_OK; i++) {
        status = graft_image_processor_read(processor, options->images.items[i], &prompts->images[i], error);
        prompts->n_images += status == GRAFT_OK;
    }
    graft_image_processor_free(processor);
    return status;
}

static int read_images(const struct graft_options *options, const struct graft_model *model,
                       struct graft_prompts *prompts, struct graft_error *error) {
    const char *option = options->images.count > 0 ? "--image" : "--pixel-values";
    if (options->images.count > 0 && options->pixel_values != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--pixel-values", "does not go with --image");
    }
    if (graft_model_image_token_id(model) < 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, option, "this model takes no images");
    }
    if (prompts->count == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, option, "needs a prompt: what about the images?");
    }
    return options->images.count > 0
               ? read_files(options, model, prompts, error)
               : graft_images_read(options->pixel_values, &prompts->images, &prompts->n_images, error);
}

/* A walk over the image tokens of all prompts. */
struct placing {
    const struct graft_model *model;
    struct graft_prompts *prompts;
    int32_t token;
    size_t next; /* image */
};

static size_t run_length(const struct graft_ids *ids, size_t at, int32_t token) {
    size_t length = 0;
    while (at + length < ids->n && ids->ids[at + length] == token) {
        length++;
    }
    return length;
}

static int mismatch(const struct placing *placing, size_t runs, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, "--image",
                           "%zu images are given, but the prompts have places for %zu of them",
                           placing->prompts->n_images, runs);
}

/* Adds what a run of `length` image tokens stands for: one token is filled up, a whole image's tokens are left. */
static int expand(struct placing *placing, size_t length, struct graft_ids *to, struct graft_error *error) {
    int64_t tokens = graft_model_image_tokens(placing->model, &placing->prompts->images[placing->next]);
    if (tokens < 1 || (length != 1 && length != (size_t)tokens)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--image",
                               "image %zu takes %lld image tokens, but its place in the prompt has %zu",
                               placing->next + 1, (long long)tokens, length);
    }
    for (int64_t i = 0; i < tokens; i++) {
        graft_ids_add(to, placing->token);
    }
    placing->next++;
    return GRAFT_OK;
}

/* Gives prompt number `i` its images. */
static int place(struct placing *placing, size_t i, struct graft_error *error) {
    struct graft_prompts *prompts = placing->prompts;
    struct graft_ids *from = &prompts->ids[i];
    struct graft_ids to = {0};
    size_t first = placing->next;
    int status = GRAFT_OK;
    for (size_t at = 0; at < from->n && status == GRAFT_OK;) {
        size_t length = run_length(from, at, placing->token);
        if (length == 0) {
            graft_ids_add(&to, from->ids[at++]);
        } else if (placing->next == prompts->n_images) {
            status = mismatch(placing, placing->next + 1, error);
        } else {
            status = expand(placing, length, &to, error);
            at += length;
        }
    }
    if (status == GRAFT_OK && to.failed) {
        status = graft_fail_memory(error, "--image");
    }
    graft_ids_free(from);
    *from = to;
    prompts->prompts[i] = (struct graft_prompt){from->ids, from->n, prompts->images + first, placing->next - first};
    return status;
}

static int has_places(const struct placing *placing) {
    for (size_t i = 0; i < placing->prompts->count; i++) {
        for (size_t at = 0; at < placing->prompts->ids[i].n; at++) {
            if (placing->prompts->ids[i].ids[at] == placing->token) {
                return 1;
            }
        }
    }
    return 0;
}

int graft_images_place(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error) {
    struct placing placing = {model, prompts, graft_model_image_token_id(model), 0};
    if (options->images.count == 0 && options->pixel_values == NULL) {
        return GRAFT_OK;
    }
    int status = read_images(options, model, prompts, error);
    if (status == GRAFT_OK && !has_places(&placing)) {
        status = graft_chat_wrap(options, tokenizer, prompts, error);
    }
    for (size_t i = 0; i < prompts->count && status == GRAFT_OK; i++) {
        status = place(&placing, i, error);
    }
    return status == GRAFT_OK && placing.next < prompts->n_images ? mismatch(&placing, placing.next, error) : status;
}
