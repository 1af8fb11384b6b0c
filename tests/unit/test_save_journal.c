/* SPDX-License-Identifier: Apache-2.0 */
/* Modified graft_journal.json files: an inconsistent one is refused before anything is written. */
#include "save_fixture.h"

#define ROOT "test.root/1"

static const struct fake_parameter parameters[] = {
    {.name = "p", .rank = 2, .shape = {2, 3}}, {.name = "q", .rank = 1, .shape = {4}}, {.name = NULL}};
static const struct fake_structure structure = {.parameters = parameters};
static const struct fake_tensor tensors[] = {
    {.name = "p", .rank = 2, .shape = {2, 3}}, {.name = "q", .rank = 1, .shape = {4}}, {.name = NULL}};

static struct saver saver;

static int set_up(void **state) {
    static struct graft_class root;
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &structure);
    saver_init(&saver);
    fake_model_add(&saver.fake.model, &root);
    fake_checkpoint_write(saver.fake.folder, tensors);
    saver_bind(&saver, "Root");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    saver_finish(&saver);
    return 0;
}

static void put(const char *journal) {
    folder_put(saver.fake.folder, "graft_journal.json", journal, strlen(journal));
}

#define HEAD "{\"version\": 1, \"replacements\": [], \"tensors\": ["
#define X "{\"name\": \"x\", \"dtype\": \"F32\", \"shape\": [2]}"
#define Y "{\"name\": \"y\", \"dtype\": \"F32\", \"shape\": [4]}"
#define ENTRIES "], \"parameters\": ["
#define P(runs) "{\"name\": \"p\", \"runs\": [" runs "]}"
#define TAIL "]}"

static void test_good(void **state) {
    (void)state;
    put(HEAD X "," Y ENTRIES P("[1, 2, 2], [0, 0, 2], [1, 0, 2]") TAIL);
    struct graft_checkpoint *saved = NULL;
    assert_int_equal(graft_checkpoint_open(saver_save(&saver, "out", 0, 0), &saved, NULL), GRAFT_OK);
    const char *p = graft_checkpoint_find(saver.fake.checkpoint, "p")->data;
    assert_int_equal(graft_checkpoint_count(saved), 3);
    assert_memory_equal(graft_checkpoint_find(saved, "x")->data, p + 8, 8);
    assert_memory_equal(graft_checkpoint_find(saved, "y")->data, p + 16, 8);
    assert_memory_equal((const char *)graft_checkpoint_find(saved, "y")->data + 8, p, 8);
    assert_non_null(graft_checkpoint_find(saved, "q")); /* the journal does not list it */
    graft_checkpoint_close(saved);
}

static void test_bad(void **state) {
    static const struct {
        const char *journal;
        const char *words;
    } cases[] = {
        {"", "end of file"},
        {"[]", "version: expected 1"},
        {"{\"version\": 2}", "version: expected 1"},
        {"{\"version\": 1, \"replacements\": [{\"class\": \"A\"}]}", "replacements[0]"},
        {"{\"version\": 1, \"options\": [{\"plugin\": \"a\", \"name\": \"b\"}]}", "options[0]"},
        {HEAD "{\"name\": \"x\"}" ENTRIES TAIL, "tensors[0]"},
        {HEAD "{\"name\": \"x\", \"dtype\": \"F31\", \"shape\": []}" ENTRIES TAIL, "tensors[0]"},
        {HEAD "{\"name\": \"x\", \"dtype\": \"F32\", \"shape\": [-1]}" ENTRIES TAIL, "tensors[0]"},
        {HEAD "{\"name\": \"x\", \"dtype\": \"F32\", \"shape\": [1.5]}" ENTRIES TAIL, "tensors[0]"},
        {HEAD "{\"name\": \"x\", \"dtype\": \"F32\", \"shape\": [1,1,1,1,1,1,1,1,1]}" ENTRIES TAIL, "tensors[0]"},
        {HEAD "{\"name\": \"x\", \"dtype\": \"F32\", \"shape\": [9000000000000000000]}" ENTRIES TAIL, "tensors[0]"},
        {HEAD "{\"name\": \"x\\u0000\", \"dtype\": \"F32\", \"shape\": [1]}" ENTRIES TAIL, "tensors[0]"},
        {HEAD X ENTRIES "{\"name\": \"p\"}" TAIL, "parameters[0]"},
        {HEAD X ENTRIES "7" TAIL, "parameters[0]"},
        {HEAD X ENTRIES P("[1, 0, 2]") TAIL, "run 0"},
        {HEAD X ENTRIES P("[-1, 0, 2]") TAIL, "run 0"},
        {HEAD X ENTRIES P("[0, 0, 2], [0, 1, 2]") TAIL, "run 1"},
        {HEAD X ENTRIES P("[0, -1, 2]") TAIL, "run 0"},
        {HEAD X ENTRIES P("[0, 0, 0]") TAIL, "run 0"},
        {HEAD X ENTRIES P("[0, 9223372036854775807, 2]") TAIL, "run 0"},
        {HEAD X ENTRIES P("[0, 0]") TAIL, "run 0"},
        {HEAD X ENTRIES P("7") TAIL, "run 0"},
        {HEAD X "," Y ENTRIES P("[0, 0, 2], [1, 0, 4]") "," P("") TAIL, "twice"},
        {HEAD X ENTRIES P("[0, 0, 2]") TAIL, "does not fit"},
        {HEAD X "," Y ENTRIES P("[0, 0, 2], [1, 0, 4], [1, 0, 4]") TAIL, "does not fit"},
        {HEAD "{\"name\": \"x\", \"dtype\": \"F64\", \"shape\": [6]}" ENTRIES P("[0, 0, 6]") TAIL, "does not fit"},
        {HEAD X "," Y ENTRIES "{\"name\": \"r\", \"runs\": [[0, 0, 2]]}" TAIL, "but no file has it"},
        {HEAD X "," Y ENTRIES P("[1, 0, 4], [1, 0, 2]") TAIL, "does not say where"},
        {HEAD X "," X ENTRIES P("") TAIL, "two original tensors"},
        {HEAD "{\"name\": \"q\", \"dtype\": \"F32\", \"shape\": [0]}" ENTRIES TAIL, "two original tensors"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(cases[i].journal);
        for (int runtime = 0; runtime < 2; runtime++) {
            int status = saver_try(&saver, "out", runtime, 0);
            if (status != GRAFT_ERROR_MODEL || strstr(saver.fake.model.error.message, cases[i].words) == NULL) {
                /* Faults that only matter for the original layout; the runtime layout reports them in its own words. */
                if (!runtime || status != GRAFT_ERROR_MODEL) {
                    fail_msg("%s: %d, \"%s\" does not say \"%s\"", cases[i].journal, status,
                             saver.fake.model.error.message, cases[i].words);
                }
            }
        }
        assert_int_equal(folder_count(saver.outputs), 0);
    }
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {WITH_SAVER(test_good), WITH_SAVER(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
