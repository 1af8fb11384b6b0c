/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/chat.h"
#include "cli/conversation.h"
#include "cli/standard_input.h"
#include "cli/texts.h"
#include "cli/token_ids.h"
#include "graft/host/image.h"

static int read_file(const struct graft_options *options, const struct graft_tokenizer *tokenizer, const char *path,
                     struct graft_ids *ids, struct graft_error *error) {
    char *text = NULL;
    size_t length = 0;
    int status = graft_prompt_file_read(options, path, &text, &length, error);
    if (status == GRAFT_OK) {
        status = graft_tokenizer_encode(tokenizer, text, length, !options->no_special_tokens, ids, error);
    }
    graft_free(text);
    return status;
}

int graft_prompts_read_ids(const char *text, const char *option, struct graft_ids *ids, struct graft_error *error) {
    for (const char *at = text;; at++) {
        char *end = NULL;
        errno = 0;
        long id = strtol(at, &end, 10);
        if (end == at || errno != 0 || id < 0 || id > INT32_MAX || (*end != ',' && *end != '\0')) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, option, "expected ids like 1,2,3, got \"%s\"", text);
        }
        graft_ids_add(ids, (int32_t)id);
        if (*end == '\0') {
            return GRAFT_OK;
        }
        at = end;
    }
}

static int read_one(const struct graft_options *options, const struct graft_tokenizer *tokenizer, size_t i,
                    struct graft_ids *ids, struct graft_error *error) {
    if (i < options->prompts.count) {
        const char *text = options->prompts.items[i];
        return graft_tokenizer_encode(tokenizer, text, strlen(text), !options->no_special_tokens, ids, error);
    }
    i -= options->prompts.count;
    if (i < options->prompt_files.count) {
        return read_file(options, tokenizer, options->prompt_files.items[i], ids, error);
    }
    return graft_prompts_read_ids(options->input_ids.items[i - options->prompt_files.count], "--input-ids", ids, error);
}

/* Checks that --prompt-adapter is given once for each prompt or not at all. */
static int check_adapters(const struct graft_options *options, size_t prompts, struct graft_error *error) {
    size_t given = options->prompt_adapters.count;
    if (given == 0 || given == prompts) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, "--prompt-adapter", "expected one for each of %zu prompts, got %zu",
                          prompts, given);
    graft_error_hint(error, "%s is the model without an adapter", GRAFT_BASE_MODEL);
    return GRAFT_ERROR_USAGE;
}

int graft_prompts_read(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error) {
    const int is_chat = graft_conversation_is_given(options);
    size_t count = is_chat ? 1 : options->prompts.count + options->prompt_files.count + options->input_ids.count;
    int status = check_adapters(options, count, error);
    *prompts = (struct graft_prompts){
        .ids = graft_alloc(count + 1, sizeof *prompts->ids),
        .prompts = graft_alloc(count + 1, sizeof *prompts->prompts),
    };
    if (prompts->ids == NULL || prompts->prompts == NULL) {
        return graft_fail_memory(error, "prompt");
    }
    for (; prompts->count < count && status == GRAFT_OK; prompts->count++) {
        struct graft_ids *ids = &prompts->ids[prompts->count];
        status = is_chat ? graft_chat_read(options, tokenizer, ids, error)
                         : read_one(options, tokenizer, prompts->count, ids, error);
        if (status == GRAFT_OK && ids->failed) {
            status = graft_fail_memory(error, "prompt");
        }
        if (status == GRAFT_OK && (is_chat || prompts->count < options->prompts.count + options->prompt_files.count)) {
            status = graft_token_ids_check(model, tokenizer, ids, error);
        }
        if (status == GRAFT_OK && ids->n == 0) {
            status = graft_error_set(error, graft_texts_code(options, prompts->count), "prompt",
                                     "prompt %zu has no tokens", prompts->count + 1);
        }
        prompts->prompts[prompts->count] = (struct graft_prompt){
            .struct_size = sizeof(struct graft_prompt),
            .ids = ids->ids,
            .count = ids->n,
            .adapter = options->prompt_adapters.count > 0 ? options->prompt_adapters.items[prompts->count] : NULL};
    }
    return status;
}

void graft_prompts_finish(struct graft_prompts *prompts) {
    for (size_t i = 0; i < prompts->count; i++) {
        graft_ids_free(&prompts->ids[i]);
    }
    graft_images_free(prompts->images, prompts->n_images);
    graft_free(prompts->ids);
    graft_free(prompts->prompts);
}
