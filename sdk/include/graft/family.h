/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model family: what a `model_type` of config.json stands for. The host's own families are described by the same
 * struct, so a plugin's family can do whatever one of them does.
 *
 * The class of a root declares some numbers as attributes (graft_describe_number), which the host uses:
 *
 *     vocab_size     ids are below it; required of every root that can be run
 *     hidden_size    width of a hidden state; required of roots that output hidden states or classify, of others only
 *                    for recording their modules; without it a base model cannot be run
 *     max_positions  the most tokens of a sequence, for learned positions: no module is given a position beyond it;
 *                    omitted if there is no limit, as with rotary positions
 *     renewed_after  of a causal LM: a sequence that grows past that many tokens is run again from its start, because
 *                    its keys were rotated for a shorter one; default: never
 *     bidirectional  of a causal LM: 1 if tokens see those after them, so that a prompt is never split; default 0
 *     token_types    of an encoder: type ids are below it; omitted by a decoder
 *     has_pooler     of an encoder without a head: 1 if it has a pooler_output; default 0
 *     num_labels     of a classifier: length of a row of logits; by default the size of id2label, or num_labels, or 2
 *     answers        of a token classifier: 1 if its two logits score a token as the start and the end of an answer;
 *                    default 0
 */
#ifndef GRAFT_FAMILY_H
#define GRAFT_FAMILY_H

#include "abi.h"
#include "class.h"
#include "config.h"
#include "field_rule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a model is built for a name in config.json's `architectures`. */
struct graft_architecture {
    const char *name;       /* "BertForPreTraining" */
    const char *class_name; /* the root class, whose interface determines what the model can do: "BertForMaskedLM";
                               NULL: `name` */
};

enum {
    GRAFT_FIELD_RENAMED = 1 << 16 /* only the alias is read: the file uses `name` for something else */
};

/* How classes of the family read a field of config.json. Fields that are not listed are read as they are. */
struct graft_config_field {
    const char *name;  /* the name that classes ask for, a dotted path: "hidden_size" */
    const char *alias; /* another name that config.json may use: "n_embd"; NULL: none */
    /* The kind of the default, for files that have neither name: GRAFT_FIELD_BOOL, GRAFT_FIELD_INT, GRAFT_FIELD_REAL,
     * GRAFT_FIELD_STRING or GRAFT_FIELD_NULL. GRAFT_FIELD_ABSENT: none, so that classes use their own default. A null
     * in the file counts as present. GRAFT_FIELD_OBJECT: an object, also if the file has null, made of the listed
     * fields whose names continue this one ("rope_parameters.factor"); these have their defaults if the file has no
     * such object. */
    int32_t kind;
    uint32_t flags;     /* GRAFT_FIELD_RENAMED */
    int64_t integer;    /* of GRAFT_FIELD_INT; of GRAFT_FIELD_BOOL as 0 or 1 */
    double real;        /* of GRAFT_FIELD_REAL */
    const char *string; /* of GRAFT_FIELD_STRING: UTF-8 */
};

/* A class alias: where an inherited description names a class, models of the family use another one. */
struct graft_stand_in {
    const char *name;       /* "LlamaRMSNorm" */
    const char *class_name; /* "LayerNorm"; has the same interface */
};

/* Must not change, like everything that it points to, until the plugin's `deinit`. If two families have the same
 * `model_type`, the one whose plugin the user names first is used; without such an order the host's own is used, and
 * two plugins are an error. */
struct graft_family {
    uint32_t struct_size;
    uint32_t reserved;
    const char *model_type; /* config.json's: "llama" */
    const char
        *base_model_prefix; /* the prefix that checkpoints of the bare model omit from names: "model"; NULL: none */
    /* At least one; the first is used if config.json names none. For a name that is not listed, the first one that
     * generates text is tried, which must use all tensors of the checkpoint. */
    const struct graft_architecture *architectures;
    int32_t n_architectures;
    uint32_t architecture_stride;
    /* The family's classes. Unlike those of struct graft_plugin they are public: any class may name them as children,
     * and any plugin may replace them. A plugin that asks for a class gets its own of that name if it has one, else the
     * host's. */
    const struct graft_class *classes;
    int32_t n_classes;
    uint32_t class_stride;
    const struct graft_config_field *fields; /* fields of config.json with other names or defaults */
    int32_t n_fields;
    uint32_t field_stride;
    /* A class of the family replaces its base (graft_class.base) without being listed here. */
    const struct graft_stand_in *stand_ins; /* [n_stand_ins] */
    int32_t n_stand_ins;
    uint32_t stand_in_stride;
    /* Tensors in checkpoints that no parameter uses and that are not reported, such as masks and layers for training: a
     * NULL-terminated list of regular expressions, each searched for anywhere in the tensor's name. NULL: none. */
    const char *const *ignored_tensors;
    /* [load] Whether a tensor is ignored as well because of config.json (layers beyond those that the model has): 1 or
     * 0. NULL: no further tensor is. */
    int32_t (*ignores)(const struct graft_config *config, const char *tensor);
    /* Rules for fields of config.json that no class asks for, and for values that are refused. */
    const struct graft_field_rule *field_rules; /* [n_field_rules] */
    int32_t n_field_rules;
    uint32_t field_rule_stride;
};

/* Initialisers of a family's lists, each an array. */
#define GRAFT_FAMILY_ARCHITECTURES(array)                                          \
    .architectures = (array), .n_architectures = sizeof(array) / sizeof(array)[0], \
    .architecture_stride = sizeof(array)[0]
#define GRAFT_FAMILY_CLASSES(array) \
    .classes = (array), .n_classes = sizeof(array) / sizeof(array)[0], .class_stride = sizeof(array)[0]
#define GRAFT_FAMILY_FIELDS(array) \
    .fields = (array), .n_fields = sizeof(array) / sizeof(array)[0], .field_stride = sizeof(array)[0]

#define GRAFT_ARCHITECTURE_SIZE_1_0 GRAFT_END_OF(struct graft_architecture, class_name)
#define GRAFT_CONFIG_FIELD_SIZE_1_0 GRAFT_END_OF(struct graft_config_field, string)
#define GRAFT_STAND_IN_SIZE_1_0 GRAFT_END_OF(struct graft_stand_in, class_name)
#define GRAFT_FAMILY_SIZE_1_0 GRAFT_END_OF(struct graft_family, ignores)

GRAFT_ASSERT_SIZE(struct graft_architecture, 16);
GRAFT_ASSERT_SIZE(struct graft_config_field, 48);
GRAFT_ASSERT_SIZE(struct graft_stand_in, 16);
GRAFT_ASSERT_SIZE(struct graft_family, 120);

/* [any] Architecture `i`. */
GRAFT_INLINE const struct graft_architecture *graft_family_architecture(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->architectures + (size_t)i * family->architecture_stride;
    return (const struct graft_architecture *)(const void *)at;
}

/* [any] Class `i`. */
GRAFT_INLINE const struct graft_class *graft_family_class(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->classes + (size_t)i * family->class_stride;
    return (const struct graft_class *)(const void *)at;
}

/* [any] Field `i`. */
GRAFT_INLINE const struct graft_config_field *graft_family_field(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->fields + (size_t)i * family->field_stride;
    return (const struct graft_config_field *)(const void *)at;
}

/* [any] Class alias `i`. */
GRAFT_INLINE const struct graft_stand_in *graft_family_stand_in(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->stand_ins + (size_t)i * family->stand_in_stride;
    return (const struct graft_stand_in *)(const void *)at;
}

/* [any] How many field rules it has; none if it was built before there were rules. */
GRAFT_INLINE int32_t graft_family_n_field_rules(const struct graft_family *family) {
    return GRAFT_HAS(family, struct graft_family, field_rule_stride) ? family->n_field_rules : 0;
}

/* [any] The root class for a name in `architectures`; for NULL, that of the first architecture. NULL if the family does
 * not know the name. */
GRAFT_INLINE const char *graft_family_root(const struct graft_family *family, const char *name) {
    for (int32_t i = 0; i < family->n_architectures; i++) {
        const struct graft_architecture *architecture = graft_family_architecture(family, i);
        if (name == NULL || strcmp(architecture->name, name) == 0) {
            return architecture->class_name != NULL ? architecture->class_name : architecture->name;
        }
    }
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
