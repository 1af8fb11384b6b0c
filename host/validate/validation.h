/* SPDX-License-Identifier: Apache-2.0 */
/* What each check is given, and how it says what it found. A check runs in a process of its own. */
#ifndef GRAFT_VALIDATE_VALIDATION_H
#define GRAFT_VALIDATE_VALIDATION_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/validate.h"
#include "library/library.h"
#include "validate/said.h"

enum { GRAFT_VALIDATION_TEXT = 2048 };

/* Shared with the process that waits. */
struct graft_validation_notes {
    int32_t is_done;
    int32_t outcome;        /* GRAFT_CHECK_... */
    int32_t unmade;         /* what kept the check from being made, which is no verdict: GRAFT_ERROR_...; 0: nothing */
    volatile int32_t steps; /* how many places there were: the time for a check is that for each of them */
    char place[256];        /* what the check is about: "llama", or "" */
    char text[GRAFT_VALIDATION_TEXT];
};

struct graft_validation {
    const char *file;
    const char *folder;             /* of the tiny models: FOLDER/MODEL_TYPE; of the given one a link */
    int alive;                      /* models_folder.h: to be closed by whoever may outlive this process */
    const char *model;              /* the directory of the given one; or NULL */
    const char *const *directories; /* [n_directories] of plugins that it needs */
    int32_t n_directories;
    int64_t fuzz;
    int32_t thorough; /* every allocation fails, not a sample */
    const char *hung; /* the check that did not come back: those after it would wait as long; NULL: all did */
    struct graft_validation_notes *notes;
    struct graft_said said;      /* by the last check */
    void (*on_tick)(void *data); /* called in this process while a check runs in its own; or NULL */
    void *tick_data;
};

/* GRAFT_OK: it passed, or was skipped; else `error` says what is wrong. */
typedef int (*graft_validation_function)(struct graft_validation *validation, struct graft_error *error);

struct graft_validation_check {
    struct graft_check_info info;
    graft_validation_function function;
    int32_t of_object; /* 1: of a shared object's code; a family file has none */
};

/* [any] The groups of checks, each ends with a NULL function. */
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
extern const struct graft_validation_check graft_fuzz_checks[];

#define GRAFT_CHECK(check_name, check_explanation, check_function) \
    { {sizeof(struct graft_check_info), 0, (check_name), (check_explanation)}, (check_function), 0 }
#define GRAFT_OBJECT_CHECK(check_name, check_explanation, check_function) \
    { {sizeof(struct graft_check_info), 0, (check_name), (check_explanation)}, (check_function), 1 }

/* Says what the check is about from now on, and gives it its time anew. */
void graft_validation_at(struct graft_validation *validation, const char *place);

/* The check does not apply. Returns GRAFT_OK. */
int graft_validation_skip(struct graft_validation *validation, const char *why);

/* The check passes, and there is something to say. Returns GRAFT_OK. */
int graft_validation_say(struct graft_validation *validation, const char *what);

/* The check found a fault. Returns GRAFT_ERROR_PLUGIN. */
int graft_validation_fault(const struct graft_validation *validation, struct graft_error *error, const char *format,
                           ...) __attribute__((format(printf, 3, 4)));

/* [any] Whether what is checked is a family file (plugin/family_file.h). */
int graft_validation_is_family(const struct graft_validation *validation);

/* The plugin's descriptor, validated; it stays as long as this process. */
int graft_validation_descriptor(const struct graft_validation *validation, const struct graft_plugin **descriptor,
                                struct graft_error *error);

/* A library with the plugin, as if it were named by the user. The caller frees it. */
int graft_validation_library(const struct graft_validation *validation, const char *const *plugin_options, int32_t n,
                             struct graft_library **library, struct graft_error *error);

/* The same for opening models: what the given one needs is beside the plugin, which is number 0. */
int graft_validation_library_of_models(const struct graft_validation *validation, struct graft_library **library,
                                       struct graft_error *error);

/* Makes check number `i` in a child and tells what came of it. */
void graft_validation_run(struct graft_validation *validation, const struct graft_validation_check *check,
                          int32_t limit_ms, struct graft_check_result *result);

#endif
