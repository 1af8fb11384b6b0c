/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries in one process have threads, log lines, progress and trials of their own, or share the process's. */
#include "library_fixture.h"

#include "graft/log.h"
#include "graft/threads.h"
#include "plugin/host_services.h"

enum { ITEMS = 64, TOKENS = 40 };

/* The context that the last forward saw. */
static int32_t seen_threads;

static void log_one(void *data, int64_t begin, int64_t end) {
    const struct graft_log *log = data;
    for (int64_t i = begin; i < end; i++) {
        log->line("talkative", "a line of a loop");
    }
}

static int talk(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                struct graft_error *error) {
    const struct graft_host *host = graft_host_get();
    const struct graft_threads *threads = host->get_extension(GRAFT_THREADS_ID);
    union {
        const void *extension;
        void *data;
    } log = {host->get_extension(GRAFT_LOG_ID)};
    seen_threads = threads->count();
    threads->parallel_for(ITEMS, 1, log_one, log.data);
    return forward_to_super(self, call, args, error);
}

static const struct graft_mlp talkative_vtable = {.struct_size = sizeof talkative_vtable, .forward = talk};
static const struct graft_class talkative = SUPER_CLASS("TalkativeMLP", GRAFT_INTERFACE_MLP, &talkative_vtable);

static void count_line(void *data, const char *sender, const char *text) {
    int *lines = data;
    assert_string_equal(sender, "talkative");
    assert_string_equal(text, "a line of a loop");
    (*lines)++;
}

static void count_progress(void *data, int32_t what, int64_t done, int64_t total) {
    int *calls = data;
    (void)done;
    (void)total;
    *calls += what == GRAFT_PROGRESS_PROMPT;
}

static int take(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)data;
    (void)sequence;
    (void)id;
    (void)last;
    (void)error;
    return GRAFT_OK;
}

/* A library whose models log lines, and one of its models. */
struct talker {
    struct graft_library *library;
    struct graft_model *model;
};

static struct talker make(void) {
    struct talker talker = {new_library(), NULL};
    struct graft_error error = graft_error_none();
    char path[512];
    put(talker.library, "LlamaMLP", &talkative);
    if (graft_model_open(talker.library, llama_directory(path), NULL, &talker.model, &error) != GRAFT_OK ||
        graft_model_load(talker.model, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return talker;
}

static void run(const struct talker *talker) {
    int32_t ids[TOKENS];
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_error error = graft_error_none();
    for (int32_t i = 0; i < TOKENS; i++) {
        ids[i] = i + 1;
    }
    graft_model_generation(talker->model, &generation);
    generation.max_new_tokens = 1;
    if (graft_model_generate(talker->model, &prompt, 1, &generation, take, NULL, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static void finish(const struct talker *talker) {
    graft_model_free(talker->model);
    graft_library_free(talker->library);
}

static void test_threads(void **state) {
    const struct talker first = make(), second = make();
    (void)state;
    graft_threads_set_count(5);
    graft_library_set_threads(first.library, 2);
    run(&second);
    assert_int_equal(seen_threads, 5);
    run(&first);
    assert_int_equal(seen_threads, 2);
    assert_int_equal(graft_threads_count(), 5);
    graft_library_set_threads(second.library, 3);
    run(&second);
    assert_int_equal(seen_threads, 3);
    run(&first);
    assert_int_equal(seen_threads, 2);
    graft_library_set_threads(first.library, 0);
    graft_threads_set_count(4);
    run(&first);
    assert_int_equal(seen_threads, 4);
    graft_threads_set_count(0);
    finish(&first);
    finish(&second);
}

/* Lines of helping threads also reach the right library. */
static void test_log(void **state) {
    const struct talker first = make(), second = make();
    int of_process = 0, of_first = 0;
    (void)state;
    graft_threads_set_count(3);
    run(&first); /* nobody listens */
    graft_log_set_sink(count_line, &of_process);
    graft_library_set_log(first.library, count_line, &of_first);
    run(&first);
    assert_int_equal(of_process, 0);
    assert_true(of_first > 0 && of_first % ITEMS == 0);
    const int each = of_first;
    run(&second);
    assert_int_equal(of_process, each);
    assert_int_equal(of_first, each);
    graft_log_set_sink(NULL, NULL);
    run(&second);
    run(&first);
    assert_int_equal(of_process, each);
    assert_int_equal(of_first, 2 * each);
    graft_log_set_sink(count_line, &of_process);
    graft_library_set_log(first.library, NULL, NULL);
    run(&first);
    assert_int_equal(of_process, 2 * each);
    assert_int_equal(of_first, 2 * each);
    graft_log_set_sink(NULL, NULL);
    graft_threads_set_count(0);
    finish(&first);
    finish(&second);
}

static void test_progress(void **state) {
    const struct talker first = make(), second = make();
    int of_process = 0, of_first = 0;
    (void)state;
    graft_progress_set_sink(count_progress, &of_process);
    graft_library_set_progress(first.library, count_progress, &of_first);
    run(&first);
    assert_int_equal(of_process, 0);
    assert_true(of_first > 0);
    run(&second);
    assert_int_equal(of_process, of_first);
    graft_progress_set_sink(NULL, NULL);
    finish(&first);
    finish(&second);
}

/* The error about a missing trial program shows which library starts it. */
static void test_trials(void **state) {
    static const char nowhere[] = "/nowhere/graft";
    struct graft_library *first = new_library(), *second = new_library();
    struct graft_error error = graft_error_none();
    char file[512];
    (void)state;
    (void)snprintf(file, sizeof file, "%s/gptq/gptq.so", getenv("GRAFT_PLUGINS"));
    assert_int_equal(graft_library_set_trials(first, nowhere, 1, &error), GRAFT_OK);
    assert_int_equal(graft_library_load_plugin(first, file, NULL, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, nowhere));
    error = graft_error_none();
    assert_int_equal(graft_library_load_plugin(second, file, NULL, &error), GRAFT_OK);
    graft_library_free(second);
    second = new_library();
    assert_int_equal(graft_trials_set_program(nowhere, 1), GRAFT_OK);
    assert_int_equal(graft_library_load_plugin(second, file, NULL, &error), GRAFT_ERROR_PLUGIN);
    error = graft_error_none();
    assert_int_equal(graft_library_set_trials(second, "", 0, &error), GRAFT_OK);
    assert_int_equal(graft_library_load_plugin(second, file, NULL, &error), GRAFT_OK);
    assert_int_equal(graft_library_set_trials(first, NULL, 0, &error), GRAFT_OK);
    assert_int_equal(graft_trials_set_program(NULL, 0), GRAFT_OK);
    assert_int_equal(graft_library_load_plugin(first, file, NULL, &error), GRAFT_OK);
    graft_library_free(first);
    graft_library_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
