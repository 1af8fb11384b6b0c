/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the file itself, and opens it. */
#include "plugin/loader.h"
#include "plugin/object_file.h"
#include "plugin/plugin_ref.h"
#include "plugin/trial.h"
#include "validate/exports.h"
#include "validate/validation.h"

static int check_file(struct graft_validation *validation, struct graft_error *error) {
    int has_entry = 0;
    if (graft_validation_is_family(validation)) {
        const struct graft_plugin *plugin = NULL;
        return graft_validation_descriptor(validation, &plugin, error);
    }
    int status = graft_object_file_check(validation->file, GRAFT_PLUGIN_ENTRY, &has_entry, error);
    return status == GRAFT_OK && !has_entry
               ? graft_validation_fault(validation, error, "it exports no %s", GRAFT_PLUGIN_ENTRY)
               : status;
}

static int check_exports(struct graft_validation *validation, struct graft_error *error) {
    char name[256];
    int status = graft_exported_beside(validation->file, GRAFT_PLUGIN_ENTRY, name, sizeof name, error);
    if (status == GRAFT_OK && name[0] != '\0') {
        status = graft_validation_fault(validation, error, "it also exports \"%s\"", name);
        graft_error_hint(error, "make it static, or build with -fvisibility=hidden");
    }
    return status;
}

static int open_object(const struct graft_validation *validation, struct graft_object **object,
                       struct graft_error *error) {
    int status = graft_object_open(validation->file, GRAFT_PLUGIN_ENTRY, object, error);
    return status == GRAFT_OK && *object == NULL
               ? graft_validation_fault(validation, error, "it exports no %s", GRAFT_PLUGIN_ENTRY)
               : status;
}

static int check_trial(struct graft_validation *validation, struct graft_error *error) {
    enum { LIMIT_MS = 10000 };
    struct graft_trial trial;
    graft_trial_make(validation->file, LIMIT_MS, &trial);
    return trial.verdict == GRAFT_TRIAL_REFUSED
               ? graft_validation_fault(validation, error, "when it was opened, it %s", trial.cause)
               : GRAFT_OK;
}

static int check_open(struct graft_validation *validation, struct graft_error *error) {
    struct graft_object *object = NULL;
    int status = open_object(validation, &object, error);
    graft_object_close(object);
    return status;
}

static int check_again(struct graft_validation *validation, struct graft_error *error) {
    enum { TIMES = 3 };
    int status = GRAFT_OK;
    for (int i = 0; i < TIMES && status == GRAFT_OK; i++) {
        status = check_open(validation, error);
    }
    return status;
}

const struct graft_validation_check graft_file_checks[] = {
    GRAFT_CHECK(
        "file.object",
        "is a shared object that nobody else may write to and that exports graft_plugin_entry, or a sound family file",
        check_file),
    GRAFT_OBJECT_CHECK("file.exports", "exports nothing but graft_plugin_entry", check_exports),
    GRAFT_OBJECT_CHECK("file.harmless",
                       "opening it harms no process: no crash, hang, exit, closed file, new limit or process",
                       check_trial),
    GRAFT_OBJECT_CHECK("file.opens", "opens, with all symbols and libraries that it needs", check_open),
    GRAFT_OBJECT_CHECK("file.reopens", "can be closed and opened again", check_again),
    {{0}, NULL, 0},
};
