/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, loading and running a model in which each allocation fails in turn ends with an error, frees what it took,
 * and leaves the next time fine. With the address sanitizer it finds leaks as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graft/host/graft.h"
#include "kernels/parallel.h"

static int ignore(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)data, (void)sequence, (void)id, (void)last, (void)error;
    return GRAFT_OK;
}

/* Everything a program does; frees all of it whatever happens. */
static int use(const char *directory, const char *plugins, struct graft_error *error) {
    static const int32_t ids[] = {3, 1, 4};
    static const struct graft_prompt prompt = {.ids = ids, .count = 3};
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    struct graft_generation generation = {.struct_size = sizeof generation};
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK && plugins != NULL) {
        status = graft_library_load_plugins(library, &plugins, 1, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_open(library, directory, NULL, &model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_load(model, error);
    }
    if (status == GRAFT_OK) {
        graft_model_generation(model, &generation);
        generation.max_new_tokens = 2;
        status = graft_model_generate(model, &prompt, 1, &generation, ignore, NULL, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

/* How many allocations a whole run takes. A status of 0 with a failure in it is fine where it was not needed, as
 * PCRE2's memory for JIT code. */
static long fail_each(const char *name, const char *plugins) {
    char directory[1024];
    long survived = 0, n = 1;
    (void)snprintf(directory, sizeof directory, "%s/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    for (;; n++) {
        struct graft_error error = graft_error_none();
        (void)graft_alloc_fail_at(n);
        int status = use(directory, plugins, &error);
        long left = graft_alloc_fail_at(0);
        if (status != error.code || (status != GRAFT_OK && status != GRAFT_ERROR_INTERNAL)) {
            fail_msg("allocation %ld: status %d, error %d: %s: %s", n, status, error.code, error.source, error.message);
        }
        if (left != 0) {
            assert_int_equal(status, GRAFT_OK);
            break;
        }
        survived += status == GRAFT_OK;
    }
    if (survived * 10 > n) {
        fail_msg("%ld of %ld failures went unseen", survived, n);
    }
    return n;
}

static void test_plain(void **state) {
    (void)state;
    assert_in_range(fail_each("plain/llama", NULL), 200, 100000);
}

static void test_patched(void **state) {
    (void)state;
    assert_in_range(fail_each("patched/qwen2_moe_doc_example", getenv("GRAFT_PLUGINS")), 400, 100000);
}

static void test_stacked(void **state) {
    (void)state;
    assert_in_range(fail_each("plain/qwen2_moe_stacked", getenv("GRAFT_PLUGINS")), 400, 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_patched),
        cmocka_unit_test(test_stacked),
    };
    graft_threads_set_count(1); /* the same allocations in every run */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
