/* SPDX-License-Identifier: Apache-2.0 */
/* The path of the data: options, plugins, registries, module tree and plan, bound weights, and the command. */
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/lock/lock.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/report/ranks.h"
#include "cli/screen.h"
#include "cli/setup.h"
#include "cli/standard_input.h"
#include "graft/host/process.h"

/* A model was loaded: it is run, compared, or measured. */
static int with_loaded(const struct graft_options *options, const struct graft_library *library,
                       struct graft_model *model, struct graft_error *error) {
    switch (options->command) {
    case GRAFT_COMMAND_VERIFY:
        return graft_command_verify(options, model, library, error);
    case GRAFT_COMMAND_BENCH:
        return graft_command_bench(options, model, error);
    default:
        break;
    }
    int status = graft_setup_report(options, model, library, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_watch *watch = NULL;
    status = graft_setup_watch(options, model, &watch, error);
    if (status == GRAFT_OK) {
        status = options->command == GRAFT_COMMAND_PERPLEXITY ? graft_command_perplexity(options, model, error)
                 : options->command == GRAFT_COMMAND_CHAT     ? graft_command_chat(options, model, library, error)
                 : options->command == GRAFT_COMMAND_SERVE    ? graft_command_serve(options, model, error)
                                                              : graft_command_run(options, model, error);
    }
    status = graft_setup_unwatch(watch, status, error);
    return status == GRAFT_OK ? graft_report_ranks(options, model, error) : status;
}

/* A model is opened (everything is decided), then loaded (weights bound, modules made). */
static int with_model(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    struct graft_model *model = NULL;
    graft_screen_begin("planning", 0);
    int status = graft_setup_model(options, library, &model, error);
    if (status == GRAFT_OK) {
        status = graft_parallel_agree_model(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_setup_fuse(options, model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_lock_check_plan(options, model, library, error);
    }
    graft_screen_end();
    if (status == GRAFT_OK && options->command == GRAFT_COMMAND_PLAN) {
        status = graft_parallel_get()->rank > 0 ? GRAFT_OK : graft_command_plan(options, model, library, error);
    } else if (status == GRAFT_OK && options->command == GRAFT_COMMAND_SAVE) {
        status = graft_command_save(options, model, error);
    } else if (status == GRAFT_OK) {
        graft_screen_begin("loading", GRAFT_PROGRESS_LOAD);
        status = graft_model_load(model, error);
        graft_screen_end();
        if (status == GRAFT_OK) {
            status = with_loaded(options, library, model, error);
        }
    }
    graft_model_free(model);
    return status;
}

static int with_library(const struct graft_options *options, struct graft_error *error) {
    struct graft_library *library = NULL;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        graft_screen_begin("trying plugins", 0);
        status = graft_setup_plugins(options, library, error);
        graft_screen_end();
        status = graft_lock_check_plugins(options, library, status, error);
    }
    if (status == GRAFT_OK) {
        status = graft_setup_agree_plugins(library, error);
    }
    if (status == GRAFT_OK && options->command == GRAFT_COMMAND_LIST) {
        status = graft_command_list(options, library, error);
    } else if (status == GRAFT_OK && options->command == GRAFT_COMMAND_INSPECT) {
        status = graft_command_inspect(options, library, error);
    } else if (status == GRAFT_OK && options->command == GRAFT_COMMAND_NEW) {
        status = graft_command_new(options, library, error);
    } else if (status == GRAFT_OK) {
        status = with_model(options, library, error);
    }
    graft_library_free(library);
    return status;
}

static int run(struct graft_options *options, struct graft_error *error) {
    if (options->help) {
        graft_usage_print(options);
        return graft_output_flush(stdout, error);
    }
    if (options->list_options) {
        graft_options_print(options->command);
        return graft_output_flush(stdout, error);
    }
    if (options->version) {
        (void)printf("graft %s (plugin ABI %d.%d)\n", GRAFT_VERSION, GRAFT_ABI_MAJOR, GRAFT_ABI_MINOR);
        return graft_output_flush(stdout, error);
    }
    if (options->command == GRAFT_COMMAND_TRY) {
        return graft_command_try(options, error);
    }
    if (options->command == GRAFT_COMMAND_INSTALL) {
        graft_screen_open_threadless(options);
        return graft_command_install(options, error);
    }
    if (options->command == GRAFT_COMMAND_COMPARE_HF) {
        return graft_command_compare_hf(options, error);
    }
    if (options->command == GRAFT_COMMAND_REMOVE) {
        return graft_command_remove(options, error);
    }
    if (options->installed) {
        return graft_command_list_installed(options, error);
    }
    if (options->command == GRAFT_COMMAND_VALIDATE) {
        graft_screen_open_threadless(options);
        int found = graft_setup_find_models(options, error);
        return found == GRAFT_OK ? graft_command_validate(options, error) : found;
    }
    int status = graft_setup_process(options, error);
    if (status == GRAFT_OK && options->command == GRAFT_COMMAND_PACK) {
        return graft_command_pack(options, error);
    }
    if (status == GRAFT_OK) {
        status = graft_lock_read(options, error);
    }
    if (status == GRAFT_OK) {
        status = graft_setup_parallel(options, error);
    }
    if (status == GRAFT_OK) {
        graft_screen_open(options);
        status = graft_setup_find_models(options, error);
    }
    if (status == GRAFT_OK && graft_parallel_get()->rank == 0) { /* rank 0 reads prompts for all processes */
        status = graft_standard_input_take(options, error);
    }
    if (status == GRAFT_OK && options->command == GRAFT_COMMAND_FAMILY) {
        return graft_command_family(options, error);
    }
    if (status == GRAFT_OK) {
        status = options->command == GRAFT_COMMAND_TOKENIZE ? graft_command_tokenize(options, error)
                                                            : with_library(options, error);
    }
    return status;
}

int main(int argc, char **argv) {
    struct graft_options options;
    struct graft_error error = graft_error_none();
    graft_program_set_name(argc > 0 ? argv[0] : NULL);
    graft_watch_crashes(graft_program_name());
    (void)graft_watch_exit(graft_program_name());
    int status = graft_options_parse(argc, argv, &options, &error);
    graft_program_ignore_signals(options.parallel != NULL);
    if (status == GRAFT_OK) {
        status = run(&options, &error);
    }
    graft_screen_close();
    graft_expect_exit();
    if (status == GRAFT_OK) {
        status = graft_output_flush(stdout, &error);
    }
    if (status == GRAFT_OK) {
        graft_parallel_stop();
    } else {
        graft_setup_claim_abort();
        graft_output_error(&error);
        graft_setup_fail_together(status);
    }
    graft_lock_free(options.locked);
    graft_options_finish(&options);
    return status;
}
