/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include "base/file.h"
#include "cli/output.h"
#include "graft/host/sequences.h"

int graft_session_begin(const struct graft_options *options, struct graft_sequences *sequences,
                        struct graft_error *error) {
    int64_t tokens = 0;
    return options->session != NULL && graft_file_exists(options->session)
               ? graft_sequences_load(sequences, options->session, &tokens, error)
               : GRAFT_OK;
}

int graft_session_end(const struct graft_options *options, struct graft_sequences *sequences,
                      struct graft_error *error) {
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    int64_t tokens = 0;
    if (options->session == NULL) {
        return GRAFT_OK;
    }
    int status = graft_sequences_save(sequences, options->session, &tokens, error);
    graft_sequences_get_counts(sequences, &counts);
    if (status == GRAFT_OK && !options->quiet) {
        graft_output_line(stderr, "session: %lld tokens of prompts reused, %lld read, %lld written",
                          (long long)counts.shared_tokens, (long long)counts.prompt_tokens, (long long)tokens);
    }
    return status;
}

/* The number of sequences that a prompt occupies at the same time: beams, or one more for guidance. */
static int64_t width(const struct graft_generation *generation) {
    const int is_guided = generation->guidance_scale != 0.0 && generation->guidance_scale != 1.0;
    return generation->num_beams > 1 ? generation->num_beams : 1 + is_guided;
}

static int check(const struct graft_generation *generation, const struct graft_prompts *prompts,
                 struct graft_error *error) {
    if (generation->num_return_sequences > 1) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--session", "cannot be combined with --num-return-sequences");
    }
    return width(generation) > INT32_MAX / 4 / (int64_t)prompts->count
               ? graft_error_set(error, GRAFT_ERROR_USAGE, "--session", "too many sequences")
               : GRAFT_OK;
}

static int add_prompts(struct graft_sequences *sequences, const struct graft_prompts *prompts,
                       const struct graft_generation *generation, struct graft_error *error) {
    const struct graft_sequence_options options = {.struct_size = sizeof options, .generation = generation};
    int status = GRAFT_OK;
    for (size_t i = 0; i < prompts->count && status == GRAFT_OK; i++) {
        int64_t number;
        status = graft_sequences_add(sequences, &prompts->prompts[i], &options, &number, error);
    }
    return status;
}

static int take_steps(struct graft_sequences *sequences, struct graft_printer *printer, struct graft_error *error) {
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_sequences_count(sequences) > 0) {
        const struct graft_sequence_token *tokens = NULL;
        size_t n = 0;
        status = graft_sequences_step(sequences, &tokens, &n, error);
        for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
            status = graft_printer_add(printer, graft_struct_at(tokens, i), error);
        }
    }
    return status;
}

int graft_session_generate(const struct graft_options *options, struct graft_model *model,
                           const struct graft_prompts *prompts, const struct graft_generation *generation,
                           struct graft_printer *printer, struct graft_error *error) {
    struct graft_sequences *sequences = NULL;
    int status = check(generation, prompts, error);
    if (status == GRAFT_OK) {
        const struct graft_sequences_options wanted = {
            .struct_size = sizeof wanted,
            .max_running = (int32_t)(width(generation) * (int64_t)prompts->count) + 1, /* and the prefix */
            .piece_tokens = GRAFT_SESSION_PIECE,
            .step_tokens = INT32_MAX,
        };
        status = graft_sequences_create(model, &wanted, &sequences, error);
    }
    if (status == GRAFT_OK) {
        status = graft_session_begin(options, sequences, error);
    }
    if (status == GRAFT_OK) {
        status = add_prompts(sequences, prompts, generation, error);
    }
    if (status == GRAFT_OK) {
        status = take_steps(sequences, printer, error);
    }
    if (status == GRAFT_OK) {
        status = graft_session_end(options, sequences, error);
    }
    graft_sequences_free(sequences);
    return status;
}
