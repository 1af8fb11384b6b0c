/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/setup.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "cli/hub.h"
#include "cli/lock/lock.h"
#include "cli/output.h"
#include "cli/package/package.h"
#include "cli/program.h"
#include "cli/report/fields.h"
#include "cli/report/report.h"
#include "cli/screen.h"
#include "graft/host/process.h"
#include "graft/host/validate.h"

static void print_log(void *data, const char *sender, const char *text) {
    (void)data;
    graft_screen_clear();
    (void)fprintf(stderr, "%s: %s\n", sender, text);
}

int graft_setup_find_models(struct graft_options *options, struct graft_error *error) {
    int status = GRAFT_OK;
    if (options->model != NULL) {
        status = graft_hub_find(options->model, &options->found_model, error);
        options->model = options->found_model;
    }
    if (status == GRAFT_OK && options->against != NULL) {
        status = graft_hub_find(options->against, &options->found_against, error);
        options->against = options->found_against;
    }
    return status;
}

/* Lets the library try plugins by running this program's `try`. */
static int set_trials(const struct graft_options *options, struct graft_error *error) {
    char *path = NULL;
    int status = graft_program_path(&path, error);
    if (status == GRAFT_OK && graft_trials_set_program(path, options->rescan) != GRAFT_OK) {
        status = graft_fail_memory(error, "plugins");
    }
    graft_free(path);
    return status;
}

int graft_setup_process(const struct graft_options *options, struct graft_error *error) {
    enum { MAX_THREADS = 1024 };
    graft_threads_set_count(options->threads < MAX_THREADS ? (int32_t)options->threads : MAX_THREADS);
    if (!options->quiet) {
        graft_log_set_sink(print_log, NULL);
    }
    return set_trials(options, error);
}

/* Cuts "a,b,c" in place; the caller frees `*items`, not what they point to. */
static int split(char *list, const char ***items, int32_t *n) {
    size_t commas = 0;
    for (const char *at = list; *at != '\0'; at++) {
        commas += *at == ',';
    }
    *n = 0;
    *items = graft_alloc(commas + 1, sizeof **items);
    if (*items == NULL) {
        return -1;
    }
    for (char *at = list; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) {
            *comma++ = '\0';
        }
        (*items)[(*n)++] = at;
        at = comma;
    }
    return 0;
}

/* Finds what "default" stands for. It is an error if neither folder is there. */
static int find_default(struct graft_directories *directories, struct graft_error *error) {
    struct graft_error missing = graft_error_none();
    directories->users = graft_program_user_plugins_dir();
    if (directories->users != NULL && !graft_file_exists(directories->users)) {
        graft_free(directories->users);
        directories->users = NULL;
    }
    const int may_miss = directories->users != NULL;
    return graft_program_plugins_dir(&directories->installed, may_miss ? &missing : error) == GRAFT_OK || may_miss
               ? GRAFT_OK
               : error->code;
}

int graft_setup_directories(const struct graft_strings *given, struct graft_directories *directories,
                            struct graft_error *error) {
    int status = GRAFT_OK;
    *directories = (struct graft_directories){.items = graft_alloc(given->count + 2, sizeof *directories->items)};
    if (directories->items == NULL) {
        return graft_fail_memory(error, "--plugins-dir");
    }
    for (size_t i = 0; i < given->count && status == GRAFT_OK; i++) {
        if (strcmp(given->items[i], "default") != 0) {
            directories->items[directories->n++] = given->items[i];
        } else if (directories->installed == NULL && directories->users == NULL) {
            status = find_default(directories, error);
            if (status == GRAFT_OK && directories->installed != NULL) {
                directories->items[directories->n++] = directories->installed;
            }
            if (status == GRAFT_OK && directories->users != NULL) {
                directories->items[directories->n++] = directories->users;
            }
        }
    }
    return status;
}

void graft_directories_finish(struct graft_directories *directories) {
    graft_free(directories->users);
    graft_free(directories->installed);
    graft_free(directories->items);
    *directories = (struct graft_directories){0};
}

int graft_setup_plugin(const struct graft_options *options, const char *file, struct graft_library *library,
                       struct graft_error *error) {
    struct graft_library_options wanted = {.struct_size = sizeof wanted,
                                           .skip_bad_plugins = options->skip_bad_plugins,
                                           .inspect_only = options->model == NULL,
                                           .plugin_options = options->plugin_options.items,
                                           .n_plugin_options = (int32_t)options->plugin_options.count};
    struct graft_directories directories;
    int status = graft_setup_directories(&options->plugins_dirs, &directories, error);
    if (status == GRAFT_OK && !options->no_plugins) {
        wanted.directories = directories.items;
        wanted.n_directories = (int32_t)directories.n;
        status = package_check_pins(directories.items, directories.n, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_library_load_plugin(library, file, &wanted, error);
    }
    graft_directories_finish(&directories);
    return status;
}

int graft_setup_plugins(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    struct graft_library_options wanted = {.struct_size = sizeof wanted,
                                           .skip_bad_plugins = options->skip_bad_plugins,
                                           .plugin_options = options->plugin_options.items,
                                           .n_plugin_options = (int32_t)options->plugin_options.count,
                                           .on_file = options->locked != NULL ? graft_lock_on_file : NULL,
                                           .on_file_data = options->locked};
    char *list = NULL;
    const char **allow = NULL;
    if (options->no_plugins || options->plugins_dirs.count == 0 || graft_options_name_file(options)) {
        return GRAFT_OK;
    }
    if (options->plugins != NULL) {
        list = graft_strdup(options->plugins);
        if (list == NULL || split(list, &allow, &wanted.n_allow) != 0) {
            graft_free(list);
            return graft_fail_memory(error, "--plugins");
        }
        wanted.allow = allow;
    } else if (options->enabled.count > 0) {
        wanted.allow = options->enabled.items;
        wanted.n_allow = (int32_t)options->enabled.count;
        wanted.with_others = 1;
    }
    struct graft_directories directories;
    int status = graft_setup_directories(&options->plugins_dirs, &directories, error);
    if (status == GRAFT_OK) {
        status = package_check_pins(directories.items, directories.n, options->plugins, error);
    }
    if (status == GRAFT_OK) {
        status = graft_library_load_plugins(library, directories.items, (int32_t)directories.n, &wanted, error);
    }
    graft_directories_finish(&directories);
    graft_free(allow);
    graft_free(list);
    return status;
}

/* Makes the fusion_config of the options as `*text`, which the caller frees; NULL if none is asked for. */
static int make_fusion_config(const struct graft_options *options, char **text, struct graft_error *error) {
    graft_json *object = graft_json_new_object();
    int failed = object == NULL;
    *text = NULL;
    for (size_t i = 0; i < options->fusion.count; i++) {
        failed |= graft_json_set_take(object, options->fusion.items[i], graft_json_new_bool(1)) != 0;
    }
    if (!failed && options->fusion_config != NULL) {
        failed = (*text = graft_strdup(options->fusion_config)) == NULL;
    } else if (!failed && options->fusion.count > 0) {
        failed = (*text = graft_json_dump(object, 0)) == NULL;
    }
    graft_json_free(object);
    return failed ? graft_fail_memory(error, "--fusion") : GRAFT_OK;
}

static int32_t precision_of(const char *dtype) {
    return strcmp(dtype, "float32") == 0    ? GRAFT_PRECISION_FLOAT32
           : strcmp(dtype, "bfloat16") == 0 ? GRAFT_PRECISION_BFLOAT16
                                            : GRAFT_PRECISION_AUTO;
}

static int open_model(const struct graft_options *options, struct graft_library *library, int32_t without_replacements,
                      struct graft_model **model, struct graft_error *error) {
    struct graft_model_options wanted = {.struct_size = sizeof wanted,
                                         .precision = precision_of(options->dtype),
                                         .kv_cache = precision_of(options->kv_cache_dtype),
                                         .without_replacements = without_replacements,
                                         .quantize = options->quantize,
                                         .dequantize = options->dequantize};
    char *fusion_config = NULL;
    char *kernels = NULL;
    const char **kernel_names = NULL;
    struct graft_adapter_options *adapters = NULL;
    int status = make_fusion_config(options, &fusion_config, error);
    if (status == GRAFT_OK && options->kernels != NULL &&
        ((kernels = graft_strdup(options->kernels)) == NULL || split(kernels, &kernel_names, &wanted.n_kernels) != 0)) {
        status = graft_fail_memory(error, "--kernels");
    }
    if (status == GRAFT_OK) {
        status = graft_setup_adapters(options, &adapters, error);
    }
    if (status == GRAFT_OK) {
        wanted.adapters = adapters;
        wanted.n_adapters = (int32_t)options->adapters.count;
        wanted.adapter_stride = sizeof *adapters;
        wanted.fusion_config = fusion_config;
        wanted.patch_file = options->patch;
        wanted.attn_implementation = options->attn_implementation;
        wanted.experts_implementation = options->experts_implementation;
        wanted.kernels = kernel_names;
        wanted.ignored_fields = options->ignored_fields.items;
        wanted.n_ignored_fields = (int32_t)options->ignored_fields.count;
        wanted.ignored_may_lack = options->against != NULL && options->model == options->against;
        status = graft_model_open(library, options->model, &wanted, model, error);
    }
    graft_setup_adapters_free(adapters, options->adapters.count);
    graft_free(kernel_names);
    graft_free(kernels);
    graft_free(fusion_config);
    return status == GRAFT_OK && options->strict ? graft_model_check_strict(*model, error) : status;
}

int graft_setup_model(const struct graft_options *options, struct graft_library *library, struct graft_model **model,
                      struct graft_error *error) {
    static const int without_report = GRAFT_COMMAND_VERIFY | GRAFT_COMMAND_BENCH | GRAFT_COMMAND_SAVE;
    int status = open_model(options, library, 0, model, error);
    return status == GRAFT_OK && ((int)options->command & without_report) != 0 && !options->quiet
               ? graft_report_fields_text(*model, "note: ", stderr, error)
               : status;
}

int graft_setup_original(const struct graft_options *options, struct graft_library **library,
                         struct graft_model **model, struct graft_error *error) {
    struct graft_options usual = *options;
    usual.attn_implementation = NULL;
    usual.experts_implementation = NULL;
    usual.kernels = NULL;
    usual.adapters = (struct graft_strings){0};
    usual.adapter_scales = (struct graft_strings){0};
    usual.quantize = NULL; /* the original keeps the weights of the files, which shows what quantizing costs */
    usual.dequantize = 0;
    if (options->against != NULL) {
        usual.model = options->against;
        usual.patch = NULL;
    }
    int status = graft_library_create(library, error);
    if (status == GRAFT_OK) {
        status = graft_setup_plugins(options, *library, error);
    }
    return status == GRAFT_OK ? open_model(&usual, *library, 1, model, error) : status;
}

int graft_setup_replaces(const struct graft_model *model, const struct graft_model *original) {
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        const char *class_name = graft_model_class_at(original, module->path);
        if (module->original_class != NULL && (class_name == NULL || strcmp(module->class_name, class_name) != 0)) {
            return 1;
        }
    }
    return 0;
}

int graft_setup_report(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error) {
    if (options->quiet || strcmp(options->report, "none") == 0) {
        return GRAFT_OK;
    }
    int is_full = strcmp(options->report, "full") == 0;
    if (is_full || strcmp(options->report, "text") == 0) {
        /* With --plugins the user chose the plugins, so notes name those that are unused; otherwise they are only
         * counted. */
        int brief = !is_full && options->plugins == NULL;
        int status = graft_report_text(model, library, brief, stderr, error);
        return status == GRAFT_OK && options->sha256 ? graft_report_sha256(library, stderr, error) : status;
    }
    graft_json *document = graft_report_json(model);
    int status = document != NULL ? graft_output_json(document, stderr, 1, error) : graft_fail_memory(error, "report");
    graft_json_free(document);
    return status;
}
