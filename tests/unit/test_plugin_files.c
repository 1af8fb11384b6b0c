/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a plugins directory: which are tried, in which order, and messages about those that do not open. */
#include <link.h>

#include "plugin_fixture.h"

#include "plugin/loader.h"
#include "plugin/search.h"

static char folder[PATH_ROOM];

static int setup(void **state) {
    (void)state;
    make_folder(folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

static void expect_report(const struct graft_plugin_options *options, const char *expected) {
    struct graft_text report = {0};
    load_report(&report, folder, options);
    assert_string_equal(report.bytes, expected);
    graft_text_free(&report);
}

static const char *below(const char *name) {
    static char path[PATH_ROOM];
    set_path(path, "%s/%s", folder, name);
    return path;
}

static void test_empty_folder(void **state) {
    (void)state;
    expect_report(NULL, "note: DIR: contains no plugins; expected NAME.so or NAME/NAME.so\nplugins: 0\n");
}

static void test_absent_folder(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    const char *directory = "/nowhere/plugins";
    (void)state;
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, directory);
    assert_string_equal(error.message, "cannot be read as a plugins directory: No such file or directory");
    assert_null(set);

    write_bytes(folder, "file", "", 0);
    directory = below("file");
    error = graft_error_none();
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "cannot be read as a plugins directory: Not a directory");
}

static void test_junk(void **state) {
    char text[200];
    (void)state;
    memset(text, 'x', sizeof text);
    write_bytes(folder, "junk.so", text, sizeof text);
    expect_report(NULL, "error: DIR/junk.so: cannot be loaded: invalid ELF header; expected a shared object built for "
                        "this machine\n");
}

static void test_empty_file(void **state) {
    (void)state;
    write_bytes(folder, "empty.so", "", 0);
    expect_report(NULL,
                  "error: DIR/empty.so: cannot be loaded: file too short; expected a shared object built for this "
                  "machine\n");
}

static void read_good(char *bytes, size_t room, size_t *size) {
    char path[PATH_ROOM];
    built_plugin(path, "good");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *size = fread(bytes, 1, room, file);
    (void)fclose(file);
    assert_true(*size > 4096 && *size < room);
}

static char bytes[4 << 20];

static void test_no_machine(void **state) {
    size_t size;
    (void)state;
    read_good(bytes, sizeof bytes, &size);
    bytes[4] = 9; /* e_ident[EI_CLASS]: an unknown class */
    write_bytes(folder, "small.so", bytes, size);
    expect_report(NULL, "error: DIR/small.so: cannot be loaded: wrong ELF class: ELFCLASS32; expected a shared object "
                        "built for this machine\n");
}

/* Objects for other processors and systems are refused with their kind, whatever the dynamic linker makes of them. */
static void test_other_machines(void **state) {
    enum { LITTLE = 1, BIG = 2 };
    static const struct {
        unsigned number; /* e_machine */
        unsigned char bits, order;
        const char *begin; /* description of a file that is no ELF; or NULL */
        const char *found;
    } cases[] = {
        {183, 64, LITTLE, NULL, "AArch64 (64 bits)"},
        {183, 64, BIG, NULL, "AArch64 (64 bits, big-endian)"},
        {243, 64, LITTLE, NULL, "RISC-V (64 bits)"},
        {243, 32, LITTLE, NULL, "RISC-V (32 bits)"},
        {3, 64, LITTLE, NULL, "x86 (64 bits)"},
        {3, 32, LITTLE, NULL, "x86 (32 bits)"},
        {40, 32, LITTLE, NULL, "ARM (32 bits)"},
        {22, 64, BIG, NULL, "S/390 (64 bits, big-endian)"},
        {21, 64, LITTLE, NULL, "PowerPC64 (64 bits)"},
        {258, 64, LITTLE, NULL, "LoongArch (64 bits)"},
        {62, 32, LITTLE, NULL, "x86-64 (32 bits)"},
        {4711, 64, LITTLE, NULL, "processor number 4711 of ELF (64 bits)"},
        {0, 0, 0, "MZ", "Windows (PE)"},
        {0, 0, 0, "\xcf\xfa\xed\xfe", "macOS (Mach-O)"},
    };
    size_t size;
    (void)state;
    read_good(bytes, sizeof bytes, &size);
    ElfW(Ehdr) own;
    memcpy(&own, bytes, sizeof own);
    if (own.e_machine != EM_X86_64 || own.e_ident[EI_CLASS] != ELFCLASS64) {
        print_message("the words expected are those of x86-64\n");
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[256];
        bytes[4] = cases[i].bits == 64 ? 2 : 1;
        bytes[5] = (char)cases[i].order;
        bytes[18] = (char)(cases[i].order == BIG ? cases[i].number >> 8 : cases[i].number & 255);
        bytes[19] = (char)(cases[i].order == BIG ? cases[i].number & 255 : cases[i].number >> 8);
        if (cases[i].begin != NULL) {
            memcpy(bytes, cases[i].begin, strlen(cases[i].begin));
        }
        (void)snprintf(expected, sizeof expected,
                       "error: DIR/other.so: is for another machine: expected x86-64 (64 bits), found %s; build it for "
                       "this machine\n",
                       cases[i].found);
        write_bytes(folder, "other.so", bytes, size);
        expect_report(NULL, expected);
    }
}

/* The end of the last segment that is loaded; debug information after it may be missing. */
static size_t loaded_end(const char *object) {
    ElfW(Ehdr) head;
    size_t end = 0;
    memcpy(&head, object, sizeof head);
    for (size_t i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, object + head.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > end) {
            end = segment.p_offset + segment.p_filesz;
        }
    }
    return end;
}

/* A truncated plugin of any length is refused, and the process goes on. */
static void test_truncated(void **state) {
    size_t size;
    (void)state;
    read_good(bytes, sizeof bytes, &size);
    size_t end = loaded_end(bytes);
    assert_true(end > 4096 && end <= size);
    for (size_t length = 16; length < end; length = length * 3 / 2) {
        char name[32];
        struct graft_text report = {0};
        (void)snprintf(name, sizeof name, "cut_%zu.so", length);
        write_bytes(folder, name, bytes, length);
        load_report(&report, folder, NULL);
        assert_non_null(strstr(report.bytes, name));
        assert_memory_equal(report.bytes, "error: ", 7);
        if (length > 4096) {
            assert_non_null(strstr(report.bytes, ": is truncated: expected at least "));
        }
        graft_text_free(&report);
        (void)unlink(below(name));
    }
}

/* Files with other names than plugins are ignored. */
static void test_other_files(void **state) {
    (void)state;
    assert_int_equal(mkdir(below("empty"), 0700), 0);
    write_bytes(folder, "readme.txt", "no", 2);
    write_bytes(folder, ".so", "no", 2);
    write_bytes(folder, ".hidden.so", "no", 2);
    write_bytes(folder, "plugin.so.bak", "no", 2);
    expect_report(NULL, "note: DIR: contains no plugins; expected NAME.so or NAME/NAME.so\nplugins: 0\n");
}

/* Something with a plugin's name that is no file is refused. Nothing waits for a writer to the FIFO. */
static void test_special_files(void **state) {
    static const struct graft_plugin_options skip = {.skip_bad = 1};
    (void)state;
    assert_int_equal(mkfifo(below("fifo.so"), 0600), 0);
    assert_int_equal(mkdir(below("folder.so"), 0700), 0);
    assert_int_equal(symlink("nowhere", below("dangling.so")), 0);
    assert_int_equal(symlink("/dev/null", below("device.so")), 0);
    assert_int_equal(mkdir(below("deep"), 0700), 0);
    assert_int_equal(mkdir(below("deep/deep.so"), 0700), 0);
    expect_report(&skip, "note: DIR/dangling.so: skipped: expected a regular file, found a link that leads nowhere\n"
                         "note: DIR/deep/deep.so: skipped: expected a regular file, found a directory\n"
                         "note: DIR/device.so: skipped: expected a regular file, found a device\n"
                         "note: DIR/fifo.so: skipped: expected a regular file, found a FIFO\n"
                         "note: DIR/folder.so: skipped: expected a regular file, found a directory\n"
                         "plugins: 0\n");
    expect_report(NULL, "error: DIR/dangling.so: expected a regular file, found a link that leads nowhere; \n");

    struct graft_error error = graft_error_none();
    struct graft_object *object = NULL;
    assert_int_equal(graft_object_open(below("fifo.so"), "entry", &object, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "expected a regular file, found a FIFO");
    error = graft_error_none();
    assert_int_equal(graft_object_open(below("absent.so"), "entry", &object, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "cannot be opened: No such file or directory");
    error = graft_error_none();
    assert_int_equal(graft_object_open(below("readme.txt"), "entry", &object, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "expected a name that ends in .so");
}

/* Files that other users could have put there are not opened. */
static void test_writers(void **state) {
    (void)state;
    copy_plugin(folder, "good", "good.so");
    assert_int_equal(chmod(below("good.so"), 0646), 0);
    expect_report(NULL,
                  "error: DIR/good.so: everybody may write to it, so anyone could have changed it; take that right "
                  "from others: chmod o-w\n");
    assert_int_equal(chmod(below("good.so"), 0644), 0);
    assert_int_equal(chmod(folder, 0707), 0);
    expect_report(NULL,
                  "error: DIR/good.so: lies in a directory that everybody may write to, so anyone could have put it "
                  "there; move it elsewhere, or take the right to write to DIR from others (chmod o-w)\n");
    assert_int_equal(chmod(folder, 01707), 0); /* like /tmp: nobody else can remove or replace this file */
    expect_report(NULL, "plugins: 1\n");
    assert_int_equal(chmod(folder, 0700), 0);
    expect_report(NULL, "plugins: 1\n");
}

static void test_order_and_doubles(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_files files = {0};
    const char *const directories[] = {folder, folder};
    static const char *const expected[] = {"a.so", "b/b.so", "c.so"};
    (void)state;
    write_bytes(folder, "c.so", "", 0);
    write_bytes(folder, "a.so", "", 0);
    assert_int_equal(mkdir(below("b"), 0700), 0);
    write_bytes(folder, "b/b.so", "", 0);
    write_bytes(folder, "b/other.so", "", 0);
    assert_int_equal(symlink("c.so", below("d.so")), 0);
    assert_int_equal(graft_plugin_files_find(directories, 2, &files, &error), GRAFT_OK);
    assert_int_equal(files.n, 3);
    for (size_t i = 0; i < files.n; i++) {
        assert_string_equal(files.items[i].name, below(expected[i]));
    }
    graft_plugin_files_free(&files);
}

/* The name may be a link to a file of another name, and relative. */
static void test_link_and_relative_name(void **state) {
    char path[PATH_ROOM];
    char before[PATH_ROOM];
    const char *directory = ".";
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    (void)state;
    built_plugin(path, "good");
    assert_int_equal(symlink(path, below("linked.so")), 0);
    expect_report(NULL, "plugins: 1\n");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(graft_plugins_load(&directory, 1, NULL, &set, &error), GRAFT_OK);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(set->n, 1);
    assert_string_equal(set->plugins[0].file, "./linked.so");
    graft_plugin_set_free(set);
}

static void test_one_file(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    const char *directory = folder;
    char path[PATH_ROOM];
    const struct graft_plugin_options options = {.file = path};
    (void)state;
    built_plugin(path, "no_entry");
    assert_int_equal(graft_plugins_load(NULL, 0, &options, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "not a plugin: it exports no graft_plugin_entry");
    built_plugin(path, "good");
    assert_int_equal(graft_plugins_load(NULL, 0, &options, &set, NULL), GRAFT_OK);
    assert_int_equal(set->n, 1);
    assert_string_equal(set->plugins[0].descriptor->id, "good");
    graft_plugin_set_free(set);
    copy_plugin(folder, "other", "a.so");
    assert_int_equal(symlink(path, below("good.so")), 0); /* found once */
    assert_int_equal(graft_plugins_load(&directory, 1, &options, &set, NULL), GRAFT_OK);
    assert_int_equal(set->n, 2);
    assert_string_equal(set->plugins[0].file, path);
    graft_plugin_set_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_junk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_empty_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_machines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_special_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_and_doubles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_link_and_relative_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
