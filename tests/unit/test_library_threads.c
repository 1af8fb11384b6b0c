/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, looks up, loads plugins and models, runs and unloads at the same time. `scripts/test --all` builds this
 * with the thread sanitizer. */
#include "library_fixture.h"

#include <pthread.h>

#include "graft/host/process.h"

enum { ROUNDS = 8, CALLS = 200, WORKERS = 2, ALL = 8, NEW_TOKENS = 3, VOCABULARY = 583, TOKENS = 3 };

struct job {
    pthread_t thread;
    struct graft_library *library;
    int failures;
    float logits[TOKENS * VOCABULARY];
};

/* Registers and removes a key of its own; whatever others do, the scope keeps the elements that it was entered with. */
static void *register_and_look_up(void *data) {
    struct job *job = data;
    char key[32];
    const char *keys[] = {key};
    (void)snprintf(key, sizeof key, "^LlamaML[P%p]$", data);
    for (int i = 0; i < CALLS; i++) {
        const struct graft_patch patch = {
            .struct_size = sizeof patch, .key = key, .replacement = i % 2 == 0 ? &first_mlp : &second_mlp};
        const struct graft_class *cls = NULL;
        struct graft_scope *scope = NULL;
        struct graft_patch *copy = NULL;
        size_t n = 0;
        job->failures += graft_library_register(job->library, &patch, 1, 0, NULL) != GRAFT_OK;
        job->failures += graft_library_enter(job->library, &scope, NULL) != GRAFT_OK;
        job->failures += graft_library_unregister(job->library, keys, 1, NULL) != GRAFT_OK;
        job->failures += graft_library_class(job->library, "LlamaMLP", &cls, NULL) != GRAFT_OK;
        job->failures += cls != &first_mlp && cls != &second_mlp;
        job->failures += graft_library_patches(job->library, &copy, &n, NULL) != GRAFT_OK || n > WORKERS + 1;
        graft_patches_free(copy);
        graft_library_leave(job->library, scope);
        (void)graft_library_note(job->library, 0);
    }
    return NULL;
}

/* Each thread has a model of its own; all share the library. */
static void *load_and_run(void *data) {
    static const int32_t ids[TOKENS] = {5, 7, 11};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    struct job *job = data;
    char path[512];
    for (int i = 0; i < ROUNDS; i++) {
        struct graft_model *model = NULL;
        job->failures += graft_model_open(job->library, llama_directory(path), NULL, &model, NULL) != GRAFT_OK;
        job->failures += model == NULL || graft_model_load(model, NULL) != GRAFT_OK;
        job->failures += model == NULL || graft_model_logits(model, &prompt, 1, job->logits, NULL) != GRAFT_OK;
        graft_model_free(model);
    }
    return NULL;
}

static void test_threads(void **state) {
    static struct job callers[WORKERS], runners[WORKERS];
    struct graft_library *library = new_library();
    (void)state;
    put(library, "Llama(", &first_mlp);
    for (int i = 0; i < WORKERS; i++) {
        callers[i].library = runners[i].library = library;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, register_and_look_up, &callers[i]), 0);
        assert_int_equal(pthread_create(&runners[i].thread, NULL, load_and_run, &runners[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_int_equal(pthread_join(runners[i].thread, NULL), 0);
        assert_int_equal(callers[i].failures, 0);
        assert_int_equal(runners[i].failures, 0);
        assert_memory_equal(runners[i].logits, runners[0].logits, sizeof runners[0].logits);
    }
    graft_library_free(library);
}

/* Does everything that a program does, from loading plugins on. */
struct life {
    pthread_t thread;
    struct graft_library *shared; /* of all threads */
    int32_t ids[NEW_TOKENS];
    int n;
    int failures;
};

static int keep(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    struct life *life = data;
    (void)sequence, (void)last, (void)error;
    life->ids[life->n++ % NEW_TOKENS] = id;
    return GRAFT_OK;
}

static void generate(struct life *life, struct graft_library *library) {
    static const int32_t ids[TOKENS] = {5, 7, 11};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    const struct graft_generation generation = {.struct_size = sizeof generation,
                                                .max_new_tokens = NEW_TOKENS,
                                                .temperature = 1.0,
                                                .top_p = 1.0,
                                                .repetition_penalty = 1.0};
    struct graft_model *model = NULL;
    char path[512];
    int failed = graft_model_open(library, llama_directory(path), NULL, &model, NULL) != GRAFT_OK ||
                 graft_model_load(model, NULL) != GRAFT_OK ||
                 graft_model_generate(model, &prompt, 1, &generation, keep, life, NULL) != GRAFT_OK;
    life->failures += failed;
    graft_model_free(model);
}

/* Loads and unloads plugins while others load and use the same ones. */
static void *live(void *data) {
    struct life *life = data;
    const char *plugins = getenv("GRAFT_PLUGINS");
    for (int i = 0; i < ROUNDS / 2; i++) {
        const struct graft_patch patch = {
            .struct_size = sizeof patch, .key = "Llama(", .replacement = i % 2 == 0 ? &first_mlp : &second_mlp};
        struct graft_library *own = NULL;
        life->failures += graft_library_create(&own, NULL) != GRAFT_OK;
        life->failures += graft_library_load_plugins(own, &plugins, 1, NULL, NULL) != GRAFT_OK;
        life->failures += graft_library_register(own, &patch, 1, 1, NULL) != GRAFT_OK;
        life->failures += graft_library_register(life->shared, &patch, 1, 1, NULL) != GRAFT_OK;
        generate(life, own);
        generate(life, life->shared);
        graft_library_free(own);
    }
    return NULL;
}

static void test_lives(void **state) {
    static struct life lives[ALL];
    struct graft_library *shared = new_library();
    (void)state;
    graft_threads_set_count(WORKERS);
    for (int i = 0; i < ALL; i++) {
        lives[i].shared = shared;
        assert_int_equal(pthread_create(&lives[i].thread, NULL, live, &lives[i]), 0);
    }
    for (int i = 0; i < ALL; i++) {
        assert_int_equal(pthread_join(lives[i].thread, NULL), 0);
        assert_int_equal(lives[i].failures, 0);
        assert_int_equal(lives[i].n, ROUNDS / 2 * 2 * NEW_TOKENS);
        assert_memory_equal(lives[i].ids, lives[0].ids, sizeof lives[0].ids);
    }
    graft_library_free(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
