/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the host passes to plugins. */
#include "plugin_fixture.h"

#include "graft/json.h"
#include "graft/kernels.h"
#include "graft/log.h"
#include "graft/threads.h"
#include "plugin/host_services.h"

static void test_host(void **state) {
    const struct graft_host *host = graft_host_get();
    (void)state;
    assert_int_equal(host->struct_size, sizeof *host);
    assert_int_equal(host->abi_major, GRAFT_ABI_MAJOR);
    assert_int_equal(host->abi_minor, GRAFT_ABI_MINOR);
    assert_true(strlen(host->version) >= 5);
    for (size_t i = 0; graft_host_extension_id(i) != NULL; i++) {
        assert_non_null(host->get_extension(graft_host_extension_id(i)));
    }
    assert_null(host->get_extension("graft.kernels/2"));
    assert_null(host->get_extension(NULL));
    assert_int_equal(((const struct graft_kernels *)host->get_extension(GRAFT_KERNELS_ID))->struct_size,
                     sizeof(struct graft_kernels));
    assert_int_equal(((const struct graft_threads *)host->get_extension(GRAFT_THREADS_ID))->struct_size,
                     sizeof(struct graft_threads));
}

static void test_dtypes(void **state) {
    const struct graft_host *host = graft_host_get();
    (void)state;
    assert_int_equal(host->dtype_size(GRAFT_DTYPE_BF16), 2);
    assert_string_equal(host->dtype_name(GRAFT_DTYPE_BF16), "BF16");
    assert_int_equal(host->dtype_size(GRAFT_DTYPE_F8_E5M2), 1);
    assert_string_equal(host->dtype_name(GRAFT_DTYPE_F8_E5M2), "F8_E5M2");
    assert_int_equal(host->dtype_size(GRAFT_DTYPE_NONE), 0);
    assert_int_equal(host->dtype_size(-1), 0);
    assert_int_equal(host->dtype_size(1 << 20), 0);
    assert_string_equal(host->dtype_name(1 << 20), "?");
}

static void test_memory(void **state) {
    const struct graft_host *host = graft_host_get();
    (void)state;
    unsigned char *block = host->alloc(100);
    assert_non_null(block);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(block[i], 0);
    }
    host->free(block);
    host->free(NULL);
    assert_null(host->alloc(-1));
}

static void collect(void *data, const char *sender, const char *text) {
    graft_text_printf(data, "%s: %s\n", sender, text);
}

static void test_log(void **state) {
    const struct graft_log *log = graft_host_get()->get_extension(GRAFT_LOG_ID);
    struct graft_text lines = {0};
    (void)state;
    log->line("nobody", "listens");
    graft_log_set_sink(collect, &lines);
    log->line("good", "one\ntwo \x1b[31mred");
    log->line(NULL, NULL);
    graft_log_set_sink(NULL, NULL);
    log->line("nobody", "listens");
    assert_string_equal(lines.bytes, "good: one?two ?[31mred\n: \n");
    graft_text_free(&lines);
}

/* A config given as text is read like config.json, and invalid text is refused with the name of its source. */
static void test_json(void **state) {
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", ""}, {"[1]", "expected an object, got an array"}, {"{\"a\": 1} 2", ""}, {"{\"a\": \"\\u0000\"}", "NUL"}};
    const struct graft_json_service *json = graft_host_get()->get_extension(GRAFT_JSON_ID);
    struct graft_error error = graft_error_none();
    char source[] = "tensor", text[] = "{\"size\": 64, \"kind\": \"nf4\", \"shape\": [2, 3]}";
    int64_t size = 0;
    (void)state;
    const struct graft_config *config = json->read(text, (int64_t)strlen(text), source, &error);
    assert_non_null(config);
    memset(text, 'x', sizeof text);
    memset(source, 'x', sizeof source);
    assert_string_equal(config->file, "tensor");
    assert_string_equal(config->string(config->data, "kind"), "nf4");
    assert_int_equal(graft_config_need_int(config, "shape.1", 1, 9, &size, &error), GRAFT_OK);
    assert_int_equal(size, 3);
    assert_int_equal(graft_config_need_int(config, "size", 1, 9, &size, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, "tensor");
    json->free(config);
    json->free(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = graft_error_none();
        assert_null(json->read(bad[i].text, (int64_t)strlen(bad[i].text), "config", &error));
        assert_int_equal(error.code, GRAFT_ERROR_MODEL);
        assert_string_equal(error.source, "config");
        assert_non_null(strstr(error.message, bad[i].why));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host), cmocka_unit_test(test_dtypes), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_log),  cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
