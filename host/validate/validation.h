/* SPDX-License-Identifier: Apache-2.0 */
/* What each check gets, and how it reports. Each check runs in a process of its own. */
#ifndef GRAFT_VALIDATE_VALIDATION_H
#define GRAFT_VALIDATE_VALIDATION_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/validate.h"
#include "library/library.h"
#include "validate/said.h"

enum { GRAFT_VALIDATION_TEXT = 2048 };

/* Memory shared with the waiting process. */
struct graft_validation_notes {
    int32_t is_done;
    int32_t outcome; /* GRAFT_CHECK_... */
    int32_t unmade;  /* GRAFT_ERROR_... if the check could not run and says nothing about the plugin; 0: it ran */
    volatile int32_t steps; /* number of places so far; the time limit applies to each */
    char place[256];        /* the model being checked: "llama", or "" */
    char text[GRAFT_VALIDATION_TEXT];
};

struct graft_validation {
    const char *file;
    const char *folder; /* of the tiny models: FOLDER/MODEL_TYPE; for a given model, a link */
    int alive;          /* the keeper's pipe (models_folder.h): close it in processes that may outlive this one */
    const char *model;  /* directory of the given model; or NULL */
    const char *const *directories; /* [n_directories] of plugins that the model needs */
    int32_t n_directories;
    int64_t fuzz;
    int32_t thorough; /* 1: every allocation fails, not only a sample */
    const char *hung; /* the check that ran out of time, after which others are not tried; NULL: none */
    struct graft_validation_notes *notes;
    struct graft_said said;      /* output of the last check */
    void (*on_tick)(void *data); /* called in this process while a check runs in its own; or NULL */
    void *tick_data;
};

/* Returns GRAFT_OK if the check passed or was skipped; otherwise `error` says what is wrong. */
typedef int (*graft_validation_function)(struct graft_validation *validation, struct graft_error *error);

struct graft_validation_check {
    struct graft_check_info info;
    graft_validation_function function;
    int32_t of_object; /* 1: it checks a shared object's code, which family files lack */
};

/* [any] The groups of checks. Each ends with a NULL function. */
extern const struct graft_validation_check graft_file_checks[];
extern const struct graft_validation_check graft_descriptor_checks[];
extern const struct graft_validation_check graft_growth_checks[];
extern const struct graft_validation_check graft_option_checks[];
extern const struct graft_validation_check graft_life_checks[];
extern const struct graft_validation_check graft_build_checks[];
extern const struct graft_validation_check graft_shared_checks[];
extern const struct graft_validation_check graft_conversion_checks[];
extern const struct graft_validation_check graft_forward_checks[];
extern const struct graft_validation_check graft_memory_checks[];
extern const struct graft_validation_check graft_call_checks[];
extern const struct graft_validation_check graft_sequence_checks[];
extern const struct graft_validation_check graft_processor_checks[];
extern const struct graft_validation_check graft_fuzz_checks[];

#define GRAFT_CHECK(check_name, check_explanation, check_function) \
    { {sizeof(struct graft_check_info), 0, (check_name), (check_explanation)}, (check_function), 0 }
#define GRAFT_OBJECT_CHECK(check_name, check_explanation, check_function) \
    { {sizeof(struct graft_check_info), 0, (check_name), (check_explanation)}, (check_function), 1 }

/* Names the model that the check works on from now on, and restarts its time limit. */
void graft_validation_at(struct graft_validation *validation, const char *place);

/* Skips the check, which does not apply. Returns GRAFT_OK. */
int graft_validation_skip(struct graft_validation *validation, const char *why);

/* Adds a remark to a check that passes. Returns GRAFT_OK. */
int graft_validation_say(struct graft_validation *validation, const char *what);

/* Reports that the check found a fault. Returns GRAFT_ERROR_PLUGIN. */
int graft_validation_fault(const struct graft_validation *validation, struct graft_error *error, const char *format,
                           ...) __attribute__((format(printf, 3, 4)));

/* [any] Whether the validated file is a family file (plugin/family_file.h). */
int graft_validation_is_family(const struct graft_validation *validation);

/* The plugin's validated descriptor, which lives as long as this process. */
int graft_validation_descriptor(const struct graft_validation *validation, const struct graft_plugin **descriptor,
                                struct graft_error *error);

/* [any] A copy of a descriptor: of a shorter one, what it has, followed by zeros. */
struct graft_plugin graft_validation_copy(const struct graft_plugin *descriptor);

/* Makes a library with the plugin, loaded as if the user had named it. The caller frees it. */
int graft_validation_library(const struct graft_validation *validation, const char *const *plugin_options, int32_t n,
                             struct graft_library **library, struct graft_error *error);

/* Makes a library for opening models: the plugin is number 0, followed by those that a given model needs. */
int graft_validation_library_of_models(const struct graft_validation *validation, struct graft_library **library,
                                       struct graft_error *error);

/* Runs check number `i` in a child process and reports the result. */
void graft_validation_run(struct graft_validation *validation, const struct graft_validation_check *check,
                          int32_t limit_ms, struct graft_check_result *result);

#endif
