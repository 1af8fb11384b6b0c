/* SPDX-License-Identifier: Apache-2.0 */
/* Names in `architectures` that the family does not know, or of a model without a head: the causal LM is used instead
 * if the checkpoint has its tensors. */
#include "folder.h"
#include "library_fixture.h"
#include "patched_llama.h"

static char folder[64];

static int set_up(void **state) {
    (void)state;
    folder_create(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Copies the golden llama to the folder, with another architecture and, if `from` is not NULL, a renamed tensor. */
static void write_model(const char *architecture, const char *from, const char *to) {
    static const char known[] = "LlamaForCausalLM";
    char text[8192], changed[sizeof text];
    patched_llama_write(folder, from != NULL ? from : "\n", to != NULL ? to : "");
    FILE *file = fopen(folder_path(folder, "config.json"), "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    char *at = strstr(text, known);
    assert_non_null(at);
    *at = '\0';
    (void)snprintf(changed, sizeof changed, "%s%s%s", text, architecture, at + sizeof known - 1);
    folder_put(folder, "config.json", changed, strlen(changed));
}

static int has_note(const struct graft_model *model, const char *words) {
    const char *note;
    for (size_t i = 0; (note = graft_model_note(model, i)) != NULL; i++) {
        if (strstr(note, words) != NULL) {
            return 1;
        }
    }
    return 0;
}

static void test_read_as(void **state) {
    static const struct {
        const char *architecture;
        const char *from, *to; /* the tensor to rename; or NULL */
        const char *root;      /* expected class; NULL: an error */
        const char *words;     /* words of the note or the error; NULL: no note */
    } cases[] = {
        {"LlamaForCausalLM", NULL, NULL, "LlamaForCausalLM", NULL},
        {"LLaMAForCausalLM", NULL, NULL, "LlamaForCausalLM", "LLaMAForCausalLM is read as LlamaForCausalLM"},
        {"FSDPLlamaForCausalLM", NULL, NULL, "LlamaForCausalLM", "FSDPLlamaForCausalLM is read as LlamaForCausalLM"},
        {"PeftModelForCausalLM", NULL, NULL, "LlamaForCausalLM", "PeftModelForCausalLM is read as LlamaForCausalLM"},
        {"LlamaModel", NULL, NULL, "LlamaForCausalLM", "LlamaModel is read as LlamaForCausalLM"},
        /* A head of another kind, whose function is unknown. */
        {"LlamaModel", "lm_head.weight", "score.weight", "LlamaModel", NULL},
        {"MyForCausalLM", "lm_head.weight", "score.weight", NULL,
         "and its tensors are not those of LlamaForCausalLM: \"score.weight\" has no place in it"},
        {"MyForCausalLM", "model.norm.weight", "model.norm.gain", NULL, "\"model.norm.gain\" has no place in it"},
        {"MistralForCausalLM", NULL, NULL, NULL, "does not belong to model_type \"llama\" but to \"mistral\""},
    };
    static float plain[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY];
    static float found[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY];
    struct graft_library *library = new_library();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_error error = graft_error_none();
        struct graft_model *model = NULL;
        write_model(cases[i].architecture, cases[i].from, cases[i].to);
        int status = graft_model_open(library, folder, NULL, &model, &error);
        if (cases[i].root == NULL) {
            assert_int_equal(status, GRAFT_ERROR_MODEL);
            assert_non_null(strstr(error.source, "config.json"));
            if (strstr(error.message, cases[i].words) == NULL) {
                fail_msg("%s: %s", cases[i].architecture, error.message);
            }
            continue;
        }
        assert_int_equal(status, GRAFT_OK);
        assert_string_equal(graft_model_class_at(model, ""), cases[i].root);
        assert_int_equal(has_note(model, " is read as "), cases[i].words != NULL);
        assert_true(cases[i].words == NULL || has_note(model, cases[i].words));
        if (strcmp(cases[i].root, "LlamaForCausalLM") == 0) {
            patched_llama_run(model, i == 0 ? plain : found);
            assert_true(i == 0 || memcmp(plain, found, sizeof plain) == 0);
        }
        graft_model_free(model);
    }
    graft_library_free(library);
}

/* If there is only a config, no tensors can decide. */
static void test_without_weights(void **state) {
    const struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    struct graft_library *library = new_library();
    struct graft_model *model = NULL;
    (void)state;
    write_model("MyForCausalLM", NULL, NULL);
    assert_int_equal(graft_model_open(library, folder, &options, &model, NULL), GRAFT_ERROR_MODEL);
    graft_library_free(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_as, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_weights, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
