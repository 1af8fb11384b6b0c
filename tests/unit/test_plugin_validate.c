/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a descriptor that have no plugin in tests/plugins. */
#include "plugin_fixture.h"

#include "../plugins/parts.h"
#include "graft/kernel_override.h"
#include "graft/option.h"
#include "plugin/validate.h"

static const char *const scales[] = {"max", "mse", NULL};

struct fixture {
    const char *names[2];
    const char *choices[3];
    struct graft_option options[2];
    struct graft_operation operations[2];
    struct graft_conversion conversion;
    struct graft_class class;
    struct graft_replacement replacement;
    struct graft_plugin plugin;
};

static int infer_nothing(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                         struct graft_error *error) {
    (void)self, (void)shapes, (void)error;
    return GRAFT_OK;
}

static int apply_nothing(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                         struct graft_error *error) {
    (void)self, (void)work, (void)error;
    return GRAFT_OK;
}

static void calls_super_of_nothing(struct fixture *f) {
    f->plugin.n_replacements = 0;
    f->plugin.classes = &f->class;
    f->plugin.n_classes = 1;
    f->plugin.class_stride = sizeof f->class;
    f->class.flags = GRAFT_CLASS_CALLS_SUPER;
}

static void calls_super_without_forward(struct fixture *f) {
    f->class.flags = GRAFT_CLASS_CALLS_SUPER;
    f->class.create = NULL;
    f->class.destroy = NULL;
    f->class.forward = NULL;
}

static void larger_than_its_stride(struct fixture *f) {
    f->replacement.struct_size = 80;
    f->plugin.replacement_stride = 72;
}

static void group_without_name(struct fixture *f) {
    f->replacement.group = "";
}

static void stride_of_conversions(struct fixture *f) {
    f->class.conversion_stride = 8;
}

static void chunk_of_two(struct fixture *f) {
    f->operations[0].kind = GRAFT_OP_CHUNK;
}

static void merge_of_none(struct fixture *f) {
    f->names[0] = "gate_proj.weight";
    f->names[1] = "up_proj.weight";
}

static void split_into_none(struct fixture *f) {
    f->operations[1].kind = GRAFT_OP_SPLIT_MODULELIST;
}

static void two_stars(struct fixture *f) {
    f->names[1] = "*.*.weight";
}

static void ends_in_a_dot(struct fixture *f) {
    f->names[1] = "*.up_proj.";
}

static void not_text(struct fixture *f) {
    f->names[0] = "*.\xff.weight";
}

static void long_version(struct fixture *f) {
    static char text[300];
    memset(text, '1', sizeof text - 1);
    f->plugin.version = text;
}

static const char *ids[2];

static void requires_no_id(struct fixture *f) {
    ids[0] = "acme.gates";
    f->plugin.requires_extensions = ids;
}

static void uses_the_hosts(struct fixture *f) {
    ids[0] = "graft.log/1";
    f->plugin.uses_extensions = ids;
}

static void offers_the_hosts(struct fixture *f) {
    ids[0] = "graft.gates/1";
    f->plugin.offers_extensions = ids;
}

static void offers_without_function(struct fixture *f) {
    ids[0] = "acme.gates/1";
    f->plugin.offers_extensions = ids;
}

static void option_name(struct fixture *f) {
    f->options[1].name = "a.b";
}

static void option_twice(struct fixture *f) {
    f->options[1].name = "scale";
}

static void option_help(struct fixture *f) {
    f->options[0].help = NULL;
}

static void option_kind(struct fixture *f) {
    f->options[0].kind = 4;
}

static void option_default(struct fixture *f) {
    f->options[1].default_value = "eight";
}

static void option_without_default(struct fixture *f) {
    f->options[1].default_value = NULL;
}

static void option_default_no_choice(struct fixture *f) {
    f->options[0].default_value = "min";
}

static void option_choice_of_another_kind(struct fixture *f) {
    f->options[1].choices = f->choices;
}

static void too_many_options(struct fixture *f) {
    f->plugin.n_options = 33;
}

static void lossy_with_way_back(struct fixture *f) {
    static struct graft_custom_operation custom;
    custom = (struct graft_custom_operation){.struct_size = sizeof custom,
                                             .flags = GRAFT_CUSTOM_LOSSY,
                                             .name = "rounding",
                                             .infer = infer_nothing,
                                             .apply = apply_nothing,
                                             .reverse = apply_nothing};
    f->operations[1].kind = GRAFT_OP_CUSTOM;
    f->operations[1].custom = &custom;
}

static void reserved_of_replacement(struct fixture *f) {
    f->replacement.reserved = 1;
}

static void reserved_of_conversion(struct fixture *f) {
    f->conversion.reserved = 1;
}

static void reserved_of_kernel(struct fixture *f) {
    static struct graft_kernel_override kernel;
    kernel = (struct graft_kernel_override){.struct_size = sizeof kernel, .name = "fast", .reserved = 1};
    f->plugin.kernels = &kernel;
    f->plugin.n_kernels = 1;
    f->plugin.kernel_stride = sizeof kernel;
}

static void reserved_of_fusion(struct fixture *f) {
    static struct graft_fusion_family family;
    family = (struct graft_fusion_family){.struct_size = sizeof family, .name = "stems", .reserved = 1};
    f->plugin.fusion_families = &family;
    f->plugin.n_fusion_families = 1;
    f->plugin.fusion_family_stride = sizeof family;
}

static void unknown_requirement(struct fixture *f) {
    f->replacement.flags = 1u << 31;
}

static void name_where_it_fits(struct fixture *f) {
    f->replacement.key = GRAFT_KEY_NAME;
    f->replacement.flags = GRAFT_REPLACEMENT_WHERE_IT_FITS;
}

static const struct {
    void (*break_it)(struct fixture *f);
    const char *message;
} cases[] = {
    {calls_super_of_nothing, "classes[0].flags: GRAFT_CLASS_CALLS_SUPER is set, but it replaces no class"},
    {calls_super_without_forward,
     "replacements[0].replacement.flags: GRAFT_CLASS_CALLS_SUPER is set, but there is no forward to call it"},
    {larger_than_its_stride, "replacements[0].struct_size: expected at most the stride, 72, got 80"},
    {lossy_with_way_back, "replacements[0].replacement.conversions[0].operations[1].custom.reverse: expected NULL, "
                          "because the operation is GRAFT_CUSTOM_LOSSY"},
    {reserved_of_replacement, "replacements[0].reserved: expected 0 (reserved), got 0x1"},
    {reserved_of_conversion, "replacements[0].replacement.conversions[0].reserved: expected 0 (reserved), got 0x1"},
    {reserved_of_kernel, "kernels[0].reserved: expected 0 (reserved), got 0x1"},
    {reserved_of_fusion, "fusion_families[0].reserved: expected 0 (reserved), got 0x1"},
    {unknown_requirement, "replacements[0].flags: requirement 0x80000000 is unknown to this host (it knows 0x10000)"},
    {name_where_it_fits, "replacements[0].flags: GRAFT_REPLACEMENT_WHERE_IT_FITS is set, but the key is not a pattern"},
    {group_without_name, "replacements[0].group: expected a non-empty string"},
    {stride_of_conversions,
     "replacements[0].replacement.conversion_stride: expected a multiple of 8 from 48 to 65536, got 8"},
    {chunk_of_two, "replacements[0].replacement.conversions[0].operations[0].kind: a Chunk takes one value, got 2"},
    {merge_of_none,
     "replacements[0].replacement.conversions[0].operations[0].kind: a MergeModulelist needs a * in a source"},
    {split_into_none,
     "replacements[0].replacement.conversions[0].operations[1].kind: a SplitModulelist needs a * in a target"},
    {two_stars, "replacements[0].replacement.conversions[0].sources[1]: expected at most one * that is a whole part, "
                "got \"*.*.weight\""},
    {ends_in_a_dot, "replacements[0].replacement.conversions[0].sources[1]: expected a name relative to the module, "
                    "without empty parts, got \"*.up_proj.\""},
    {not_text, "replacements[0].replacement.conversions[0].sources[0]: expected one line of UTF-8, got \"*.?.weight\""},
    {requires_no_id, "requires_extensions[0]: expected an id such as \"acme.gate/1\", got \"acme.gates\""},
    {uses_the_hosts, "uses_extensions[0]: \"graft.log/1\" is an id of the host; expected one of the plugin's own"},
    {offers_the_hosts,
     "offers_extensions[0]: \"graft.gates/1\" is an id of the host; expected one of the plugin's own"},
    {offers_without_function, "get_extension: expected a function, because offers_extensions lists some, got NULL"},
    {option_name, "options[1].name: expected only a-z, 0-9 and '_', got \"a.b\""},
    {option_twice, "options[1].name: \"scale\" is also the name of options[0]"},
    {option_help, "options[0].help: expected a string, got NULL"},
    {option_kind, "options[0].kind: expected one of GRAFT_OPTION_..., 0 to 3, got 4"},
    {option_default, "options[1].default_value: expected an integer, got \"eight\""},
    {option_without_default, "options[1].default_value: expected a value, got NULL"},
    {option_default_no_choice, "options[0].default_value: expected one of max, mse, got \"min\""},
    {option_choice_of_another_kind, "options[1].choices[0]: expected an integer, got \"max\""},
    {too_many_options, "n_options: expected 0 to 32, got 33"},
    {long_version, "version: expected at most 255 bytes, got more: \"1111111111111111111111111111111111111111...\""},
};

static void fill(struct fixture *f) {
    memcpy(f->names, good_sources, sizeof f->names);
    memcpy(f->operations, good_operations, sizeof f->operations);
    f->conversion = good_conversion();
    f->conversion.sources = f->names;
    f->conversion.operations = f->operations;
    f->class = good_class(&f->conversion, 1);
    f->replacement = good_replacement(&f->class);
    f->plugin = good_plugin("test", &f->replacement, 1);
    memcpy(f->choices, scales, sizeof f->choices);
    f->options[0] = (struct graft_option){
        sizeof f->options[0], GRAFT_OPTION_STRING, "scale", "How scales are found", "max", f->choices};
    f->options[1] =
        (struct graft_option){sizeof f->options[0], GRAFT_OPTION_INT, "bits", "Bits of a weight", "8", NULL};
    f->plugin.options = f->options;
    f->plugin.n_options = 2;
    f->plugin.option_stride = sizeof f->options[0];
}

static void test_faults(void **state) {
    struct fixture fixture;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_error error = graft_error_none();
        fill(&fixture);
        assert_int_equal(graft_plugin_validate_identity("x.so", &fixture.plugin, NULL), GRAFT_OK);
        assert_int_equal(graft_plugin_validate_content("x.so", &fixture.plugin, NULL), GRAFT_OK);
        cases[i].break_it(&fixture);
        assert_int_equal(graft_plugin_validate_content("x.so", &fixture.plugin, &error), GRAFT_ERROR_PLUGIN);
        assert_string_equal(error.message, cases[i].message);
        assert_string_equal(error.source, "x.so");
        assert_true(error.hint[0] != '\0');
        assert_int_equal(graft_plugin_validate_content("x.so", &fixture.plugin, NULL), GRAFT_ERROR_PLUGIN);
    }
}

/* A plugin of a newer minor of the same major may have larger elements. */
static void test_larger_elements(void **state) {
    struct {
        struct graft_replacement known;
        int64_t more;
    } large[2];
    struct fixture fixture;
    (void)state;
    fill(&fixture);
    for (size_t i = 0; i < 2; i++) {
        large[i].known = fixture.replacement;
        large[i].known.struct_size = sizeof large[0];
        large[i].more = -1;
    }
    fixture.plugin.replacements = &large[0].known;
    fixture.plugin.n_replacements = 2;
    fixture.plugin.replacement_stride = sizeof large[0];
    assert_int_equal(graft_plugin_validate_content("x.so", &fixture.plugin, NULL), GRAFT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_larger_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
