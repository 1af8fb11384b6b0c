/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model family: what a `model_type` of config.json stands for. The host's own families are described by the same
 * struct, so whatever one of them does, a plugin's can do.
 *
 * The class of a root describes some numbers as attributes (graft_describe_number), which the host goes by:
 *
 *     vocab_size     ids are below it; owed by every root that can be run
 *     hidden_size    numbers in a hidden state; owed by all that give hidden states or classify, and by others whose
 *                    modules are to be watched; without it a base model cannot be run
 *     max_positions  how many tokens a sequence can have at most, as with learned positions: no module is given a
 *                    position beyond; left out where there is no end, as with rotary positions
 *     renewed_after  of a causal LM: a sequence that grows past that many tokens is run again from its start, since its
 *                    keys were rotated for a shorter one; left out: never
 *     bidirectional  of a causal LM: 1 where tokens see those behind them, so that a prompt is never cut; left out: 0
 *     token_types    of an encoder: type ids are below it; left out: it is a decoder
 *     has_pooler     of an encoder without a head: 1 if it has a pooler_output; left out: 0
 *     num_labels     of a classifier: numbers in a row of logits; left out: as many as id2label, or num_labels, or 2
 *     answers        of a classifier of tokens: 1 where its two logits say whether an answer begins or ends at a token;
 *                    left out: 0
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

/* What a name in config.json's `architectures` is built as. */
struct graft_architecture {
    const char *name; /* "BertForPreTraining" */
    const char
        *class_name; /* of the root: "BertForMaskedLM", whose interface says what the model can do; NULL: `name` */
};

enum {
    GRAFT_FIELD_RENAMED = 1 << 16 /* the alias alone: what the file has under `name` is something else */
};

/* How classes of the family read a field of config.json. Without it in the list a field is what the file says. */
struct graft_config_field {
    const char *name;  /* what classes ask for, a dotted path: "hidden_size" */
    const char *alias; /* what config.json may call it instead: "n_embd"; NULL: nothing */
    /* Where the file has neither: a value of this kind. GRAFT_FIELD_BOOL, GRAFT_FIELD_INT, GRAFT_FIELD_REAL,
     * GRAFT_FIELD_STRING or GRAFT_FIELD_NULL; GRAFT_FIELD_ABSENT: none, so that classes use their own default. Null in
     * the file is there. GRAFT_FIELD_OBJECT: an object, also where the file has null, of the fields whose names
     * continue this one ("rope_parameters.factor"); such a field has its default where the file has no such object. */
    int32_t kind;
    uint32_t flags;     /* GRAFT_FIELD_RENAMED */
    int64_t integer;    /* of GRAFT_FIELD_INT; of GRAFT_FIELD_BOOL 0 or 1 */
    double real;        /* of GRAFT_FIELD_REAL */
    const char *string; /* of GRAFT_FIELD_STRING: UTF-8 */
};

/* In models of the family: where an inherited description names a class, another one is built. */
struct graft_stand_in {
    const char *name;       /* "LlamaRMSNorm" */
    const char *class_name; /* "LayerNorm": of the same interface */
};

/*
 * Const, with all that it points to, until the plugin's `deinit`.
 *
 * Of two families of one `model_type` that of the plugin named first by the user is taken. Without such an order the
 * host's own is, and two plugins are an error.
 */
struct graft_family {
    uint32_t struct_size;
    uint32_t reserved;
    const char *model_type; /* config.json's: "llama" */
    const char
        *base_model_prefix; /* what checkpoints of the bare model leave out of their names: "model"; NULL: nothing */
    /* At least one; the first where config.json names none. For a name that is not here the first one that generates
     * text is tried, and must take all tensors of the checkpoint. */
    const struct graft_architecture *architectures;
    int32_t n_architectures;
    uint32_t architecture_stride;
    /* Classes that come with the family. Unlike those of struct graft_plugin they are public: any class may name them
     * as children, any plugin may replace them. A plugin that asks for a class gets its own of that name, if it has
     * one, then the host's. */
    const struct graft_class *classes;
    int32_t n_classes;
    uint32_t class_stride;
    const struct graft_config_field
        *fields; /* what classes are given of config.json under other names, or by default */
    int32_t n_fields;
    uint32_t field_stride;
    /* A class of the family stands for its base (graft_class.base) without being listed here. */
    const struct graft_stand_in *stand_ins; /* [n_stand_ins] */
    int32_t n_stand_ins;
    uint32_t stand_in_stride;
    /* Tensors that checkpoints have and no parameter wants (masks, layers for training), so that nobody is told:
     * regular expressions, searched anywhere in the tensor's name; the last one is NULL. NULL: none. */
    const char *const *ignored_tensors;
    /* [load] Whether a tensor is one of `ignored_tensors` because of what config.json says (layers beyond those that
     * the model has): 1 or 0. NULL: no further one is. */
    int32_t (*ignores)(const struct graft_config *config, const char *tensor);
    /* What its config.json may have that no class asks for, and which values it refuses. */
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

/* [any] Architecture number `i`. */
GRAFT_INLINE const struct graft_architecture *graft_family_architecture(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->architectures + (size_t)i * family->architecture_stride;
    return (const struct graft_architecture *)(const void *)at;
}

/* [any] Class number `i`. */
GRAFT_INLINE const struct graft_class *graft_family_class(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->classes + (size_t)i * family->class_stride;
    return (const struct graft_class *)(const void *)at;
}

/* [any] Field number `i`. */
GRAFT_INLINE const struct graft_config_field *graft_family_field(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->fields + (size_t)i * family->field_stride;
    return (const struct graft_config_field *)(const void *)at;
}

/* [any] Stand-in number `i`. */
GRAFT_INLINE const struct graft_stand_in *graft_family_stand_in(const struct graft_family *family, int32_t i) {
    const char *at = (const char *)family->stand_ins + (size_t)i * family->stand_in_stride;
    return (const struct graft_stand_in *)(const void *)at;
}

/* [any] How many rules for fields it has: none, if it is older than they are. */
GRAFT_INLINE int32_t graft_family_n_field_rules(const struct graft_family *family) {
    return GRAFT_HAS(family, struct graft_family, field_rule_stride) ? family->n_field_rules : 0;
}

/* [any] The class that is built for a name in `architectures`, of the first where `name` is NULL; NULL for a name that
 * the family does not know. */
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
