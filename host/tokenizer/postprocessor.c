/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the post-processor: which kind it is, and what BERT and RoBERTa had before there were templates. */
#include <string.h>

#include "base/fail.h"
#include "tokenizer/template_load.h"

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
        struct graft_template_part *part = graft_template_add_part(parts, kind, type_id);
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
    return is_template ? graft_template_load_parts(processor, spec, error)
                       : load_fixed(processor, spec, is_bert, error);
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
