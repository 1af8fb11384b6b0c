/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/model.h"

#include <string.h>

#include "base/fail.h"

static int load_vocab(const struct graft_spec *spec, struct graft_vocab *vocab, struct graft_error *error) {
    void *iterator = NULL;
    const char *token;
    const graft_json *value;
    if (graft_json_type(spec->value) != GRAFT_JSON_OBJECT) {
        return graft_spec_error(spec, error, "expected an object that gives each token its id");
    }
    if (graft_vocab_reserve(vocab, graft_json_size(spec->value)) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    while (graft_json_next(spec->value, &iterator, &token, &value)) {
        struct graft_spec entry = {value, spec->file, spec, token, 0};
        const struct graft_token *other;
        int32_t id;
        int status = graft_spec_id(&entry, &id, error);
        if (status != GRAFT_OK) {
            return status;
        }
        other = graft_vocab_find_id(vocab, id);
        if (other != NULL) {
            return graft_spec_error(spec, error, "\"%s\" and \"%s\" have the same id %d",
                                    graft_vocab_text(vocab, other), token, (int)id);
        }
        if (graft_vocab_add(vocab, token, strlen(token), id) != 0) {
            return graft_fail_memory(error, spec->file);
        }
    }
    return GRAFT_OK;
}

/* Files from before the field `type` are told apart by what only one kind has. */
static const char *guess_type(const struct graft_spec *spec) {
    if (graft_json_get(spec->value, "merges") != NULL) {
        return "BPE";
    }
    return graft_json_get(spec->value, "max_input_chars_per_word") != NULL ? "WordPiece" : NULL;
}

int graft_token_model_load(const struct graft_spec *spec, struct graft_vocab *vocab, struct graft_token_model **model,
                           struct graft_error *error) {
    struct graft_spec type_field = graft_spec_get(spec, "type");
    struct graft_spec vocab_field = graft_spec_get(spec, "vocab");
    const char *type = NULL;
    *model = NULL;
    if (graft_json_type(spec->value) != GRAFT_JSON_OBJECT) {
        return graft_spec_error(spec, error, spec->value == NULL ? "missing" : "expected an object");
    }
    int status = graft_spec_optional_string(spec, "type", &type, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    type = type != NULL ? type : guess_type(spec);
    if (type == NULL) {
        return graft_spec_error(&type_field, error, "missing, expected \"BPE\" or \"WordPiece\"");
    }
    int is_bpe = strcmp(type, "BPE") == 0;
    if (!is_bpe && strcmp(type, "WordPiece") != 0) {
        return graft_spec_error(&type_field, error, "\"%s\" is not supported", type);
    }
    status = load_vocab(&vocab_field, vocab, error);
    if (status != GRAFT_OK) {
        return status;
    }
    return is_bpe ? graft_token_model_create_bpe(spec, vocab, model, error)
                  : graft_token_model_create_wordpiece(spec, vocab, model, error);
}

void graft_token_model_destroy(struct graft_token_model *model) {
    if (model != NULL) {
        model->destroy(model);
    }
}
