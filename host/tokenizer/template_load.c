/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the post-processor: TemplateProcessing, and what BERT and RoBERTa had before there were templates. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/template.h"

/* Adds a part and returns it, or NULL when memory ran out. */
static struct graft_template_part *add_part(struct graft_template_parts *parts, int kind, int32_t type_id) {
    if (graft_grow(&parts->items, &parts->capacity, parts->n, sizeof *parts->items) != 0) {
        return NULL;
    }
    struct graft_template_part *part = &parts->items[parts->n++];
    *part = (struct graft_template_part){0};
    part->kind = kind;
    part->type_id = type_id;
    return part;
}

/* The ids of a special token, from `special_tokens`. `name` is where its name stands. */
static int read_special(struct graft_template_part *part, const struct graft_spec *tokens,
                        const struct graft_spec *name, struct graft_error *error) {
    static const char *const keys[] = {"id", "ids", "tokens", NULL};
    struct graft_spec token = graft_spec_get(tokens, graft_json_string(name->value, NULL));
    struct graft_spec ids = graft_spec_get(&token, "ids");
    if (token.value == NULL) {
        return graft_spec_error(name, error, "\"%s\" is not among special_tokens", token.key);
    }
    int status = graft_spec_expect_object(&token, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_expect_array(&ids, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(ids.value); i++) {
        struct graft_spec element = graft_spec_at(&ids, i);
        int32_t id;
        status = graft_spec_id(&element, &id, error);
        if (status == GRAFT_OK) {
            graft_ids_add(&part->ids, id);
        }
    }
    return status == GRAFT_OK && part->ids.failed ? graft_fail_memory(error, name->file) : status;
}

/* {"Sequence": {"id", "type_id"}} or {"SpecialToken": {"id", "type_id"}} */
static int read_part(const struct graft_spec *spec, const struct graft_spec *tokens, int is_pair,
                     struct graft_template_parts *parts, struct graft_error *error) {
    static const char *const outer[] = {"Sequence", "SpecialToken", NULL};
    static const char *const inner[] = {"id", "type_id", NULL};
    struct graft_spec sequence = graft_spec_get(spec, "Sequence");
    struct graft_spec special = graft_spec_get(spec, "SpecialToken");
    const struct graft_spec *given = sequence.value != NULL ? &sequence : &special;
    struct graft_spec name = graft_spec_get(given, "id");
    struct graft_template_part *part;
    const char *id;
    int64_t type_id;
    int status = graft_spec_expect_object(spec, outer, error);
    if (status == GRAFT_OK) {
        status = graft_spec_expect_object(given, inner, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_string(given, "id", &id, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_count(given, "type_id", INT32_MAX, &type_id, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (given == &sequence && strcmp(id, "A") != 0 && (strcmp(id, "B") != 0 || !is_pair)) {
        return graft_spec_error(&name, error, "\"%s\" is no sequence of this template", id);
    }
    part = add_part(parts,
                    given == &special      ? GRAFT_PART_SPECIAL
                    : strcmp(id, "A") == 0 ? GRAFT_PART_FIRST
                                           : GRAFT_PART_SECOND,
                    (int32_t)type_id);
    if (part == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    return given == &special ? read_special(part, tokens, &name, error) : GRAFT_OK;
}

static int read_parts(const struct graft_spec *spec, const struct graft_spec *tokens, int is_pair,
                      struct graft_template_parts *parts, struct graft_error *error) {
    int seen[3] = {0};
    int status = graft_spec_expect_array(spec, error);
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(spec->value); i++) {
        struct graft_spec part = graft_spec_at(spec, i);
        status = read_part(&part, tokens, is_pair, parts, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < parts->n; i++) {
        seen[parts->items[i].kind] = 1;
    }
    if (!seen[GRAFT_PART_FIRST] || (is_pair && !seen[GRAFT_PART_SECOND])) {
        return graft_spec_error(spec, error, "a sequence is missing in the template");
    }
    return GRAFT_OK;
}

static int load_template(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "single", "pair", "special_tokens", NULL};
    struct graft_spec single = graft_spec_get(spec, "single");
    struct graft_spec pair = graft_spec_get(spec, "pair");
    struct graft_spec tokens = graft_spec_get(spec, "special_tokens");
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_parts(&single, &tokens, 0, &processor->single, error);
    }
    if (status == GRAFT_OK) {
        status = read_parts(&pair, &tokens, 1, &processor->pair, error);
    }
    return status;
}

/* ["[SEP]", 102] */
static int read_named_id(const struct graft_spec *spec, int32_t *id, struct graft_error *error) {
    struct graft_spec number = graft_spec_at(spec, 1);
    if (graft_json_string(graft_json_at(spec->value, 0), NULL) == NULL || graft_json_size(spec->value) != 2) {
        return graft_spec_error(spec, error, "expected a token and its id");
    }
    return graft_spec_id(&number, id, error);
}

/* The surroundings in short: A and B are the texts, c and s the tokens. */
static int add_parts(struct graft_template_parts *parts, const char *form, int second_type, int32_t cls, int32_t sep) {
    int32_t type_id = 0;
    for (; *form != '\0'; form++) {
        int kind = *form == 'A' ? GRAFT_PART_FIRST : *form == 'B' ? GRAFT_PART_SECOND : GRAFT_PART_SPECIAL;
        type_id = *form == 'B' ? second_type : type_id;
        struct graft_template_part *part = add_part(parts, kind, type_id);
        if (part == NULL) {
            return -1;
        }
        if (kind == GRAFT_PART_SPECIAL) {
            graft_ids_add(&part->ids, *form == 'c' ? cls : sep);
        }
        if (part->ids.failed) {
            return -1;
        }
    }
    return 0;
}

static int load_fixed(struct graft_template *processor, const struct graft_spec *spec, int is_bert,
                      struct graft_error *error) {
    /* trim_offsets and add_prefix_space are about positions in the text, which nothing here reports. */
    static const char *const keys[] = {"type", "sep", "cls", "trim_offsets", "add_prefix_space", NULL};
    struct graft_spec sep_field = graft_spec_get(spec, "sep");
    struct graft_spec cls_field = graft_spec_get(spec, "cls");
    int32_t sep, cls;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_named_id(&sep_field, &sep, error);
    }
    if (status == GRAFT_OK) {
        status = read_named_id(&cls_field, &cls, error);
    }
    if (status == GRAFT_OK && (add_parts(&processor->single, "cAs", 0, cls, sep) != 0 ||
                               add_parts(&processor->pair, is_bert ? "cAsBs" : "cAssBs", is_bert, cls, sep) != 0)) {
        status = graft_fail_memory(error, spec->file);
    }
    return status;
}

static int load_one(struct graft_template *processor, const struct graft_spec *spec, const char *type,
                    struct graft_error *error) {
    static const char *const byte_level[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    struct graft_spec field = graft_spec_get(spec, "type");
    if (strcmp(type, "ByteLevel") == 0) {
        return graft_spec_expect_object(spec, byte_level, error); /* it is about positions only */
    }
    int is_bert = strcmp(type, "BertProcessing") == 0;
    int is_template = strcmp(type, "TemplateProcessing") == 0;
    if (!is_bert && !is_template && strcmp(type, "RobertaProcessing") != 0) {
        return graft_spec_error(&field, error, "\"%s\" is not supported", type);
    }
    if (processor->given) {
        return graft_spec_error(spec, error, "a second template is not supported");
    }
    processor->given = 1;
    return is_template ? load_template(processor, spec, error) : load_fixed(processor, spec, is_bert, error);
}

static int load_any(struct graft_template *processor, const struct graft_spec *spec, int depth,
                    struct graft_error *error) {
    static const char *const keys[] = {"type", "processors", NULL};
    struct graft_spec members = graft_spec_get(spec, "processors");
    const char *type;
    int status = graft_spec_string(spec, "type", &type, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (strcmp(type, "Sequence") != 0) {
        return load_one(processor, spec, type, error);
    }
    if (depth == GRAFT_SPEC_MAX_NESTING) {
        return graft_spec_error(spec, error, "sequences nested deeper than %d", depth);
    }
    status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_expect_array(&members, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(members.value); i++) {
        struct graft_spec member = graft_spec_at(&members, i);
        status = load_any(processor, &member, depth + 1, error);
    }
    return status;
}

int graft_template_load(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error) {
    return graft_spec_is_none(spec) ? GRAFT_OK : load_any(processor, spec, 0, error);
}
