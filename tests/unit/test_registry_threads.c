/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and resolves in several threads at once, also with the thread sanitizer. */
#include "registry/registry.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 100 };

#define CLASS(class_name) \
    { .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = "graft.mlp/1" }

static const struct graft_class original = CLASS("Original");
static const struct graft_class replacement = CLASS("Replacement");
static const struct graft_replacement patch = {.struct_size = sizeof patch,
                                               .key = GRAFT_KEY_PATTERN,
                                               .target = "^Orig",
                                               .replacement = &replacement,
                                               .module_path = "layers"};
static const struct graft_module_place place = {"Original", "model.layers.0", "test", NULL, NULL, NULL, NULL, NULL};

struct worker {
    pthread_t thread;
    struct graft_registry *registry;
    int failures;
};

/* Registers, and reads snapshots: their number of replacements never decreases, and the first one wins. */
static void *work(void *data) {
    static const struct graft_origin origin = {.plugin = "test"};
    struct worker *worker = data;
    size_t before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct graft_resolution found;
        struct graft_origin first;
        worker->failures += graft_registry_add_replacement(worker->registry, &patch, &origin, NULL) != GRAFT_OK;
        struct graft_snapshot *snapshot = graft_registry_snapshot(worker->registry);
        worker->failures += graft_snapshot_resolve(snapshot, &place, NULL, &found, NULL) != GRAFT_OK;
        worker->failures += found.stack[0].known->cls != &replacement;
        worker->failures += graft_snapshot_replacement(snapshot, before, &first) == NULL;
        while (graft_snapshot_replacement(snapshot, before, &first) != NULL) {
            before++;
        }
        graft_snapshot_release(snapshot);
    }
    return NULL;
}

static void test_threads(void **state) {
    struct worker workers[THREADS] = {0};
    struct graft_registry *registry = graft_registry_create(NULL);
    struct graft_origin origin;
    (void)state;
    assert_int_equal(graft_registry_add_class(registry, &original, NULL, 0, NULL), GRAFT_OK);
    for (int i = 0; i < THREADS; i++) {
        workers[i].registry = registry;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    assert_non_null(graft_snapshot_replacement(snapshot, THREADS * ROUNDS - 1, &origin));
    assert_null(graft_snapshot_replacement(snapshot, THREADS * ROUNDS, &origin));
    graft_snapshot_release(snapshot);
    graft_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
