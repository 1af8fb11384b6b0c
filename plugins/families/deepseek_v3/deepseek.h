/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the family that are not those of another, a file each. */
#ifndef DEEPSEEK_H
#define DEEPSEEK_H

#include "graft/attention.h"
#include "graft/class.h"
#include "graft/mlp.h"
#include "graft/router.h"

/* What classes of the plugin call num_key_value_heads of config.json. */
#define DEEPSEEK_GROUPS "key_value_groups"

enum { DEEPSEEK_MAX_SIZE = 1 << 20, DEEPSEEK_MAX_LAYERS = 4096, DEEPSEEK_MAX_EXPERTS = 4096 };

/* What attention reads of config.json, under the names there without num_, _dim and _rank. */
struct deepseek_sizes {
    int32_t layer;
    int32_t rope_layout; /* GRAFT_ROPE_... */
    int64_t hidden;
    int64_t heads;
    int64_t q_lora;  /* 0: queries are one product */
    int64_t kv_lora; /* numbers of a latent */
    int64_t nope;    /* of a query's or key's head: those that are not rotated, which come first */
    int64_t rope;    /* those that are */
    int64_t v;       /* of a value's head */
    double scaling;
};

/* [load] Reads and checks them, and what the parent gives. */
int deepseek_sizes_read(const struct graft_config *config, const struct graft_args *args, const struct graft_sink *sink,
                        struct deepseek_sizes *sizes, struct graft_error *error);

/* kv_b_proj taken apart by heads, so that queries and contexts can be multiplied by it in the place of every latent. */
struct deepseek_absorbed {
    const struct graft_weight *key;   /* [heads * kv_lora, nope]: q_nope to a query of latents */
    const struct graft_weight *value; /* [heads * v, kv_lora]: a weighted sum of latents to one of values */
};

/* [forward] Asks kv_b_proj for its matrix, whatever class it is of. Freed by deepseek_absorbed_free; NULL with an error
 * recorded. */
struct deepseek_absorbed *deepseek_absorbed_make(const struct deepseek_sizes *sizes,
                                                 const struct graft_module *kv_b_proj, const struct graft_call *call,
                                                 struct graft_error *error);
/* [any] Takes NULL. */
void deepseek_absorbed_free(struct deepseek_absorbed *absorbed);

/* What tells the families here apart: the `data` of their classes. */
struct deepseek_traits {
    const char *attention;
    const char *mlp;
    const char *moe;
    const char *router;
    const char *experts;
    const char *rms_norm;
    int32_t sigmoid; /* 1: scores are sigmoids, and a correction bias has a say in the choice; 0: a softmax, without */
};

/* `describe` and `create` of a class. */
#define DEEPSEEK_CLASS(name)                                                                                       \
    int deepseek_##name##_describe(const struct graft_class *self, const struct graft_config *config,              \
                                   const struct graft_args *args, const struct graft_sink *sink,                   \
                                   struct graft_error *error);                                                     \
    int deepseek_##name##_create(const struct graft_class *self, const struct graft_build *build, void **instance, \
                                 struct graft_error *error)

DEEPSEEK_CLASS(attention);
void deepseek_attention_destroy(void *instance);
DEEPSEEK_CLASS(moe);
DEEPSEEK_CLASS(router);

extern const struct graft_self_attention deepseek_attention_vtable;
extern const struct graft_mlp deepseek_moe_vtable;
extern const struct graft_router deepseek_router_vtable;

#endif
