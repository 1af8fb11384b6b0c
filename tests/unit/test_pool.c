/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process, used by several threads at once. `scripts/test --all` builds this with the thread
 * sanitizer. */
#include "kernels/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels/threads.h"

#if defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { CALLERS = 8, ROUNDS = 300, ITEMS = 4096, WORKERS = 4 };

/* Numbers that are written and read without atomics: a job that ends early, or begins late, is a race. */
struct caller {
    pthread_t thread;
    int64_t numbers[ITEMS];
    int32_t in_worker[WORKERS]; /* number of calls within the loop, for each worker */
    int64_t round;
    int failures;
};

static void fill(void *data, int32_t worker, int64_t begin, int64_t end) {
    struct caller *caller = data;
    caller->in_worker[worker] += 1;
    for (int64_t i = begin; i < end; i++) {
        caller->numbers[i] = i * caller->round;
    }
}

static void *call(void *data) {
    struct caller *caller = data;
    for (caller->round = 0; caller->round < ROUNDS; caller->round++) {
        graft_threads_for_workers(ITEMS, 64, fill, caller);
        int64_t sum = 0;
        for (int64_t i = 0; i < ITEMS; i++) {
            sum += caller->numbers[i];
        }
        caller->failures += sum != caller->round * ITEMS * (ITEMS - 1) / 2;
    }
    return NULL;
}

static void test_callers(void **state) {
    static struct caller callers[CALLERS];
    (void)state;
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_int_equal(callers[i].failures, 0);
    }
}

static void is_inside(void *data, int32_t worker, int64_t begin, int64_t end) {
    int32_t *workers = data;
    (void)begin, (void)end;
    workers[worker] = graft_pool_is_inside() ? graft_threads_workers() : -1;
}

/* A loop within a loop runs on the same thread. */
static void test_inside(void **state) {
    int32_t workers[WORKERS] = {0};
    (void)state;
    graft_threads_for_workers(ITEMS, 1, is_inside, workers);
    int calls = 0;
    for (int i = 0; i < WORKERS; i++) {
        assert_in_range(workers[i], 0, 1); /* a thread that came too late did nothing */
        calls += workers[i];
    }
    assert_true(calls > 0);
    assert_int_equal(graft_threads_workers(), WORKERS);
    assert_false(graft_pool_is_inside());
}

static void pass(int milliseconds) {
    const struct timespec time = {0, milliseconds * 1000000L};
    (void)nanosleep(&time, NULL);
}

enum { ASLEEP = 2, PATIENCE = 10000 }; /* milliseconds after which a waiting thread sleeps; and the longest wait */

/* Worker 0 waits for another to arrive, which lets worker 0 wait for its end. */
static void meet(void *data, int32_t worker) {
    atomic_int *come = data;
    if (worker != 0) {
        atomic_store(come, 1);
        pass(ASLEEP);
        atomic_store(come, 2);
    }
    for (int i = 0; i < PATIENCE && atomic_load(come) == 0; i++) {
        pass(1);
    }
}

/* Sleeping helpers are woken, and so is the caller when they have finished. */
static void test_asleep(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        atomic_int come = 0;
        pass(ASLEEP);
        graft_pool_run(2, meet, &come);
        assert_int_equal(atomic_load(&come), 2);
    }
}

/* A child has threads of its own. */
static void test_fork(void **state) {
    int status = 0;
    (void)state;
    if (SANITIZED) {
        print_message("the thread sanitizer lets no thread begin after a fork: not tried\n");
        skip();
    }
    pid_t child = fork();
    if (child == 0) {
        static struct caller caller;
        (void)call(&caller);
        _exit(caller.failures);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_asleep),
        cmocka_unit_test(test_fork),
    };
    graft_threads_set_count(WORKERS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
