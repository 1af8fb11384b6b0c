/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/config_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

enum { SHOWN_BYTES = 40 }; /* of a value */

/* Read here or by the program; by some classes only, where there is no tokenizer.json. Beside one, transformers does
 * not look at add_bos_token and add_eos_token either, and a note tells of what classes do with the others. */
static const char *const used[] = {
    "added_tokens_decoder",
    "additional_special_tokens",
    "extra_special_tokens",
    "model_specific_special_tokens",
    "split_special_tokens",
    "clean_up_tokenization_spaces",
    "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
    "tokenizer_class",
    "chat_template",
    "add_bos_token",
    "add_eos_token",
    "add_prefix_space",
    "legacy",
    "do_lower_case",
    "keep_accents",
    "strip_accents",
    "tokenize_chinese_chars",
    "split_by_punct",
    "extra_ids",
    "clean_text",
    "wordpieces_prefix",
};

/* About truncation and padding, which callers decide; about files, versions, offsets and classes' former ways. */
static const char *const without_effect[] = {
    "model_max_length",
    "max_len",
    "max_length",
    "stride",
    "truncation",
    "truncation_side",
    "truncation_strategy",
    "padding",
    "padding_side",
    "pad_to_multiple_of",
    "pad_token_type_id",
    "model_input_names",
    "return_token_type_ids",
    "name_or_path",
    "tokenizer_file",
    "vocab_file",
    "merges_file",
    "special_tokens_map_file",
    "processor_class",
    "backend",
    "is_local",
    "local_files_only",
    "files_loaded",
    "use_fast",
    "from_slow",
    "verbose",
    "transformers_version",
    "_commit_hash",
    "errors",
    "trim_offsets",
    "remove_space",
    "spaces_between_special_tokens",
    "sp_model_kwargs",
    "do_basic_tokenize",
    "never_split",
    "use_default_system_prompt",
    "fix_mistral_regex",
    "response_schema",
    "response_template",
    "chat_control_tokens",
    "unk_id",
};

static int is_in(const char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* A field that names a token; those of other types than a text or an object are not tokens. */
static int is_token(const char *name, const graft_json *value) {
    size_t length = strlen(name);
    enum graft_json_type type = graft_json_type(value);
    return length > 6 && strcmp(name + length - 6, "_token") == 0 &&
           (type == GRAFT_JSON_STRING || type == GRAFT_JSON_OBJECT);
}

/* Says nothing, whatever the field. */
static int is_off(const graft_json *value) {
    enum graft_json_type type = graft_json_type(value);
    return type == GRAFT_JSON_NULL || (type == GRAFT_JSON_BOOL && !graft_json_bool(value)) ||
           ((type == GRAFT_JSON_ARRAY || type == GRAFT_JSON_OBJECT) && graft_json_size(value) == 0);
}

static int add_field(struct graft_text *list, const char *name, const graft_json *value) {
    int is_small = graft_json_type(value) != GRAFT_JSON_ARRAY && graft_json_type(value) != GRAFT_JSON_OBJECT;
    char *text = is_small ? graft_json_dump(value, 0) : graft_strdup(graft_json_type_name(value));
    if (text == NULL) {
        return -1;
    }
    size_t length = strlen(text);
    size_t shown = length <= SHOWN_BYTES ? length : graft_utf8_valid_prefix(text, SHOWN_BYTES);
    graft_text_printf(list, "%s%s (", list->length > 0 ? ", " : "", name);
    graft_text_add(list, text, shown);
    graft_text_add_string(list, shown < length ? "...)" : ")");
    graft_free(text);
    return 0;
}

/* Whether transformers would replace an expression of the pre-tokenizer: it does so for large vocabularies of models of
 * Mistral's kinds that were saved before its version 5. */
static int is_mistral_before_5(const graft_json *model_config, size_t size) {
    static const char *const kinds[] = {"mistral", "mistral3", "voxtral", "ministral", "pixtral"};
    enum { LARGE_VOCABULARY = 100000 };
    const char *version = graft_json_string(graft_json_get(model_config, "transformers_version"), NULL);
    const char *kind = graft_json_string(graft_json_get(model_config, "model_type"), NULL);
    int is_older = version == NULL || strtol(version, NULL, 10) < 5;
    return model_config != NULL && size > LARGE_VOCABULARY && is_older &&
           (kind == NULL || is_in(kinds, sizeof kinds / sizeof kinds[0], kind));
}

int graft_config_fields_check(const graft_json *config, const char *file, const graft_json *model_config, size_t size,
                              struct graft_text *notes, struct graft_error *error) {
    struct graft_text list = {0};
    const graft_json *value;
    const char *name;
    int failed = 0;
    if (graft_json_bool(graft_json_get(config, "fix_mistral_regex")) && is_mistral_before_5(model_config, size)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "fix_mistral_regex: true is not supported: it replaces an expression of the "
                               "pre_tokenizer, which a corrected tokenizer.json has");
    }
    for (size_t i = 0; !failed && (value = graft_json_member(config, i, &name)) != NULL; i++) {
        if (!is_in(used, sizeof used / sizeof used[0], name) && !is_token(name, value) && !is_off(value) &&
            !is_in(without_effect, sizeof without_effect / sizeof without_effect[0], name)) {
            failed = add_field(&list, name, value) != 0;
        }
    }
    if (list.length > 0) {
        graft_text_printf(notes, "not used %s: %s", graft_path_name(file), list.bytes);
        graft_text_add(notes, "", 1);
    }
    failed = failed || list.failed || notes->failed;
    graft_text_free(&list);
    return failed ? graft_fail_memory(error, file) : GRAFT_OK;
}
