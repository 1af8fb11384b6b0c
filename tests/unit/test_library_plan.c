/* SPDX-License-Identifier: Apache-2.0 */
/* The information that an embedder gets: modules, parameters, plugins, classes and implementations, by public calls
 * alone. */
#include "base/json.h"
#include "graft/host/registry.h"
#include "library_fixture.h"

static struct graft_library *library;
static struct graft_error error;

static void load_plugin(const char *name, int inspect_only) {
    const struct graft_library_options options = {.struct_size = sizeof options, .inspect_only = inspect_only};
    char file[1024];
    (void)snprintf(file, sizeof file, "%s/%s/%s.so", getenv("GRAFT_PLUGINS"), name, name);
    if (graft_library_load_plugin(library, file, &options, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    library = new_library();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    return 0;
}

static struct graft_model *open_golden(const char *name, int without_weights) {
    const struct graft_model_options options = {.struct_size = sizeof options, .without_weights = without_weights};
    struct graft_model *model = NULL;
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    if (graft_model_open(library, path, &options, &model, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return model;
}

static const struct graft_planned_parameter *parameter(const struct graft_model *model, const char *name) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    for (size_t i = 0; i < plan->n_parameters; i++) {
        if (strcmp(plan->parameters[i]->name, name) == 0) {
            return plan->parameters[i];
        }
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

static const struct graft_model_field *field(const struct graft_model *model, const char *file, const char *name) {
    const struct graft_model_field *found;
    for (size_t i = 0; (found = graft_model_field_at(model, i)) != NULL; i++) {
        if (strcmp(found->file, file) == 0 && strcmp(found->name, name) == 0) {
            return found;
        }
    }
    fail_msg("no field %s", name);
    return NULL;
}

static void fields_are_told(void **state) {
    struct graft_model *model = open_golden("plain/llama", 0);
    const char *name;
    int asked = 0;
    (void)state;
    assert_int_equal(field(model, "config.json", "hidden_size")->use, GRAFT_FIELD_USED);
    assert_string_equal(field(model, "config.json", "hidden_size")->value, "64");
    assert_null(field(model, "config.json", "hidden_size")->by);
    assert_int_equal(field(model, "config.json", "initializer_range")->use, GRAFT_FIELD_WITHOUT_EFFECT);
    assert_string_equal(field(model, "config.json", "initializer_range")->by, "the host");
    assert_int_equal(field(model, "generation_config.json", "eos_token_id")->use, GRAFT_FIELD_USED);
    for (size_t i = 0; (name = graft_model_asked_field(model, i)) != NULL; i++) {
        asked |= strcmp(name, "hidden_size") == 0;
    }
    assert_true(asked);
    for (size_t i = 0; graft_model_field_at(model, i) != NULL; i++) {
        assert_int_not_equal(graft_model_field_at(model, i)->use, GRAFT_FIELD_NOT_USED);
    }
    graft_model_free(model);
}

static void fields_are_ignored(void **state) {
    static const char *const names[] = {"rms_norm_eps", "eos_token_id"}, *const unknown[] = {"rms_norm_epsilon"};
    struct graft_model_options options = {
        .struct_size = sizeof options, .ignored_fields = names, .n_ignored_fields = 2};
    struct graft_model *model = NULL;
    char path[1024];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/plain/llama", getenv("GRAFT_TEST_GOLDENS"));
    assert_int_equal(graft_model_open(library, path, &options, &model, &error), GRAFT_OK);
    assert_int_equal(field(model, "config.json", "rms_norm_eps")->use, GRAFT_FIELD_IGNORED);
    assert_string_equal(field(model, "config.json", "rms_norm_eps")->value, "1e-05");
    assert_int_equal(field(model, "generation_config.json", "eos_token_id")->use, GRAFT_FIELD_IGNORED);
    graft_model_free(model);
    model = NULL;
    options.ignored_fields = unknown;
    options.n_ignored_fields = 1;
    assert_int_equal(graft_model_open(library, path, &options, &model, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "rms_norm_epsilon"));
    options.ignored_may_lack = 1;
    assert_int_equal(graft_model_open(library, path, &options, &model, &error), GRAFT_OK);
    graft_model_free(model);
}

static void modules_are_told_by_number_and_by_path(void **state) {
    struct graft_model *model = open_golden("plain/llama", 0);
    const struct graft_named_module *module;
    size_t n = 0;
    (void)state;
    for (; (module = graft_model_module(model, n)) != NULL; n++) {
        assert_true(GRAFT_HAS(module, struct graft_named_module, arguments));
        assert_ptr_equal(graft_model_find_module(model, module->path), module);
        for (size_t i = 0; i < module->n_children; i++) {
            assert_ptr_equal(module->children[i]->parent, module);
        }
    }
    assert_true(n > 10);
    assert_string_equal(graft_model_module(model, 0)->class_name, "LlamaForCausalLM");
    assert_null(graft_model_module(model, 0)->parent);
    assert_null(graft_model_find_module(model, "model.nowhere"));
    module = graft_model_find_module(model, "model.layers");
    assert_int_equal(module->flags, GRAFT_MODULE_LIST);
    assert_null(module->interface_id);
    module = graft_model_find_module(model, "model.layers.1.self_attn.q_proj");
    assert_string_equal(module->name, "q_proj");
    assert_string_equal(module->class_name, "Linear");
    assert_string_equal(module->interface_id, GRAFT_INTERFACE_LINEAR);
    assert_int_equal(module->n_parameters, 1);
    assert_string_equal(module->parameters[0]->own_name, "weight");
    assert_ptr_equal(module->parameters[0]->module, module);
    assert_null(module->original_class);
    assert_null(module->plugin);
    assert_true(module->n_attributes > 0);
    graft_model_free(model);
}

static void a_conversion_is_told_with_where_it_comes_from(void **state) {
    (void)state;
    load_plugin("fused_qkv", 0);
    struct graft_model *model = open_golden("plain/llama", 0);
    const struct graft_named_module *module = graft_model_find_module(model, "model.layers.0.self_attn");
    assert_string_equal(module->original_class, "LlamaAttention");
    assert_string_equal(module->plugin, "fused_qkv");
    assert_string_equal(module->class_name, "LlamaFusedAttention");
    const struct graft_planned_parameter *fused = parameter(model, "model.layers.0.self_attn.qkv_proj.weight");
    assert_int_equal(fused->status, GRAFT_PLANNED_FOUND);
    assert_int_equal(fused->n_sources, 3);
    assert_string_equal(fused->sources[0], "model.layers.0.self_attn.q_proj.weight");
    assert_string_equal(fused->sources[2], "model.layers.0.self_attn.v_proj.weight");
    assert_string_equal(fused->operations, "Concatenate(dim=0)");
    assert_ptr_equal(fused->converter, module);
    assert_int_equal(fused->converted_by, GRAFT_CONVERTED_BY_CLASS);
    assert_true(fused->bytes > 0);
    const struct graft_planned_parameter *plain = parameter(model, "model.norm.weight");
    assert_string_equal(plain->operations, "");
    assert_null(plain->converter);
    assert_int_equal(plain->n_sources, 1);
    assert_string_equal(plain->sources[0], "model.norm.weight");
    assert_int_equal(graft_model_check_strict(model, &error), GRAFT_OK);
    graft_model_free(model);
}

static void originals_share_with_their_replacements(void **state) {
    (void)state;
    put(library, "LlamaMLP", &first_mlp);
    struct graft_model *model = open_golden("plain/llama", 0);
    const struct graft_named_module *module = graft_model_find_module(model, "model.layers.0.mlp");
    assert_string_equal(module->class_name, "FirstMLP");
    assert_string_equal(module->plugin, "program");
    assert_null(module->file);
    assert_non_null(module->super);
    assert_int_equal(module->super->flags, GRAFT_MODULE_SUPER);
    assert_string_equal(module->super->class_name, "LlamaMLP");
    assert_string_equal(module->super->path, module->path);
    assert_ptr_equal(module->cls, &first_mlp);
    graft_model_free(model);
}

static void what_a_checkpoint_lacks_is_told(void **state) {
    (void)state;
    struct graft_model *model = open_golden("plain/llama", 1);
    const struct graft_plan_info *plan = graft_model_plan(model);
    const struct graft_planned_parameter *missing = parameter(model, "model.embed_tokens.weight");
    assert_int_equal(missing->status, GRAFT_PLANNED_MISSING);
    assert_int_equal(missing->n_sources, 0);
    assert_int_equal(missing->dtype, GRAFT_DTYPE_NONE);
    assert_int_equal(plan->n_tensors, 0);
    assert_int_equal(plan->n_unexpected, 0);
    assert_int_equal(graft_model_check_strict(model, &error), GRAFT_ERROR_MODEL);
    graft_model_free(model);
}

static void totals_and_ties_are_told(void **state) {
    (void)state;
    struct graft_model *model = open_golden("plain/qwen3_tied_f16", 0);
    const struct graft_plan_info *plan = graft_model_plan(model);
    const struct graft_planned_parameter *head = parameter(model, "lm_head.weight");
    int64_t mapped = 0;
    int64_t copied = 0;
    for (size_t i = 0; i < plan->n_parameters; i++) {
        *(plan->parameters[i]->copied ? &copied : &mapped) += plan->parameters[i]->bytes;
    }
    assert_int_equal(plan->mapped_bytes, mapped);
    assert_int_equal(plan->copied_bytes, copied);
    assert_int_equal(plan->n_files, 1);
    assert_string_equal(plan->model_type, "qwen3");
    assert_string_equal(plan->architecture, "Qwen3ForCausalLM");
    assert_int_equal(head->status, GRAFT_PLANNED_TIED);
    assert_ptr_equal(head->tied_to, parameter(model, "model.embed_tokens.weight"));
    assert_int_equal(head->bytes, 0);
    assert_int_equal(head->dtype, GRAFT_DTYPE_F16);
    assert_true(graft_model_load_seconds(model) < 0.0);
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_true(graft_model_load_seconds(model) >= 0.0);
    graft_model_free(model);
}

static void plugins_are_told_with_what_they_bring(void **state) {
    (void)state;
    assert_null(graft_library_plugin(library, 0));
    load_plugin("fused_qkv", 0);
    const struct graft_plugin_info *plugin = graft_library_plugin(library, 0);
    assert_string_equal(plugin->descriptor->id, "fused_qkv");
    assert_non_null(strstr(plugin->file, "fused_qkv.so"));
    assert_true(plugin->descriptor->n_replacements > 1);
    assert_null(graft_library_plugin(library, 1));
    assert_int_equal(graft_library_load_plugin(library, plugin->file, NULL, &error), GRAFT_ERROR_PLUGIN);
}

/* A plugin that is only inspected replaces nothing. */
static void a_plugin_can_be_inspected(void **state) {
    (void)state;
    load_plugin("fused_qkv", 1);
    assert_string_equal(graft_library_plugin(library, 0)->descriptor->id, "fused_qkv");
    struct graft_model *model = open_golden("plain/llama", 0);
    assert_string_equal(graft_model_class_at(model, "model.layers.0.self_attn"), "LlamaAttention");
    graft_model_free(model);
}

static int knows(const struct graft_class_info *classes, size_t n, const char *name) {
    int found = 0;
    for (size_t i = 0; i < n; i++) {
        found += strcmp(classes[i].cls->name, name) == 0;
    }
    return found;
}

static void classes_are_told_and_found(void **state) {
    struct graft_class_info *classes = NULL;
    const struct graft_class *cls = NULL;
    char text[8];
    size_t n = 0;
    (void)state;
    load_plugin("fused_qkv", 0);
    assert_int_equal(graft_library_classes(library, &classes, &n, &error), GRAFT_OK);
    assert_int_equal(knows(classes, n, "LlamaAttention"), 1);
    assert_int_equal(knows(classes, n, "LlamaFusedAttention"), 0);
    graft_classes_free(classes);
    assert_int_equal(graft_library_find_class(library, "LlamaFusedAttention", &cls, &error), GRAFT_OK);
    assert_string_equal(cls->name, "LlamaFusedAttention");
    const struct graft_conversion *conversion = graft_class_conversion(cls, 0);
    assert_int_equal(graft_conversion_operations(conversion, text, sizeof text), strlen("Concatenate(dim=0)"));
    assert_string_equal(text, "Concate");
    assert_int_equal(graft_library_find_class(library, "LlamaAttentoin", &cls, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.hint, "LlamaAttention"));
}

static void implementations_are_told(void **state) {
    struct graft_implementation_info *all = NULL;
    size_t n = 0;
    int defaults = 0;
    (void)state;
    struct graft_model *model = open_golden("plain/llama", 0);
    assert_int_equal(graft_library_implementations(library, &all, &n, &error), GRAFT_OK);
    assert_true(n >= 5);
    for (size_t i = 0; i < n; i++) {
        assert_null(all[i].plugin);
        defaults += all[i].is_default;
    }
    assert_int_equal(defaults, 2);
    graft_implementations_free(all);
    assert_string_equal(graft_model_implementation(model, GRAFT_IMPLEMENTATION_ATTENTION)->name, "sdpa");
    assert_true(graft_model_implementation(model, GRAFT_IMPLEMENTATION_EXPERTS)->is_default);
    assert_null(graft_model_implementation(model, GRAFT_IMPLEMENTATION_KERNEL));
    graft_model_free(model);
}

/* The HTML page is complete, and contains the document. */
static void a_plan_is_shown_as_a_page(void **state) {
    struct graft_text page = {0};
    (void)state;
    load_plugin("fused_qkv", 0);
    struct graft_model *model = open_golden("plain/qwen3", 0);
    assert_int_equal(graft_model_plan_html(model, &page, &error), GRAFT_OK);
    assert_memory_equal(page.bytes, "<!doctype html>", strlen("<!doctype html>"));
    assert_non_null(strstr(page.bytes, "<script type=\"application/json\" id=\"plan\">"));
    assert_non_null(strstr(page.bytes, "<b>fused_qkv</b>"));
    assert_string_equal(page.bytes + page.length - strlen("</html>\n"), "</html>\n");
    graft_text_free(&page);
    graft_model_free(model);
}

/* The document says the same as the structs, on one line or indented. */
static void a_plan_is_told_as_json(void **state) {
    struct graft_text line = {0}, laid_out = {0};
    graft_json *document = NULL, *same = NULL;
    (void)state;
    load_plugin("fused_qkv", 0);
    struct graft_model *model = open_golden("plain/qwen3", 0);
    const struct graft_plan_info *plan = graft_model_plan(model);
    assert_int_equal(graft_model_plan_json(model, 0, &line, &error), GRAFT_OK);
    assert_int_equal(graft_model_plan_json(model, 2, &laid_out, &error), GRAFT_OK);
    assert_null(strchr(line.bytes, '\n'));
    assert_non_null(strchr(laid_out.bytes, '\n'));
    assert_int_equal(graft_json_parse_strict(line.bytes, line.length, "plan", &document, &error), GRAFT_OK);
    assert_int_equal(graft_json_parse_strict(laid_out.bytes, laid_out.length, "plan", &same, &error), GRAFT_OK);
    assert_true(graft_json_equal(document, same));
    assert_string_equal(graft_json_string(graft_json_get(document, "architecture"), NULL), plan->architecture);
    assert_int_equal(graft_json_int(graft_json_get(document, "mapped_bytes")), plan->mapped_bytes);
    const graft_json *modules = graft_json_get(document, "modules");
    const struct graft_named_module *module;
    size_t n = 0;
    for (; (module = graft_model_module(model, n)) != NULL; n++) {
        assert_string_equal(graft_json_string(graft_json_get(graft_json_at(modules, n), "path"), NULL), module->path);
    }
    assert_int_equal(graft_json_size(modules), n);
    assert_int_equal(graft_json_size(graft_json_get(document, "parameters")), plan->n_parameters);
    const graft_json *plugin = graft_json_at(graft_json_get(document, "plugins"), 0);
    assert_string_equal(graft_json_string(graft_json_get(plugin, "id"), NULL), "fused_qkv");
    graft_json_free(document);
    graft_json_free(same);
    graft_text_free(&line);
    graft_text_free(&laid_out);
    graft_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plan_is_shown_as_a_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plan_is_told_as_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_are_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(modules_are_told_by_number_and_by_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_conversion_is_told_with_where_it_comes_from, set_up, tear_down),
        cmocka_unit_test_setup_teardown(originals_share_with_their_replacements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_checkpoint_lacks_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(totals_and_ties_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plugins_are_told_with_what_they_bring, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plugin_can_be_inspected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(classes_are_told_and_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(implementations_are_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
