/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime layout of replacements that inherit their description: which of them its journal names. */
#include "folder.h"
#include "graft/describe.h"
#include "graft/host/library.h"
#include "graft/host/model.h"
#include "graft/norm.h"
#include "library_fixture.h"
#include "patched_llama.h"

static struct graft_error error;
static char folder[64];

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    folder_create(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

#define REPLACING(name, class) \
    { .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = (name), .replacement = (class) }
#define DERIVED(name, base, interface) \
    { GRAFT_DERIVED_CLASS(name, base, GRAFT_INTERFACE_##interface) }
/* Has a forward of its own, and the description of the class that it replaces. */
#define INHERITING(class_name, interface, vtable)                                                                     \
    {                                                                                                                 \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_##interface, \
        .create = graft_create_stateless, .forward = (vtable)                                                         \
    }

static int norm_forward(void *self, const struct graft_call *call, const struct graft_norm_args *args,
                        struct graft_error *failure) {
    (void)self;
    (void)call;
    (void)args;
    return graft_error_set(failure, GRAFT_ERROR_PLUGIN, "norm", "nothing is run here");
}

static const struct graft_norm norm_vtable = {.struct_size = sizeof norm_vtable, .forward = norm_forward};
static const struct graft_class no_norm = DERIVED("NoNorm", "Identity", NORM);
static const struct graft_class same_norm = DERIVED("SameNorm", "LlamaRMSNorm", NORM);
static const struct graft_class llama_mlp = DERIVED("FromLlamaMLP", "LlamaMLP", MLP);
static const struct graft_class mistral_mlp = DERIVED("FromMistralMLP", "MistralMLP", MLP);
static const struct graft_class inherited_mlp = INHERITING("InheritedMLP", MLP, &mlp_vtable);
static const struct graft_class inherited_norm = INHERITING("InheritedNorm", NORM, &norm_vtable);

/* `named`: whether the journal has to name the replacement, since the parameters are not those of the original's
 * description. */
static const struct {
    const char *model;
    struct graft_replacement replacement;
    const char *named;
} cases[] = {
    {"llama", REPLACING("LlamaRMSNorm", &no_norm),
     "{\"class\": \"NoNorm\", \"original_class\": \"LlamaRMSNorm\", \"plugin\": \"bases\"}"},
    {"llama", REPLACING("LlamaRMSNorm", &same_norm), NULL},
    {"llama", REPLACING("LlamaRMSNorm", &inherited_norm), NULL},
    {"mistral", REPLACING("MistralRMSNorm", &inherited_norm), NULL},
    {"llama", REPLACING("LlamaMLP", &llama_mlp), NULL},
    {"llama", REPLACING("LlamaMLP", &inherited_mlp), NULL},
    {"mistral", REPLACING("MistralMLP", &inherited_mlp), NULL},
    {"llama", REPLACING("LlamaMLP", &mistral_mlp),
     "{\"class\": \"FromMistralMLP\", \"original_class\": \"LlamaMLP\", \"plugin\": \"bases\"}"},
    {"mistral", REPLACING("MistralMLP", &llama_mlp),
     "{\"class\": \"FromLlamaMLP\", \"original_class\": \"MistralMLP\", \"plugin\": \"bases\"}"},
    {"llama", REPLACING("LlamaMLP", &first_mlp), NULL},
    {"mistral", REPLACING("MistralMLP", &first_mlp), NULL},
};

static void save(struct graft_library *library, const char *from, const char *to, int runtime_layout,
                 const struct graft_model_options *options) {
    struct graft_save_options how = {.struct_size = sizeof how, .runtime_layout = runtime_layout};
    struct graft_model *model = NULL;
    check(graft_model_open(library, from, options, &model, &error));
    check(graft_model_save(model, folder_path(folder, to), &how, &error));
    graft_model_free(model);
}

static char *journal_of(const char *name) {
    char path[600];
    static char text[1 << 20];
    (void)snprintf(path, sizeof path, "%s/%s/graft_journal.json", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

static void test_journal(void **state) {
    const struct graft_model_options plain = {.struct_size = sizeof plain};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                      .id = "bases",
                                      .version = "1.0.0",
                                      .license = "Apache-2.0",
                                      .description = "Replaces one class",
                                      .replacements = &cases[i].replacement,
                                      .n_replacements = 1,
                                      .replacement_stride = sizeof cases[i].replacement};
        struct graft_library *library = new_library();
        check(graft_library_register_plugin(library, &plugin, &error));
        char model[512], output[32], back[32], saved[600], left[600], right[600];
        (void)snprintf(model, sizeof model, "%s/plain/%s", getenv("GRAFT_TEST_GOLDENS"), cases[i].model);
        (void)snprintf(output, sizeof output, "runtime%zu", i);
        (void)snprintf(back, sizeof back, "back%zu", i);
        save(library, model, output, 1, &plain);
        const char *text = journal_of(output);
        const char *expected = cases[i].named != NULL ? cases[i].named : "\"replacements\": []";
        if (strstr(text, expected) == NULL) {
            fail_msg("case %zu: no %s in the journal: %.300s", i, expected, text);
        }
        (void)snprintf(saved, sizeof saved, "%s/%s", folder, output);
        save(library, saved, back, 0, &plain);
        (void)snprintf(left, sizeof left, "%s/model.safetensors", model);
        (void)snprintf(right, sizeof right, "%s/%s/model.safetensors", folder, back);
        assert_true(patched_llama_same(left, right));
        graft_library_free(library);
    }
}

/* A kernel does not change the runtime layout: the layout is that of the class whose forward the kernel replaces, here
 * one that inherits its description. */
static void test_kernel(void **state) {
    static const struct graft_replacement replacement = REPLACING("MistralMLP", &inherited_mlp);
    static const struct graft_kernel_override kernel = {
        .struct_size = sizeof kernel, .name = "idle", .replacement = &replacement};
    static const char *const names[] = {"idle"};
    const struct graft_model_options options = {.struct_size = sizeof options, .kernels = names, .n_kernels = 1};
    char model[512];
    (void)state;
    struct graft_library *library = new_library();
    check(graft_library_add_kernel(library, &kernel, &error));
    (void)snprintf(model, sizeof model, "%s/plain/mistral", getenv("GRAFT_TEST_GOLDENS"));
    save(library, model, "kernel", 1, &options);
    assert_non_null(strstr(journal_of("kernel"), "\"replacements\": []"));
    graft_library_free(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_journal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kernel, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
