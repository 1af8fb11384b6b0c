/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/structure.h"

#include "base/alloc.h"
#include "base/file.h"

enum { MOST_BYTES = 4 << 20 };

int graft_structure_is_given(const struct graft_options *options) {
    return options->json_schema != NULL || options->grammar != NULL;
}

int graft_structure_open(const struct graft_options *options, struct graft_model *model,
                         const struct graft_tokenizer *tokenizer, struct graft_generation *generation,
                         struct graft_structure *structure, struct graft_error *error) {
    const int is_schema = options->json_schema != NULL;
    const char *file = is_schema ? options->json_schema : options->grammar;
    struct graft_grammar_text text = {
        .struct_size = sizeof text, .kind = is_schema ? GRAFT_GRAMMAR_JSON_SCHEMA : GRAFT_GRAMMAR_GBNF, .source = file};
    if (!graft_structure_is_given(options)) {
        return GRAFT_OK;
    }
    if (is_schema && options->grammar != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--grammar", "cannot be combined with --json-schema");
    }
    if (tokenizer == NULL) {
        return GRAFT_OK;
    }
    int status = graft_file_read(file, MOST_BYTES, GRAFT_ERROR_IO, &structure->text, &text.length, error);
    text.text = structure->text;
    if (status == GRAFT_OK) {
        status = graft_vocabulary_create(tokenizer, &structure->vocabulary, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_choose_grammar(model, structure->vocabulary, &text, &structure->grammar,
                                            &structure->choice, error);
    }
    if (status == GRAFT_OK) {
        generation->processors = &structure->choice;
        generation->n_processors = 1;
    }
    return status;
}

void graft_structure_close(struct graft_structure *structure) {
    graft_grammar_close(structure->grammar);
    graft_vocabulary_free(structure->vocabulary);
    graft_free(structure->text);
}
