/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "cli/commands/commands.h"
#include "cli/commands/encode.h"
#include "cli/conversation.h"
#include "cli/generation.h"
#include "cli/hints.h"
#include "cli/images.h"
#include "cli/open_tokenizer.h"
#include "cli/prompts.h"
#include "cli/report/logits.h"
#include "cli/report/printer.h"
#include "cli/report/recordings.h"
#include "cli/screen.h"
#include "cli/session.h"
#include "cli/structure.h"
#include "graft/host/process.h"

static int generate(const struct graft_options *options, struct graft_model *model,
                    const struct graft_tokenizer *tokenizer, const struct graft_prompts *prompts,
                    struct graft_error *error) {
    struct graft_printer printer = {0};
    struct graft_structure structure = {0};
    struct graft_generation generation;
    struct graft_generation_fields *fields;
    int status = graft_generation_choose(options, model, &generation, &fields, error);
    if (status == GRAFT_OK && options->speculate > 0 && !options->quiet) {
        graft_generation_note(&generation);
    }
    if (status == GRAFT_OK && options->logprobs >= 0 && generation.num_beams > 1) {
        status = graft_error_set(
            error, GRAFT_ERROR_USAGE, "--logprobs",
            "cannot be combined with beams, which choose whole texts and not each token by its probability");
    }
    if (status == GRAFT_OK) {
        status = graft_structure_open(options, model, tokenizer, &generation, &structure, error);
    }
    if (status == GRAFT_OK) {
        status = graft_printer_begin(&printer, options, model, tokenizer, prompts, &generation, error);
    }
    if (status == GRAFT_OK) {
        status = options->session != NULL
                     ? graft_session_generate(options, model, prompts, &generation, &printer, error)
                     : graft_model_generate_tokens(model, prompts->prompts, prompts->count, &generation,
                                                   graft_printer_add, &printer, error);
    }
    if (status == GRAFT_OK) {
        status = graft_printer_end(&printer, error);
    }
    if (status == GRAFT_OK && !options->quiet) {
        graft_hint_chat(options, &printer);
    }
    graft_printer_finish(&printer);
    graft_structure_close(&structure);
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
    graft_screen_begin("recording", 0);
    if (options->logits != NULL) {
        status = graft_logits_write(model, prompts->prompts, prompts->count, options->logits, error);
    }
    if (status == GRAFT_OK && graft_recordings_wanted(options) != 0) {
        status = record(options, model, prompts, error);
    }
    graft_screen_end();
    return status == GRAFT_OK ? generate(options, model, tokenizer, prompts, error) : status;
}

struct given {
    const char *name;
    int is_given;
};

/* Whether none of the options is given. */
static int check_absent(const struct given *options, size_t n, const char *why, struct graft_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (options[i].is_given) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, options[i].name, "%s", why);
        }
    }
    return GRAFT_OK;
}

/* Checks, for an encoder, that no option for models that generate is given. */
static int check_encodes(const struct graft_options *options, struct graft_error *error) {
    const struct given given[] = {{"--message", options->message.count > 0},
                                  {"--messages", options->messages != NULL},
                                  {"--prompt-adapter", options->prompt_adapters.count > 0},
                                  {"--logprobs", options->logprobs >= 0},
                                  {"--session", options->session != NULL},
                                  {"--json-schema", options->json_schema != NULL},
                                  {"--grammar", options->grammar != NULL},
                                  {"--keep-special-tokens", options->keep_special_tokens}};
    return check_absent(given, sizeof given / sizeof given[0], "is for models that generate text", error);
}

/* Checks, for a model that generates, that no option for encoders is given. */
static int check_generates(const struct graft_options *options, struct graft_error *error) {
    const struct given given[] = {{"--lines", options->lines},
                                  {"--pairs", options->pairs},
                                  {"--text-pair", options->text_pairs.count > 0},
                                  {"--token-type-ids", options->token_type_ids.count > 0}};
    return check_absent(given, sizeof given / sizeof given[0],
                        "is for models that classify or encode; this one generates text", error);
}

int graft_command_run(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = NULL;
    struct graft_prompts prompts = {0};
    size_t texts = options->prompts.count + options->prompt_files.count + (size_t)graft_conversation_is_given(options);
    int status = GRAFT_OK;
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM || options->embed) {
        status = check_encodes(options, error);
        status = status == GRAFT_OK ? graft_images_place(options, model, NULL, &prompts, error) : status;
        return status == GRAFT_OK ? graft_encode_command(options, model, error) : status;
    }
    status = check_generates(options, error);
    if (status == GRAFT_OK && texts + options->input_ids.count + options->prompt_adapters.count == 0) {
        /* Only loading and reporting is asked for; images that are given without a prompt are an error. */
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
    if (texts > 0 || graft_structure_is_given(options) || (!options->output_ids && options->max_new_tokens != 0)) {
        status = graft_open_tokenizer(options, &tokenizer, error);
    }
    if (status == GRAFT_OK) {
        status = graft_prompts_read(options, model, tokenizer, &prompts, error);
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
