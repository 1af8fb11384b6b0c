/* SPDX-License-Identifier: Apache-2.0 */
/* Library calls on the mapping: special cases. The conformance cases test the usual sequences. */
#include "library_fixture.h"

#include "base/alloc.h"

static struct graft_library *library;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    library = new_library();
    error = graft_error_none();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    return 0;
}

/* The mapping as text: "key=Class key=Class". */
static const char *mapping(void) {
    static char text[256];
    struct graft_patch *patches = NULL;
    size_t n = 0, length = 0;
    assert_int_equal(graft_library_patches(library, &patches, &n, NULL), GRAFT_OK);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s=%s", i > 0 ? " " : "", patches[i].key,
                                   patches[i].replacement->name);
    }
    graft_patches_free(patches);
    return text;
}

static const char *class_of(const char *name) {
    const struct graft_class *cls = NULL;
    error = graft_error_none();
    return graft_library_class(library, name, &cls, &error) == GRAFT_OK ? cls->name : NULL;
}

static int add_two(const char *a, const char *b, int overwrite) {
    const struct graft_patch patches[] = {{.struct_size = sizeof patches[0], .key = a, .replacement = &first_mlp},
                                          {.struct_size = sizeof patches[0], .key = b, .replacement = &second_mlp}};
    error = graft_error_none();
    return graft_library_register(library, patches, 2, overwrite, &error);
}

static void test_order(void **state) {
    (void)state;
    assert_int_equal(add_two("a", "b", 0), GRAFT_OK);
    assert_string_equal(mapping(), "a=FirstMLP b=SecondMLP");
    assert_int_equal(add_two("c", "a", 1), GRAFT_OK);
    assert_string_equal(mapping(), "a=SecondMLP b=SecondMLP c=FirstMLP");
    assert_int_equal(graft_library_unregister(library, (const char *const[]){"a"}, 1, NULL), GRAFT_OK);
    put(library, "a", &first_mlp);
    assert_string_equal(mapping(), "b=SecondMLP c=FirstMLP a=FirstMLP");
    assert_int_equal(graft_library_clear(library, NULL), GRAFT_OK);
    assert_string_equal(mapping(), "");
}

static void test_all_or_nothing(void **state) {
    (void)state;
    put(library, "b", &first_mlp);
    assert_int_equal(add_two("a", "b", 0), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "b");
    assert_string_equal(error.message, "the key is already registered, for FirstMLP");
    assert_int_equal(add_two("c", "c", 0), GRAFT_ERROR_USAGE);
    error = graft_error_none();
    assert_int_equal(graft_library_unregister(library, (const char *const[]){"b", "x"}, 2, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "the key is not registered");
    assert_string_equal(mapping(), "b=FirstMLP");
}

/* Entries of a later version of the headers, with fields unknown here; all have one size. */
static void test_strides(void **state) {
    struct later {
        struct graft_patch patch;
        char more[24];
    } later[2];
    (void)state;
    memset(later, 0xff, sizeof later);
    later[0].patch = (struct graft_patch){.struct_size = sizeof later[0], .key = "a", .replacement = &first_mlp};
    later[1].patch = (struct graft_patch){.struct_size = sizeof later[1], .key = "b", .replacement = &second_mlp};
    assert_int_equal(graft_library_register(library, &later[0].patch, 2, 0, NULL), GRAFT_OK);
    assert_string_equal(mapping(), "a=FirstMLP b=SecondMLP");
    later[1].patch.struct_size = sizeof later[1].patch;
    error = graft_error_none();
    assert_int_equal(graft_library_register(library, &later[0].patch, 2, 1, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "struct graft_patch");
    assert_string_equal(mapping(), "a=FirstMLP b=SecondMLP");
}

static void refuse(struct graft_patch patch, const char *message) {
    error = graft_error_none();
    assert_int_equal(graft_library_register(library, &patch, 1, 0, &error), GRAFT_ERROR_USAGE);
    if (strstr(error.message, message) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", message, error.message);
    }
    assert_string_equal(mapping(), "");
}

static void test_refused(void **state) {
    struct graft_class no_interface = first_mlp, bad = first_mlp;
    no_interface.interface_id = NULL;
    bad.flags = 1u << 31;
    (void)state;
    refuse((struct graft_patch){.struct_size = sizeof(struct graft_patch), .replacement = &first_mlp},
           "expected a key, got NULL");
    refuse((struct graft_patch){.struct_size = sizeof(struct graft_patch), .key = "\xff", .replacement = &first_mlp},
           "UTF-8");
    refuse((struct graft_patch){.struct_size = sizeof(struct graft_patch), .key = "a"},
           "not a class: expected one, got NULL");
    refuse((struct graft_patch){.struct_size = sizeof(struct graft_patch), .key = "a", .replacement = &no_interface},
           "not a class of modules");
    refuse((struct graft_patch){.struct_size = sizeof(struct graft_patch), .key = "a", .replacement = &bad},
           "flags: requirement 0x80000000 is unknown to this host");
    refuse(
        (struct graft_patch){
            .struct_size = sizeof(struct graft_patch), .key = "a", .replacement = &first_mlp, .module_path = "("},
        "regular expression");
    refuse(
        (struct graft_patch){
            .struct_size = sizeof(struct graft_patch), .key = "a", .replacement = &first_mlp, .flags = 1u << 31},
        "flags: requirement 0x80000000 is unknown to this host");
}

/* A pattern may be restricted to classes that fit; a name means exactly its class. */
static void test_where_it_fits(void **state) {
    struct graft_patch patch = {.struct_size = sizeof patch,
                                .key = "^Llama",
                                .replacement = &first_mlp,
                                .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS};
    struct graft_patch *patches = NULL;
    struct graft_scope *scope;
    size_t n = 0;
    (void)state;
    assert_int_equal(graft_library_register(library, &patch, 1, 0, NULL), GRAFT_OK);
    patch.key = "LlamaModel";
    assert_int_equal(graft_library_register(library, &patch, 1, 0, NULL), GRAFT_OK);
    assert_int_equal(graft_library_patches(library, &patches, &n, NULL), GRAFT_OK);
    assert_int_equal(patches[0].flags, GRAFT_REPLACEMENT_WHERE_IT_FITS);
    graft_patches_free(patches);
    assert_int_equal(graft_library_enter(library, &scope, NULL), GRAFT_OK);
    assert_string_equal(class_of("LlamaMLP"), "FirstMLP");
    assert_string_equal(class_of("LlamaAttention"), "LlamaAttention");
    assert_null(class_of("LlamaModel"));
    assert_string_equal(error.message, "FirstMLP cannot replace LlamaModel: its interface is graft.mlp/1, expected "
                                       "graft.base_model/1");
    graft_library_leave(library, scope);
}

static void test_scopes(void **state) {
    struct graft_scope *outer, *inner;
    (void)state;
    put(library, ".*MLP", &first_mlp);
    assert_string_equal(class_of("LlamaMLP"), "LlamaMLP");
    assert_int_equal(graft_library_enter(library, &outer, NULL), GRAFT_OK);
    assert_int_equal(graft_library_clear(library, NULL), GRAFT_OK);
    put(library, "LlamaMLP", &second_mlp);
    assert_string_equal(class_of("LlamaMLP"), "FirstMLP");
    assert_int_equal(graft_library_enter(library, &inner, NULL), GRAFT_OK);
    assert_string_equal(class_of("LlamaMLP"), "SecondMLP");
    assert_string_equal(class_of("Qwen2MoeMLP"), "FirstMLP");
    graft_library_leave(library, outer);
    assert_string_equal(class_of("Qwen2MoeMLP"), "Qwen2MoeMLP");
    assert_string_equal(class_of("LlamaMLP"), "SecondMLP");
    graft_library_leave(library, inner);
    graft_library_leave(library, NULL);
    assert_string_equal(class_of("LlamaMLP"), "LlamaMLP");
}

static void test_scope_rules(void **state) {
    struct graft_scope *scope;
    const struct graft_patch special[] = {
        {.struct_size = sizeof special[0], .key = "LlamaMLP", .replacement = &first_mlp, .module_path = "layers"}};
    (void)state;
    put(library, "Linea", &my_linear);
    put(library, "Attention$", &first_mlp);
    assert_int_equal(graft_library_register(library, special, 1, 0, NULL), GRAFT_OK);
    assert_int_equal(graft_library_enter(library, &scope, NULL), GRAFT_OK);
    assert_string_equal(class_of("Linear"), "Linear");
    assert_string_equal(class_of("LlamaMLP"), "LlamaMLP");
    assert_null(class_of("LlamaAttention"));
    assert_non_null(strstr(error.message, "FirstMLP cannot replace LlamaAttention: its interface is"));
    assert_null(class_of("LlamaAtention"));
    assert_string_equal(error.hint, "did you mean LlamaAttention?");
    assert_null(class_of("Nothing"));
    assert_string_equal(error.hint, "");
    /* Freeing the library also frees an open scope. */
}

static void test_invalid_key(void **state) {
    struct graft_scope *scope;
    (void)state;
    put(library, "Llama(", &first_mlp);
    assert_null(graft_library_note(library, 0));
    assert_int_equal(graft_library_enter(library, &scope, NULL), GRAFT_OK);
    assert_string_equal(class_of("LlamaMLP"), "LlamaMLP");
    assert_string_equal(class_of("LlamaMLP"), "LlamaMLP");
    assert_non_null(
        strstr(graft_library_note(library, 0), "key \"Llama(\" is treated as a plain name: invalid regular"));
    assert_null(graft_library_note(library, 1));
    graft_library_leave(library, scope);
}

static void test_costly_key(void **state) {
    struct graft_scope *scope;
    struct graft_class endless = first_mlp;
    (void)state;
    put(library, "^(([A-Za-z0-9]+)+)+[.,]", &endless);
    assert_int_equal(graft_library_enter(library, &scope, NULL), GRAFT_OK);
    assert_null(class_of("Qwen2MoeSparseMoeBlock"));
    assert_non_null(strstr(error.message, "costs too much"));
    graft_library_leave(library, scope);
}

/* Every allocation fails in turn: failed calls change nothing. */
static void test_out_of_memory(void **state) {
    static const char *const types[] = {"llama", NULL};
    const struct graft_patch patch = {.struct_size = sizeof patch,
                                      .key = "LlamaMLP",
                                      .replacement = &first_mlp,
                                      .module_path = "layers",
                                      .model_types = types,
                                      .group = "group"};
    const struct graft_class *cls;
    struct graft_scope *scope;
    struct graft_patch *copy;
    size_t n;
    (void)state;
    put(library, "(", &first_mlp);
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = graft_library_register(library, &patch, 1, 0, NULL) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        assert_string_equal(mapping(), failed ? "(=FirstMLP" : "(=FirstMLP LlamaMLP=FirstMLP");
    }
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = graft_library_enter(library, &scope, NULL) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
    }
    for (long i = 1, failed = 1; failed; i++) {
        copy = NULL;
        (void)graft_alloc_fail_at(i);
        failed = graft_library_class(library, "LlamaModel", &cls, NULL) != GRAFT_OK;
        failed |= graft_library_patches(library, &copy, &n, NULL) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        graft_patches_free(copy);
    }
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = graft_library_unregister(library, (const char *const[]){"("}, 1, NULL) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        assert_string_equal(mapping(), failed ? "(=FirstMLP LlamaMLP=FirstMLP" : "LlamaMLP=FirstMLP");
    }
    graft_library_leave(library, scope);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_or_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_where_it_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scopes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scope_rules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_costly_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
