/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/config_fields.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Fields that config_tokens_read.c, token_class.c, the recipes of classes.json and the program (chat_template) read.
 * Some concern only classes that build a tokenizer without a tokenizer.json. If there is one, transformers ignores
 * add_bos_token and add_eos_token as well, and load_notes.c reports where the others would make a difference. */
static const char *const read_here[] = {
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
    "added_tokens_decoder",
    "additional_special_tokens",
    "extra_special_tokens",
    "model_specific_special_tokens",
    "split_special_tokens",
    "clean_up_tokenization_spaces",
    "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
    "truncation_side",
    "tokenizer_class",
    "chat_template",
    "fix_mistral_regex",
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

static int is_in(const char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether a field names a special token that is not one of every class's: its name ends with "_token" and its value is
 * a text or an object. */
static int is_token(const char *name, const graft_json *value) {
    enum graft_json_type type = graft_json_type(value);
    return graft_ends_with(name, "_token") && (type == GRAFT_JSON_STRING || type == GRAFT_JSON_OBJECT);
}

int graft_tokenizer_reads(const char *name, const graft_json *value) {
    return is_in(read_here, sizeof read_here / sizeof read_here[0], name) || is_token(name, value);
}

/* Whether transformers would replace a pre-tokenizer's expression, as it does for large vocabularies of models of
 * Mistral's kinds that were saved by versions before 5. */
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
                              struct graft_error *error) {
    return graft_json_bool(graft_json_get(config, "fix_mistral_regex")) && is_mistral_before_5(model_config, size)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                 "fix_mistral_regex: true is not supported: it replaces an expression of the "
                                 "pre_tokenizer, which a corrected tokenizer.json has")
               : GRAFT_OK;
}
