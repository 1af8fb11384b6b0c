/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/images.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/chat.h"
#include "cli/conversation.h"
#include "cli/message_images.h"
#include "graft/host/image.h"

/* The preprocessors, each created when the first image or video is read. */
struct processors {
    struct graft_image_processor *image;
    struct graft_video_processor *video;
};

static int is_video(const char *option) {
    return strcmp(option, "video") == 0;
}

static int read_image(const struct graft_model *model, struct processors *processors, const char *file,
                      struct graft_image *image, struct graft_error *error) {
    int status = GRAFT_OK;
    if (processors->image == NULL) {
        status = graft_image_processor_open(model, &processors->image, error);
    }
    return status == GRAFT_OK ? graft_image_processor_read(processors->image, file, image, error) : status;
}

static int read_video(const struct graft_model *model, struct processors *processors, const char *directory,
                      struct graft_image *video, struct graft_error *error) {
    int status = GRAFT_OK;
    if (processors->video == NULL) {
        status = graft_video_processor_open(model, &processors->video, error);
    }
    return status == GRAFT_OK ? graft_video_processor_read(processors->video, directory, video, error) : status;
}

static int read_files(const struct graft_options *options, const struct graft_model *model,
                      struct graft_prompts *prompts, struct graft_error *error) {
    const struct graft_strings *values = &options->images.values;
    struct processors processors = {NULL, NULL};
    prompts->images = graft_alloc(values->count, sizeof *prompts->images);
    int status = prompts->images != NULL ? GRAFT_OK : graft_fail_memory(error, "--image");
    for (size_t i = 0; i < values->count && status == GRAFT_OK; i++) {
        prompts->images[i].struct_size = sizeof prompts->images[i];
        status = (is_video(options->images.names.items[i]) ? read_video : read_image)(
            model, &processors, values->items[i], &prompts->images[i], error);
        prompts->n_images += status == GRAFT_OK;
    }
    graft_image_processor_free(processors.image);
    graft_video_processor_free(processors.video);
    return status;
}

static int read_images(const struct graft_options *options, const struct graft_model *model,
                       struct graft_prompts *prompts, struct graft_error *error) {
    const struct graft_strings *names = &options->images.names;
    for (size_t i = 0; i < names->count || (i == 0 && options->pixel_values != NULL); i++) {
        int video = i < names->count && is_video(names->items[i]);
        const char *option = i == names->count ? "--pixel-values" : video ? "--video" : "--image";
        if (i < names->count && options->pixel_values != NULL) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "--pixel-values", "cannot be combined with %s", option);
        }
        if ((video ? graft_model_video_token_id(model) : graft_model_image_token_id(model)) < 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, option, "this model takes no %s",
                                   video ? "videos" : "images");
        }
        if (prompts->count == 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, option, "needs a prompt that says what to do with the %s",
                                   video ? "videos" : "images");
        }
    }
    return names->count > 0 ? read_files(options, model, prompts, error)
                            : graft_images_read(options->pixel_values, &prompts->images, &prompts->n_images, error);
}

/* Images or videos, with counts for both passes over the prompts. */
struct kind {
    const char *option;
    const char *name;
    int32_t token;
    size_t given;
    size_t places; /* placeholders in the prompts */
    size_t next;   /* index in prompts->images from which to look for the next one */
};

/* A walk over the image and video tokens of all prompts. */
struct placing {
    const struct graft_model *model;
    const struct graft_tokenizer *tokenizer; /* NULL if all prompts are token ids */
    struct graft_prompts *prompts;
    struct kind kinds[2];        /* images, videos */
    struct graft_image *ordered; /* [n_images] in the order of their placeholders */
    size_t n_ordered;
};

/* The kind whose placeholder `token` is, or NULL. */
static struct kind *kind_of(struct placing *placing, int32_t token) {
    for (size_t k = 0; k < 2; k++) {
        if (placing->kinds[k].token >= 0 && placing->kinds[k].token == token) {
            return &placing->kinds[k];
        }
    }
    return NULL;
}

static size_t run_length(const struct graft_ids *ids, size_t at) {
    size_t length = 1;
    while (at + length < ids->n && ids->ids[at + length] == ids->ids[at]) {
        length++;
    }
    return length;
}

static void count(struct placing *placing) {
    const struct graft_prompts *prompts = placing->prompts;
    for (size_t k = 0; k < 2; k++) {
        placing->kinds[k].given = placing->kinds[k].places = 0;
    }
    for (size_t i = 0; i < prompts->n_images; i++) {
        placing->kinds[prompts->images[i].is_video != 0].given++;
    }
    for (size_t i = 0; i < prompts->count; i++) {
        for (size_t at = 0; at < prompts->ids[i].n; at += run_length(&prompts->ids[i], at)) {
            struct kind *kind = kind_of(placing, prompts->ids[i].ids[at]);
            if (kind != NULL) {
                kind->places++;
            }
        }
    }
}

static int check_counts(const struct placing *placing, struct graft_error *error) {
    for (size_t k = 0; k < 2; k++) {
        const struct kind *kind = &placing->kinds[k];
        if (kind->given == 0 && kind->places > 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, kind->option,
                                   "the prompts have placeholders for %ss, but none are given", kind->name);
        }
        if (kind->given != kind->places) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, kind->option,
                                   "got %zu %ss, but the prompts have placeholders for %zu", kind->given, kind->name,
                                   kind->places);
        }
    }
    return GRAFT_OK;
}

/* The next image or video of a kind. */
static void take_next(struct placing *placing, struct kind *kind) {
    const struct graft_image *images = placing->prompts->images;
    while ((images[kind->next].is_video != 0) != (kind == &placing->kinds[1])) {
        kind->next++;
    }
    placing->ordered[placing->n_ordered++] = images[kind->next++];
}

/* Expands the placeholders of prompt number `i` and sets its images. */
static int place(struct placing *placing, size_t i, struct graft_error *error) {
    struct graft_prompts *prompts = placing->prompts;
    struct graft_ids *ids = &prompts->ids[i];
    const size_t first = placing->n_ordered;
    for (size_t at = 0; at < ids->n; at += run_length(ids, at)) {
        struct kind *kind = kind_of(placing, ids->ids[at]);
        if (kind != NULL) {
            take_next(placing, kind);
        }
    }
    const size_t n = placing->n_ordered - first;
    int status = graft_model_place_images(placing->model, placing->tokenizer, placing->ordered + first, n, ids, error);
    struct graft_prompt *prompt = &prompts->prompts[i];
    *prompt = (struct graft_prompt){.struct_size = sizeof *prompt,
                                    .ids = ids->ids,
                                    .count = ids->n,
                                    .images = prompts->images + first,
                                    .n_images = n,
                                    .adapter = prompt->adapter};
    return status;
}

/* Assigns all images and videos and sorts prompts->images by their placeholders. */
static int place_all(struct placing *placing, struct graft_error *error) {
    struct graft_prompts *prompts = placing->prompts;
    int status = check_counts(placing, error);
    if (status != GRAFT_OK || prompts->n_images == 0) {
        return status;
    }
    placing->ordered = graft_alloc(prompts->n_images, sizeof *placing->ordered);
    status = placing->ordered != NULL ? GRAFT_OK : graft_fail_memory(error, "--image");
    for (size_t i = 0; i < prompts->count && status == GRAFT_OK; i++) {
        status = place(placing, i, error);
    }
    if (status == GRAFT_OK) {
        memcpy(prompts->images, placing->ordered, prompts->n_images * sizeof *prompts->images);
    }
    graft_free(placing->ordered);
    return status;
}

/* Checks that the prompts have placeholders for the kinds that are given. */
static int check_places(const struct placing *placing, struct graft_error *error) {
    for (size_t k = 0; k < 2; k++) {
        const struct kind *kind = &placing->kinds[k];
        const char *token = kind->token >= 0 && placing->tokenizer != NULL
                                ? graft_tokenizer_token(placing->tokenizer, kind->token, NULL)
                                : NULL;
        if (kind->given == 0 || kind->places > 0) {
            continue;
        }
        if (placing->prompts->count != 1) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, kind->option,
                                   "the prompts have no placeholders for %ss: %s", kind->name,
                                   token != NULL ? token : "");
        }
        return graft_error_set(error, GRAFT_ERROR_USAGE, kind->option,
                               "the prompt has no placeholder for %ss (%s), and the model directory has no chat "
                               "template that adds one",
                               kind->name, token != NULL ? token : "");
    }
    return GRAFT_OK;
}

static struct placing start_placing(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                                    struct graft_prompts *prompts) {
    return (struct placing){
        .model = model,
        .tokenizer = tokenizer,
        .prompts = prompts,
        .kinds = {{.option = "--image", .name = "image", .token = graft_model_image_place_id(model)},
                  {.option = "--video", .name = "video", .token = graft_model_video_token_id(model)}},
    };
}

int graft_images_fill(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                      struct graft_prompts *prompts, struct graft_error *error) {
    struct placing placing = start_placing(model, tokenizer, prompts);
    count(&placing);
    return place_all(&placing, error);
}

/* Reads the images that the messages of the command line name, if they do. */
static int read_named(const struct graft_options *options, const struct graft_model *model,
                      struct graft_prompts *prompts, struct graft_error *error) {
    struct graft_message_images images = {0};
    graft_json *messages = NULL;
    int status = graft_conversation_read_file(options->messages, &messages, error);
    if (status == GRAFT_OK && graft_message_images_are_named(messages)) {
        status = options->images.values.count == 0 && options->pixel_values == NULL
                     ? graft_message_images_read(model, messages, &images, error)
                     : graft_error_set(error, GRAFT_ERROR_USAGE, options->messages,
                                       "names images, so there can be no --image, --video and --pixel-values");
    }
    graft_json_free(messages);
    if (status == GRAFT_OK) {
        prompts->images = images.items;
        prompts->n_images = images.n;
    } else {
        graft_message_images_free(&images);
    }
    return status;
}

int graft_images_place(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error) {
    struct placing placing = start_placing(model, tokenizer, prompts);
    int status = options->messages != NULL ? read_named(options, model, prompts, error) : GRAFT_OK;
    if (status == GRAFT_OK && (options->images.values.count > 0 || options->pixel_values != NULL)) {
        status = read_images(options, model, prompts, error);
    }
    count(&placing);
    if (status == GRAFT_OK && prompts->n_images > 0 && placing.kinds[0].places + placing.kinds[1].places == 0) {
        status = graft_chat_wrap(options, tokenizer, prompts, error);
        count(&placing);
        status = status == GRAFT_OK ? check_places(&placing, error) : status;
    }
    return status == GRAFT_OK ? place_all(&placing, error) : status;
}
