/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chat templates are Jinja programs, which this program does not run. It looks for the marks of the only form supported
 * for models with images, ChatML with vision marks, and writes that form.
 */
#include "cli/chat.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/standard_input.h"

enum { MAX_FILE_BYTES = 1 << 24 };

static const char turn[] = "<|im_start|>";
static const char image_place[] = "<|vision_start|><|image_pad|><|vision_end|>";
static const char video_place[] = "<|vision_start|><|video_pad|><|vision_end|>";
static const char system_turn[] = "<|im_start|>system\n";
static const char end_of_turn[] = "<|im_end|>\n";

static int ignores_template(const struct graft_options *options) {
    size_t i = 0;
    while (i < options->ignored_fields.count && strcmp(options->ignored_fields.items[i], "chat_template") != 0) {
        i++;
    }
    return i < options->ignored_fields.count;
}

/* The member chat_template of a JSON file, or the text of a Jinja file; NULL where there is none. */
static int read_template(const char *directory, const char *file, int is_json, char **text, struct graft_error *error) {
    char *path = graft_path_join(directory, file);
    graft_json *document = NULL;
    size_t length = 0;
    int status = path != NULL ? GRAFT_OK : graft_fail_memory(error, directory);
    if (status == GRAFT_OK && graft_file_exists(path)) {
        if (!is_json) {
            status = graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_MODEL, text, &length, error);
        } else {
            status = graft_json_read(path, MAX_FILE_BYTES, &document, error);
            const char *member = graft_json_string(graft_json_get(document, "chat_template"), NULL);
            *text = member != NULL ? graft_strdup(member) : NULL;
            status = member != NULL && *text == NULL ? graft_fail_memory(error, path) : status;
        }
    }
    graft_json_free(document);
    graft_free(path);
    return status;
}

static int find_template(const struct graft_options *options, char **text, struct graft_error *error) {
    static const struct {
        const char *file;
        int is_json;
    } files[] = {{"chat_template.jinja", 0}, {"chat_template.json", 1}, {"tokenizer_config.json", 1}};
    int status = GRAFT_OK;
    *text = NULL;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == GRAFT_OK && *text == NULL; i++) {
        if (!files[i].is_json || !ignores_template(options)) {
            status = read_template(options->model, files[i].file, files[i].is_json, text, error);
        }
    }
    return status;
}

int graft_chat_has_template(const struct graft_options *options) {
    struct graft_error error = graft_error_none();
    char *text = NULL;
    int has = find_template(options, &text, &error) == GRAFT_OK && text != NULL;
    graft_free(text);
    return has;
}

/* The turn of the system that the template writes out, if there is one: text without expressions between its marks. */
static size_t default_system(const char *template, const char **begin) {
    *begin = strstr(template, system_turn);
    const char *end = *begin != NULL ? strstr(*begin, end_of_turn) : NULL;
    if (end == NULL || memchr(*begin, '{', (size_t)(end - *begin)) != NULL) {
        return 0;
    }
    return (size_t)(end - *begin) + sizeof end_of_turn - 1;
}

/* A template in JSON or Jinja may write a line break as the two characters "\n". */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        int is_break = from[0] == '\\' && from[1] == 'n';
        *to++ = is_break ? '\n' : *from;
        from += is_break;
    }
    *to = '\0';
}

static const char *place_of(const struct graft_image *image) {
    return image->is_video ? video_place : image_place;
}

static void write_chat(const char *template, const char *question, size_t length, const struct graft_prompts *prompts,
                       struct graft_text *text) {
    const char *system = NULL;
    size_t system_length = default_system(template, &system);
    graft_text_add(text, system, system_length);
    graft_text_add_string(text, "<|im_start|>user\n");
    for (size_t i = 0; i < prompts->n_images; i++) {
        graft_text_add_string(text, place_of(&prompts->images[i]));
    }
    graft_text_add(text, question, length);
    graft_text_add_string(text, "<|im_end|>\n<|im_start|>assistant\n");
}

static int read_question(const struct graft_options *options, char **question, size_t *length,
                         struct graft_error *error) {
    if (options->prompt_files.count > 0) {
        return graft_prompt_file_read(options, options->prompt_files.items[0], question, length, error);
    }
    *question = graft_strdup(options->prompts.items[0]);
    *length = strlen(options->prompts.items[0]);
    return *question != NULL ? GRAFT_OK : graft_fail_memory(error, "--prompt");
}

static int encode(const struct graft_tokenizer *tokenizer, const struct graft_text *text, int special,
                  struct graft_prompts *prompts, struct graft_error *error) {
    if (text->failed) {
        return graft_fail_memory(error, "--prompt");
    }
    graft_ids_free(&prompts->ids[0]);
    prompts->ids[0] = (struct graft_ids){0};
    return graft_tokenizer_encode(tokenizer, text->bytes, text->length, special, &prompts->ids[0], error);
}

static const char *option_of(const struct graft_image *image) {
    return image->is_video ? "--video" : "--image";
}

/* Whether the template, which may be NULL, writes such turns and the places of all that is given. */
static int check_template(const char *template, const struct graft_prompts *prompts, struct graft_error *error) {
    for (size_t i = 0; i < prompts->n_images; i++) {
        const struct graft_image *image = &prompts->images[i];
        if (template == NULL || strstr(template, turn) == NULL || strstr(template, place_of(image)) == NULL) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, option_of(image),
                                   "the prompt has no placeholder for %ss (%s), and the model directory has no chat "
                                   "template that adds one",
                                   option_of(image) + 2, place_of(image));
        }
    }
    return GRAFT_OK;
}

int graft_chat_wrap(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_prompts *prompts, struct graft_error *error) {
    char *template = NULL;
    char *question = NULL;
    size_t length = 0;
    struct graft_text text = {0};
    const struct graft_image *first = &prompts->images[0];
    if (prompts->count != 1 || options->input_ids.count > 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, option_of(first),
                               "the prompts have no placeholders for %ss: %s", option_of(first) + 2, place_of(first));
    }
    int status = find_template(options, &template, error);
    if (status == GRAFT_OK) {
        status = check_template(template, prompts, error);
    }
    if (status == GRAFT_OK) {
        unescape(template);
        status = read_question(options, &question, &length, error);
    }
    if (status == GRAFT_OK) {
        write_chat(template, question, length, prompts, &text);
        status = encode(tokenizer, &text, !options->no_special_tokens, prompts, error);
    }
    graft_text_free(&text);
    graft_free(question);
    graft_free(template);
    return status;
}
