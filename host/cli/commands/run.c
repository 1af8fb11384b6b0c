/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "cli/commands/commands.h"
#include "cli/commands/encode.h"
#include "cli/generation.h"
#include "cli/images.h"
#include "cli/open_tokenizer.h"
#include "cli/output.h"
#include "cli/prompts.h"
#include "cli/report/logits.h"
#include "cli/report/recordings.h"
#include "graft/host/parallel.h"

/* Where new tokens go: a single sequence is printed as it comes, several when all are done, one line each. */
struct printer {
    const struct graft_tokenizer *tokenizer; /* NULL: ids are printed */
    struct graft_decode_stream *stream;      /* for a single sequence of text */
    struct graft_ids *sequences;             /* [count] */
    size_t count;
};

static int print_streamed(struct printer *printer, int32_t id, int last, struct graft_error *error) {
    const char *bytes = NULL;
    size_t length = 0;
    int status = graft_decode_stream_push(printer->stream, id, &bytes, &length, error);
    if (status == GRAFT_OK) {
        (void)fwrite(bytes, 1, length, stdout);
    }
    if (status == GRAFT_OK && last) {
        status = graft_decode_stream_end(printer->stream, &bytes, &length, error);
        if (status == GRAFT_OK) {
            (void)fwrite(bytes, 1, length, stdout);
            (void)fputc('\n', stdout);
        }
    }
    return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
}

static int on_token(void *data, const struct graft_sequence_token *token, struct graft_error *error) {
    struct printer *printer = data;
    if (printer->stream != NULL) {
        return print_streamed(printer, token->id, token->end != GRAFT_SEQUENCE_GOES_ON, error);
    }
    graft_ids_add(&printer->sequences[token->sequence], token->id);
    return printer->sequences[token->sequence].failed ? graft_fail_memory(error, "generation") : GRAFT_OK;
}

static int print_sequence(const struct printer *printer, const struct graft_ids *ids, struct graft_error *error) {
    struct graft_text text = {0};
    if (printer->tokenizer == NULL) {
        for (size_t i = 0; i < ids->n; i++) {
            (void)printf("%s%d", i > 0 ? "," : "", (int)ids->ids[i]);
        }
        (void)fputc('\n', stdout);
        return GRAFT_OK;
    }
    int status = graft_tokenizer_decode(printer->tokenizer, ids->ids, ids->n, 1, &text, error);
    if (status == GRAFT_OK) {
        (void)fwrite(text.bytes != NULL ? text.bytes : "", 1, text.length, stdout);
        (void)fputc('\n', stdout);
    }
    graft_text_free(&text);
    return status;
}

static int printer_init(struct printer *printer, const struct graft_tokenizer *tokenizer, size_t count,
                        struct graft_error *error) {
    *printer = (struct printer){tokenizer, NULL, graft_alloc(count, sizeof *printer->sequences), count};
    if (printer->sequences == NULL) {
        return graft_fail_memory(error, "generation");
    }
    return tokenizer != NULL && count == 1 ? graft_decode_stream_create(tokenizer, 1, &printer->stream, error)
                                           : GRAFT_OK;
}

static void printer_finish(struct printer *printer) {
    graft_decode_stream_destroy(printer->stream);
    for (size_t i = 0; i < printer->count && printer->sequences != NULL; i++) {
        graft_ids_free(&printer->sequences[i]);
    }
    graft_free(printer->sequences);
}

static int generate(const struct graft_options *options, struct graft_model *model,
                    const struct graft_tokenizer *tokenizer, const struct graft_prompts *prompts,
                    struct graft_error *error) {
    struct printer printer = {0};
    struct graft_generation generation;
    struct graft_generation_fields *fields;
    int status = graft_generation_choose(options, model, &generation, &fields, error);
    if (status == GRAFT_OK) {
        status = printer_init(&printer, options->output_ids ? NULL : tokenizer, prompts->count, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_generate_tokens(model, prompts->prompts, prompts->count, &generation, on_token, &printer,
                                             error);
    }
    for (size_t i = 0; i < prompts->count && status == GRAFT_OK && printer.stream == NULL; i++) {
        status = print_sequence(&printer, &printer.sequences[i], error);
    }
    printer_finish(&printer);
    graft_generation_fields_free(fields);
    return status;
}

static int record(const struct graft_options *options, struct graft_model *model, const struct graft_prompts *prompts,
                  struct graft_error *error) {
    struct graft_recording *recording = NULL;
    int status = graft_model_record(model, prompts->prompts, prompts->count, graft_recordings_wanted(options),
                                    &recording, error);
    if (status == GRAFT_OK) {
        status = graft_recordings_write(options, recording, error);
    }
    graft_recording_free(recording);
    return status;
}

static int with_prompts(const struct graft_options *options, struct graft_model *model,
                        const struct graft_tokenizer *tokenizer, const struct graft_prompts *prompts,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    if (options->logits != NULL) {
        status = graft_logits_write(model, prompts->prompts, prompts->count, options->logits, error);
    }
    if (status == GRAFT_OK && graft_recordings_wanted(options) != 0) {
        status = record(options, model, prompts, error);
    }
    return status == GRAFT_OK ? generate(options, model, tokenizer, prompts, error) : status;
}

/* What only encoders do. */
static int check_generates(const struct graft_options *options, struct graft_error *error) {
    const struct {
        const char *name;
        int given;
    } encoding[] = {{"--embed", options->embed},
                    {"--lines", options->lines},
                    {"--pairs", options->pairs},
                    {"--json", options->json},
                    {"--text-pair", options->text_pairs.count > 0},
                    {"--token-type-ids", options->token_type_ids.count > 0}};
    for (size_t i = 0; i < sizeof encoding / sizeof encoding[0]; i++) {
        if (encoding[i].given) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, encoding[i].name,
                                   "is for encoders; this model generates text");
        }
    }
    return GRAFT_OK;
}

int graft_command_run(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = NULL;
    struct graft_prompts prompts = {0};
    size_t texts = options->prompts.count + options->prompt_files.count;
    int status = GRAFT_OK;
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM && options->prompt_adapters.count > 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--prompt-adapter", "is for models that generate text");
    }
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM) {
        status = graft_images_place(options, model, NULL, &prompts, error);
        return status == GRAFT_OK ? graft_encode_command(options, model, error) : status;
    }
    status = check_generates(options, error);
    if (status == GRAFT_OK && texts + options->input_ids.count + options->prompt_adapters.count == 0) {
        /* Loading and reporting is all that is asked for, unless there are images. */
        return graft_images_place(options, model, NULL, &prompts, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_parallel_get()->rank > 0) {
        status = graft_prompts_share(options, &prompts, error);
        status = status == GRAFT_OK ? with_prompts(options, model, NULL, &prompts, error) : status;
        graft_prompts_finish(&prompts);
        return status;
    }
    if (texts > 0 || (!options->output_ids && options->max_new_tokens != 0)) {
        status = graft_open_tokenizer(options, &tokenizer, error);
    }
    if (status == GRAFT_OK) {
        status = graft_prompts_read(options, tokenizer, &prompts, error);
    }
    if (status == GRAFT_OK) {
        status = graft_images_place(options, model, tokenizer, &prompts, error);
    }
    if (status == GRAFT_OK) {
        status = graft_prompts_share(options, &prompts, error);
    }
    if (status == GRAFT_OK) {
        status = with_prompts(options, model, tokenizer, &prompts, error);
    }
    graft_prompts_finish(&prompts);
    graft_tokenizer_free(tokenizer);
    return status;
}
