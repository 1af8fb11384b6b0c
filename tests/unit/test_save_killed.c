/* SPDX-License-Identifier: Apache-2.0 */
/* Kills a process at random moments of a save: the final name has nothing or everything, the source is unchanged, and
 * the next save removes leftovers. */
#define _XOPEN_SOURCE 700 /* usleep's successor, random */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/sha256.h"
#include "graft/host/graft.h"
#include "graft/host/model.h"
#include "kernels/threads.h"
#include "memory_folder.h"

enum { KILLS = 200, MOST_TRIES = 1000, STEP_BYTES = 512, MOST_FILES = 32 };

static const struct graft_save_options options = {
    .struct_size = sizeof options, .runtime_layout = 1, .max_shard_bytes = 100000};
static struct graft_model *model;
static char source[512], folder[64], output[512];

/* A sum of the names and hashes of a directory's files, independent of their order. */
static void sum_up(const char *directory, char digits[GRAFT_SHA256_DIGITS + 1]) {
    struct dirent **entries;
    struct graft_sha256 hash;
    char of_file[GRAFT_SHA256_DIGITS + 1];
    int n = scandir(directory, &entries, NULL, alphasort);
    assert_in_range(n, 3, MOST_FILES);
    graft_sha256_start(&hash);
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            const char *path = folder_path(directory, entries[i]->d_name);
            assert_int_equal(graft_sha256_file(path, GRAFT_ERROR_IO, of_file, NULL), GRAFT_OK);
            graft_sha256_add(&hash, entries[i]->d_name, strlen(entries[i]->d_name) + 1);
            graft_sha256_add(&hash, of_file, sizeof of_file);
        }
        free(entries[i]);
    }
    free(entries);
    graft_sha256_end(&hash, digits);
}

/* Saves in a child that is killed after a while, or never (-1). Returns whether it finished. */
static int save_for(double seconds) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        graft_disk_limit_step(STEP_BYTES); /* it takes longer, and has more moments */
        _exit(graft_model_save(model, output, &options, NULL) == GRAFT_OK ? 0 : 1);
    }
    assert_true(child > 0);
    if (seconds >= 0.0) {
        const struct timespec life = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
        (void)nanosleep(&life, NULL);
        (void)kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
}

/* How long a save takes: the median of several. */
static double measure(void) {
    double seconds[5];
    enum { N = sizeof seconds / sizeof seconds[0] };
    for (int i = 0; i < N; i++) {
        double begin = graft_seconds();
        assert_true(save_for(-1.0));
        seconds[i] = graft_seconds() - begin;
        folder_remove(output);
        for (int k = i; k > 0 && seconds[k] < seconds[k - 1]; k--) {
            double other = seconds[k];
            seconds[k] = seconds[k - 1];
            seconds[k - 1] = other;
        }
    }
    return seconds[N / 2];
}

static void test_killed(void **state) {
    char before[GRAFT_SHA256_DIGITS + 1], whole[GRAFT_SHA256_DIGITS + 1], found[GRAFT_SHA256_DIGITS + 1];
    int killed = 0, halfway = 0, tries = 0;
    (void)state;
    sum_up(source, before);
    double seconds = measure();
    assert_true(save_for(-1.0));
    sum_up(output, whole);
    folder_remove(output);
    for (; killed < KILLS && tries < MOST_TRIES; tries++) {
        int is_killed = !save_for(1.1 * seconds * (double)random() / (double)RAND_MAX);
        killed += is_killed;
        seconds *= is_killed ? 1.01 : 0.98; /* shared machines change their speed */
        if (access(output, F_OK) == 0) {
            sum_up(output, found);
            assert_string_equal(found, whole);
            folder_remove(output);
        } else {
            assert_int_equal(errno, ENOENT);
        }
        /* The leftovers of a save have a name of their own, until the next save begins. */
        halfway += folder_count(folder) > 0;
        assert_in_range(folder_count(folder), 0, 1);
    }
    print_message("%d killed of %d, %d of them halfway\n", killed, tries, halfway);
    assert_int_equal(killed, KILLS);
    assert_true(halfway > KILLS / 10);
    sum_up(source, found);
    assert_string_equal(found, before);
    assert_true(save_for(-1.0));
    assert_int_equal(folder_count(folder), 1);
    sum_up(output, found);
    assert_string_equal(found, whole);
}

static int set_up(void **state) {
    const char *plugins = getenv("GRAFT_PLUGINS");
    struct graft_library *library = NULL;
    (void)state;
    graft_threads_set_count(1);
    memory_folder_create(folder);
    (void)snprintf(source, sizeof source, "%s/goldens/plain/qwen2_moe", getenv("GRAFT_TEST_DATA"));
    (void)snprintf(output, sizeof output, "%s/out", folder);
    *state = NULL;
    int status = graft_library_create(&library, NULL);
    if (status == GRAFT_OK) {
        status = graft_library_load_plugins(library, &plugins, 1, NULL, NULL);
    }
    if (status == GRAFT_OK) {
        status = graft_model_open(library, source, NULL, &model, NULL);
    }
    *state = library;
    return status != GRAFT_OK;
}

static int tear_down(void **state) {
    graft_model_free(model);
    graft_library_free(*state);
    folder_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
