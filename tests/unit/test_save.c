/* SPDX-License-Identifier: Apache-2.0 */
/* Saving restores what was read, with all conversions and types, ties, unused tensors and initial values. */
#include <fcntl.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/file.h"
#include "save/staging.h"
#include "save_fixture.h"

#define ROOT "test.root/1"

static const struct graft_operation join_rows[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};
static const struct graft_operation join_columns[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1}};
static const struct graft_operation cut[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CHUNK, .dim = 0}};
static const char *const row_sources[] = {"a", "b", "c"};
static const char *const column_sources[] = {"d", "e"};
static const char *const cut_sources[] = {"whole"};
static const char *const row_targets[] = {"rows"};
static const char *const column_targets[] = {"columns"};
static const char *const cut_targets[] = {"front", "rear"};

#define CONVERSION(from, n_from, to, n_to, steps)                                                                  \
    {                                                                                                              \
        .struct_size = sizeof(struct graft_conversion), .n_sources = (n_from), .sources = (from), .targets = (to), \
        .operations = (steps), .n_targets = (n_to), .n_operations = 1,                                             \
        .operation_stride = sizeof(struct graft_operation)                                                         \
    }

static const struct graft_conversion conversions[] = {CONVERSION(row_sources, 3, row_targets, 1, join_rows),
                                                      CONVERSION(column_sources, 2, column_targets, 1, join_columns),
                                                      CONVERSION(cut_sources, 1, cut_targets, 2, cut)};

static const struct fake_parameter parameters[] = {{.name = "tied", .rank = 2, .shape = {6, 3}},
                                                   {.name = "columns", .rank = 2, .shape = {2, 5}},
                                                   {.name = "rows", .rank = 2, .shape = {6, 3}},
                                                   {.name = "rear", .rank = 2, .shape = {3, 2}},
                                                   {.name = "front", .rank = 2, .shape = {1, 2}},
                                                   {.name = "plain", .rank = 1, .shape = {7}},
                                                   {.name = "ones", .rank = 1, .shape = {5}, .init = GRAFT_INIT_ONES},
                                                   {.name = NULL}};
static const char *const ties[][2] = {{"tied", "rows"}, {NULL, NULL}};
static const struct fake_structure structure = {.parameters = parameters, .ties = ties};

/* q, k and v of different sizes, and joined columns; one unused tensor, of a type that nothing reads. */
static const struct fake_tensor tensors[] = {{.name = "a", .rank = 2, .shape = {3, 3}},
                                             {.name = "b", .rank = 2, .shape = {1, 3}},
                                             {.name = "c", .rank = 2, .shape = {2, 3}},
                                             {.name = "d", .rank = 2, .shape = {2, 2}},
                                             {.name = "e", .rank = 2, .shape = {2, 3}},
                                             {.name = "model.whole", .rank = 2, .shape = {4, 2}},
                                             {.name = "plain", .rank = 1, .shape = {7}},
                                             {.name = "zz.steps", .rank = 0, .dtype = GRAFT_DTYPE_I64},
                                             {.name = NULL}};

static struct saver saver;

static int set_up(void **state) {
    static struct graft_class root;
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &structure);
    root.conversions = conversions;
    root.n_conversions = 3;
    root.conversion_stride = sizeof conversions[0];
    saver_init(&saver);
    fake_model_add(&saver.fake.model, &root);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    saver_finish(&saver);
    return 0;
}

/* Saves in both layouts, and back and forth. */
static void assert_round_trips(const struct fake_tensor *stored) {
    fake_checkpoint_write(saver.fake.folder, stored);
    saver_bind(&saver, "Root");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "shards", 0, 40));
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    saver_bind(&saver, "Root");
    assert_same_tensors(folder_path(saver.outputs, "original"), saver_save(&saver, "back", 0, 0));
    (void)saver_save(&saver, "again", 1, 0);
    assert_same_tensors(saver.fake.folder, folder_path(saver.outputs, "again"));
}

static void test_round_trips(void **state) {
    (void)state;
    assert_round_trips(tensors);
    struct graft_checkpoint *runtime = saver.fake.checkpoint;
    assert_int_equal(graft_checkpoint_count(runtime), 7); /* not the tied one, but that with an initial value */
    assert_null(graft_checkpoint_find(runtime, "a"));
    assert_int_equal(graft_checkpoint_find(runtime, "rows")->shape[0], 6);
    assert_int_equal(graft_checkpoint_find(runtime, "columns")->shape[1], 5);
    assert_non_null(graft_checkpoint_find(runtime, "ones"));
    assert_non_null(graft_checkpoint_find(runtime, "zz.steps"));
}

/* Parts of several types form one f32 parameter; the bytes are all possible numbers, with NaN. */
static void test_types(void **state) {
    static const graft_dtype dtypes[] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, GRAFT_DTYPE_F16};
    struct fake_tensor mixed[sizeof tensors / sizeof tensors[0]];
    (void)state;
    memcpy(mixed, tensors, sizeof mixed);
    for (size_t i = 0; i < 7; i++) {
        mixed[i].dtype = dtypes[i % 3];
    }
    assert_round_trips(mixed);
    assert_int_equal(graft_checkpoint_find(saver.fake.checkpoint, "rows")->dtype, GRAFT_DTYPE_F32);
    assert_int_equal(graft_checkpoint_find(saver.fake.checkpoint, "front")->dtype, GRAFT_DTYPE_F16);
}

/* Tensors that no parameter uses may have any type of the format. */
static void test_kept_types(void **state) {
    static const struct fake_tensor kept[] = {
        {.name = "zz.c64", .rank = 1, .shape = {3}, .dtype = GRAFT_DTYPE_C64},
        {.name = "zz.f4", .rank = 2, .shape = {3, 6}, .dtype = GRAFT_DTYPE_F4},
        {.name = "zz.f4.empty", .rank = 2, .shape = {3, 0}, .dtype = GRAFT_DTYPE_F4},
        {.name = "zz.f6_e2m3", .rank = 2, .shape = {2, 14}, .dtype = GRAFT_DTYPE_F6_E2M3},
        {.name = "zz.f6_e3m2", .rank = 1, .shape = {4}, .dtype = GRAFT_DTYPE_F6_E3M2},
        {.name = "zz.f8_e4m3fnuz", .rank = 1, .shape = {5}, .dtype = GRAFT_DTYPE_F8_E4M3FNUZ},
        {.name = "zz.f8_e5m2fnuz", .rank = 0, .dtype = GRAFT_DTYPE_F8_E5M2FNUZ},
        {.name = "zz.f8_e8m0", .rank = 1, .shape = {61}, .dtype = GRAFT_DTYPE_F8_E8M0},
        {.name = NULL}};
    enum { USED = 7, KEPT = sizeof kept / sizeof kept[0] };
    struct fake_tensor all[USED + KEPT];
    (void)state;
    memcpy(all, tensors, USED * sizeof all[0]);
    memcpy(all + USED, kept, sizeof kept);
    assert_round_trips(all);
    assert_int_equal(graft_checkpoint_find(saver.fake.checkpoint, "zz.f4")->bytes, 9);
    assert_int_equal(graft_checkpoint_find(saver.fake.checkpoint, "zz.f6_e2m3")->bytes, 21);
    assert_non_null(strstr(saver_journal(&saver), "\"dtype\": \"F6_E3M2\", \"shape\": [4]"));
}

static void test_tied_with_its_own(void **state) {
    struct fake_tensor own[sizeof tensors / sizeof tensors[0]];
    (void)state;
    memcpy(own, tensors, sizeof own);
    own[7] = (struct fake_tensor){.name = "tied", .rank = 2, .shape = {6, 3}};
    assert_round_trips(own);
    assert_non_null(graft_checkpoint_find(saver.fake.checkpoint, "tied"));
}

static void test_notes(void **state) {
    (void)state;
    fake_checkpoint_write(saver.fake.folder, tensors);
    folder_put(saver.fake.folder, "optimizer.pt", "x", 1);
    folder_put(saver.fake.folder, "config.json", "{\"any\" :1}", 10);
    folder_put(saver.fake.folder, ".hidden", "x", 1);
    saver_bind(&saver, "Root");
    const char *saved = saver_save(&saver, "out", 0, 0);
    assert_string_equal(saver.notes, "tensors that no parameter uses are kept unchanged: zz.steps\n"
                                     "not part of the model, so not copied: optimizer.pt\n");
    assert_int_equal(folder_count(saved), 2);
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(
        graft_file_read(folder_path(saver.outputs, "out/config.json"), 100, GRAFT_ERROR_IO, &text, &length, NULL),
        GRAFT_OK);
    assert_string_equal(text, "{\"any\" :1}");
    graft_free(text);
}

/* Files are filled as transformers does, in the order of the tree. */
static void test_shards(void **state) {
    static const char expected[] =
        "{\n  \"metadata\": {\n    \"total_parameters\": 48,\n    \"total_size\": 180\n  },\n"
        "  \"weight_map\": {\n"
        "    \"a\": \"model-00002-of-00004.safetensors\",\n"
        "    \"b\": \"model-00002-of-00004.safetensors\",\n"
        "    \"c\": \"model-00003-of-00004.safetensors\",\n"
        "    \"d\": \"model-00001-of-00004.safetensors\",\n"
        "    \"e\": \"model-00001-of-00004.safetensors\",\n"
        "    \"model.whole\": \"model-00003-of-00004.safetensors\",\n"
        "    \"plain\": \"model-00004-of-00004.safetensors\",\n"
        "    \"zz.steps\": \"model-00004-of-00004.safetensors\"\n  }\n}\n";
    (void)state;
    fake_checkpoint_write(saver.fake.folder, tensors);
    saver_bind(&saver, "Root");
    (void)saver_save(&saver, "out", 0, 60);
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(graft_file_read(folder_path(saver.outputs, "out/model.safetensors.index.json"), 10000,
                                     GRAFT_ERROR_IO, &text, &length, NULL),
                     GRAFT_OK);
    assert_string_equal(text, expected);
    graft_free(text);
    assert_int_equal(folder_count(saver_save(&saver, "single", 0, 1000)), 1);
}

static void assert_refused(const char *output, const char *words) {
    assert_int_equal(saver_try(&saver, output, 0, 0), GRAFT_ERROR_IO);
    if (strstr(saver.fake.model.error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", saver.fake.model.error.message, words);
    }
}

static void test_output(void **state) {
    (void)state;
    fake_checkpoint_write(saver.fake.folder, tensors);
    saver_bind(&saver, "Root");
    folder_make(saver.outputs, "full");
    folder_put(saver.outputs, "full/kept", "x", 1);
    assert_refused("full", "is not empty");
    assert_refused("full/kept", "found a file");
    assert_refused("full/kept/below", "cannot be examined");
    assert_refused("absent/out", "cannot be created");
    folder_link(saver.outputs, "source", saver.fake.folder);
    assert_refused("source", "the directory that the model is read from");
    folder_link(saver.outputs, "dangling", "nowhere");
    assert_refused("dangling", "is a broken link");
    assert_int_equal(folder_count(saver.outputs), 3);
    folder_make(saver.outputs, "empty");
    folder_link(saver.outputs, "link", "empty");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "link", 0, 0));
    assert_same_tensors(saver.fake.folder, folder_path(saver.outputs, "empty"));
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "new///", 0, 0));
}

/* A link out of the model directory is followed, with a note about its target; the written file is no link. */
static void test_link_out(void **state) {
    char outside[64];
    struct stat written;
    (void)state;
    folder_create(outside);
    folder_put(outside, "private", "{}", 2);
    fake_checkpoint_write(saver.fake.folder, tensors);
    folder_link(saver.fake.folder, "tokenizer.json", folder_path(outside, "private"));
    folder_put(saver.fake.folder, "one.json", "[]", 2);
    folder_link(saver.fake.folder, "two.json", "one.json");
    saver_bind(&saver, "Root");
    char saved[128], words[256];
    (void)snprintf(saved, sizeof saved, "%s", saver_save(&saver, "out", 0, 0));
    for (const char *const *name = (const char *const[]){"tokenizer.json", "two.json", NULL}; *name != NULL; name++) {
        assert_int_equal(lstat(folder_path(saved, *name), &written), 0);
        assert_true(S_ISREG(written.st_mode));
        assert_int_equal(written.st_size, 2);
    }
    (void)snprintf(words, sizeof words,
                   "copied from outside of the model's directory, where links lead: tokenizer.json from %s/private\n",
                   outside);
    assert_non_null(strstr(saver.notes, words));
    folder_remove(outside);
}

/* If a mapped file is truncated while it is being written from, the error names that file, not the output. */
static void test_source_cut(void **state) {
    enum { BYTES = 3 * 4096 };
    static const char zeros[BYTES];
    struct save_staging staging;
    struct save_file file;
    struct graft_text cleared = {0};
    struct graft_error error = graft_error_none();
    char source[128];
    (void)state;
    folder_put(saver.outputs, "source", zeros, BYTES);
    (void)snprintf(source, sizeof source, "%s", folder_path(saver.outputs, "source"));
    int fd = open(source, O_RDWR);
    assert_true(fd >= 0);
    void *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(mapped != MAP_FAILED);
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(graft_save_staging_begin(folder_path(saver.outputs, "out"), &staging, &cleared, &error), GRAFT_OK);
    assert_int_equal(graft_save_file_begin(&staging, "file", &file, &error), GRAFT_OK);
    int status = graft_save_file_write(&file, mapped, BYTES, &error);
    assert_int_equal(graft_save_file_end(&file, status, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, source);
    assert_string_equal(error.message, "was overwritten or cut while it was being saved");
    graft_save_staging_abort(&staging);
    graft_text_free(&cleared);
    (void)munmap(mapped, BYTES);
    (void)close(fd);
}

/* Weights changed at run time are saved; a weight that its type cannot represent any more is not rounded. */
static void test_changed(void **state) {
    struct fake_tensor mixed[sizeof tensors / sizeof tensors[0]];
    (void)state;
    memcpy(mixed, tensors, sizeof mixed);
    mixed[3].dtype = GRAFT_DTYPE_BF16;
    fake_checkpoint_write(saver.fake.folder, mixed);
    saver_bind(&saver, "Root");
    const struct graft_weight *weight = graft_node_parameter(saver.fake.model.tree->root, "columns")->weight;
    float *numbers = (float *)(uintptr_t)graft_weight_block(weight, 0)->data; /* a copy, since its types differ */
    numbers[0] = 1.5F;
    numbers[7] = 0.1F;
    struct graft_checkpoint *saved = NULL;
    assert_int_equal(graft_checkpoint_open(saver_save(&saver, "out", 0, 0), &saved, NULL), GRAFT_OK);
    uint16_t first;
    float changed;
    memcpy(&first, graft_checkpoint_find(saved, "d")->data, sizeof first);
    memcpy(&changed, (const char *)graft_checkpoint_find(saved, "e")->data + 3 * sizeof changed, sizeof changed);
    graft_checkpoint_close(saved);
    assert_int_equal(first, 0x3fc0);
    assert_true(changed == 0.1F);
    numbers[0] = 0.1F;
    assert_int_equal(saver_try(&saver, "inexact", 0, 0), GRAFT_ERROR_MODEL);
    assert_string_equal(saver.fake.model.error.source, "d");
    assert_int_equal(folder_count(saver.outputs), 1);
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_SAVER(test_round_trips), WITH_SAVER(test_types),      WITH_SAVER(test_tied_with_its_own),
        WITH_SAVER(test_notes),       WITH_SAVER(test_shards),     WITH_SAVER(test_output),
        WITH_SAVER(test_link_out),    WITH_SAVER(test_source_cut), WITH_SAVER(test_changed),
        WITH_SAVER(test_kept_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
