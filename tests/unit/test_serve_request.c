/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests to `serve`: the settings that result from their fields, with each allocation failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "generate/fields.h"
#include "graft/host/grammar.h"
#include "graft/host/model.h"
#include "serve/request.h"

static const char *const adapters[] = {"a"};
static struct graft_generation generation;

static struct graft_request_context context_of(size_t n_adapters) {
    generation = graft_generation_default();
    return (struct graft_request_context){.name = "m",
                                          .adapters = adapters,
                                          .n_adapters = n_adapters,
                                          .vocab_size = 100,
                                          .max_new_tokens = 64,
                                          .generation = &generation};
}

/* The caller passes the result to graft_request_finish. */
static struct graft_request read_sound(const char *body, enum graft_request_kind kind) {
    const struct graft_request_context context = context_of(1);
    struct graft_request request = {0};
    struct graft_fault fault = {0};
    if (graft_request_read(body, strlen(body), kind, &context, &request, &fault) != 0) {
        fail_msg("%s: %s", body, fault.message);
    }
    return request;
}

static void test_sampling(void **state) {
    static const struct {
        const char *fields;
        int do_sample;
        double temperature;
    } cases[] = {
        {"\"n\": 1", 0, 1.0},
        {"\"temperature\": 0", 0, 1.0},
        {"\"temperature\": 0.5", 1, 0.5},
        {"\"top_p\": 0.5", 1, 1.0},
        {"\"top_p\": 0.5, \"temperature\": 0", 0, 1.0},
        {"\"min_p\": 0.5", 1, 1.0},
        {"\"top_k\": -1", 1, 1.0},
        {"\"temperature\": null, \"top_k\": 5", 1, 1.0},
    };
    char body[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(body, sizeof body, "{\"prompt\": \"x\", %s}", cases[i].fields);
        struct graft_request request = read_sound(body, GRAFT_REQUEST_COMPLETION);
        assert_int_equal(request.generation.do_sample, cases[i].do_sample);
        assert_true(request.generation.temperature == cases[i].temperature);
        graft_request_finish(&request);
    }
}

static void test_complete(void **state) {
    (void)state;
    struct graft_request request = read_sound("{\"prompt\": \"x\"}", GRAFT_REQUEST_COMPLETION);
    assert_string_equal(request.adapter, GRAFT_BASE_MODEL);
    assert_int_equal(request.generation.max_new_tokens, 16);
    graft_request_finish(&request);
    request = read_sound("{\"messages\": [], \"model\": \"m:a\"}", GRAFT_REQUEST_CHAT);
    assert_string_equal(request.adapter, "a");
    assert_int_equal(request.generation.max_new_tokens, 64);
    graft_request_finish(&request);
    request = read_sound("{\"messages\": [], \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\"}}],"
                         " \"tool_choice\": \"none\"}",
                         GRAFT_REQUEST_CHAT);
    assert_false(request.with_tools);
    assert_null(request.tools);
    graft_request_finish(&request);
    request =
        read_sound("{\"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"f\"}}, \"messages\": [],"
                   " \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\"}},"
                   " {\"type\": \"function\", \"function\": {\"name\": \"g\"}}]}",
                   GRAFT_REQUEST_CHAT);
    assert_int_equal(request.format_kind, GRAFT_GRAMMAR_JSON_SCHEMA);
    assert_non_null(strstr(request.format, "\"const\": \"f\""));
    assert_null(strstr(request.format, "\"const\": \"g\""));
    graft_request_finish(&request);
}

/* A request of each kind, with each allocation failing in turn: it is refused for lack of memory, or read. */
static void test_memory(void **state) {
    static const struct {
        enum graft_request_kind kind;
        const char *body;
    } cases[] = {
        {GRAFT_REQUEST_COMPLETION,
         "{\"prompt\": [[1, 2], [3]], \"logit_bias\": {\"5\": 1, \"6\": 2}, \"stop\": [\"a\"],"
         " \"stop_token_ids\": [4, 5], \"model\": \"m:a\"}"},
        {GRAFT_REQUEST_CHAT,
         "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"tool_choice\": \"required\","
         " \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\","
         " \"parameters\": {\"type\": \"object\"}}}]}"},
        {GRAFT_REQUEST_COMPLETION, "{\"prompt\": [1], \"response_format\": {\"type\": \"json_schema\","
                                   " \"json_schema\": {\"schema\": {\"type\": \"object\"}}}}"},
        {GRAFT_REQUEST_EMBEDDING, "{\"input\": [1, 2, 3]}"},
    };
    const struct graft_request_context context = context_of(1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        long left = 0;
        for (long n = 1; left == 0; n++) {
            struct graft_request request = {0};
            struct graft_fault fault = {0};
            struct graft_ids *prompts = NULL;
            size_t n_prompts = 0;
            (void)graft_alloc_fail_at(n);
            int failed =
                graft_request_read(cases[i].body, strlen(cases[i].body), cases[i].kind, &context, &request, &fault);
            if (failed == 0 && request.messages == NULL) {
                failed = graft_request_encode(&request, NULL, NULL, 100, &prompts, &n_prompts, &fault);
            }
            left = graft_alloc_fail_at(0);
            assert_int_equal(failed != 0, fault.http != 0);
            assert_true(failed == 0 || fault.http == 500);
            assert_true(failed == 0 || left == 0);
            graft_request_prompts_free(prompts, n_prompts);
            graft_request_finish(&request);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
