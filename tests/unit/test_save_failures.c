/* SPDX-License-Identifier: Apache-2.0 */
/* Whichever step of a save fails, on the disk or in an allocation: there is an error and nothing is left, or the
 * directory is complete. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "failing.h"
#include "graft/host/graft.h"
#include "graft/host/model.h"
#include "kernels/threads.h"
#include "memory_folder.h"
#include "weights/checkpoint.h"

static struct graft_library *library;
static struct graft_model *model;
static char folder[64];

static const struct graft_save_options layouts[] = {
    {.struct_size = sizeof(struct graft_save_options), .max_shard_bytes = 200000},
    {.struct_size = sizeof(struct graft_save_options), .runtime_layout = 1},
};

static int set_up(void **state) {
    char path[512];
    const char *plugins = getenv("GRAFT_PLUGINS");
    (void)state;
    graft_threads_set_count(1);
    memory_folder_create(folder);
    (void)snprintf(path, sizeof path, "%s/goldens/plain/qwen2_moe", getenv("GRAFT_TEST_DATA"));
    return graft_library_create(&library, NULL) != GRAFT_OK ||
           graft_library_load_plugins(library, &plugins, 1, NULL, NULL) != GRAFT_OK ||
           graft_model_open(library, path, NULL, &model, NULL) != GRAFT_OK;
}

static int tear_down(void **state) {
    (void)state;
    graft_model_free(model);
    graft_library_free(library);
    folder_remove(folder);
    return 0;
}

static int save(const struct graft_save_options *options, struct graft_error *error) {
    *error = graft_error_none();
    int status = graft_model_save(model, folder_path(folder, "out"), options, error);
    assert_int_equal(status, error->code);
    return status;
}

/* Checks that there is everything or nothing, and removes it. */
static void check_left(int status) {
    struct graft_checkpoint *saved = NULL;
    assert_int_equal(folder_count(folder), status == GRAFT_OK);
    if (status == GRAFT_OK) {
        assert_int_equal(graft_checkpoint_open(folder_path(folder, "out"), &saved, NULL), GRAFT_OK);
        graft_checkpoint_close(saved);
        folder_remove(folder_path(folder, "out"));
    }
}

/* Lets each step fail in turn with `number`, while writes store at most `largest` bytes. */
static void fail_steps(const struct graft_save_options *options, int number, size_t largest) {
    struct graft_error error;
    long failed = 0;
    graft_disk_limit_step(largest);
    for (long n = 1;; n++) {
        (void)graft_disk_fail_at(n, number);
        int status = save(options, &error);
        int fired = graft_disk_fail_at(0, 0) == 0;
        check_left(status);
        assert_true(status == GRAFT_OK || status == GRAFT_ERROR_IO);
        assert_true(status == GRAFT_OK || strstr(error.message, strerror(number)) != NULL);
        if (!fired) {
            assert_int_equal(status, GRAFT_OK);
            break;
        }
        failed += status != GRAFT_OK;
        /* Only the last step, the sync of the parent folder, may fail without an error. */
        assert_true(status != GRAFT_OK || failed == n - 1);
    }
    assert_true(failed > 30);
    graft_disk_limit_step(0);
}

/* Files are created, written and synced, folders are created, synced and renamed: all kinds of steps occur. */
static void test_disk(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fail_steps(&layouts[i], ENOSPC, 0);
        fail_steps(&layouts[i], EIO, 4096);
    }
}

static void test_short_writes(void **state) {
    static const size_t largest[] = {1, 977, 4096};
    struct graft_error error;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = i == 0; k < sizeof largest / sizeof largest[0]; k++) {
            graft_disk_limit_step(largest[k]);
            int status = save(&layouts[i], &error);
            graft_disk_limit_step(0);
            assert_int_equal(status, GRAFT_OK);
            check_left(status);
        }
    }
}

static void test_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct graft_error error;
        for (long n = 1;; n = next_failing(n)) {
            (void)graft_alloc_fail_at(n);
            int status = save(&layouts[i], &error);
            long left = graft_alloc_fail_at(0);
            check_left(status);
            if (left > 0) {
                assert_int_equal(status, GRAFT_OK);
                break;
            }
            assert_true(status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL);
        }
    }
}

static int64_t stop_at, seen;

static int stop(void *data, int64_t done, int64_t total, struct graft_error *error) {
    (void)data;
    assert_true(done > 0 && done <= total && done > seen);
    seen = done;
    return done < stop_at ? GRAFT_OK : graft_error_set(error, GRAFT_ERROR_IO, "test", "stopped");
}

static void test_stopped(void **state) {
    static const struct graft_save_options options = {.struct_size = sizeof options, .on_progress = stop};
    (void)state;
    struct graft_error error;
    for (stop_at = 1; stop_at < 1000000; stop_at *= 10) {
        seen = 0;
        assert_int_equal(save(&options, &error), GRAFT_ERROR_IO);
        assert_string_equal(error.message, "stopped");
        check_left(GRAFT_ERROR_IO);
    }
}

/* Saving neither needs, changes nor hinders loading. */
static void test_before_and_after_loading(void **state) {
    (void)state;
    struct graft_error error = graft_error_none();
    check_left(save(NULL, &error));
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(save(NULL, &error), GRAFT_OK);
    check_left(GRAFT_OK);
}

#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_MODEL(test_disk),
        WITH_MODEL(test_short_writes),
        WITH_MODEL(test_memory),
        WITH_MODEL(test_stopped),
        WITH_MODEL(test_before_and_after_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
