/* SPDX-License-Identifier: Apache-2.0 */
/* `new plugin`: writes a plugin project whose class replaces another one. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/folder.h"
#include "cli/author/project.h"
#include "cli/commands/commands.h"
#include "cli/program.h"

static int usage(struct graft_error *error, const char *source, const char *what) {
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, source, "%s", what);
    graft_error_hint(error, "%s new plugin --class CLASS [--lang c|cpp|rust] [--model DIR] DIR", graft_program_name());
    return GRAFT_ERROR_USAGE;
}

static int find_language(const char *name, enum author_language *language) {
    static const char *const names[] = {[AUTHOR_C] = "c", [AUTHOR_CPP] = "cpp", [AUTHOR_RUST] = "rust"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *language = (enum author_language)i;
            return 1;
        }
    }
    return 0;
}

/* The plugin's id from the folder's name: "acme_mlp" for "work/acme-mlp/". NULL if memory ran out; "" if it makes no
 * id. */
static char *make_id(const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    char *path = graft_strndup(folder, length);
    char *id = path != NULL ? graft_strdup(graft_path_name(path)) : NULL;
    graft_free(path);
    for (char *at = id; at != NULL && *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
        if (!(*at >= 'a' && *at <= 'z') && (at == id || (!(*at >= '0' && *at <= '9') && *at != '_'))) {
            id[0] = '\0';
            break;
        }
    }
    return id;
}

/* Checks what Rust needs besides: a trait for the interface, and the crate. */
static int check_rust(const struct author_subject *subject, const char *crate, struct graft_error *error) {
    const char *trait = NULL;
    if (!author_rust_trait(subject->interface, &trait)) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, subject->cls->name,
                              "the crate has traits for classes of graft.mlp/1, graft.linear/1, graft.norm/1, "
                              "graft.activation/1 and graft.self_attention/1, not of %s",
                              subject->interface->id);
        graft_error_hint(error, "use --lang c or --lang cpp");
        return GRAFT_ERROR_USAGE;
    }
    return crate != NULL
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "--lang rust",
                                 "the crate of the SDK is not installed: expected the folder " GRAFT_DATA_DIR "/rust");
}

static int check_class_name(const struct graft_options *options, struct graft_library *library, const char *id,
                            struct graft_error *error) {
    struct graft_text name = {0};
    const struct graft_class *taken = NULL;
    author_class_name(&name, id);
    int status = name.failed ? graft_fail_memory(error, id) : GRAFT_OK;
    if (status == GRAFT_OK && graft_library_find_class(library, name.bytes, &taken, NULL) == GRAFT_OK) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, options->files.items[0],
                                 "its class would be called %s, which there is already: give the folder another name",
                                 name.bytes);
    }
    graft_text_free(&name);
    return status;
}

/* Prints the next steps. */
static void report(const struct author_project *project, const char *folder) {
    (void)printf("%s: a plugin with %s in the place of %s; next: make -C %s check\n", folder,
                 author_is_gated_mlp(project->subject) ? "an MLP of its own" : "a class that calls the original",
                 project->subject->cls->name, folder);
}

static int write_project(const struct graft_options *options, struct graft_library *library,
                         struct author_project *project, const char *tiny, struct graft_error *error) {
    const char *folder = options->files.items[0];
    struct author_subject subject;
    char *crate = project->language == AUTHOR_RUST ? graft_program_crate() : NULL;
    char model[PATH_MAX] = "model";
    int status = author_subject_find(options, library, options->class_name, tiny, &subject, error);
    project->subject = &subject;
    project->model = model;
    project->crate = crate;
    if (status == GRAFT_OK && options->model != NULL && realpath(options->model, model) == NULL) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, options->model, "cannot be found", errno);
    }
    if (status == GRAFT_OK && strpbrk(model, " \t$#'\"\\") != NULL) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, model,
                                 "expected a path that a makefile can hold: without spaces, quotes, $, # and \\");
    }
    if (status == GRAFT_OK && project->language == AUTHOR_RUST) {
        status = check_rust(&subject, crate, error);
    }
    if (status == GRAFT_OK) {
        status = author_project_write(project, folder, error);
    }
    if (status == GRAFT_OK && !options->quiet) {
        report(project, folder);
    }
    author_subject_finish(&subject);
    graft_free(crate);
    return status;
}

static int make_project(const struct graft_options *options, struct graft_library *library,
                        struct author_project *project, struct graft_error *error) {
    const char *folder = options->files.items[0];
    char *tiny = graft_path_join(folder, "model");
    if (tiny == NULL) {
        return graft_fail_memory(error, folder);
    }
    int failed = graft_disk_make_folder(folder);
    if (failed != 0) {
        graft_free(tiny);
        return failed == EEXIST
                   ? graft_error_set(error, GRAFT_ERROR_USAGE, folder, "exists already: expected a new folder")
                   : graft_fail_errno(error, GRAFT_ERROR_IO, folder, "cannot be made", failed);
    }
    int status = write_project(options, library, project, tiny, error);
    if (status != GRAFT_OK) {
        graft_folder_remove(tiny);
        (void)rmdir(folder);
    }
    graft_free(tiny);
    return status;
}

int graft_command_new(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    struct author_project project = {.language = AUTHOR_C};
    if (options->subject != NULL && strcmp(options->subject, "family") == 0) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, "new family", "expected `plugin` and a new folder");
        graft_error_hint(error, "did you mean `%s family new`?", graft_program_name());
        return GRAFT_ERROR_USAGE;
    }
    if (options->subject == NULL || strcmp(options->subject, "plugin") != 0 || options->files.count != 1) {
        return usage(error, "new", "expected `plugin` and a new folder");
    }
    if (options->class_name == NULL) {
        return usage(error, "--class", "missing, expected the class to replace");
    }
    if (options->language != NULL && !find_language(options->language, &project.language)) {
        return usage(error, "--lang", "expected c, cpp or rust");
    }
    char *id = make_id(options->files.items[0]);
    if (id == NULL) {
        return graft_fail_memory(error, "new");
    }
    project.id = id;
    int status = id[0] != '\0' ? check_class_name(options, library, id, error)
                               : usage(error, options->files.items[0],
                                       "the plugin is called like its folder: expected small letters, digits, - and _");
    if (status == GRAFT_OK) {
        status = make_project(options, library, &project, error);
    }
    graft_free(id);
    return status;
}
