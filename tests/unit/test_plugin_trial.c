/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that harm the process which opens them are refused with the cause, remembered, and leave nothing behind. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "plugin_fixture.h"

#include "plugin/trial.h"

enum { LIMIT_MS = 20000, SHORT_MS = 300 };

static char folder[PATH_ROOM];

static int setup(void **state) {
    (void)state;
    make_folder(folder);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    return graft_trials_set_program(getenv("GRAFT_TEST_PROGRAM"), 0);
}

static int teardown(void **state) {
    char path[PATH_ROOM];
    (void)state;
    set_path(path, "%s/graft", folder);
    remove_folder(path);
    remove_folder(folder);
    return graft_trials_set_program(NULL, 0);
}

static void expect(const char *name, int32_t limit_ms, int32_t verdict, const char *cause) {
    struct graft_trial trial;
    char path[PATH_ROOM];
    built_plugin(path, name);
    graft_trial_make(path, limit_ms, &trial);
    if (trial.verdict != verdict || strncmp(trial.cause, cause, strlen(cause)) != 0) {
        fail_msg("%s: expected %d \"%s\", got %d \"%s\"", name, (int)verdict, cause, (int)trial.verdict, trial.cause);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
}

static void test_causes(void **state) {
    static const struct {
        const char *name;
        const char *cause;
    } harmful[] = {
        {"trial_crash", "was killed by signal 11 (Segmentation fault) while its constructors ran"},
        {"trial_abort", "was killed by signal 6 (Aborted) in graft_plugin_entry"},
        {"trial_destructor", "was killed by signal 6 (Aborted) while its destructors ran"},
        {"trial_exit", "ended the process (exit status "},
        {"trial_closes", "closed files that it had not opened"},
        {"trial_closes_all", "closed files that it had not opened"},
        {"trial_chdir", "changed the working directory"},
        {"trial_limits", "changed a resource limit"},
        {"trial_child", "left processes behind"},
        {"trial_daemon", "left processes behind"},
        {"trial_umask", "changed the file mode mask"},
        {"trial_handler", "changed a signal handler"},
        {"trial_mask", "changed the signal mask"},
        {"trial_alarm", "left a timer running (setitimer)"},
        {"trial_locale", "changed the locale"},
        {"trial_variable", "changed environment variables"},
        {"trial_thread", "left threads behind"},
#if defined(__x86_64__)
        {"trial_subnormals", "changed the floating-point environment: subnormal numbers are flushed to zero"},
        {"trial_traps", "changed the floating-point environment: exceptions trap"},
#endif
    };
    (void)state;
    for (size_t i = 0; i < sizeof harmful / sizeof harmful[0]; i++) {
        expect(harmful[i].name, LIMIT_MS, GRAFT_TRIAL_REFUSED, harmful[i].cause);
    }
    if (access("/proc/self/timers", R_OK) == 0) {
        expect("trial_timer", LIMIT_MS, GRAFT_TRIAL_REFUSED, "left a timer running (timer_create)");
    }
    expect("trial_hang", SHORT_MS, GRAFT_TRIAL_REFUSED,
           "did not come back: it slept for 0.3 seconds in graft_plugin_entry");
}

/* Which of two copies of a process ends first is random; the verdict is not. */
static void test_forks(void **state) {
    enum { TIMES = 30 };
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        expect("trial_forks", LIMIT_MS, GRAFT_TRIAL_REFUSED, "left processes behind");
        expect("trial_forks_entry", LIMIT_MS, GRAFT_TRIAL_REFUSED, "left processes behind");
    }
}

/* The first child of a process; 0 if there is none yet. */
static pid_t first_child(pid_t parent) {
    char path[PATH_ROOM];
    long child = 0;
    set_path(path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    FILE *list = fopen(path, "r");
    if (list != NULL) {
        (void)!fscanf(list, "%ld", &child);
        (void)fclose(list);
    }
    return (pid_t)child;
}

/* Runs in an independent process: stops each trial for a second, as on a busy machine. */
static void stop_next_child(void) {
    const pid_t self = getpid();
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            pid_t tried = 0;
            (void)alarm(60);
            while (tried == 0 || tried == getppid()) {
                tried = first_child(self);
            }
            (void)kill(tried, SIGSTOP);
            (void)sleep(1);
            (void)kill(tried, SIGCONT);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_stopped(void **state) {
    (void)state;
    stop_next_child();
    expect("trial_slow", 800, GRAFT_TRIAL_SAFE, "");
}

/* Runs in a process that may start no other: a trial that could not run gives no verdict. */
static void test_no_processes(void **state) {
    enum { NOBODY = 65534, UNEXPECTED = 1 };
    const struct rlimit none = {0, 0};
    struct graft_trial trial;
    char path[PATH_ROOM];
    int status = 0;
    (void)state;
    built_plugin(path, "good");
    pid_t child = fork();
    if (child == 0) {
        int limited = setrlimit(RLIMIT_NPROC, &none) == 0 && (getuid() != 0 || setuid(NOBODY) == 0);
        graft_trial_make(path, LIMIT_MS, &trial);
        _exit(limited && trial.verdict == GRAFT_TRIAL_UNTRIED &&
                      strcmp(trial.cause, "Resource temporarily unavailable") == 0
                  ? 0
                  : UNEXPECTED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_harmless(void **state) {
    (void)state;
    expect("good", LIMIT_MS, GRAFT_TRIAL_SAFE, "");
    expect("no_entry", LIMIT_MS, GRAFT_TRIAL_UNOPENED, "exports no graft_plugin_entry");
    expect("entry_refuses", LIMIT_MS, GRAFT_TRIAL_UNOPENED, "");
    expect("undefined_symbol", LIMIT_MS, GRAFT_TRIAL_UNOPENED, "cannot be loaded: undefined symbol");
    expect("class_short", LIMIT_MS, GRAFT_TRIAL_UNOPENED, "");
}

static void expect_load(const char *expected) {
    static const struct graft_plugin_options skip = {.skip_bad = 1};
    struct graft_text report = {0};
    load_report(&report, folder, &skip);
    assert_string_equal(report.bytes, expected);
    graft_text_free(&report);
}

/* A program that replaces ours and reports once that a file could not be tried; it is run again each time. */
static void test_untried(void **state) {
    static const char script[] = "#!/bin/sh\necho \"untried $2: no processes\"\n";
    char path[PATH_ROOM];
    (void)state;
    copy_plugin(folder, "good", "b.so");
    write_bytes(folder, "try", script, strlen(script));
    set_path(path, "%s/try", folder);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(graft_trials_set_program(path, 0), GRAFT_OK);
    for (int i = 0; i < 2; i++) {
        expect_load("note: DIR/b.so: skipped: not opened: it could not be tried in a process of its own: no processes\n"
                    "plugins: 0\n");
    }
    assert_int_equal(graft_trials_set_program(getenv("GRAFT_TEST_PROGRAM"), 0), GRAFT_OK);
    expect_load("plugins: 1\n");
}

#define CRASH                                                                                                     \
    "note: DIR/a.so: skipped: not opened: when it was tried in a process of its own, it was killed by signal 11 " \
    "(Segmentation fault) while its constructors ran\n"

static void test_load(void **state) {
    char path[PATH_ROOM];
    (void)state;
    copy_plugin(folder, "trial_crash", "a.so");
    copy_plugin(folder, "good", "b.so");
    copy_plugin(folder, "no_entry", "c.so");
    expect_load(CRASH "note: DIR/c.so: not a plugin: it exports no graft_plugin_entry\nplugins: 1\n");
    set_path(path, "%s/c.so", folder);
    assert_int_equal(unlink(path), 0);
    /* The verdict is remembered: the program is not run again. */
    assert_int_equal(graft_trials_set_program("/nowhere/graft", 0), GRAFT_OK);
    expect_load(CRASH "plugins: 1\n");
}

/* Plugins that changed, or are requested again, are tried again, and never opened without a trial. */
static void test_memory(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    const char *directory = folder;
    char path[PATH_ROOM];
    (void)state;
    copy_plugin(folder, "good", "b.so");
    set_path(path, "%s/b.so", folder);
    expect_load("plugins: 1\n");
    assert_int_equal(graft_trials_set_program("/nowhere/graft", 0), GRAFT_OK);
    expect_load("plugins: 1\n");
    const struct timespec times[] = {{1, 0}, {1, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message,
                        "cannot be tried before it is opened: /nowhere/graft: No such file or directory");
    assert_int_equal(graft_trials_set_program(getenv("GRAFT_TEST_PROGRAM"), 0), GRAFT_OK);
    expect_load("plugins: 1\n");
    assert_int_equal(graft_trials_set_program("/nowhere/graft", 1), GRAFT_OK);
    error = graft_error_none();
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_int_equal(graft_trials_set_program("/bin/true", 1), GRAFT_OK);
    error = graft_error_none();
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "cannot be tried before it is opened: /bin/true: it gave no answer");
}

/* Damaged lines, and a file that others can write to, are ignored. */
static void test_damaged_memory(void **state) {
    static char text[300 << 10];
    char path[PATH_ROOM];
    (void)state;
    copy_plugin(folder, "good", "b.so");
    set_path(path, "%s/graft", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_bytes(path, "trials", "\n\n0.1.0 1 2\nsafe\n0.1.0 safe", 28);
    expect_load("plugins: 1\n");
    memset(text, 'x', sizeof text);
    write_bytes(path, "trials", text, sizeof text);
    expect_load("plugins: 1\n");
    set_path(path, "%s/graft/trials", folder);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size < 1024); /* it starts anew */
    assert_int_equal(graft_trials_set_program("/nowhere/graft", 0), GRAFT_OK);
    expect_load("plugins: 1\n");
    assert_int_equal(chmod(path, 0666), 0);
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    const char *directory = folder;
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_ERROR_PLUGIN);
}

/* If verdicts cannot be stored, plugins are tried each time. */
static void test_no_memory(void **state) {
    (void)state;
    copy_plugin(folder, "good", "b.so");
    assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1), 0);
    expect_load("plugins: 1\n");
    expect_load("plugins: 1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes),
        cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_forks),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_no_processes),
        cmocka_unit_test_setup_teardown(test_untried, setup, teardown),
        cmocka_unit_test_setup_teardown(test_load, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
