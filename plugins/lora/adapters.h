/* SPDX-License-Identifier: Apache-2.0 */
/* What the adapters in effect have for one module, as adapter_config.json and the tensors say. All is [load]. */
#ifndef LORA_ADAPTERS_H
#define LORA_ADAPTERS_H

#include "graft/class.h"

enum { LORA_CHILD_NAME = 128 };

/* What an adapter has for the module, under the names of PEFT. */
enum {
    LORA_NOTHING = 0,
    LORA_PAIR = 1,      /* lora_A and lora_B */
    LORA_EMBEDDING = 2, /* lora_embedding_A and lora_embedding_B */
    LORA_WHOLE = 3      /* a weight in the place of the original's (modules_to_save) */
};

struct lora_adapter {
    char child[LORA_CHILD_NAME]; /* "adapter.NAME", as the module calls its part; or "adapter.NAME.3.up_proj" */
    int32_t kind;                /* LORA_... */
    int32_t has_base;            /* LORA_EMBEDDING: the original's weight as it is stored beside the pair */
    int64_t rank;                /* of a pair */
    double factor;               /* of a pair's product */
};

/* How many adapters there are. */
int64_t lora_count(const struct graft_config *config);

/* What adapter number `i` has for the module of `sink`, or for what it stacks under the name `below` ("3.up_proj";
 * NULL: the module itself). What this plugin does not do as PEFT does is an error that names the field. */
int lora_read(const struct graft_config *config, const struct graft_sink *sink, int64_t i, const char *below,
              struct lora_adapter *adapter, struct graft_error *error);

/* Says that the class applies each adapter to the rows that it takes effect on. */
int lora_describe_by_row(const struct graft_sink *sink, struct graft_error *error);

/* "adapter.NAME" of adapter number `i`, with `below` behind it unless that is NULL. */
void lora_child_name(const struct graft_config *config, int64_t i, const char *below, char child[LORA_CHILD_NAME]);

#endif
