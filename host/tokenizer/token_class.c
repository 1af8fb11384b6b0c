/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/token_class.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

static const char *const lines[] = {
#include "tokenizer/classes_text.h"
};

static const char plain[] = "TokenizersBackend"; /* the base class of the others */

static int parse(graft_json **document, struct graft_error *error) {
    struct graft_text text = {0};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        graft_text_add_string(&text, lines[i]);
    }
    int status = text.failed ? graft_fail_memory(error, "classes.json")
                             : graft_json_parse(text.bytes, text.length, "classes.json", document, error);
    graft_text_free(&text);
    return status;
}

/* Length of a class's name without the suffix "Fast" of older files. */
static size_t base_length(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, "Fast") == 0 && strcmp(name, "PreTrainedTokenizerFast") != 0
               ? length - 4
               : length;
}

static int is_same_class(const char *a, const char *b) {
    size_t length = base_length(a);
    return length == base_length(b) && memcmp(a, b, length) == 0;
}

static int has_class(const graft_json *names, const char *name) {
    for (size_t i = 0; i < graft_json_size(names); i++) {
        if (is_same_class(graft_json_string(graft_json_at(names, i), NULL), name)) {
            return 1;
        }
    }
    return 0;
}

static int has_text(const graft_json *texts, const char *text) {
    for (size_t i = 0; i < graft_json_size(texts); i++) {
        if (strcmp(graft_json_string(graft_json_at(texts, i), NULL), text) == 0) {
            return 1;
        }
    }
    return 0;
}

static const graft_json *find_class(const graft_json *document, const char *name) {
    const graft_json *classes = graft_json_get(document, "classes");
    for (size_t i = 0; i < graft_json_size(classes); i++) {
        const graft_json *entry = graft_json_at(classes, i);
        if (has_class(graft_json_get(entry, "names"), name)) {
            return entry;
        }
    }
    return NULL;
}

/* The class that transformers registers for a model type; NULL: none. */
static const char *class_on_record(const graft_json *document, const char *model_type) {
    const graft_json *classes = graft_json_get(document, "classes"), *others = graft_json_get(document, "others");
    const graft_json *value;
    const char *name;
    for (size_t i = 0; i < graft_json_size(classes); i++) {
        const graft_json *entry = graft_json_at(classes, i);
        if (has_text(graft_json_get(entry, "models"), model_type)) {
            return graft_json_string(graft_json_at(graft_json_get(entry, "names"), 0), NULL);
        }
    }
    for (size_t i = 0; (value = graft_json_member(others, i, &name)) != NULL; i++) {
        if (has_text(value, model_type)) {
            return name;
        }
    }
    return NULL;
}

static int is_plain(const graft_json *document, const char *name) {
    return find_class(document, name) == find_class(document, plain);
}

static const char *choose(const graft_json *document, const graft_json *tokenizer_config, const graft_json *config) {
    const char *declared = graft_json_string(graft_json_get(tokenizer_config, "tokenizer_class"), NULL);
    const char *model_type = graft_json_string(graft_json_get(config, "model_type"), NULL);
    const char *recorded = model_type != NULL ? class_on_record(document, model_type) : NULL;
    if (declared == NULL || declared[0] == '\0') {
        declared = graft_json_string(graft_json_get(config, "tokenizer_class"), NULL);
    }
    if (declared == NULL || declared[0] == '\0') {
        return recorded != NULL ? recorded : plain;
    }
    if (recorded == NULL || is_same_class(recorded, declared)) {
        return declared;
    }
    return is_plain(document, recorded)                                        ? plain
           : has_text(graft_json_get(document, "not_as_declared"), model_type) ? recorded
                                                                               : declared;
}

int graft_token_class_choose(struct graft_token_class *chosen, const graft_json *tokenizer_config,
                             const graft_json *config, struct graft_error *error) {
    int status = parse(&chosen->document, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const char *name = choose(chosen->document, tokenizer_config, config);
    chosen->entry = find_class(chosen->document, name);
    chosen->name = graft_strdup(name);
    return chosen->name != NULL ? GRAFT_OK : graft_fail_memory(error, "tokenizer_class");
}

int graft_token_class_is_plain(const struct graft_token_class *token_class) {
    return is_plain(token_class->document, token_class->name);
}

int graft_token_class_is_other(const struct graft_token_class *token_class) {
    const graft_json *others = graft_json_get(token_class->document, "others");
    const char *name;
    for (size_t i = 0; graft_json_member(others, i, &name) != NULL; i++) {
        if (is_same_class(name, token_class->name)) {
            return 1;
        }
    }
    return 0;
}

void graft_token_class_finish(struct graft_token_class *chosen) {
    graft_json_free(chosen->document);
    graft_free(chosen->name);
    *chosen = (struct graft_token_class){0};
}
