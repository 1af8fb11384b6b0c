/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/printer.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "graft/host/process.h"

int graft_printer_begin(struct graft_printer *printer, const struct graft_options *options,
                        const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                        const struct graft_prompts *prompts, const struct graft_generation *generation,
                        struct graft_error *error) {
    size_t per_prompt = generation->num_return_sequences > 1 ? (size_t)generation->num_return_sequences : 1;
    size_t n = per_prompt < SIZE_MAX / prompts->count ? prompts->count * per_prompt : SIZE_MAX;
    *printer = (struct graft_printer){
        .options = options,
        .model = model,
        .tokenizer = options->output_ids ? NULL : tokenizer,
        .prompts = prompts,
        .comes_at_end = generation->num_beams > 1,
        .per_prompt = per_prompt,
        .n = n,
        .sequences = graft_alloc(n, sizeof *printer->sequences),
        .awaited = n,
        .start = graft_seconds(),
    };
    if (printer->sequences == NULL) {
        return graft_fail_memory(error, "generation");
    }
    printer->first = printer->last = printer->start;
    graft_screen_begin("reading the prompt", GRAFT_PROGRESS_PROMPT);
    for (size_t i = 0; i < n && options->logprobs >= 0; i++) {
        printer->sequences[i].logprobs.n_top = (size_t)options->logprobs;
    }
    return printer->tokenizer != NULL && n == 1 && !options->json
               ? graft_decode_stream_create(tokenizer, !options->keep_special_tokens, &printer->stream, error)
               : GRAFT_OK;
}

static int print_streamed(struct graft_printer *printer, const struct graft_sequence_token *token,
                          struct graft_error *error) {
    const char *bytes = NULL;
    size_t length = 0;
    int status = graft_decode_stream_push(printer->stream, token->id, &bytes, &length, error);
    if (status == GRAFT_OK) {
        (void)fwrite(bytes, 1, length, stdout);
    }
    if (status == GRAFT_OK && token->end != GRAFT_SEQUENCE_RUNNING) {
        status = graft_decode_stream_end(printer->stream, &bytes, &length, error);
        if (status == GRAFT_OK) {
            (void)fwrite(bytes, 1, length, stdout);
            (void)fputc('\n', stdout);
        }
    }
    return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
}

static int add_logprobs(const struct graft_printer *printer, const struct graft_sequence_token *token,
                        struct graft_error *error) {
    if (token->logits == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--logprobs",
                               "these tokens are not chosen one by one from the model's logits");
    }
    return graft_logprobs_add(&printer->sequences[token->sequence].logprobs, token->logits,
                              graft_model_vocab_size(printer->model), token->id, error);
}

/* Shows progress, unless the text is printed on the terminal as it comes, which shows it already. */
static void show(struct graft_printer *printer) {
    if (printer->n_tokens++ == 0 && printer->stream != NULL && isatty(STDOUT_FILENO)) {
        graft_screen_end();
    } else if (printer->n_tokens == 1) {
        graft_screen_begin("generating", 0);
    }
    graft_screen_count(printer->n_tokens, 0, "tokens");
}

int graft_printer_add(void *data, const struct graft_sequence_token *token, struct graft_error *error) {
    struct graft_printer *printer = data;
    struct graft_printed *printed = &printer->sequences[token->sequence];
    printer->last = graft_seconds();
    printer->awaited -= printed->ids.n == 0;
    printer->first = printer->awaited > 0 || printer->first > printer->start ? printer->first : printer->last;
    graft_ids_add(&printed->ids, token->id);
    printed->end = token->end;
    if (printed->ids.failed) {
        return graft_fail_memory(error, "generation");
    }
    show(printer);
    int status = printer->options->logprobs >= 0 ? add_logprobs(printer, token, error) : GRAFT_OK;
    return status == GRAFT_OK && printer->stream != NULL ? print_streamed(printer, token, error) : status;
}

static int print_sequence(const struct graft_printer *printer, const struct graft_ids *ids, struct graft_error *error) {
    struct graft_text text = {0};
    if (printer->tokenizer == NULL) {
        for (size_t i = 0; i < ids->n; i++) {
            (void)printf("%s%d", i > 0 ? "," : "", (int)ids->ids[i]);
        }
        (void)fputc('\n', stdout);
        return GRAFT_OK;
    }
    int status = graft_tokenizer_decode(printer->tokenizer, ids->ids, ids->n, !printer->options->keep_special_tokens,
                                        &text, error);
    if (status == GRAFT_OK) {
        (void)fwrite(text.bytes != NULL ? text.bytes : "", 1, text.length, stdout);
        (void)fputc('\n', stdout);
    }
    graft_text_free(&text);
    return status;
}

int graft_printer_end(struct graft_printer *printer, struct graft_error *error) {
    int status = GRAFT_OK;
    graft_screen_end();
    if (printer->options->json) {
        graft_json *document = NULL;
        status = graft_printer_json(printer, &document, error);
        status = status == GRAFT_OK ? graft_output_json(document, stdout, 1, error) : status;
        graft_json_free(document);
        return status;
    }
    for (size_t i = 0; i < printer->n && status == GRAFT_OK && printer->stream == NULL; i++) {
        status = print_sequence(printer, &printer->sequences[i].ids, error);
    }
    return status;
}

void graft_printer_finish(struct graft_printer *printer) {
    graft_screen_end();
    graft_decode_stream_destroy(printer->stream);
    for (size_t i = 0; printer->sequences != NULL && i < printer->n; i++) {
        graft_ids_free(&printer->sequences[i].ids);
        graft_logprobs_free(&printer->sequences[i].logprobs);
    }
    graft_free(printer->sequences);
}
