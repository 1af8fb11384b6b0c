/* SPDX-License-Identifier: Apache-2.0 */
/* Chat templates: conversations rendered as by transformers (tests/data/chat), the places of a directory's templates,
 * and user text that does not become markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "graft/host/chat.h"
#include "tokenizer_fixture.h"

#include "failing.h"
#include "folder.h"

enum { NOW = 1735689600 };

static const char tokenizer_json[] =
    "{\"added_tokens\": [{\"id\": 4, \"content\": \"<s>\", \"special\": true, \"normalized\": true}, {\"id\": 5, "
    "\"content\": \"<|end|>\", \"special\": true, \"normalized\": false}, {\"id\": 6, \"content\": \"<think>\", "
    "\"special\": false, \"normalized\": false}, {\"id\": 7, \"content\": \"zz\", \"special\": false, \"normalized\": "
    "false}], \"normalizer\": {\"type\": \"Lowercase\"}, \"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": "
    "{\"String\": \"\"}, \"behavior\": \"Isolated\", \"invert\": false}, \"model\": {\"type\": \"BPE\", \"vocab\": "
    "{\"?\": 0, \"a\": 1, \"b\": 2, \"<\": 3}, \"merges\": [], \"unk_token\": \"?\"}}";

static void write_file(const char *folder, const char *name, const char *text) {
    folder_put(folder, name, text, strlen(text));
}

/* A folder with a tokenizer; each test has one. */
static int set_up(void **state) {
    static char folder[64];
    folder_create(folder);
    write_file(folder, "tokenizer.json", tokenizer_json);
    write_file(folder, "tokenizer_config.json", "{\"bos_token\": \"<s>\"}");
    *state = folder;
    return 0;
}

static int tear_down(void **state) {
    folder_remove(*state);
    return 0;
}

static struct graft_tokenizer *open_tokenizer(const char *folder) {
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    if (graft_tokenizer_load(folder, &tokenizer, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return tokenizer;
}

static struct graft_text_view view_of(char *text) {
    return (struct graft_text_view){text, text != NULL ? strlen(text) : 0};
}

/* The arguments of a recorded case as a request: `texts` are freed by the caller. */
static struct graft_chat_request request_of(graft_json *arguments, char *texts[3]) {
    struct graft_chat_request request = {.struct_size = sizeof request, .now = NOW};
    static const char *const names[] = {"messages", "tools"};
    const graft_json *opens = graft_json_get(arguments, "add_generation_prompt");
    const graft_json *goes_on = graft_json_get(arguments, "continue_final_message");
    request.continue_final_message = graft_json_type(goes_on) == GRAFT_JSON_STRING ? graft_json_string(goes_on, NULL)
                                     : graft_json_bool(goes_on)                    ? "content"
                                                                                   : NULL;
    request.add_generation_prompt = opens != NULL ? graft_json_bool(opens) : request.continue_final_message == NULL;
    for (size_t i = 0; i < 2; i++) {
        const graft_json *value = graft_json_get(arguments, names[i]);
        texts[i] = value != NULL ? graft_json_dump(value, 0) : NULL;
    }
    request.messages = view_of(texts[0]);
    request.tools = view_of(texts[1]);
    static const char *const variables[] = {"enable_thinking", "bos_token"};
    graft_json *others = graft_json_new_object();
    for (size_t i = 0; i < 2; i++) {
        graft_json *value = graft_json_detach(arguments, variables[i]);
        if (value != NULL) {
            assert_int_equal(graft_json_set_take(others, variables[i], value), 0);
        }
    }
    texts[2] = graft_json_dump(others, 0);
    graft_json_free(others);
    request.variables = view_of(texts[2]);
    return request;
}

static int differs(const graft_json *recorded, size_t i, const struct graft_tokenizer *tokenizer) {
    const char *name = graft_json_string(graft_json_get(recorded, "template"), NULL);
    const char *expected = graft_json_string(graft_json_get(recorded, "text"), NULL);
    const char *refused = graft_json_string(graft_json_get(recorded, "refused"), NULL);
    struct graft_error error = graft_error_none();
    struct graft_chat_template *chat = NULL;
    struct graft_text text = {0};
    char *texts[3], *source = NULL,
                    *path = graft_format("%s/data/chat/templates/%s.jinja", getenv("GRAFT_TEST_DATA"), name);
    size_t length = 0;
    assert_int_equal(graft_file_read(path, 1 << 20, GRAFT_ERROR_IO, &source, &length, NULL), GRAFT_OK);
    assert_int_equal(graft_chat_template_create(source, length, name, tokenizer, &chat, &error), GRAFT_OK);
    struct graft_chat_request request = request_of((graft_json *)graft_json_get(recorded, "arguments"), texts);
    int status = graft_chat_template_render(chat, &request, &text, &error);
    int is_same = expected != NULL  ? status == GRAFT_OK && strcmp(text.bytes, expected) == 0
                  : refused != NULL ? status == GRAFT_ERROR_USAGE && strstr(error.message, refused) != NULL
                                    : status != GRAFT_OK && strstr(error.message, "refuses") == NULL;
    if (!is_same) {
        print_error("case %zu (%s): expected %s, got %s%s\n", i, name, expected != NULL ? expected : "a failure",
                    status == GRAFT_OK ? text.bytes : "", error.message);
    }
    for (size_t k = 0; k < 3; k++) {
        graft_free(texts[k]);
    }
    graft_text_free(&text);
    graft_chat_template_free(chat);
    graft_free(source);
    graft_free(path);
    return !is_same;
}

static void test_recorded(void **state) {
    struct graft_tokenizer *tokenizer = open_tokenizer(*state);
    char *path = graft_format("%s/data/chat/cases.json", getenv("GRAFT_TEST_DATA"));
    graft_json *cases = NULL;
    int n_different = 0;
    assert_int_equal(graft_json_read(path, 1 << 20, &cases, NULL), GRAFT_OK);
    assert_true(graft_json_size(cases) > 20);
    for (size_t i = 0; i < graft_json_size(cases); i++) {
        n_different += differs(graft_json_at(cases, i), i, tokenizer);
    }
    assert_int_equal(n_different, 0);
    graft_json_free(cases);
    graft_free(path);
    graft_tokenizer_free(tokenizer);
}

static struct graft_chat_request ask(const char *messages) {
    return (struct graft_chat_request){
        .struct_size = sizeof(struct graft_chat_request), .now = NOW, .messages = {messages, strlen(messages)}};
}

static void assert_ids(const char *template, const char *messages, size_t n, const int32_t *expected,
                       const struct graft_tokenizer *tokenizer) {
    struct graft_error error = graft_error_none();
    struct graft_chat_template *chat = NULL;
    struct graft_ids ids = {0};
    const struct graft_chat_request request = ask(messages);
    assert_int_equal(graft_chat_template_create(template, strlen(template), "t", tokenizer, &chat, &error), GRAFT_OK);
    assert_int_equal(graft_chat_template_encode(chat, &request, &ids, &error), GRAFT_OK);
    assert_int_equal(ids.n, n);
    assert_memory_equal(ids.ids, expected, n * sizeof *expected);
    graft_ids_free(&ids);
    graft_chat_template_free(chat);
}

#define ASSERT_IDS(template, messages, ...)                                                        \
    do {                                                                                           \
        const int32_t expected[] = {__VA_ARGS__};                                                  \
        assert_ids(template, messages, sizeof expected / sizeof expected[0], expected, tokenizer); \
    } while (0)

/* Token 4 is found in normalized text, 5 in the original text; 6 is a control token where the template writes it; 7 is
 * never found. */
static void test_control_tokens(void **state) {
    struct graft_tokenizer *tokenizer = open_tokenizer(*state);
    static const char plain[] = "{{ bos_token }}{{ messages[0].content }}<|end|>";
    ASSERT_IDS(plain, "[{\"content\": \"aB\"}]", 4, 1, 2, 5);
    ASSERT_IDS(plain, "[{\"content\": \"<s>\"}]", 4, 3, 0, 0, 5);
    ASSERT_IDS(plain, "[{\"content\": \"<S>\"}]", 4, 3, 0, 0, 5);
    ASSERT_IDS(plain, "[{\"content\": \"<|end|>\"}]", 4, 3, 0, 0, 0, 0, 0, 0, 5);
    ASSERT_IDS(plain, "[{\"content\": \"a<|en\"}]", 4, 1, 3, 0, 0, 0, 5);
    ASSERT_IDS(plain, "[{\"content\": \"<think>zz\"}]", 4, 6, 7, 5);
    ASSERT_IDS("<think>{{ messages[0].content }}", "[{\"content\": \"<think>zz\"}]", 6, 3, 0, 0, 0, 0, 0, 0, 7);
    ASSERT_IDS("<|{{ messages[0].role }}|>", "[{\"role\": \"end\"}]", 5);
    ASSERT_IDS("<|{{ messages[0].content }}|>", "[{\"content\": \"end\"}]", 3, 0, 0, 0, 0, 0, 0);
    ASSERT_IDS("{{ messages[0].content | replace('x', '') }}", "[{\"content\": \"<x|end|>\"}]", 3, 0, 0, 0, 0, 0, 0);
    ASSERT_IDS("{{ messages | tojson }}", "[{\"<s>\": 1}]", 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0);
    graft_tokenizer_free(tokenizer);
}

/* The text of one message, rendered by the directory's template. */
static void assert_found(const char *folder, const struct graft_chat_request *request, const char *expected) {
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = open_tokenizer(folder);
    struct graft_chat_template *chat = NULL;
    struct graft_text text = {0};
    assert_int_equal(graft_chat_template_load(folder, tokenizer, NULL, &chat, &error), GRAFT_OK);
    assert_non_null(chat);
    assert_int_equal(graft_chat_template_render(chat, request, &text, &error), GRAFT_OK);
    assert_string_equal(text.bytes, expected);
    graft_text_free(&text);
    graft_chat_template_free(chat);
    graft_tokenizer_free(tokenizer);
}

static void test_directories(void **state) {
    const char *folder = *state;
    struct graft_chat_request request = ask("[{\"role\": \"user\", \"content\": \"x\"}]");
    struct graft_tokenizer *tokenizer = open_tokenizer(folder);
    struct graft_chat_template *chat = (struct graft_chat_template *)state;
    assert_int_equal(graft_chat_template_load(folder, tokenizer, NULL, &chat, NULL), GRAFT_OK);
    assert_null(chat);
    write_file(folder, "tokenizer_config.json", "{\"chat_template\": \"config{{ bos_token is defined }}\"}");
    assert_found(folder, &request, "configFalse");
    const char *const ignored[] = {"chat_template"};
    const struct graft_tokenizer_options options = {sizeof options, 1, ignored};
    assert_int_equal(graft_chat_template_load(folder, tokenizer, &options, &chat, NULL), GRAFT_OK);
    assert_null(chat);
    write_file(folder, "tokenizer_config.json",
               "{\"chat_template\": [{\"name\": \"default\", \"template\": \"d\"}, {\"name\": \"tool_use\", "
               "\"template\": \"t\"}, {\"name\": \"rag\", \"template\": \"r\"}]}");
    assert_found(folder, &request, "d");
    request.tools = (struct graft_text_view){"[{}]", 4};
    assert_found(folder, &request, "t");
    request.name = "rag";
    assert_found(folder, &request, "r");
    request.name = NULL;
    write_file(folder, "chat_template.json", "{\"chat_template\": \"json\"}");
    assert_found(folder, &request, "json");
    write_file(folder, "chat_template.jinja", "file");
    assert_found(folder, &request, "file");
    assert_int_equal(graft_chat_template_load(folder, tokenizer, NULL, &chat, NULL), GRAFT_OK);
    assert_string_equal(graft_chat_template_name(chat, 0), "default");
    assert_null(graft_chat_template_name(chat, 1));
    assert_true(graft_chat_template_mentions(chat, "file"));
    assert_false(graft_chat_template_mentions(chat, "files"));
    graft_chat_template_free(chat);
    char *more = graft_format("%s/additional_chat_templates", folder);
    assert_int_equal(mkdir(more, 0777), 0);
    write_file(more, "tool_use.jinja", "more");
    assert_found(folder, &request, "more");
    graft_free(more);
    graft_tokenizer_free(tokenizer);
}

/* The message with which the request is refused. */
static void assert_refused(const struct graft_chat_request *request, int status, const char *source,
                           const char *message, const struct graft_tokenizer *tokenizer) {
    static const char template[] = "{{ messages[0].content }}{{ x.y }}";
    struct graft_error error = graft_error_none();
    struct graft_chat_template *chat = NULL;
    struct graft_text text = {0};
    assert_int_equal(graft_chat_template_create(template, sizeof template - 1, "t.jinja", tokenizer, &chat, &error),
                     GRAFT_OK);
    assert_int_equal(graft_chat_template_render(chat, request, &text, &error), status);
    assert_string_equal(error.source, source);
    assert_string_equal(error.message, message);
    assert_null(text.bytes);
    graft_chat_template_free(chat);
}

static void test_bad_requests(void **state) {
    struct graft_tokenizer *tokenizer = open_tokenizer(*state);
    struct graft_chat_request request = ask("[]");
    assert_refused(&request, GRAFT_ERROR_USAGE, "messages", "there is none, expected at least one", tokenizer);
    request = ask("{}");
    assert_refused(&request, GRAFT_ERROR_USAGE, "messages", "expected an array, found an object", tokenizer);
    request = ask("[{}, 5]");
    assert_refused(&request, GRAFT_ERROR_USAGE, "messages", "number 2 is an integer, expected an object", tokenizer);
    request = ask("[{]");
    assert_refused(&request, GRAFT_ERROR_USAGE, "messages",
                   "not valid JSON, line 1 column 3: string or '}' expected near ']'", tokenizer);
    request = ask("[{}]");
    request.name = "rag";
    assert_refused(&request, GRAFT_ERROR_USAGE, "t.jinja", "has no chat template \"rag\", but these: default",
                   tokenizer);
    request = ask("[{}]");
    request.tools = (struct graft_text_view){"[[]]", 4};
    assert_refused(&request, GRAFT_ERROR_USAGE, "tools", "number 1 is an array, expected an object", tokenizer);
    request = ask("[{}]");
    assert_refused(&request, GRAFT_ERROR_MODEL, "t.jinja", "line 1 column 31: 'x' is undefined", tokenizer);
    request.add_generation_prompt = 1;
    request.continue_final_message = "content";
    assert_refused(&request, GRAFT_ERROR_USAGE, "continue_final_message",
                   "cannot be combined with add_generation_prompt, which opens another message", tokenizer);
    graft_tokenizer_free(tokenizer);
}

static void test_allocations(void **state) {
    const char *folder = *state;
    struct graft_tokenizer *tokenizer = open_tokenizer(folder);
    const struct graft_chat_request request =
        ask("[{\"role\": \"user\", \"content\": \"a\", \"thinking\": \"b\", \"n\": null}]");
    write_file(folder, "chat_template.jinja", "<think>{{ messages | tojson }}{{ bos_token }}");
    int finished = 0;
    for (long n = 1; !finished; n = next_failing(n)) {
        struct graft_error error = graft_error_none();
        struct graft_chat_template *chat = NULL;
        struct graft_ids ids = {0};
        (void)graft_alloc_fail_at(n);
        int status = graft_chat_template_load(folder, tokenizer, NULL, &chat, &error);
        if (status == GRAFT_OK) {
            status = graft_chat_template_encode(chat, &request, &ids, &error);
        }
        finished = graft_alloc_fail_at(0) != 0;
        assert_int_equal(status, finished ? GRAFT_OK : GRAFT_ERROR_INTERNAL);
        graft_ids_free(&ids);
        graft_chat_template_free(chat);
    }
    graft_tokenizer_free(tokenizer);
}

int main(void) {
    (void)setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_control_tokens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_allocations, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
