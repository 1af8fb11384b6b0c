/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the post-processor: which kind it is, and what BERT and RoBERTa had before there were templates. */
#include "base/fail.h"
#include "tokenizer/sequence.h"
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

static int load_fixed(struct graft_template *processor, const struct graft_spec *spec, const char *pair,
                      int second_type, struct graft_error *error) {
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
                               add_parts(&processor->pair, pair, second_type, cls, sep) != 0)) {
        status = graft_fail_memory(error, spec->file);
    }
    return status;
}

static int load_bert(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error) {
    return load_fixed(processor, spec, "cAsBs", 1, error);
}

static int load_roberta(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error) {
    return load_fixed(processor, spec, "cAssBs", 0, error);
}

/* It is about positions only. */
static int load_byte_level(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    (void)processor;
    return graft_spec_expect_object(spec, keys, error);
}

static const struct {
    const char *type;
    const char *own; /* a field that tells a value without `type` apart */
    int (*load)(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error);
    int is_template; /* of which there may be one */
} kinds[] = {
    {"ByteLevel", NULL, load_byte_level, 0},
    {"BertProcessing", "sep", load_bert, 1},
    {"RobertaProcessing", "trim_offsets", load_roberta, 1},
    {"TemplateProcessing", "single", graft_template_load_parts, 1},
};

static int load_one(void *data, const struct graft_spec *spec, struct graft_error *error) {
    struct graft_template *processor = data;
    size_t i;
    int status = graft_sequence_kind(spec, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &i, error);
    if (status == GRAFT_OK && kinds[i].is_template && processor->given) {
        status = graft_spec_error(spec, error, "a second template is not supported");
    }
    if (status == GRAFT_OK) {
        processor->given |= kinds[i].is_template;
        status = kinds[i].load(processor, spec, error);
    }
    return status;
}

int graft_template_load(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error) {
    return graft_spec_is_none(spec) ? GRAFT_OK : graft_sequence_walk(spec, "processors", load_one, processor, error);
}
