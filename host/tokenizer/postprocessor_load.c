/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the field `post_processor`: nested sequences become one chain. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/postprocessor.h"
#include "tokenizer/sequence.h"

/* ["[SEP]", 102] */
static int read_named_id(const struct graft_field *object, const char *key, int32_t *id, struct graft_error *error) {
    struct graft_field spec = graft_field_get(object, key);
    struct graft_field number = graft_field_at(&spec, 1);
    if (graft_json_string(graft_json_at(spec.value, 0), NULL) == NULL || graft_json_size(spec.value) != 2) {
        return graft_field_error(&spec, error, "expected a token and its id");
    }
    return graft_field_id(&number, id, error);
}

/* Reads BertProcessing or RobertaProcessing. The fields decide which of the two it is, not the type, as in the
 * reference. */
static int read_fixed(struct graft_postprocessor *processor, const struct graft_field *spec,
                      struct graft_error *error) {
    /* The other settings concern positions in the text, which are not reported. */
    static const char *const keys[] = {"type", "sep", "cls", "trim_offsets", "add_prefix_space", NULL};
    int is_roberta =
        graft_json_get(spec->value, "trim_offsets") != NULL && graft_json_get(spec->value, "add_prefix_space") != NULL;
    int status = graft_field_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_named_id(spec, "sep", &processor->sep, error);
    }
    if (status == GRAFT_OK) {
        status = read_named_id(spec, "cls", &processor->cls, error);
    }
    processor->kind = is_roberta ? GRAFT_POSTPROCESSOR_ROBERTA : GRAFT_POSTPROCESSOR_BERT;
    return status;
}

static int read_template(struct graft_postprocessor *processor, const struct graft_field *spec,
                         struct graft_error *error) {
    processor->kind = GRAFT_POSTPROCESSOR_TEMPLATE;
    return graft_template_load(&processor->template, spec, error);
}

static const struct {
    const char *type;
    const char *own; /* a field by which a value without `type` is recognised */
    int (*read)(struct graft_postprocessor *processor, const struct graft_field *spec, struct graft_error *error);
} kinds[] = {
    {"ByteLevel", NULL, NULL}, /* concerns positions only */
    {"BertProcessing", "sep", read_fixed},
    {"RobertaProcessing", "sep", read_fixed},
    {"TemplateProcessing", "single", read_template},
};

static int check_byte_level(const struct graft_field *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    return graft_field_object(spec, keys, error);
}

/* Appends a processor to the chain whose end `data` points to, and moves that end. */
static int load_one(void *data, const struct graft_field *spec, struct graft_error *error) {
    struct graft_postprocessor ***tail = data;
    char field[256];
    size_t i;
    int status = graft_sequence_kind(spec, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &i, error);
    if (status != GRAFT_OK || kinds[i].read == NULL) {
        return status == GRAFT_OK ? check_byte_level(spec, error) : status;
    }
    struct graft_postprocessor *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    **tail = made;
    *tail = &made->next;
    graft_field_path(spec, field, sizeof field);
    made->field = graft_strdup(field);
    return made->field == NULL ? graft_fail_memory(error, spec->file) : kinds[i].read(made, spec, error);
}

int graft_postprocessor_load(const struct graft_field *spec, struct graft_postprocessor **chain,
                             struct graft_error *error) {
    struct graft_postprocessor **tail = chain;
    *chain = NULL;
    if (graft_field_is_none(spec)) {
        return GRAFT_OK;
    }
    int status = graft_sequence_walk(spec, "processors", load_one, &tail, error);
    if (status != GRAFT_OK) {
        graft_postprocessor_destroy(*chain);
        *chain = NULL;
    }
    return status;
}
