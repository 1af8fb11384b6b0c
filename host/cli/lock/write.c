/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a lock. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/lock/lock.h"
#include "cli/report/report.h"
#include "graft/host/process.h"
#include "graft/option.h"

int graft_lock_hash_plan(const struct graft_model *model, char digits[GRAFT_SHA256_DIGITS + 1],
                         struct graft_error *error) {
    /* The members of a plan that are hashed. Paths of files, and totals over all parameters, are left out. */
    static const char *const keys[] = {"model_type",
                                       "model_type_by",
                                       "architecture",
                                       "modules",
                                       "parameters",
                                       "missing",
                                       "unexpected",
                                       "mismatched",
                                       "conversion_errors",
                                       "state_bytes",
                                       "fusion",
                                       "chains",
                                       "attention_implementation",
                                       "experts_implementation",
                                       "kernels"};
    struct graft_sha256 hash;
    graft_json *document = graft_report_json(model);
    int failed = document == NULL;
    graft_sha256_start(&hash);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !failed; i++) {
        char *text = graft_json_dump(graft_json_get(document, keys[i]), 0);
        failed = text == NULL;
        if (!failed) {
            graft_sha256_add(&hash, keys[i], strlen(keys[i]) + 1);
            graft_sha256_add(&hash, text, strlen(text) + 1);
        }
        graft_free(text);
    }
    graft_sha256_end(&hash, digits);
    graft_json_free(document);
    return failed ? graft_fail_memory(error, "--lock") : GRAFT_OK;
}

static graft_json *options_json(struct graft_writer *writer, const struct graft_plugin_info *plugin) {
    graft_json *options = graft_json_new_object();
    for (int32_t i = 0; i < plugin->descriptor->n_options; i++) {
        graft_writer_set_string(writer, options, graft_plugin_option(plugin->descriptor, i)->name, plugin->options[i]);
    }
    return options;
}

static int add_plugin(struct graft_writer *writer, graft_json *plugins, const struct graft_library *library, size_t i,
                      struct graft_error *error) {
    const struct graft_plugin_info *plugin = graft_library_plugin(library, i);
    char digits[GRAFT_SHA256_LENGTH + 1];
    graft_json *object = graft_json_new_object();
    int status = graft_library_plugin_sha256(library, i, digits, error);
    graft_writer_set_string(writer, object, "id", plugin->descriptor->id);
    graft_writer_set_string(writer, object, "version", plugin->descriptor->version);
    graft_writer_set_string(writer, object, "file", graft_path_name(plugin->file));
    graft_writer_set_string(writer, object, "sha256", digits);
    graft_writer_set(writer, object, "options", options_json(writer, plugin));
    graft_writer_append(writer, plugins, object);
    return status;
}

static int write_document(const char *path, const graft_json *document, struct graft_error *error) {
    char *text = graft_json_dump(document, 1);
    if (text == NULL) {
        return graft_fail_memory(error, path);
    }
    const struct graft_file_piece pieces[] = {{text, strlen(text)}, {"\n", 1}};
    int status = graft_file_write(path, pieces, 2, error);
    graft_free(text);
    return status;
}

int graft_lock_write(const struct graft_options *options, const struct graft_model *model,
                     const struct graft_library *library, struct graft_error *error) {
    char digits[GRAFT_SHA256_DIGITS + 1];
    struct graft_writer writer = {0};
    int status = graft_lock_hash_plan(model, digits, error);
    if (status != GRAFT_OK) {
        return status;
    }
    graft_json *document = graft_json_new_object();
    graft_json *plugins = graft_json_new_array();
    graft_json *plan = graft_json_new_object();
    for (size_t i = 0; graft_library_plugin(library, i) != NULL && status == GRAFT_OK; i++) {
        status = add_plugin(&writer, plugins, library, i, error);
    }
    graft_writer_set_string(&writer, plan, "sha256", digits);
    graft_writer_set_int(&writer, document, "graft_lock", GRAFT_LOCK_VERSION);
    graft_writer_set_string(&writer, document, "host", GRAFT_VERSION);
    graft_writer_set(&writer, document, "options", graft_options_locked(options));
    graft_writer_set(&writer, document, "plugins", plugins);
    graft_writer_set(&writer, document, "plan", plan);
    if (status == GRAFT_OK) {
        status =
            writer.failed ? graft_fail_memory(error, options->lock) : write_document(options->lock, document, error);
    }
    graft_json_free(document);
    return status;
}
