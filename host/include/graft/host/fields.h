/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of each field of a model's JSON files, as plan.h has it for tensors: config.json,
 * generation_config.json, tokenizer_config.json, of each adapter adapter_config.json and, where images are taken,
 * preprocessor_config.json and its siblings.
 *
 *     const struct graft_model_field *field;
 *     for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
 *         if (field->use == GRAFT_FIELD_NOT_USED) {
 *             printf("%s: %s is %s, and nothing is done about it\n", field->file, field->name, field->value);
 *         }
 *     }
 *
 * A field is a value of its own: a number, a string, an array of those. Those of objects have dotted names:
 * "rope_parameters.factor". But a member of tokenizer_config.json is one field, whatever is in it. Fields are known
 * once the model is open. What is returned belongs to the model, is const, and stays valid until graft_model_free;
 * structs may grow at their end, as in graft/host/modules.h.
 */
#ifndef GRAFT_HOST_FIELDS_H
#define GRAFT_HOST_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;

enum {
    GRAFT_FIELD_USED = 1,           /* somebody asked for it */
    GRAFT_FIELD_WITHOUT_EFFECT = 2, /* nothing depends on it, whatever its value: `by` says so */
    GRAFT_FIELD_NEUTRAL = 3,        /* it has a value that says nothing, such as null: `by` says so */
    GRAFT_FIELD_NOT_USED = 4,       /* none of these: results may not be what the file says */
    GRAFT_FIELD_IGNORED = 5         /* an option asked for that (`ignored_fields` of struct graft_model_options) */
};

struct graft_model_field {
    uint32_t struct_size;
    int32_t use;         /* GRAFT_FIELD_USED, ... */
    const char *file;    /* "config.json" */
    const char *adapter; /* whose adapter_config.json it is in; NULL: it is a file of the model */
    const char *name;    /* as the file spells it: "n_embd", "rope_parameters.factor" */
    const char *value;   /* JSON, but NaN, Infinity and -Infinity; cut behind 200 bytes, with "..." */
    const char *by;      /* "the host", "model type llama", "plugin gptq"; NULL: nobody needs to say so */
};

/* [any] Field number `i`, in the order of the files; NULL behind the last. */
const struct graft_model_field *graft_model_field_at(const struct graft_model *model, size_t i);

/* [any] Name number `i` of the fields of config.json that classes, and others behind the host itself, asked for while
 * the model was opened, in the order of asking, whether or not the file has them; NULL behind the last. */
const char *graft_model_asked_field(const struct graft_model *model, size_t i);

#ifdef __cplusplus
}
#endif

#endif
