/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/prompts.h"
#include "cli/standard_input.h"
#include "cli/token_ids.h"

enum { MAX_LINE_BYTES = 64 << 20 };

int graft_texts_need_tokenizer(const struct graft_options *options) {
    return options->prompts.count + options->prompt_files.count > 0 || graft_texts_reads_lines(options);
}

int graft_texts_reads_lines(const struct graft_options *options) {
    size_t given = options->prompts.count + options->prompt_files.count + options->input_ids.count;
    return options->lines || options->pairs || (options->embed && given == 0);
}

int graft_texts_begin(struct graft_texts *texts, const struct graft_options *options, const struct graft_model *model,
                      const struct graft_tokenizer *tokenizer, struct graft_error *error) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    graft_model_encoder_info(model, &info);
    *texts = (struct graft_texts){
        .options = options,
        .model = model,
        .tokenizer = tokenizer,
        .max_tokens = info.max_tokens,
        .token_types = info.token_types,
        .given = options->prompts.count + options->prompt_files.count + options->input_ids.count,
    };
    if (options->text_pairs.count > 0 && options->text_pairs.count != options->prompts.count) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--text-pair", "expected one for each --prompt (%zu), got %zu",
                               options->prompts.count, options->text_pairs.count);
    }
    if (options->token_type_ids.count > texts->given) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--token-type-ids",
                               "expected at most one list for each of the %zu texts, got more", texts->given);
    }
    return GRAFT_OK;
}

void graft_texts_end(struct graft_texts *texts) {
    free(texts->line);
}

void graft_text_ids_free(struct graft_text_ids *text) {
    graft_ids_free(&text->ids);
    graft_ids_free(&text->types);
}

/* The name of a text in error messages, and the code of these errors. */
struct place {
    char name[64];
    int code;
};

/* Finds the place of a pair's second text among the ids: the last occurrence of its own ids, since only special tokens
 * follow it. */
static int find_second(const struct graft_texts *texts, const struct graft_text_view *second,
                       struct graft_text_ids *text, struct graft_error *error) {
    struct graft_ids own = {0};
    int status = graft_tokenizer_encode(texts->tokenizer, second->text, second->length, 0, &own, error);
    size_t last = text->ids.n >= own.n ? text->ids.n - own.n + 1 : 0; /* last place where it may begin, plus 1 */
    for (size_t at = last; status == GRAFT_OK && own.n > 0 && at > 0 && text->n_second == 0; at--) {
        if (memcmp(text->ids.ids + at - 1, own.ids, own.n * sizeof *own.ids) == 0) {
            text->second = at - 1;
            text->n_second = own.n;
        }
    }
    graft_ids_free(&own);
    return status;
}

static int encode(struct graft_texts *texts, const struct graft_text_view *first, const struct graft_text_view *second,
                  struct graft_text_ids *text, struct graft_error *error) {
    int add = !texts->options->no_special_tokens;
    if (second != NULL || texts->cut_to == 0 || !add) {
        int paired = graft_tokenizer_encode_pair(texts->tokenizer, first, second, add, &text->ids, &text->types, error);
        text->types.n = texts->token_types > 1 ? text->types.n : 0; /* the model has one type, so types become zeros */
        if (paired == GRAFT_OK && second != NULL && texts->finds_second) {
            paired = find_second(texts, second, text, error);
        }
        return paired == GRAFT_OK ? graft_token_ids_check(texts->model, texts->tokenizer, &text->ids, error) : paired;
    }
    int cut = 0;
    int status = graft_tokenizer_encode_within(texts->tokenizer, first->text, first->length, (size_t)texts->cut_to,
                                               &text->ids, &cut, error);
    texts->n_cut += cut != 0;
    return status == GRAFT_OK ? graft_token_ids_check(texts->model, texts->tokenizer, &text->ids, error) : status;
}

static int read_file(struct graft_texts *texts, const char *path, struct graft_text_ids *text,
                     struct graft_error *error) {
    struct graft_text_view view = {NULL, 0};
    char *bytes = NULL;
    int status = graft_prompt_file_read(texts->options, path, &bytes, &view.length, error);
    view.text = bytes;
    if (status == GRAFT_OK) {
        status = encode(texts, &view, NULL, text, error);
    }
    graft_free(bytes);
    return status;
}

/* Reads text number `i` of the command line: texts first, then files, then ids. */
static int read_given(struct graft_texts *texts, size_t i, struct graft_text_ids *text, struct graft_error *error) {
    const struct graft_options *options = texts->options;
    size_t files = options->prompts.count;
    size_t ids = files + options->prompt_files.count;
    int status;
    if (i < files) {
        const char *first = options->prompts.items[i];
        const char *second = options->text_pairs.count > 0 ? options->text_pairs.items[i] : NULL;
        const struct graft_text_view views[] = {{first, strlen(first)}, {second, second != NULL ? strlen(second) : 0}};
        status = encode(texts, &views[0], second != NULL ? &views[1] : NULL, text, error);
    } else if (i < ids) {
        status = read_file(texts, options->prompt_files.items[i - files], text, error);
    } else {
        status = graft_prompts_read_ids(options->input_ids.items[i - ids], "--input-ids", &text->ids, error);
    }
    if (status == GRAFT_OK && i < options->token_type_ids.count) {
        text->types.n = 0;
        status = graft_prompts_read_ids(options->token_type_ids.items[i], "--token-type-ids", &text->types, error);
        if (status == GRAFT_OK && text->types.n != text->ids.n) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, "--token-type-ids",
                                     "expected one type for each token of text %zu (%zu), got %zu", i + 1, text->ids.n,
                                     text->types.n);
        }
    }
    return status;
}

static int read_line(struct graft_texts *texts, const struct place *place, struct graft_text_ids *text, int *more,
                     struct graft_error *error) {
    ssize_t length = getline(&texts->line, &texts->line_capacity, stdin);
    if (length < 0) {
        *more = 0;
        return ferror(stdin) ? graft_error_set(error, GRAFT_ERROR_IO, "standard input", "%s", strerror(errno))
                             : GRAFT_OK;
    }
    length -= length > 0 && texts->line[length - 1] == '\n';
    if (length > MAX_LINE_BYTES) {
        return graft_error_set(error, GRAFT_ERROR_IO, place->name,
                               "expected a line of at most %d bytes, got a longer one", MAX_LINE_BYTES);
    }
    struct graft_text_view first = {texts->line, (size_t)length};
    const char *tab = texts->options->pairs ? memchr(texts->line, '\t', first.length) : NULL;
    if (!texts->options->pairs) {
        return encode(texts, &first, NULL, text, error);
    }
    if (tab == NULL || memchr(tab + 1, '\t', first.length - (size_t)(tab + 1 - texts->line)) != NULL) {
        return graft_error_set(error, GRAFT_ERROR_IO, place->name, "expected two texts separated by a tab");
    }
    const struct graft_text_view second = {tab + 1, first.length - (size_t)(tab + 1 - texts->line)};
    first.length = (size_t)(tab - texts->line);
    return encode(texts, &first, &second, text, error);
}

/* Fills up the types of a text with zeros and checks its length against the model. */
static int check(const struct graft_texts *texts, const struct place *place, struct graft_text_ids *text,
                 struct graft_error *error) {
    while (text->types.n < text->ids.n && !text->types.failed) {
        graft_ids_add(&text->types, 0);
    }
    if (text->ids.failed || text->types.failed) {
        return graft_fail_memory(error, place->name);
    }
    if (text->ids.n == 0) {
        return graft_error_set(error, place->code, place->name, "has no tokens");
    }
    if ((int64_t)text->ids.n > texts->max_tokens) {
        return graft_error_set(error, place->code, place->name, "has %zu tokens, but the model reads at most %lld",
                               text->ids.n, (long long)texts->max_tokens);
    }
    return GRAFT_OK;
}

int graft_texts_code(const struct graft_options *options, size_t i) {
    size_t files = options->prompts.count;
    size_t ids = files + options->prompt_files.count;
    return i < files || (i >= ids && i < ids + options->input_ids.count) ? GRAFT_ERROR_USAGE : GRAFT_ERROR_IO;
}

int graft_texts_next(struct graft_texts *texts, struct graft_text_ids *text, int *more, struct graft_error *error) {
    struct place place = {.code = graft_texts_code(texts->options, texts->next)};
    int status = GRAFT_OK;
    *more = 1;
    if (texts->next < texts->given) {
        (void)snprintf(place.name, sizeof place.name, "prompt %zu", texts->next + 1);
        status = read_given(texts, texts->next, text, error);
    } else if (graft_texts_reads_lines(texts->options)) {
        (void)snprintf(place.name, sizeof place.name, "standard input: line %zu", texts->next - texts->given + 1);
        status = read_line(texts, &place, text, more, error);
    } else {
        *more = 0;
    }
    texts->next += *more != 0;
    return status == GRAFT_OK && *more ? check(texts, &place, text, error) : status;
}
