/* SPDX-License-Identifier: Apache-2.0 */
/* Locks are read strictly; one that is accepted is compared with a plugin and a plan, and each difference is
 * reported. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/lock/lock.h"
#include "fuzz/model.h"
#include "fuzz/target.h"

static struct graft_library *library;
static struct graft_model *model;

static void clean_up(void) {
    graft_model_free(model);
    graft_library_free(library);
}

/* A plugin with an option, and a model that it is used in. */
static void prepare(void) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_error error = graft_error_none();
    if (graft_library_create(&library, &error) != GRAFT_OK ||
        graft_library_load_plugin(library, GRAFT_FUZZ_PLUGINS "/compressed_tensors/compressed_tensors.so", NULL,
                                  &error) != GRAFT_OK ||
        graft_model_open(library, GRAFT_FUZZ_MODELS "/plain/llama", &options, &model, &error) != GRAFT_OK) {
        (void)fprintf(stderr, "%s: %s\n", error.source, error.message);
        exit(2);
    }
    (void)atexit(clean_up);
}

/* Of the locked files all but every third are present, and no others. */
static void find_files(struct graft_lock *lock) {
    for (size_t i = 0; i < lock->n; i++) {
        const char *sha256 = i % 3 != 2 ? lock->plugins[i].sha256 : "0";
        struct graft_error error = graft_error_none();
        int32_t open = 1;
        if (graft_lock_on_file(lock, lock->plugins[i].file, sha256, &open, &error) != GRAFT_OK ||
            open != (i % 3 != 2)) {
            abort();
        }
    }
}

static void compare(const struct graft_options *options, FILE *nowhere) {
    struct graft_lock *lock = options->locked;
    struct graft_error error = graft_error_none();
    lock->out = nowhere;
    find_files(lock);
    int status = graft_lock_check_plugins(options, library, GRAFT_OK, &error);
    if (status != error.code || (status != GRAFT_OK && status != GRAFT_ERROR_VERIFY) ||
        (status == GRAFT_OK) != (lock->differences == 0)) {
        abort();
    }
    error = graft_error_none();
    size_t before = lock->differences;
    status = graft_lock_check_plan(options, model, library, &error);
    if (status != error.code || (status == GRAFT_OK) != (lock->differences == before)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static FILE *nowhere;
    struct graft_options options = {.lock = fuzz_file("fuzzed.lock", bytes, size)};
    struct graft_error error = graft_error_none();
    if (nowhere == NULL) {
        nowhere = fopen("/dev/null", "w");
        prepare();
    }
    int status = graft_lock_read(&options, &error);
    if (nowhere == NULL || status != error.code ||
        (status != GRAFT_OK && (status != GRAFT_ERROR_MODEL || error.message[0] == '\0'))) {
        abort();
    }
    if (status == GRAFT_OK) {
        compare(&options, nowhere);
    }
    graft_lock_free(options.locked);
    return 0;
}
