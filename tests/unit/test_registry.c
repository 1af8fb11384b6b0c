/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ATTENTION "graft.self_attention/1"
#define BLOCK "graft.attention_block/1"

#define CLASS(class_name, interface, class_flags)                                                     \
    {                                                                                                 \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), \
        .flags = (class_flags)                                                                        \
    }

static const struct graft_class bert = CLASS("BertAttention", BLOCK, 0);
static const struct graft_class bert_self = CLASS("BertSelfAttention", ATTENTION, 0);
static const struct graft_class llama = CLASS("LlamaAttention", ATTENTION, 0);
static const struct graft_class linear = CLASS("Linear", "graft.linear/1", GRAFT_CLASS_BASIC);
static const struct graft_class mine = CLASS("Mine", ATTENTION, 0);
static const struct graft_class yours = CLASS("Yours", ATTENTION, 0);
static const struct graft_class my_linear = CLASS("MyLinear", "graft.linear/1", 0);

static struct graft_registry *registry;
static struct graft_error error;

static int set_up(void **state) {
    const struct graft_class *const classes[] = {&bert, &bert_self, &llama, &linear};
    (void)state;
    error = graft_error_none();
    registry = graft_registry_create(NULL);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        assert_int_equal(graft_registry_add_class(registry, classes[i], NULL, 0, &error), GRAFT_OK);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_registry_free(registry);
    return 0;
}

static struct graft_replacement name_key(const char *target, const struct graft_class *cls) {
    return (struct graft_replacement){
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = target, .replacement = cls};
}

static struct graft_replacement pattern_key(const char *target, const struct graft_class *cls) {
    return (struct graft_replacement){.struct_size = sizeof(struct graft_replacement),
                                      .key = GRAFT_KEY_PATTERN,
                                      .target = target,
                                      .replacement = cls};
}

static void add(const struct graft_replacement *replacement, const char *plugin, int32_t rank) {
    const struct graft_origin origin = {plugin, NULL, rank};
    assert_int_equal(graft_registry_add_replacement(registry, replacement, &origin, &error), GRAFT_OK);
}

/* The class that is built for `class_name` at `path`; NULL after an error. */
static const char *winner_at(const char *class_name, const char *path, const char *model_type) {
    const struct graft_module_place place = {class_name, path, model_type, NULL, NULL, NULL, NULL, NULL};
    struct graft_resolution found;
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    error = graft_error_none();
    int status = graft_snapshot_resolve(snapshot, &place, NULL, &found, &error);
    graft_snapshot_release(snapshot);
    assert_int_equal(status, error.code);
    return status == GRAFT_OK ? found.stack[0].known->cls->name : NULL;
}

static const char *winner(const char *class_name) {
    return winner_at(class_name, "model.layers.0.self_attn", "llama");
}

static void test_exact_before_pattern(void **state) {
    const struct graft_replacement pattern = pattern_key("Llama", &mine);
    const struct graft_replacement name = name_key("LlamaAttention", &yours);
    (void)state;
    assert_string_equal(winner("LlamaAttention"), "LlamaAttention");
    add(&pattern, "a", 0);
    assert_string_equal(winner("LlamaAttention"), "Mine");
    add(&name, "a", 0);
    assert_string_equal(winner("LlamaAttention"), "Yours");
}

static void test_first_pattern_wins(void **state) {
    const struct graft_replacement first = pattern_key("SelfAtt", &mine);
    const struct graft_replacement second = pattern_key("^BertSelf", &yours);
    (void)state;
    add(&first, "a", 0);
    add(&second, "a", 0);
    assert_string_equal(winner("BertSelfAttention"), "Mine");
    assert_string_equal(winner("LlamaAttention"), "LlamaAttention");
}

/* Two plugins without an order, both by name or both by pattern, match the module: an error, unless another one comes
 * before both, whenever it was registered. */
static void test_tie(void **state) {
    const struct graft_replacement names[] = {name_key("LlamaAttention", &mine), name_key("LlamaAttention", &yours)};
    const struct graft_replacement patterns[] = {pattern_key("Attention$", &mine), pattern_key("^Llama", &yours)};
    const struct graft_replacement *const pairs[] = {names, patterns};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        add(&pairs[i][0], "a", 0);
        add(&pairs[i][1], "b", 0);
        assert_null(winner("LlamaAttention"));
        assert_non_null(strstr(error.message, "plugins a and b both replace LlamaAttention"));
        add(&patterns[1], "c", -1);
        assert_string_equal(winner("LlamaAttention"), "Yours");
        graft_registry_free(registry);
        (void)set_up(NULL);
    }
}

/* A name comes before the patterns of other plugins, in any order of registration, also if these conflict. */
static void test_exact_before_patterns_of_others(void **state) {
    const struct graft_replacement keys[] = {name_key("LlamaAttention", &mine), pattern_key("^Llama", &yours),
                                             pattern_key("Attention$", &yours)};
    static const char *const plugins[] = {"a", "b", "c"};
    static const size_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        for (size_t k = 0; k < 3; k++) {
            add(&keys[orders[i][k]], plugins[k], 0);
        }
        assert_string_equal(winner("LlamaAttention"), "Mine");
        assert_string_equal(winner("BertSelfAttention"), "Yours");
        graft_registry_free(registry);
        (void)set_up(NULL);
    }
}

static void test_module_path(void **state) {
    struct graft_replacement some = name_key("LlamaAttention", &mine);
    (void)state;
    some.module_path = "^model\\.layers\\.(0|2)\\.";
    add(&some, "a", 0);
    assert_string_equal(winner_at("LlamaAttention", "model.layers.0.self_attn", "llama"), "Mine");
    assert_string_equal(winner_at("LlamaAttention", "model.layers.1.self_attn", "llama"), "LlamaAttention");
    assert_string_equal(winner_at("LlamaAttention", "model.layers.20.self_attn", "llama"), "LlamaAttention");
}

static void test_model_types(void **state) {
    static const char *const types[] = {"mistral", "llama", NULL};
    struct graft_replacement some = name_key("LlamaAttention", &mine);
    (void)state;
    some.model_types = types;
    add(&some, "a", 0);
    assert_string_equal(winner_at("LlamaAttention", "x", "llama"), "Mine");
    assert_string_equal(winner_at("LlamaAttention", "x", "qwen2"), "LlamaAttention");
}

static void test_basic_classes(void **state) {
    const struct graft_replacement pattern = pattern_key("Lin", &my_linear);
    const struct graft_replacement name = name_key("Linear", &my_linear);
    (void)state;
    add(&pattern, "a", 0);
    assert_string_equal(winner("Linear"), "Linear");
    add(&name, "a", 0);
    assert_string_equal(winner("Linear"), "MyLinear");
}

static void test_names(void **state) {
    const struct graft_origin origin = {.plugin = "a", .file = "a.so"};
    const struct graft_replacement bad = pattern_key("(", &mine);
    (void)state;
    assert_null(winner("NoSuchAttention"));
    assert_non_null(strstr(error.message, "NoSuchAttention"));
    error = graft_error_none();
    assert_int_equal(graft_registry_add_class(registry, &llama, NULL, 0, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "LlamaAttention"));
    error = graft_error_none();
    assert_int_equal(graft_registry_add_replacement(registry, &bad, &origin, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "a.so");
    assert_string_equal(winner("LlamaAttention"), "LlamaAttention");
}

static void test_named_class_of_another_interface(void **state) {
    const struct graft_replacement wrong = name_key("BertAttention", &mine);
    (void)state;
    add(&wrong, "a", 0);
    assert_null(winner("BertAttention"));
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, ATTENTION));
    assert_non_null(strstr(error.message, BLOCK));
}

/* Checks the patterns over modules of all classes; `path` is that of the BertAttention. */
static int check_patterns(const char *path) {
    const struct graft_module_place places[] = {{"BertAttention", path, "bert", NULL, NULL, NULL, NULL, NULL},
                                                {"BertSelfAttention", "self.0", "bert", NULL, NULL, NULL, NULL, NULL},
                                                {"Linear", "linear", "bert", NULL, NULL, NULL, NULL, NULL},
                                                {"BertSelfAttention", "self.1", "bert", NULL, NULL, NULL, NULL, NULL},
                                                {"LlamaAttention", "llama", "bert", NULL, NULL, NULL, NULL, NULL}};
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    int changed = 0;
    error = graft_error_none();
    int status =
        graft_snapshot_check_patterns(snapshot, places, sizeof places / sizeof places[0], NULL, &changed, &error);
    graft_snapshot_release(snapshot);
    return status;
}

static void test_interface_rule(void **state) {
    const struct graft_replacement broad = pattern_key(".*Attention", &mine);
    (void)state;
    add(&broad, "a", 0);
    assert_int_equal(check_patterns("block"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message,
                        "pattern \".*Attention\" for Mine (" ATTENTION ") also matches BertAttention (" BLOCK
                        "); classes that fit: BertSelfAttention, LlamaAttention");
    assert_string_equal(error.hint, "use the pattern \"^(BertSelfAttention|LlamaAttention)$\"");
    struct graft_replacement narrow = pattern_key("^(BertSelfAttention|LlamaAttention)$", &mine);
    graft_registry_free(registry);
    (void)set_up(NULL);
    add(&narrow, "a", 0);
    assert_int_equal(check_patterns("block"), GRAFT_OK);
}

/* A pattern may be restricted to classes that fit. */
static void test_where_it_fits(void **state) {
    struct graft_replacement broad = pattern_key(".*Attention", &mine);
    (void)state;
    broad.flags = GRAFT_REPLACEMENT_WHERE_IT_FITS;
    add(&broad, "a", 0);
    assert_int_equal(check_patterns("block"), GRAFT_OK);
    assert_string_equal(winner("BertAttention"), "BertAttention");
    assert_string_equal(winner("BertSelfAttention"), "Mine");
}

/* A pattern whose module path excludes the misfit matches nothing wrong. */
static void test_interface_rule_and_path(void **state) {
    struct graft_replacement broad = pattern_key("Attention", &mine);
    (void)state;
    broad.module_path = "^(self|llama)";
    add(&broad, "a", 0);
    assert_int_equal(check_patterns("block"), GRAFT_OK);
    assert_int_equal(check_patterns("self.attention"), GRAFT_ERROR_PLUGIN);
}

static void test_conflict(void **state) {
    const struct graft_replacement first = pattern_key("LlamaAttention", &mine);
    const struct graft_replacement second = pattern_key("^Llama", &yours);
    (void)state;
    add(&first, "one_plugin", 0);
    add(&second, "other_plugin", 0);
    assert_null(winner("LlamaAttention"));
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "one_plugin"));
    assert_non_null(strstr(error.message, "other_plugin"));
    assert_non_null(strstr(error.hint, "load the one that should win first"));
    assert_string_equal(winner("BertSelfAttention"), "BertSelfAttention");
}

/* A replacement that gives way does so to any other, registered before or after it, but not against the user's
 * order. */
static void test_gives_way(void **state) {
    const struct graft_replacement firm = pattern_key("^Llama", &yours);
    struct graft_replacement modest = name_key("LlamaAttention", &mine);
    modest.flags = GRAFT_REPLACEMENT_GIVES_WAY;
    add(&modest, "a", 0);
    assert_string_equal(winner("LlamaAttention"), "Mine");
    add(&firm, "b", 0);
    assert_string_equal(winner("LlamaAttention"), "Yours");
    graft_registry_free(registry);
    (void)set_up(NULL);
    add(&firm, "a", 0);
    add(&modest, "b", 0);
    assert_string_equal(winner("LlamaAttention"), "Yours");
    graft_registry_free(registry);
    (void)set_up(NULL);
    add(&modest, "a", 1);
    add(&firm, "b", 2);
    assert_string_equal(winner("LlamaAttention"), "Mine");
    (void)state;
}

/* The user's order decides, whatever was registered first and whatever kind the keys are. */
static void test_rank(void **state) {
    const struct graft_replacement first = name_key("LlamaAttention", &mine);
    const struct graft_replacement second = pattern_key("^Llama", &yours);
    (void)state;
    add(&first, "one_plugin", 2);
    add(&second, "other_plugin", 1);
    assert_string_equal(winner("LlamaAttention"), "Yours");
}

static void test_private_classes(void **state) {
    static const struct graft_class part = CLASS("Part", ATTENTION, 0);
    static const struct graft_class own_llama = CLASS("LlamaAttention", ATTENTION, 0);
    const struct graft_origin origin = {.plugin = "a"};
    (void)state;
    assert_int_equal(graft_registry_add_class(registry, &part, &origin, 1, &error), GRAFT_OK);
    assert_int_equal(graft_registry_add_class(registry, &own_llama, &origin, 1, &error), GRAFT_OK);
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    assert_ptr_equal(graft_snapshot_class(snapshot, "Part", "a")->cls, &part);
    assert_null(graft_snapshot_class(snapshot, "Part", "b"));
    assert_null(graft_snapshot_class(snapshot, "Part", NULL));
    assert_ptr_equal(graft_snapshot_class(snapshot, "LlamaAttention", "a")->cls, &own_llama);
    assert_ptr_equal(graft_snapshot_class(snapshot, "LlamaAttention", "b")->cls, &llama);
    graft_snapshot_release(snapshot);
}

/* Patterns do not match private classes of other plugins; exact names, and the plugin's own patterns, do. */
static void test_private_class_of_another(void **state) {
    static const struct graft_class part = CLASS("PartAttention", ATTENTION, 0);
    const struct graft_origin origin = {.plugin = "a"};
    const struct graft_module_place place = {"PartAttention", "x", "llama", "a", NULL, NULL, NULL, NULL};
    const struct graft_replacement pattern = pattern_key("Attention$", &mine);
    const struct graft_replacement name = name_key("PartAttention", &yours);
    struct graft_resolution found;
    (void)state;
    assert_int_equal(graft_registry_add_class(registry, &part, &origin, 1, &error), GRAFT_OK);
    add(&pattern, "b", 0);
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    assert_int_equal(graft_snapshot_resolve(snapshot, &place, NULL, &found, &error), GRAFT_OK);
    assert_ptr_equal(found.stack[0].known, found.original);
    graft_snapshot_release(snapshot);
    add(&name, "c", 0);
    snapshot = graft_registry_snapshot(registry);
    assert_int_equal(graft_snapshot_resolve(snapshot, &place, NULL, &found, &error), GRAFT_OK);
    assert_ptr_equal(found.stack[0].known->cls, &yours);
    graft_snapshot_release(snapshot);
}

static void test_pattern_on_own_private_class(void **state) {
    static const struct graft_class part = CLASS("PartAttention", ATTENTION, 0);
    const struct graft_origin origin = {.plugin = "a"};
    const struct graft_module_place place = {"PartAttention", "x", "llama", "a", NULL, NULL, NULL, NULL};
    const struct graft_replacement pattern = pattern_key("^Part", &mine);
    struct graft_resolution found;
    (void)state;
    assert_int_equal(graft_registry_add_class(registry, &part, &origin, 1, &error), GRAFT_OK);
    add(&pattern, "a", 0);
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    assert_int_equal(graft_snapshot_resolve(snapshot, &place, NULL, &found, &error), GRAFT_OK);
    assert_ptr_equal(found.stack[0].known->cls, &mine);
    graft_snapshot_release(snapshot);
}

static size_t count_replacements(const struct graft_snapshot *snapshot) {
    struct graft_origin origin;
    size_t n = 0;
    while (graft_snapshot_replacement(snapshot, n, &origin) != NULL) {
        n++;
    }
    return n;
}

static void test_snapshots_do_not_change(void **state) {
    const struct graft_replacement one = name_key("LlamaAttention", &mine);
    const struct graft_module_place place = {"LlamaAttention", "x", "llama", NULL, NULL, NULL, NULL, NULL};
    struct graft_resolution found;
    (void)state;
    struct graft_snapshot *before = graft_registry_snapshot(registry);
    add(&one, "a", 0);
    struct graft_snapshot *after = graft_registry_snapshot(registry);
    assert_int_equal(graft_snapshot_resolve(before, &place, NULL, &found, &error), GRAFT_OK);
    assert_ptr_equal(found.stack[0].known, found.original);
    assert_int_equal(count_replacements(before), 0);
    assert_int_equal(count_replacements(after), 1);
    graft_registry_restore(registry, before);
    assert_string_equal(winner("LlamaAttention"), "LlamaAttention");
    /* A snapshot outlives its registry. */
    graft_registry_free(registry);
    registry = NULL;
    assert_int_equal(graft_snapshot_resolve(after, &place, NULL, &found, &error), GRAFT_OK);
    assert_ptr_equal(found.stack[0].known->cls, &mine);
    graft_snapshot_release(before);
    graft_snapshot_release(after);
}

/* Either everything of a plugin is registered, or nothing. */
static void test_plugin_as_a_whole(void **state) {
    const struct graft_replacement replacements[] = {name_key("LlamaAttention", &mine), pattern_key("(", &yours)};
    struct graft_plugin plugin = {.id = "a",
                                  .replacements = replacements,
                                  .n_replacements = 2,
                                  .replacement_stride = sizeof replacements[0],
                                  .classes = &mine,
                                  .n_classes = 1,
                                  .class_stride = sizeof mine};
    const struct graft_known_plugin added = {&plugin, {.plugin = "a"}, NULL};
    (void)state;
    assert_int_equal(graft_registry_add_plugins(registry, &added, 1, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(winner("LlamaAttention"), "LlamaAttention");
    plugin.n_replacements = 1;
    error = graft_error_none();
    assert_int_equal(graft_registry_add_plugins(registry, &added, 1, &error), GRAFT_OK);
    assert_string_equal(winner("LlamaAttention"), "Mine");
}

/* A pattern whose search would take too long is an error that names it. */
static void test_evil_pattern(void **state) {
    static const struct graft_class victim = CLASS("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", ATTENTION, 0);
    const struct graft_replacement evil = pattern_key("^(a|aa)+$", &mine);
    struct graft_replacement evil_path = name_key("LlamaAttention", &mine);
    (void)state;
    evil_path.module_path = evil.target;
    assert_int_equal(graft_registry_add_class(registry, &victim, NULL, 0, &error), GRAFT_OK);
    add(&evil, "a", 0);
    assert_null(winner(victim.name));
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, evil.target));
    assert_string_equal(winner("LlamaAttention"), "LlamaAttention");
    add(&evil_path, "a", 0);
    assert_null(winner_at("LlamaAttention", victim.name, "llama"));
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, evil_path.module_path));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_exact_before_pattern, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_pattern_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exact_before_patterns_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_module_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_model_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_basic_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_named_class_of_another_interface, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interface_rule, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_where_it_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interface_rule_and_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conflict, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gives_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rank, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_private_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_private_class_of_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pattern_on_own_private_class, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_snapshots_do_not_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plugin_as_a_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_evil_pattern, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
