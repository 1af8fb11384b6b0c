/* SPDX-License-Identifier: Apache-2.0 */
/* `validate`: checks on a plugin's file, as TAP or JSON. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/sanitizer.h"
#include "cli/screen.h"
#include "cli/setup.h"
#include "graft/host/validate.h"

struct report {
    const struct graft_options *options;
    graft_json *checks; /* of --json */
    int made;
    int failed;
    int skipped;
    char *no_models; /* the reason why no check ran on a model; NULL if one did */
};

static int print_json(struct report *report, const struct graft_check_result *result, struct graft_error *error) {
    static const char *const words[] = {
        [GRAFT_CHECK_PASSED] = "passed", [GRAFT_CHECK_FAILED] = "failed", [GRAFT_CHECK_SKIPPED] = "skipped"};
    graft_json *object = graft_json_new_object();
    int failed = graft_json_set_take(object, "name", graft_json_new_string(result->info->name)) |
                 graft_json_set_take(object, "explanation", graft_json_new_string(result->info->explanation)) |
                 graft_json_set_take(object, "outcome", graft_json_new_string(words[result->outcome])) |
                 graft_json_set_take(object, "text", graft_json_new_string(result->text)) |
                 graft_json_set_take(object, "output", graft_json_new_string(result->output)) |
                 graft_json_set_take(object, "seconds", graft_json_new_real(result->seconds));
    failed |= graft_json_append_take(report->checks, object);
    return failed ? graft_fail_memory(error, "validate") : GRAFT_OK;
}

/* Prints what the plugin wrote to stderr, as TAP comments. */
static void print_output(const char *output) {
    while (*output != '\0') {
        const size_t length = strcspn(output, "\n");
        graft_output_line(stdout, "#   %.*s", (int)length, output);
        output += length + (output[length] == '\n');
    }
}

static int on_result(void *data, const struct graft_check_result *result, struct graft_error *error) {
    struct report *report = data;
    int failed = result->outcome == GRAFT_CHECK_FAILED;
    report->made++;
    report->failed += failed;
    report->skipped += result->outcome == GRAFT_CHECK_SKIPPED;
    if (result->outcome == GRAFT_CHECK_SKIPPED && strcmp(result->info->name, "build.describes") == 0) {
        graft_free(report->no_models);
        report->no_models = graft_strdup(result->text);
    }
    graft_screen_clear();
    if (report->checks != NULL) {
        return print_json(report, result, error);
    }
    if (failed || !report->options->quiet) {
        graft_output_line(stdout, "%s %d - %s: %s%s%s", failed ? "not ok" : "ok", report->made, result->info->name,
                          result->info->explanation, result->outcome == GRAFT_CHECK_SKIPPED ? " # SKIP " : "",
                          result->outcome == GRAFT_CHECK_SKIPPED ? result->text : "");
    }
    if (failed) {
        print_output(result->output);
        graft_output_line(stdout, "# %s: %s: %s", report->options->subject, result->info->name, result->text);
    } else if (result->outcome == GRAFT_CHECK_PASSED && result->text[0] != '\0' && !report->options->quiet) {
        graft_output_line(stdout, "# %s", result->text);
    }
    return graft_output_flush(stdout, error); /* a fork of this process must not print the line again */
}

static void on_progress(void *data, const struct graft_check_info *info, int32_t done, int32_t total) {
    (void)data;
    graft_screen_name(info->name);
    graft_screen_count(done, total, "checks");
    graft_screen_tick();
}

static int print_document(struct report *report, struct graft_error *error) {
    graft_json *document = graft_json_new_object();
    int failed = graft_json_set_take(document, "file", graft_json_new_string(report->options->subject)) |
                 graft_json_set_take(document, "failed", graft_json_new_int(report->failed)) |
                 graft_json_set_take(document, "skipped", graft_json_new_int(report->skipped));
    failed |= graft_json_set_take(document, "checks", report->checks);
    report->checks = NULL;
    int status = failed ? graft_fail_memory(error, "validate") : graft_output_json(document, stdout, 1, error);
    graft_json_free(document);
    return status;
}

/* Prints the number of checks passed. If no class of the plugin was built, says that this proves little. */
static void print_counts(const struct report *report) {
    if (!report->options->quiet || report->no_models != NULL) {
        graft_output_line(stdout, "# %d passed, %d failed, %d skipped%s%s%s",
                          report->made - report->failed - report->skipped, report->failed, report->skipped,
                          report->no_models != NULL ? ": " : "", report->no_models != NULL ? report->no_models : "",
                          report->no_models != NULL ? "; --model names one that meets its conditions" : "");
    }
}

static int list(struct graft_error *error) {
    const struct graft_check_info *info;
    for (size_t i = 0; (info = graft_check(i)) != NULL; i++) {
        (void)printf("%-26s %s\n", info->name, info->explanation);
    }
    return graft_output_flush(stdout, error);
}

static int make_checks(const struct graft_options *options, struct report *report, struct graft_error *error) {
    struct graft_check_options wanted = {.struct_size = sizeof wanted,
                                         .fuzz = options->fuzz,
                                         .thorough = options->thorough,
                                         .model = options->model,
                                         .only = options->only.items,
                                         .n_only = (int32_t)options->only.count,
                                         .on_progress = on_progress};
    struct graft_directories directories;
    int status = graft_setup_directories(&options->plugins_dirs, &directories, error);
    if (status == GRAFT_OK) {
        wanted.directories = directories.items;
        wanted.n_directories = (int32_t)directories.n;
        graft_screen_begin("checking", 0);
        status = graft_plugin_check(options->subject, &wanted, on_result, report, error);
        graft_screen_end();
    }
    graft_directories_finish(&directories);
    return status;
}

int graft_command_validate(const struct graft_options *options, struct graft_error *error) {
    struct report report = {.options = options};
    if (options->list) {
        return list(error);
    }
    graft_sanitizer_restart(options->subject);
    if (options->json && (report.checks = graft_json_new_array()) == NULL) {
        return graft_fail_memory(error, "validate");
    }
    int status = make_checks(options, &report, error);
    if (status == GRAFT_OK && options->json) {
        status = print_document(&report, error);
    } else if (status == GRAFT_OK) {
        print_counts(&report);
        (void)printf("1..%d\n", report.made);
        status = graft_output_flush(stdout, error);
    }
    graft_json_free(report.checks);
    graft_free(report.no_models);
    if (status == GRAFT_OK && report.failed > 0) {
        status = graft_error_set(error, GRAFT_ERROR_VERIFY, options->subject, "%d of %d checks failed", report.failed,
                                 report.made);
    }
    return status;
}
