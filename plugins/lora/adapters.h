/* SPDX-License-Identifier: Apache-2.0 */
/* What the adapters in effect have for one module, as adapter_config.json and the tensors say. All is [load]. */
#ifndef LORA_ADAPTERS_H
#define LORA_ADAPTERS_H

#include "graft/class.h"
#include "made.h"

enum { LORA_CHILD_NAME = 512 };

/* What an adapter has for the module, under the names of PEFT. */
enum {
    LORA_NOTHING = 0,
    LORA_PAIR = 1,      /* lora_A and lora_B */
    LORA_EMBEDDING = 2, /* lora_embedding_A and lora_embedding_B */
    LORA_WHOLE = 3,     /* a module in the place of the original (modules_to_save) */
    LORA_SCALE = 4      /* ia3_l, which outputs or inputs are multiplied by */
};

struct lora_adapter {
    char child[LORA_CHILD_NAME]; /* "adapter.NAME", as the module calls it; or "3.up_proj.adapter.NAME" */
    int32_t kind;                /* LORA_... */
    int64_t rank;                /* of a pair */
    double factor;               /* of a pair's product */
    struct lora_made made;       /* what a pair is made of */
    int32_t of_inputs;           /* LORA_SCALE */
    int32_t has_magnitude;       /* a pair is of DoRA (magnitude.h) */
    int32_t has_bias;            /* lora_B of a pair has one (lora_bias) */
};

/* How many adapters there are. */
int64_t lora_count(const struct graft_config *config);

/* What a module may have adapters for. */
struct lora_place {
    const char *below; /* the module's name for it: "3.up_proj", one that it stacks or joins; "": the module itself */
    const char *path;  /* "model.layers.0.mlp.experts.3.up_proj"; adapters may call it otherwise */
    int64_t outputs;   /* of a Linear; else 0 */
};

/* What adapter number `i` has for a place in the module of `sink`. What this plugin does not do as PEFT does is an
 * error that names the field. */
int lora_read(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
              const struct lora_place *place, struct lora_adapter *adapter, struct graft_error *error);

/* What adapter number `i` has for two parameters of the module itself, in their order (`target_parameters`): LORA_PAIR
 * or LORA_NOTHING of each. */
int lora_read_parameters(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
                         const char *const names[2], struct lora_adapter adapters[2], struct graft_error *error);

/* Whether adapter number `i` has the tensor "adapter.NAME.TENSOR" for the module of `sink`; `name`, unless NULL,
 * becomes that, and `module`, unless NULL, what the adapter calls the module. */
enum { LORA_TENSOR_NAME = 2048, LORA_MODULE_NAME = 1024 };
int32_t lora_has_tensor(const struct graft_config *config, const struct graft_sink *sink, int64_t i, const char *tensor,
                        char name[LORA_TENSOR_NAME], char module[LORA_MODULE_NAME]);

/* Says that the class applies each adapter to the rows that it takes effect on. */
int lora_describe_by_row(const struct graft_sink *sink, struct graft_error *error);

/* "adapter.NAME" of adapter number `i`, with `below` in front unless that is "". */
void lora_child_name(const struct graft_config *config, int64_t i, const char *below, char child[LORA_CHILD_NAME]);

#endif
