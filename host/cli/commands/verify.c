/* SPDX-License-Identifier: Apache-2.0 */
/* `verify`: the model with and without replacements, or two checkpoints, module by module and end to end. */
#include "cli/commands/verify.h"
#include "cli/generation.h"
#include "cli/images.h"
#include "cli/open_tokenizer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/prompts.h"
#include "cli/report/implementations.h"
#include "cli/report/report.h"
#include "cli/sample_ids.h"
#include "cli/screen.h"
#include "cli/setup.h"
#include "graft/host/process.h"

enum { DEFAULT_PROMPT = 16, DEFAULT_NEW_TOKENS = 16 };

int graft_verify_original(int status, const struct graft_error *failure, struct graft_error *error) {
    if (status != GRAFT_OK) {
        (void)graft_error_set(error, status, failure->source, "the original model, without replacements, fails: %s",
                              failure->message);
        graft_error_hint(error, "%s", failure->hint);
    }
    return status;
}

static size_t count_tokens(const struct graft_prompts *prompts) {
    size_t tokens = 0;
    for (size_t i = 0; i < prompts->count; i++) {
        tokens += prompts->prompts[i].count;
    }
    return tokens;
}

/* Compares the logits of both models at every position of the prompts. */
static int compare_logits(struct graft_verification *run, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    size_t tokens = count_tokens(&run->prompts);
    size_t vocab_size = (size_t)graft_model_vocab_size(run->model);
    float *logits = graft_alloc(tokens, vocab_size * sizeof *logits);
    float *original = graft_alloc(tokens, vocab_size * sizeof *original);
    int status = logits == NULL || original == NULL ? graft_fail_memory(error, "verify") : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_model_logits(run->model, run->prompts.prompts, run->prompts.count, logits, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_logits(run->original, run->prompts.prompts, run->prompts.count, original, &failure);
        status = graft_verify_original(status, &failure, error);
    }
    if (status == GRAFT_OK) {
        graft_difference_add(&run->logits, logits, original, (int64_t)(tokens * vocab_size));
        run->positions = (int64_t)tokens;
    }
    graft_free(logits);
    graft_free(original);
    return status;
}

static int on_token(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    struct graft_ids *ids = data;
    (void)last;
    graft_ids_add(&ids[sequence], id);
    return ids[sequence].failed ? graft_fail_memory(error, "verify") : GRAFT_OK;
}

/* Compares the greedy continuations of both models. */
static int compare_greedy(struct graft_verification *run, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    const struct graft_generation generation = graft_generation_plain(run->new_tokens);
    size_t n = run->prompts.count;
    run->ids = graft_alloc(n, sizeof *run->ids);
    run->original_ids = graft_alloc(n, sizeof *run->original_ids);
    if (run->ids == NULL || run->original_ids == NULL) {
        return graft_fail_memory(error, "verify");
    }
    int status = graft_model_generate(run->model, run->prompts.prompts, n, &generation, on_token, run->ids, error);
    if (status == GRAFT_OK) {
        status = graft_model_generate(run->original, run->prompts.prompts, n, &generation, on_token, run->original_ids,
                                      &failure);
        status = graft_verify_original(status, &failure, error);
    }
    run->same_ids = status == GRAFT_OK;
    for (size_t i = 0; i < n && run->same_ids; i++) {
        run->same_ids = run->ids[i].n == run->original_ids[i].n &&
                        memcmp(run->ids[i].ids, run->original_ids[i].ids, run->ids[i].n * sizeof(int32_t)) == 0;
    }
    return status;
}

static int compare(struct graft_verification *run, struct graft_error *error) {
    int status = graft_model_compare(run->model, run->original, (int32_t)run->prompts.count, &run->modules, error);
    graft_screen_begin("comparing the prompt", 0);
    if (status == GRAFT_OK) {
        status = graft_verification_generates(run) ? compare_logits(run, error) : graft_verify_encoder(run, error);
    }
    if (status == GRAFT_OK && run->new_tokens > 0 && graft_verification_generates(run)) {
        graft_screen_begin("comparing new tokens", 0);
        status = compare_greedy(run, error);
    }
    graft_screen_end();
    return status;
}

/* Reads the prompts of the command line, or makes one of sample ids. */
static int read_prompts(const struct graft_options *options, struct graft_verification *run,
                        struct graft_error *error) {
    struct graft_tokenizer *tokenizer = NULL;
    size_t texts = options->prompts.count + options->prompt_files.count;
    int status = texts > 0 ? graft_open_tokenizer(options, &tokenizer, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_prompts_read(options, run->model, tokenizer, &run->prompts, error);
    }
    if (status == GRAFT_OK) {
        status = graft_images_place(options, run->model, tokenizer, &run->prompts, error);
    }
    graft_tokenizer_free(tokenizer);
    if (status == GRAFT_OK && run->prompts.count == 0) {
        run->sample = graft_sample_ids(DEFAULT_PROMPT, run->model);
        if (run->sample == NULL) {
            return graft_fail_memory(error, "verify");
        }
        run->prompts.prompts[0] = (struct graft_prompt){
            .struct_size = sizeof(struct graft_prompt), .ids = run->sample, .count = DEFAULT_PROMPT};
        run->prompts.count = 1;
    }
    return status;
}

/* The module whose output differs most; NULL if none differs. */
static const struct graft_compared *find_worst(const struct graft_comparison *modules) {
    const struct graft_compared *module;
    const struct graft_compared *worst = NULL;
    for (size_t i = 0; (module = graft_comparison_at(modules, i)) != NULL; i++) {
        if (module->outputs.difference > (worst != NULL ? worst->outputs.difference : 0.0)) {
            worst = module;
        }
    }
    return worst;
}

static int judge(const struct graft_verification *run, struct graft_error *error) {
    const struct graft_compared *worst = find_worst(run->modules);
    if (graft_verification_passed(run)) {
        return GRAFT_OK;
    }
    const char *ids = !graft_verification_generates(run) ? ""
                      : run->same_ids                    ? ", greedy ids are equal"
                                                         : ", greedy ids differ";
    char allowed[64] = "";
    if (run->tolerance >= 0.0) {
        (void)snprintf(allowed, sizeof allowed, " (at most %.3g allowed)", graft_verification_limit(run));
    }
    (void)graft_error_set(error, GRAFT_ERROR_VERIFY, graft_model_plan(run->model)->directory,
                          "%s differ: %s by %.3g%s%s", run->against ? "the two checkpoints" : "replaced and original",
                          graft_verification_outputs(run), run->logits.difference, allowed, ids);
    if (worst != NULL) {
        const struct graft_named_module *module = worst->module;
        const char *by = module->plugin != NULL ? " by " : "", *plugin = module->plugin != NULL ? module->plugin : "";
        graft_error_hint(error, "the output of %s (%s%s%s) differs most from that of %s, by %.3g, on the same input",
                         module->path, module->class_name, by, plugin,
                         graft_model_class_at(run->original, module->path), worst->outputs.difference);
    }
    return GRAFT_ERROR_VERIFY;
}

/* Requires that something is replaced, since a model always agrees with itself. */
static int check_replaced(const struct graft_options *options, const struct graft_verification *run,
                          const struct graft_library *library, struct graft_error *error) {
    const struct graft_model *model = run->model;
    if (run->against != NULL || graft_model_chain(model, 0) != NULL ||
        !graft_model_implementation(model, GRAFT_IMPLEMENTATION_ATTENTION)->is_default ||
        !graft_model_implementation(model, GRAFT_IMPLEMENTATION_EXPERTS)->is_default ||
        graft_setup_replaces(model, run->original)) {
        return GRAFT_OK;
    }
    if (!options->quiet) {
        graft_report_notes(model, library, stderr);
    }
    const char *family = graft_model_plan(model)->plugin;
    (void)graft_error_set(error, GRAFT_ERROR_VERIFY, options->model,
                          "nothing is replaced, fused or chosen in this model, so there is nothing to compare%s%s%s",
                          family != NULL ? "; plugin " : "", family != NULL ? family : "",
                          family != NULL ? " brings its type and replaces nothing" : "");
    if (family != NULL) {
        graft_error_hint(error, "compare what run --logits FILE --dtype float32 writes with another implementation");
    } else {
        graft_error_hint(error,
                         "--against DIR compares with another checkpoint; %s list --plugins-dir DIR shows what each "
                         "plugin replaces",
                         graft_program_name());
    }
    return GRAFT_ERROR_VERIFY;
}

/* Opens the original: the model, or that of --against, without replacements, fusion, or implementations chosen by
 * name. */
static int open_original(const struct graft_options *options, struct graft_verification *run,
                         struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    struct graft_options unfused = *options;
    unfused.fusion.count = 0;
    unfused.fusion_config = "{}";
    int status = graft_setup_original(&unfused, &run->plain, &run->original, &failure);
    if (status == GRAFT_OK) {
        graft_screen_begin("loading the original", GRAFT_PROGRESS_LOAD);
        status = graft_model_load(run->original, &failure);
        graft_screen_end();
    }
    return graft_verify_original(status, &failure, error);
}

static int run_verification(const struct graft_options *options, struct graft_verification *run,
                            const struct graft_library *library, struct graft_error *error) {
    int status = open_original(options, run, error);
    if (status == GRAFT_OK) {
        status = check_replaced(options, run, library, error);
    }
    if (status == GRAFT_OK) {
        status = read_prompts(options, run, error);
    }
    if (status == GRAFT_OK) {
        status = compare(run, error);
    }
    if (status == GRAFT_OK) {
        status = graft_verify_report(options, run, error);
    }
    return status == GRAFT_OK ? judge(run, error) : status;
}

static void free_ids(struct graft_ids *ids, size_t n) {
    for (size_t i = 0; ids != NULL && i < n; i++) {
        graft_ids_free(&ids[i]);
    }
    graft_free(ids);
}

static void finish(struct graft_verification *run) {
    free_ids(run->ids, run->prompts.count);
    free_ids(run->original_ids, run->prompts.count);
    graft_comparison_free(run->modules);
    graft_prompts_finish(&run->prompts);
    graft_free(run->sample);
    graft_model_free(run->original);
    graft_library_free(run->plain);
}

int graft_command_verify(const struct graft_options *options, struct graft_model *model,
                         const struct graft_library *library, struct graft_error *error) {
    int is_float32 = strcmp(options->dtype, "float32") == 0;
    struct graft_verification run = {
        .model = model,
        .against = options->against,
        .new_tokens = options->max_new_tokens >= 0 ? options->max_new_tokens : DEFAULT_NEW_TOKENS,
        .tolerance = options->tolerance >= 0.0 || !is_float32 ? options->tolerance : GRAFT_VERIFY_TOLERANCE,
        .same_ids = 1,
    };
    int status = run_verification(options, &run, library, error);
    finish(&run);
    return status;
}
