/* SPDX-License-Identifier: Apache-2.0 */
/* Loops on the process's threads: every item runs once, whoever calls, again and again, and in a forked child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/threads.h"

enum { ITEMS = 1000, WORKERS = 4, ROUNDS = 2000 };

struct loop {
    atomic_int done[ITEMS];
    atomic_int within[WORKERS]; /* bodies of each worker */
    atomic_int wrong;
    int is_cut; /* more than one body will run */
};

static void body(void *data, int32_t worker, int64_t begin, int64_t end) {
    struct loop *loop = data;
    int alone = atomic_fetch_add(&loop->within[worker], 1) == 0;
    atomic_fetch_add(&loop->wrong,
                     !alone || worker < 0 || worker >= WORKERS || (loop->is_cut && graft_threads_workers() != 1));
    for (int64_t i = begin; i < end; i++) {
        atomic_fetch_add(&loop->done[i], 1);
    }
    atomic_fetch_sub(&loop->within[worker], 1);
}

/* The number of rounds with a wrong result. */
static int run(int rounds) {
    struct loop *loop = calloc(1, sizeof *loop);
    for (int round = 1; round <= rounds && loop != NULL; round++) {
        int64_t items = 1 + round * 37 % ITEMS;
        int64_t grain = 1 + round % 3;
        loop->is_cut = items / grain > 1;
        graft_threads_for_workers(items, grain, body, loop);
        for (int64_t i = 0; i < ITEMS; i++) {
            atomic_fetch_add(&loop->wrong, atomic_load(&loop->done[i]) != (i < items));
            atomic_store(&loop->done[i], 0);
        }
        if (round % 500 == 0) {
            const struct timespec pause = {.tv_nsec = 2000000};
            (void)nanosleep(&pause, NULL); /* they fall asleep */
        }
    }
    int wrong = loop == NULL || atomic_load(&loop->wrong) > 0;
    free(loop);
    return wrong;
}

static void test_every_item_once(void **state) {
    (void)state;
    assert_int_equal(run(ROUNDS), 0);
}

static void *call(void *data) {
    *(int *)data = run(ROUNDS / 4);
    return NULL;
}

static void test_several_callers(void **state) {
    pthread_t threads[3];
    int wrong[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call, &wrong[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(wrong[i], 0);
    }
}

static void test_after_fork(void **state) {
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        _exit(run(100));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once),
        cmocka_unit_test(test_several_callers),
        cmocka_unit_test(test_after_fork),
    };
    graft_threads_set_count(WORKERS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
