/* SPDX-License-Identifier: Apache-2.0 */
/* `perplexity`: how well a model predicts the text of a file. */
#include "graft/host/generate.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/open_tokenizer.h"
#include "cli/output.h"
#include "cli/report/weights.h"
#include "cli/screen.h"
#include "cli/token_ids.h"
#include "graft/host/tokenizer.h"

enum { MAX_TEXT_BYTES = 64 << 20 };

/* Reads the file. Refuses bytes that are not UTF-8, which would be measured as U+FFFD and say nothing about the
 * model. */
static int read_text(const char *file, char **text, size_t *length, struct graft_error *error) {
    int status = graft_file_read(file, MAX_TEXT_BYTES, GRAFT_ERROR_IO, text, length, error);
    if (status != GRAFT_OK) {
        return status;
    }
    size_t valid = graft_utf8_valid_prefix(*text, *length);
    if (valid < *length) {
        return graft_error_set(error, GRAFT_ERROR_IO, file, "not UTF-8 at byte %zu", valid);
    }
    return GRAFT_OK;
}

/* The token ids of the file's text, without special tokens. */
static int read_ids(const struct graft_options *options, const struct graft_model *model, struct graft_ids *ids,
                    struct graft_error *error) {
    struct graft_tokenizer *tokenizer = NULL;
    char *text = NULL;
    size_t length = 0;
    int status = read_text(options->text, &text, &length, error);
    if (status == GRAFT_OK) {
        status = graft_open_tokenizer(options, &tokenizer, error);
    }
    if (status == GRAFT_OK) {
        status = graft_tokenizer_encode(tokenizer, text, length, 0, ids, error);
    }
    if (status == GRAFT_OK && ids->failed) {
        status = graft_fail_memory(error, options->text);
    }
    if (status == GRAFT_OK) {
        status = graft_token_ids_check(model, tokenizer, ids, error);
    }
    if (status == GRAFT_OK && ids->n < 2) {
        status = graft_error_set(error, GRAFT_ERROR_IO, options->text, "expected a text of at least 2 tokens, got %zu",
                                 ids->n);
    }
    graft_tokenizer_free(tokenizer);
    graft_free(text);
    return status;
}

static int on_progress(void *data, int64_t done, int64_t total, struct graft_error *error) {
    (void)data;
    (void)error;
    graft_screen_count(done, total, "tokens");
    return GRAFT_OK;
}

static int print_json(const struct graft_perplexity *result, size_t tokens, const struct graft_weight_use *weights,
                      struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *object = graft_json_new_object();
    graft_writer_set_real(&writer, object, "perplexity", result->perplexity);
    graft_writer_set_real(&writer, object, "mean_negative_log_likelihood", result->mean);
    graft_writer_set_int(&writer, object, "predicted_tokens", result->predicted);
    graft_writer_set_int(&writer, object, "tokens", (int64_t)tokens);
    graft_writer_set_int(&writer, object, "windows", result->windows);
    graft_writer_set_int(&writer, object, "window", result->window);
    graft_weights_json(&writer, object, weights);
    int status = writer.failed ? graft_fail_memory(error, "perplexity") : graft_output_json(object, stdout, 1, error);
    graft_json_free(object);
    return status;
}

int graft_command_perplexity(const struct graft_options *options, struct graft_model *model,
                             struct graft_error *error) {
    struct graft_ids ids = {0};
    struct graft_perplexity result = {.struct_size = sizeof result};
    struct graft_weight_use weights = {.struct_size = sizeof weights};
    const struct graft_perplexity_options wanted = {
        .struct_size = sizeof wanted,
        .window = options->window < 0 ? 0 : options->window,
        .on_progress = on_progress,
    };
    graft_screen_begin("reading the text", 0);
    int status = read_ids(options, model, &ids, error);
    if (status == GRAFT_OK) {
        status = graft_model_perplexity(model, ids.ids, ids.n, &wanted, &result, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_weight_use(model, &weights, error);
    }
    graft_screen_end();
    if (status == GRAFT_OK && options->json) {
        status = print_json(&result, ids.n, &weights, error);
    } else if (status == GRAFT_OK) {
        (void)printf("perplexity %.6g: %" PRId64 " tokens predicted in %" PRId64 " windows of %" PRId64
                     "; %.2f bits per weight, %.2f MB read per token\n",
                     result.perplexity, result.predicted, result.windows, result.window,
                     graft_bits_per_weight(&weights), (double)weights.bytes_per_token / 1e6);
    }
    graft_ids_free(&ids);
    return status;
}
