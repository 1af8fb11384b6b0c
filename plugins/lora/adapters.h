/* SPDX-License-Identifier: Apache-2.0 */
/* What the active adapters contain for one module, according to adapter_config.json and the tensors. All functions are
 * [load]. */
#ifndef LORA_ADAPTERS_H
#define LORA_ADAPTERS_H

#include "graft/class.h"
#include "made.h"

enum { LORA_CHILD_NAME = 512 };

/* What an adapter has for a module, under PEFT's names. */
enum {
    LORA_NOTHING = 0,
    LORA_PAIR = 1,      /* lora_A and lora_B */
    LORA_EMBEDDING = 2, /* lora_embedding_A and lora_embedding_B */
    LORA_WHOLE = 3,     /* a module that replaces the original (modules_to_save) */
    LORA_SCALE = 4      /* ia3_l, by which outputs or inputs are multiplied */
};

struct lora_adapter {
    char child[LORA_CHILD_NAME]; /* name of the child: "adapter.NAME" or "3.up_proj.adapter.NAME" */
    int32_t kind;                /* LORA_... */
    int64_t rank;                /* rank of the pair */
    double factor;               /* factor of the pair's product */
    struct lora_made made;       /* the tensors that the pair is computed from */
    int32_t of_inputs;           /* LORA_SCALE */
    int32_t has_magnitude;       /* the pair has DoRA's magnitudes (magnitude.h) */
    int32_t has_bias;            /* lora_B of the pair has a bias (lora_bias) */
};

/* The number of adapters. */
int64_t lora_count(const struct graft_config *config);

/* A place in a module for which adapters may have tensors. */
struct lora_place {
    const char *below; /* path below the module of a part that it stacks or joins: "3.up_proj"; "": the module itself */
    const char *path;  /* "model.layers.0.mlp.experts.3.up_proj"; adapters may have another name for it */
    int64_t outputs;   /* outputs of a Linear; else 0 */
};

/* Reads what adapter `i` has for a place in the module of `sink`. A setting that this plugin does not implement as PEFT
 * does is an error that names the field. */
int lora_read(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
              const struct lora_place *place, struct lora_adapter *adapter, struct graft_error *error);

/* Reads what adapter `i` has for two parameters of the module itself (`target_parameters`), in their order: LORA_PAIR
 * or LORA_NOTHING for each. */
int lora_read_parameters(const struct graft_config *config, const struct graft_sink *sink, int64_t i,
                         const char *const names[2], struct lora_adapter adapters[2], struct graft_error *error);

/* Whether adapter `i` has the tensor "adapter.NAME.TENSOR" for the module of `sink`. Unless NULL, `name` becomes that
 * name, and `module` the adapter's name for the module. */
enum { LORA_TENSOR_NAME = 2048, LORA_MODULE_NAME = 1024 };
int32_t lora_has_tensor(const struct graft_config *config, const struct graft_sink *sink, int64_t i, const char *tensor,
                        char name[LORA_TENSOR_NAME], char module[LORA_MODULE_NAME]);

/* Declares that the class applies each adapter only to that adapter's rows. */
int lora_describe_by_row(const struct graft_sink *sink, struct graft_error *error);

/* Writes "adapter.NAME" of adapter `i`, preceded by `below` unless that is "". */
void lora_child_name(const struct graft_config *config, int64_t i, const char *below, char child[LORA_CHILD_NAME]);

#endif
