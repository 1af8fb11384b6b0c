/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of one adapter_config.json. */
#ifndef LORA_FIELDS_H
#define LORA_FIELDS_H

#include "graft/config.h"

enum { LORA_FIELD = 512 };

struct lora_fields {
    const struct graft_config *config;
    int64_t number;   /* index among the adapters */
    char prefix[128]; /* "adapter.NAME" */
    char file[1024];  /* for messages */
};

/* The fields of adapter `i`. */
void lora_fields_of(const struct graft_config *config, int64_t i, struct lora_fields *fields);

/* Writes "adapter.NAME.FIELD", for the functions of `config`. */
void lora_field_path(const struct lora_fields *fields, const char *field, char path[LORA_FIELD]);

/* Reads a number; absent or null leaves `value` unchanged. */
int lora_field_number(const struct lora_fields *fields, const char *field, double *value, struct graft_error *error);

/* Reads a boolean; absent or null leaves `value` unchanged. */
int lora_field_bool(const struct lora_fields *fields, const char *field, int32_t *value, struct graft_error *error);

/* Checks that this plugin implements everything that the fields ask for; the error names the first field that it does
 * not. `type` is the peft_type of the adapter's tensors; NULL: any that the plugin knows. */
int lora_fields_check(const struct lora_fields *fields, const char *type, struct graft_error *error);

/* The config's name for the numerator of a product's factor. */
const char *lora_alpha_field(const struct lora_fields *fields);

/* Sets an error that names the field. */
int lora_field_refuse(const struct lora_fields *fields, const char *field, const char *what, struct graft_error *error);

#endif
