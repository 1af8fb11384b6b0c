/* SPDX-License-Identifier: Apache-2.0 */
/* Reading them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "tokenizer/config_tokens.h"

enum {
    MAX_FILE_BYTES = 64 << 20,
    MAX_NAMED = 4096, /* bounds the cost: every other token is compared with each of them */
};

/* The fields that name a special token in every tokenizer of transformers, in the order in which it adds the tokens. */
static const char *const attributes[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                         "pad_token", "cls_token", "mask_token"};

enum { N_ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

struct reading {
    struct graft_config_tokens *tokens;
    const struct graft_token_defaults *defaults;
    struct graft_field roots[GRAFT_N_TOKEN_FILES];
};

static int is_attribute(const char *name) {
    for (size_t i = 0; i < N_ATTRIBUTES; i++) {
        if (strcmp(attributes[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int append(struct graft_config_token_list *list, const struct graft_config_token *token,
                  struct graft_error *error) {
    if (graft_grow(&list->items, &list->capacity, list->n, sizeof *list->items) != 0) {
        return graft_fail_memory(error, token->file);
    }
    list->items[list->n++] = *token;
    return GRAFT_OK;
}

/* Reads a token: a string, or an object with a rule. `special` is the default for an object that neither has the field
 * nor the mark that transformers gives its own tokens. */
static int read_token(const struct graft_field *spec, int special, struct graft_config_token *token,
                      struct graft_error *error) {
    static const char *const keys[] = {"content", "lstrip", "rstrip", "single_word", "normalized",
                                       "special", "__type", "id",     NULL};
    *token = (struct graft_config_token){.file = spec->file, .id = -1};
    token->token.text = graft_json_string(spec->value, &token->token.length);
    if (token->token.text != NULL) {
        token->is_text = 1;
        token->token.rule.special = 1;
        return GRAFT_OK;
    }
    if (graft_json_type(spec->value) != GRAFT_JSON_OBJECT) {
        return graft_field_error(spec, error, "expected a token, a string or an object with its content, got %s",
                                 graft_json_type_name(spec->value));
    }
    special = special && graft_json_get(spec->value, "__type") == NULL;
    return graft_added_read(spec, keys, special, &token->token, error);
}

/* Appends a named token, or replaces the one of the same name. */
static int append_named(struct reading *reading, const struct graft_config_token *token, struct graft_error *error) {
    struct graft_config_token_list *named = &reading->tokens->named;
    for (size_t i = 0; i < named->n; i++) {
        if (strcmp(named->items[i].name, token->name) == 0) {
            named->items[i] = *token;
            return GRAFT_OK;
        }
    }
    if (named->n == MAX_NAMED) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, token->file,
                               "there are more than %d special tokens with names", MAX_NAMED);
    }
    return append(named, token, error);
}

/* The class's default for a named token; NULL: none. */
static const graft_json *class_token(const struct reading *reading, const char *name) {
    return graft_json_get(graft_json_get(reading->defaults->entry, "tokens"), name);
}

static int set_named(struct reading *reading, const struct graft_field *spec, const char *name,
                     struct graft_error *error) {
    const graft_json *by_class = class_token(reading, name);
    struct graft_config_token token;
    int status = read_token(spec, 1, &token, error);
    token.name = name;
    if (token.is_text && graft_json_type(by_class) == GRAFT_JSON_OBJECT) {
        token.token.rule.lstrip = graft_json_bool(graft_json_get(by_class, "lstrip"));
        token.is_text = 0;
    }
    return status == GRAFT_OK ? append_named(reading, &token, error) : status;
}

/* Appends the class's token of that name, if it has one. */
static int set_default(struct reading *reading, const char *name, struct graft_error *error) {
    const graft_json *by_class = class_token(reading, name);
    const graft_json *content = graft_json_get(by_class, "content");
    const char *place = graft_json_string(by_class, NULL);
    struct graft_config_token token = {
        .name = name, .file = reading->tokens->paths[GRAFT_TOKENIZER_CONFIG], .id = -1, .is_text = content == NULL};
    if (place != NULL && place[0] == '$') {
        by_class = graft_json_get(reading->defaults->values->own, place + 1);
    }
    token.token.text = graft_json_string(content != NULL ? content : by_class, &token.token.length);
    token.token.rule.special = 1;
    token.token.rule.lstrip = graft_json_bool(graft_json_get(by_class, "lstrip"));
    return token.token.text != NULL ? append_named(reading, &token, error) : GRAFT_OK;
}

static int is_truthy(const struct graft_field *spec) {
    return graft_json_size(spec->value) > 0;
}

/* Reads `eos_token` and the other tokens that every tokenizer names. */
static int read_attributes(struct reading *reading, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < N_ATTRIBUTES; i++) {
        struct graft_field field = graft_field_get(&reading->roots[GRAFT_SPECIAL_TOKENS_MAP], attributes[i]);
        if (field.value == NULL) {
            field = graft_field_get(&reading->roots[GRAFT_TOKENIZER_CONFIG], attributes[i]);
        }
        status = field.value == NULL           ? set_default(reading, attributes[i], error)
                 : graft_field_is_none(&field) ? GRAFT_OK
                                               : set_named(reading, &field, attributes[i], error);
    }
    return status;
}

/* Reads an object's other fields whose names end with "_token": the strings if `texts` is set, else the objects. */
static int read_others(struct reading *reading, const struct graft_field *root, int texts, struct graft_error *error) {
    struct graft_field field;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_field_next(root, &iterator, &field)) {
        int is_text = graft_json_type(field.value) == GRAFT_JSON_STRING;
        int is_object = graft_json_type(graft_json_get(field.value, "content")) == GRAFT_JSON_STRING;
        if (graft_ends_with(field.key, "_token") && !is_attribute(field.key) && (texts ? is_text : is_object)) {
            status = set_named(reading, &field, field.key, error);
        }
    }
    return status;
}

/* Reads an object that maps names to tokens. */
static int read_names(struct reading *reading, const struct graft_field *object, struct graft_error *error) {
    struct graft_field field;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_field_next(object, &iterator, &field)) {
        status = set_named(reading, &field, field.key, error);
    }
    return status;
}

static int read_extra(struct reading *reading, const struct graft_field *array, struct graft_error *error) {
    int status = graft_field_is_none(array) ? GRAFT_OK : graft_field_array(array, error);
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(array->value); i++) {
        struct graft_field element = graft_field_at(array, i);
        struct graft_config_token token;
        status = read_token(&element, 1, &token, error);
        if (status == GRAFT_OK) {
            status = append(&reading->tokens->extra, &token, error);
        }
    }
    return status;
}

/* Fields that are read after the tokens with ids. */
struct late_fields {
    struct graft_field names; /* an object that maps names to tokens */
    struct graft_field extra;
    int has_extra; /* whether the newer field is there, which replaces `extra` and the class's own list */
};

/* Reads the field that lists special tokens without names, or maps names to them. tokenizer_config.json may have the
 * older or the newer spelling: the newer one counts unless it is empty. special_tokens_map.json adds to what the newer
 * one lists. The older one is still read, but later, where the newer one only gives names. */
static int read_lists(struct reading *reading, struct late_fields *late, struct graft_error *error) {
    const struct graft_field *config = &reading->roots[GRAFT_TOKENIZER_CONFIG];
    const struct graft_field *map = &reading->roots[GRAFT_SPECIAL_TOKENS_MAP];
    struct graft_field extra = graft_field_get(config, "extra_special_tokens");
    struct graft_field older = graft_field_get(config, "additional_special_tokens");
    struct graft_field more = graft_field_get(map, "extra_special_tokens");
    struct graft_field older_more = graft_field_get(map, "additional_special_tokens");
    if (older.value != NULL && !is_truthy(&extra)) {
        extra = older;
        older.value = NULL;
    }
    int is_there = extra.value != NULL;
    int status = GRAFT_OK;
    if (graft_json_type(extra.value) == GRAFT_JSON_OBJECT) {
        late->names = extra;
        is_there = 0;
    } else {
        status = read_extra(reading, &extra, error);
    }
    if (status == GRAFT_OK && graft_json_type(more.value) == GRAFT_JSON_OBJECT) {
        status = read_names(reading, &more, error);
    } else if (status == GRAFT_OK && more.value != NULL) {
        status = read_extra(reading, &more, error);
        is_there = 1;
    }
    late->extra = older_more.value != NULL ? older_more : older;
    late->has_extra = is_there;
    return status;
}

/* Lists a token with its id, and replaces an earlier one of the same id. */
static int list_token(struct reading *reading, struct graft_map *by_id, const struct graft_config_token *token,
                      struct graft_error *error) {
    struct graft_config_token_list *listed = &reading->tokens->listed;
    const uint64_t *same = graft_map_get(by_id, (uint64_t)token->id);
    if (same != NULL) {
        listed->items[*same] = *token;
        return GRAFT_OK;
    }
    return graft_map_set(by_id, (uint64_t)token->id, listed->n) != 0 ? graft_fail_memory(error, token->file)
                                                                     : append(listed, token, error);
}

/* Parses a member's name as an id. */
static int parse_id(const char *digits, int64_t *id) {
    char *end = NULL;
    errno = 0;
    *id = strtoll(digits, &end, 10);
    return digits[0] >= '0' && digits[0] <= '9' && *end == '\0' && errno == 0 && *id <= INT32_MAX ? 0 : -1;
}

static int read_decoder(struct reading *reading, const struct graft_field *decoder, struct graft_map *by_id,
                        struct graft_error *error) {
    struct graft_field field;
    void *iterator = NULL;
    int status = graft_field_object(decoder, NULL, error);
    while (status == GRAFT_OK && graft_field_next(decoder, &iterator, &field)) {
        struct graft_config_token token;
        int64_t id;
        if (parse_id(field.key, &id) != 0) {
            return graft_field_error(&field, error, "expected an id from 0 to %d as the name of the field", INT32_MAX);
        }
        status = read_token(&field, 0, &token, error);
        if (status == GRAFT_OK && token.is_text) {
            status = graft_field_error(&field, error, "expected an object, got a string");
        }
        token.id = id;
        status = status == GRAFT_OK ? list_token(reading, by_id, &token, error) : status;
    }
    return status;
}

/* Adds the texts of a list, but not those of tokenizer_config.json's objects, which transformers reads later. */
static int add_texts(struct graft_vocab *texts, const struct graft_config_token_list *list, const char *config,
                     struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < list->n; i++) {
        const struct graft_added_token *token = &list->items[i].token;
        int is_known = list->items[i].is_text || list->items[i].file != config;
        if (is_known && graft_vocab_find(texts, token->text, token->length) == NULL &&
            graft_vocab_add(texts, token->text, token->length, (int32_t)texts->count) != 0) {
            status = graft_fail_memory(error, list->items[i].file);
        }
    }
    return status;
}

/* Lists the tokens of added_tokens.json, which maps texts to ids; texts among `special` are special tokens. */
static int list_added_tokens(struct reading *reading, const struct graft_vocab *special, struct graft_map *by_id,
                             struct graft_error *error) {
    const struct graft_field *root = &reading->roots[GRAFT_ADDED_TOKENS];
    struct graft_field field;
    void *iterator = NULL;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && graft_field_next(root, &iterator, &field)) {
        const char *text = field.key;
        size_t length = strlen(text);
        struct graft_config_token token = {.file = root->file, .token = {text, length, {0}, 1}};
        int32_t id;
        status = graft_field_id(&field, &id, error);
        if (status == GRAFT_OK) {
            token.id = id;
            token.token.rule.special = graft_vocab_find(special, text, length) != NULL;
            token.token.rule.normalized = !token.token.rule.special;
            status = list_token(reading, by_id, &token, error);
        }
    }
    return status;
}

static int read_added_tokens(struct reading *reading, struct graft_map *by_id, struct graft_error *error) {
    const char *config = reading->tokens->paths[GRAFT_TOKENIZER_CONFIG];
    struct graft_vocab special = {0};
    int status = add_texts(&special, &reading->tokens->named, config, error);
    if (status == GRAFT_OK) {
        status = add_texts(&special, &reading->tokens->extra, config, error);
    }
    if (status == GRAFT_OK) {
        status = list_added_tokens(reading, &special, by_id, error);
    }
    graft_vocab_free(&special);
    return status;
}

int graft_config_tokens_open(struct graft_config_tokens *tokens, const char *directory, struct graft_error *error) {
    static const char *const names[] = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < GRAFT_N_TOKEN_FILES; i++) {
        tokens->paths[i] = graft_path_join(directory, names[i]);
        if (tokens->paths[i] == NULL) {
            return graft_fail_memory(error, directory);
        }
        if (graft_file_exists(tokens->paths[i])) {
            status = graft_json_read(tokens->paths[i], MAX_FILE_BYTES, &tokens->documents[i], error);
        }
        if (status == GRAFT_OK && tokens->documents[i] != NULL &&
            graft_json_type(tokens->documents[i]) != GRAFT_JSON_OBJECT) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, tokens->paths[i], "expected an object, got %s",
                                     graft_json_type_name(tokens->documents[i]));
        }
    }
    return status;
}

static int read_switches(struct reading *reading, struct graft_error *error) {
    static const char *const sides[] = {"right", "left", NULL};
    struct fields {
        int split, clean_up, clean_up_bpe_too, side;
    } fields = {.side = -1};
    static const struct graft_member members[] = {
        {"split_special_tokens", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, split), .is_optional = 1},
        {"clean_up_tokenization_spaces", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, clean_up),
         .is_optional = 1},
        {"truncation_side", GRAFT_MEMBER_CHOICE, .offset = offsetof(struct fields, side), .is_optional = 1,
         .names = sides},
        {"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", GRAFT_MEMBER_FLAG,
         .offset = offsetof(struct fields, clean_up_bpe_too), .is_optional = 1},
        {0},
    };
    struct graft_config_tokens *tokens = reading->tokens;
    const struct graft_field *config = &reading->roots[GRAFT_TOKENIZER_CONFIG];
    int status = config->value != NULL ? graft_field_read_some(config, members, &fields, error) : GRAFT_OK;
    tokens->split_special_tokens = fields.split;
    tokens->clean_up = fields.clean_up;
    tokens->clean_up_bpe_too = fields.clean_up_bpe_too;
    tokens->has_truncation_side = fields.side >= 0;
    tokens->truncates_left = fields.side == 1;
    return status;
}

/* Reads the names that the class gives to tokens. */
static int read_class_names(struct reading *reading, struct graft_error *error) {
    const graft_json *named = graft_json_get(reading->defaults->entry, "tokens");
    const char *name;
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && graft_json_member(named, i, &name) != NULL; i++) {
        status = is_attribute(name) ? GRAFT_OK : set_default(reading, name, error);
    }
    return status;
}

/* Adds pieces of a SentencePiece model: control symbols are special tokens, user-defined symbols are not. */
static int add_pieces(struct reading *reading, const struct graft_sentencepiece *pieces, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < pieces->n; i++) {
        const struct graft_sentence_piece *piece = &pieces->pieces[i];
        struct graft_config_token token = {
            .file = reading->tokens->paths[GRAFT_TOKENIZER_CONFIG],
            .token = {piece->text.text, piece->text.length, {.special = piece->type == GRAFT_PIECE_CONTROL}, 1},
            .id = -1};
        if (piece->type == GRAFT_PIECE_CONTROL || piece->type == GRAFT_PIECE_USER_DEFINED) {
            status = append(&reading->tokens->extra, &token, error);
        }
    }
    return status;
}

static int add_class_extra(struct reading *reading, struct graft_error *error) {
    const struct graft_token_defaults *defaults = reading->defaults;
    struct graft_config_tokens *tokens = reading->tokens;
    const char *file = tokens->paths[GRAFT_TOKENIZER_CONFIG];
    int status = graft_config_tokens_list(defaults->values, graft_json_get(defaults->entry, "extra"), file,
                                          &tokens->class_extra, error);
    struct graft_field list = {tokens->class_extra, file, NULL, "extra", 0};
    return status == GRAFT_OK ? read_extra(reading, &list, error) : status;
}

/* Reads the special tokens without names, unless the newer field lists them. */
static int read_late_extra(struct reading *reading, const struct late_fields *late, struct graft_error *error) {
    const struct graft_sentencepiece *pieces = reading->defaults->pieces;
    if (late->has_extra) {
        return GRAFT_OK;
    }
    int status = pieces != NULL ? add_pieces(reading, pieces, error) : read_extra(reading, &late->extra, error);
    return status == GRAFT_OK && reading->defaults->entry != NULL ? add_class_extra(reading, error) : status;
}

/* Reads tokens whose names are not among those of every tokenizer, objects before strings, and the other late fields.
 */
static int read_late(struct reading *reading, const struct late_fields *late, struct graft_error *error) {
    const struct graft_field *config = &reading->roots[GRAFT_TOKENIZER_CONFIG];
    const struct graft_field *map = &reading->roots[GRAFT_SPECIAL_TOKENS_MAP];
    struct graft_field explicit_names = graft_field_get(config, "model_specific_special_tokens");
    int status = read_class_names(reading, error);
    if (status == GRAFT_OK) {
        status = read_others(reading, config, 0, error);
    }
    for (int texts = 0; status == GRAFT_OK && texts < 2; texts++) {
        status = read_others(reading, map, texts, error);
    }
    if (status == GRAFT_OK) {
        status = read_others(reading, config, 1, error);
    }
    if (status == GRAFT_OK) {
        status = read_names(reading, &explicit_names, error);
    }
    if (status == GRAFT_OK) {
        status = read_names(reading, &late->names, error);
    }
    return status == GRAFT_OK ? read_late_extra(reading, late, error) : status;
}

static int read_all(struct reading *reading, struct graft_map *by_id, struct graft_error *error) {
    struct graft_field decoder = graft_field_get(&reading->roots[GRAFT_TOKENIZER_CONFIG], "added_tokens_decoder");
    struct late_fields late = {0};
    reading->tokens->has_decoder = !graft_field_is_none(&decoder);
    if (reading->tokens->has_decoder) {
        reading->roots[GRAFT_SPECIAL_TOKENS_MAP].value = NULL;
        reading->roots[GRAFT_ADDED_TOKENS].value = NULL;
    }
    int status = read_switches(reading, error);
    if (status == GRAFT_OK) {
        status = read_attributes(reading, error);
    }
    if (status == GRAFT_OK) {
        status = read_lists(reading, &late, error);
    }
    if (status == GRAFT_OK) {
        status = reading->tokens->has_decoder ? read_decoder(reading, &decoder, by_id, error)
                                              : read_added_tokens(reading, by_id, error);
    }
    return status == GRAFT_OK ? read_late(reading, &late, error) : status;
}

int graft_config_tokens_read(struct graft_config_tokens *tokens, const struct graft_token_defaults *defaults,
                             struct graft_error *error) {
    struct reading reading = {.tokens = tokens, .defaults = defaults};
    struct graft_map by_id = {0};
    for (size_t i = 0; i < GRAFT_N_TOKEN_FILES; i++) {
        reading.roots[i] = (struct graft_field){tokens->documents[i], tokens->paths[i], NULL, NULL, 0};
    }
    int status = read_all(&reading, &by_id, error);
    graft_map_free(&by_id);
    return status;
}

enum { MAX_NUMBERED = 100000 };

static int append_numbered(graft_json *list, const graft_json *part, const char *file, struct graft_error *error) {
    const char *text = graft_json_string(graft_json_get(part, "numbered"), NULL);
    const graft_json *count = graft_json_get(part, "count");
    int64_t n = graft_json_int(count);
    int down = graft_json_bool(graft_json_get(part, "down"));
    if (graft_json_type(count) != GRAFT_JSON_INT || n < 0 || n > MAX_NUMBERED) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "the number of tokens %s...> (extra_ids): expected an integer from 0 to %d", text,
                               MAX_NUMBERED);
    }
    for (int64_t i = 0; i < n; i++) {
        char *token = graft_format("%s%lld>", text, (long long)(down ? n - 1 - i : i));
        int failed = token == NULL || graft_json_append_take(list, graft_json_new_string(token)) != 0;
        graft_free(token);
        if (failed) {
            return graft_fail_memory(error, file);
        }
    }
    return GRAFT_OK;
}

int graft_config_tokens_list(const struct graft_recipe_values *values, const graft_json *part, const char *file,
                             graft_json **list, struct graft_error *error) {
    *list = graft_json_new_array();
    int status = *list != NULL ? GRAFT_OK : graft_fail_memory(error, file);
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(part); i++) {
        graft_json *element = graft_recipe_fill(values, graft_json_at(part, i));
        if (element != NULL && graft_json_type(element) == GRAFT_JSON_OBJECT) {
            status = append_numbered(*list, element, file, error);
            graft_json_free(element);
        } else if (graft_json_append_take(*list, element) != 0) {
            status = graft_fail_memory(error, file);
        }
    }
    return status;
}
