/* SPDX-License-Identifier: Apache-2.0 */
/* A server in which each allocation of a request fails in turn: the request gets an answer or an error, and the next
 * request gets the usual answer. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/text.h"
#include "client.h"
#include "failing.h"
#include "folder.h"
#include "graft/host/chat.h"
#include "graft/host/graft.h"
#include "graft/host/serve.h"

static struct graft_library *library;
static struct graft_model *model;
static struct graft_tokenizer *tokenizer;
static struct graft_chat_template *chat;
static struct graft_server *server;
static pthread_t thread;
static char folder[64]; /* for sessions */
static char *picture;   /* a file as base64 */

static void *run(void *data) {
    struct graft_error *error = data;
    (void)graft_server_run(server, error);
    return NULL;
}

static void read_picture(const char *directory) {
    char *path = graft_path_join(directory, "samples/1-green-circle-on-yellow.png");
    char *bytes = NULL;
    size_t length = 0;
    struct graft_text text = {0};
    assert_int_equal(graft_file_read(path, 1 << 20, GRAFT_ERROR_IO, &bytes, &length, NULL), GRAFT_OK);
    graft_base64_encode(bytes, length, &text);
    picture = graft_strndup(text.bytes, text.length);
    graft_text_free(&text);
    graft_free(bytes);
    graft_free(path);
}

static int set_up(void **state) {
    static struct graft_error error;
    char *demo = graft_path_join(getenv("GRAFT_TEST_DATA"), "../demo/tiny-qwen2-vl");
    struct graft_server_options wanted = {.struct_size = sizeof wanted, .name = "m", .max_running = 4};
    (void)state;
    folder_create(folder);
    wanted.session_folder = folder;
    assert_int_equal(graft_library_create(&library, &error), GRAFT_OK);
    assert_int_equal(graft_model_open(library, demo, NULL, &model, &error), GRAFT_OK);
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(graft_tokenizer_load(demo, &tokenizer, &error), GRAFT_OK);
    assert_int_equal(graft_chat_template_load(demo, tokenizer, NULL, &chat, &error), GRAFT_OK);
    assert_int_equal(graft_server_create(model, tokenizer, chat, &wanted, &server, &error), GRAFT_OK);
    assert_int_equal(pthread_create(&thread, NULL, run, &error), 0);
    read_picture(demo);
    graft_free(demo);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_server_stop(server);
    assert_int_equal(pthread_join(thread, NULL), 0);
    graft_server_free(server);
    graft_chat_template_free(chat);
    graft_tokenizer_free(tokenizer);
    graft_model_free(model);
    graft_library_free(library);
    graft_free(picture);
    const int left = folder_count(folder);
    folder_remove(folder);
    return left;
}

/* Sends a request and reads the response. */
static struct answer ask(const char *path, const char *body) {
    struct answer answer = {0};
    const int fd = client_connect(graft_server_port(server));
    assert_true(fd >= 0);
    assert_int_equal(
        client_request(fd, body != NULL ? "POST" : "GET", path, "Content-Type: application/json\r\n", body), 0);
    assert_int_equal(client_read(fd, 0, 0, &answer), 0);
    (void)close(fd);
    return answer;
}

/* The parts of an answer that are the same each time: from each line what follows "choices", or all of a body without
 * it, and whether a stream is complete. */
static char *said(const struct answer *answer) {
    static const char mark[] = "\"tool_calls\": [{\"id\": \"";
    struct graft_text text = {0};
    for (const char *at = strstr(answer->body, "\"choices\""); at != NULL; at = strstr(at, "\"choices\"")) {
        const size_t length = strcspn(at, "\n");
        graft_text_add(&text, at, length);
        at += length;
    }
    graft_text_add_string(&text, text.length == 0 ? answer->body : "");
    graft_text_add_string(&text, strstr(answer->body, "[DONE]") != NULL ? "[DONE]" : "");
    assert_false(text.failed);
    char *call = strstr(text.bytes, mark);
    if (call != NULL) {
        memset(call + sizeof mark - 1, 'x', 9); /* the id, which differs each time */
    }
    return text.bytes;
}

/* Whether an answer is allowed when memory runs out: an error, a stream that ends early or with an error, or the
 * complete answer. */
static int is_sound(const struct answer *answer, int is_stream, const char *wanted) {
    char *text = said(answer);
    const int breaks_off = is_stream && strstr(text, "[DONE]") == NULL;
    const int is_whole = answer->status == 200 && (breaks_off || strcmp(text, wanted) == 0);
    const int is_error = answer->status == 500 && strstr(answer->body, "out of memory") != NULL;
    const int is_broken = answer->status == 0 && answer->length == 0;
    graft_free(text);
    return is_whole || is_error || is_broken;
}

static void check_failing(const char *path, const char *body) {
    const int is_stream = body != NULL && strstr(body, "\"stream\": true") != NULL;
    struct answer answer = ask(path, body);
    assert_int_equal(answer.status, 200);
    char *wanted = said(&answer);
    client_free(&answer);
    for (long n = 1;; n = next_failing(n)) {
        (void)graft_alloc_fail_at(n);
        answer = ask(path, body);
        const long left = graft_alloc_fail_at(0);
        if (!is_sound(&answer, is_stream, wanted)) {
            print_error("%s, allocation %ld: %d %s\n", path, n, answer.status, answer.body);
            fail();
        }
        client_free(&answer);
        if (n % 16 == 0 || left != 0) {
            answer = ask(path, body);
            char *again = said(&answer);
            assert_int_equal(answer.status, 200);
            assert_string_equal(again, wanted);
            graft_free(again);
            client_free(&answer);
        }
        if (left != 0) {
            break;
        }
    }
    graft_free(wanted);
}

static void test_completions(void **state) {
    (void)state;
    check_failing("/v1/completions",
                  "{\"prompt\": [\"Hello\", \"world\"], \"n\": 2, \"max_tokens\": 3, \"temperature\": 0, "
                  "\"logprobs\": 2, \"stop\": [\"xyz\"], \"logit_bias\": {\"5\": 1}, "
                  "\"stop_token_ids\": [7], \"frequency_penalty\": 0.5}");
}

static void test_stream(void **state) {
    (void)state;
    check_failing("/v1/completions", "{\"prompt\": \"Hello\", \"max_tokens\": 3, \"temperature\": 0, \"stream\": true, "
                                     "\"stream_options\": {\"include_usage\": true}, \"logprobs\": 1}");
}

/* A tool call, whose form is given by a schema. */
static void test_chat(void **state) {
    static const char call[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 100, \"temperature\": 0, "
        "\"tools\": "
        "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\", "
        "\"properties\": "
        "{\"x\": {\"enum\": [1, 2]}}, \"required\": [\"x\"], \"additionalProperties\": false}}}], "
        "\"tool_choice\": \"required\", \"stream\": %s}";
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *body = graft_format(call, i == 0 ? "false" : "true");
        check_failing("/v1/chat/completions", body);
        graft_free(body);
    }
}

static void test_image(void **state) {
    char *body =
        graft_format("{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\": "
                     "{\"url\": \"data:image/png;base64,%s\"}}, {\"type\": \"text\", \"text\": \"What shape is "
                     "it?\"}]}], \"max_tokens\": 3, \"temperature\": 0}",
                     picture);
    (void)state;
    check_failing("/v1/chat/completions", body);
    graft_free(body);
}

static void test_others(void **state) {
    (void)state;
    check_failing("/tokenize", "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}");
    check_failing("/detokenize", "{\"tokens\": [5, 6, 7]}");
    check_failing("/v1/models", NULL);
    check_failing("/", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completions), cmocka_unit_test(test_stream), cmocka_unit_test(test_chat),
        cmocka_unit_test(test_image),       cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
