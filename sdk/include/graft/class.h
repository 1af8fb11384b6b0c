/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A class of modules, under the name transformers gives it: what it is made of, how an instance is made, what it does.
 *
 * A class describes itself before anything exists: `describe` declares parameters, attributes and children. The host
 * resolves each child's class (so that replacements nest), plans and binds the weights, then calls `create` on children
 * first and parents last.
 */
#ifndef GRAFT_CLASS_H
#define GRAFT_CLASS_H

#include "abi.h"
#include "args.h"
#include "config.h"
#include "conversion.h"
#include "error.h"
#include "module.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_build;
struct graft_class;
struct graft_codec;
struct graft_host;
struct graft_state;
struct graft_state_info;

/* What a parameter holds when the checkpoint has nothing for it. */
enum {
    GRAFT_INIT_NONE = 0, /* it must be there: generating without it is an error */
    GRAFT_INIT_ZEROS = 1,
    GRAFT_INIT_ONES = 2,
    GRAFT_INIT_ABSENT = 3 /* nothing: it is optional, and `weight` of struct graft_build gives NULL */
};

enum {
    GRAFT_PARAMETER_CONTIGUOUS = 1 << 16, /* wants one row block; without this flag it accepts several */
    GRAFT_PARAMETER_SCALAR = 1 << 17,     /* of shape [1]: a tensor without dimensions fits as well */
    /* No parameter, but a tensor of the checkpoint that conversions of the class make parameters of: described so that
     * those of several modules can be joined (struct graft_join). There is nothing to bind, and `init` is none. */
    GRAFT_PARAMETER_SOURCE = 1 << 18,
    /* Its first dimension is as long as the checkpoint has it, `shape[0]` at most, as only tensors or its own bytes
     * tell. Joined, as GRAFT_JOIN_EACH alone, it is those of the parts in turn; with GRAFT_INIT_ABSENT, of some. */
    GRAFT_PARAMETER_ANY_LENGTH = 1 << 19
};

enum {
    GRAFT_JOIN_NONE = 0, /* nothing is known: the modules stay apart */
    GRAFT_JOIN_ROWS = 1, /* the parts lie one behind the other along `dim` */
    GRAFT_JOIN_EACH = 2, /* it is that of each part: of n parts, its first dimension is n times as long as described */
    GRAFT_JOIN_EQUAL = 3 /* the same, all of the same bytes: where they differ, the modules stay apart */
};

/* What becomes of a parameter where a class above joins the outputs of several modules in one, as a fused projection
 * has those of queries, keys and values. Where no conversion of that class makes it, the host joins the tensors that
 * the checkpoint has for the parts, or leaves the modules apart. The struct is within another: it will never grow. */
struct graft_join {
    int32_t kind; /* GRAFT_JOIN_... */
    int32_t dim;  /* GRAFT_JOIN_ROWS: the dimension along which outputs lie */
    int32_t rows; /* GRAFT_JOIN_ROWS: outputs for each step along it, 1 at least. Parts that end inside a step, with
                   * others behind them, stay apart */
    uint32_t reserved; /* 0 */
};

struct graft_parameter_info {
    uint32_t struct_size;
    uint32_t flags;                /* GRAFT_PARAMETER_... */
    const char *name;              /* "weight" */
    int32_t rank;                  /* dimensions; 1 to GRAFT_MAX_RANK */
    int32_t init;                  /* GRAFT_INIT_... */
    int64_t shape[GRAFT_MAX_RANK]; /* [rank], each above 0; the rest is not read */
    graft_dtype dtype; /* the only type it may have, GRAFT_DTYPE_I8 for one; 0: F32, F16 or BF16, as the checkpoint */
    uint32_t reserved;
    struct graft_join join; /* all zero: GRAFT_JOIN_NONE */
    /* Later than 1.0. How inputs lie in it, for a class above that gives the module a share of them: with
     * GRAFT_JOIN_ROWS along `dim`, `rows` inputs for each step; with GRAFT_JOIN_EQUAL it is the same for all of them;
     * GRAFT_JOIN_NONE: nothing is known, and such a share is an error. */
    struct graft_join inputs;
};

/* What a module may have a share of. */
enum { GRAFT_SHARE_OUTPUTS = 1, GRAFT_SHARE_INPUTS = 2 };

enum {
    GRAFT_CHILD_SEQUENTIAL = 1 << 16 /* in "mlp.0" the part before the dot becomes a Sequential, not a ModuleList */
};

/* What a tensor is to a coded parameter. */
enum {
    GRAFT_CODED_CODES = 1,
    GRAFT_CODED_SCALES = 2,
    GRAFT_CODED_ZEROS = 3,       /* its zero points */
    GRAFT_CODED_GROUP_INDEX = 4, /* the group of each column */
    GRAFT_CODED_DIVISOR = 5,     /* one number, F32: what scales are divided by */
    GRAFT_CODED_FACTOR = 6,      /* one number, F32: what they are multiplied by */
    GRAFT_CODED_OTHER = 7        /* for `finish`, or kept for saving alone */
};

enum {
    /* The class multiplies by loops of its own, and says what its codes stand for to those who want numbers: `weight`
     * of struct graft_build gives its `create` the tensor of that name, if there is one, and no coded weight. */
    GRAFT_CODED_OWN_LOOPS = 1
};

/* A parameter whose numbers are codes (codec.h), and the tensors that it is made of. The host describes these as
 * parameters, and gives `create` the weight under the name of the one: so a class that takes any weight, as Linear
 * does, takes a coded one as well, and a replacement of it needs no more than a `describe`. */
struct graft_coded_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;                           /* "weight": no parameter of this name is described */
    const struct graft_codec *codec;            /* all but its weights */
    const struct graft_parameter_info *tensors; /* [n_tensors] */
    const int32_t *roles;                       /* [n_tensors] GRAFT_CODED_... */
    int32_t n_tensors;
    uint32_t tensor_stride;
    /* [load] Optional: called when the tensors are bound, to check them or to set what the codec has not got from them;
     * `context` is a copy of the one below. */
    int (*finish)(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error);
    const void *context;   /* [context_bytes] for `finish`; parts that are joined have the same; NULL: none */
    int64_t context_bytes; /* of the context; 0: none */
    uint64_t flags;        /* later than 1.0: GRAFT_CODED_OWN_LOOPS */
};

struct graft_child_info {
    uint32_t struct_size;
    uint32_t flags;                /* GRAFT_CHILD_... */
    const char *name;              /* "q_proj"; in "layers.0" the part before the dot becomes a ModuleList */
    const char *class_name;        /* "Linear": looked up among all classes, replacements included */
    const char *interface_id;      /* what the parent will call it through: GRAFT_INTERFACE_LINEAR */
    const struct graft_args *args; /* NULL: none */
};

/* A module whose outputs a class above joins with those of others in the module described. */
struct graft_part_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "q_proj"; "" of a module that is joined from nothing, and so the only part of itself */
    const char *path; /* "model.layers.0.self_attn.q_proj" */
    int64_t first;    /* its outputs are those of the module from here on */
    int64_t outputs;  /* so many; 0: the parent gave no out_features */
};

/* Where a description goes. The host's, valid until `describe` returns. Everything given is copied before the call
 * returns. A call that fails has recorded why in `error`, which is the one given to `describe`, and never NULL there.
 * That error stays: what is declared after it counts for nothing, and a description that ends with one in `error` has
 * failed, whatever it returns. So declare everything in turn, and return error->code.
 *
 * Names have 1 to 256 letters, digits, '_' and '-'; those of children and parameters, and the paths of a tie, may have
 * parts divided by dots. A parameter's is not to begin with the part that a child's begins with. Parameters and
 * children are declared once. A child has at most 32 arguments, with 4096 numbers in a list; a model at most 2^20
 * modules, 64 deep, and 2^21 parameters, each of fewer than 2^60 elements. */
struct graft_sink {
    uint32_t struct_size;
    uint32_t super_flags; /* GRAFT_CLASS_... of the class that the module calls; 0: it calls none */
    const char *path;     /* of the module described: "model.layers.0.self_attn"; valid until `describe` returns */
    /* What config.json calls the module: `path`. Of one that a class above joins from several, what it calls the first
     * of these; the others' names come in further descriptions, whose results are compared and not used: parts that are
     * described in other ways stay apart. */
    const char *config_path;
    const struct graft_host *host; /* as given to the entry */
    void *data;                    /* the host's; to be handed back to the functions below */

    /* [load] Declares a parameter of the module. */
    int (*parameter)(void *data, const struct graft_parameter_info *info, struct graft_error *error);
    /* [load] Declares a child, whose class describes itself before the call returns. */
    int (*child)(void *data, const struct graft_child_info *info, struct graft_error *error);
    /* [load] A fact about the module under its field name in transformers: kernel_size, stride, in_features. `values`
     * has `count` numbers, 1 to GRAFT_MAX_RANK. */
    int (*attribute)(void *data, const char *name, const int64_t *values, int32_t count, struct graft_error *error);
    /* [load] Parameter `name` is parameter `source`, both paths below this module ("lm_head.weight"). */
    int (*tie)(void *data, const char *name, const char *source, struct graft_error *error);
    /* [load] What instances keep of each sequence (state.h). */
    int (*state)(void *data, const struct graft_state_info *info, struct graft_error *error);
    /* [load] A conversion in addition to those of the class, for one whose numbers depend on arguments, the config or
     * the rank (parallel.h). It holds for this module alone. Those that the class calls super take as their sources
     * what it makes under their names: so a class that wraps a quantized projection may give it a Slice of its weight.
     */
    int (*conversion)(void *data, const struct graft_conversion *conversion, struct graft_error *error);

    /* [load] Declares here what `describe` of the class's base does: super().__init__(). The base, and `create`, are
     * given the module's arguments with those of `more` (NULL: none) in the place of their namesakes, or behind them;
     * what `args` led to before is gone then. In a replacement without a base: what the class that it replaces does. An
     * error in any other class without a base. */
    int (*base)(void *data, const struct graft_args *more, struct graft_error *error);
    /* [load] Gives the class that the module calls other arguments: those of `more` in the place of their namesakes, or
     * behind them. An error in a class that calls no super. */
    int (*super)(void *data, const struct graft_args *more, struct graft_error *error);
    /* [load] What the module does is done by another process (parallel.h): a class that calls super says so instead of
     * declaring anything, and has no super then. Tensors below its path belong to others, and need not be there. */
    int (*elsewhere)(void *data, struct graft_error *error);

    /* [load] Zeroed memory for what `describe` found out, so that `create` need not read it again: it gets it as
     * `kept`. The host's, aligned for any type, 1 byte to 1 MiB, once in a description; NULL with an error recorded. */
    void *(*keep)(void *data, int64_t bytes, struct graft_error *error);

    /* [load] The class that transformers' ACT2FN has for a name of config.json ("gelu_new"); NULL when this host knows
     * none.
     */
    const char *(*activation_class)(void *data, const char *name);
    /* [load] Whether an adapter has a tensor for the module: `name` is relative to it, "adapter.NAME.lora_A.weight".
     * Then 1, and `info`, whose struct_size the caller has set, becomes its type and shape. */
    int32_t (*adapter_tensor)(void *data, const char *name, struct graft_value_info *info);
    /* [load] Part number `i` of the module, in the order of outputs; a module that is not joined has one, itself. Then
     * 1, and `info`, whose struct_size the caller has set, is filled in; 0 behind the last. Strings are valid until
     * `describe` returns. What belongs to a part has its name in front: the child "q_proj.adapter.NAME" of qkv_proj has
     * the tensors of q_proj's "adapter.NAME", and adapter_tensor knows "q_proj.adapter.NAME.lora_A.weight". */
    int32_t (*part)(void *data, int32_t i, struct graft_part_info *info);
    /* [load] How many bytes the parameters have that are described before the module at `path` and what is below it: so
     * much weighs what comes first. Those of all where there is no such module, and for NULL. Elements of the
     * checkpoint's own type count two bytes. The model is described for the sizes first, and then again: the first time
     * this gives 0, and `elsewhere` does nothing. The same in all processes that see the same classes. */
    int64_t (*bytes_before)(void *data, const char *path);
    /* [load] Whether the module is described before the first one of an interface: 1; otherwise, and where the model
     * has none of that interface, 0. Classes describe their children in the order in which they call them. The model is
     * described for this first, as for bytes_before: the first time it gives 0. */
    int32_t (*comes_before)(void *data, const char *interface_id);
    /* [load] What the tensor of adapter_tensor is called in its adapter,
     * "model.layers.0.self_attn.q_proj.lora_A.weight": classes and lists may have renamed its module. NULL: there is
     * none. Valid until `describe` returns. */
    const char *(*adapter_tensor_name)(void *data, const char *name);
    /* [load] Declares a parameter whose numbers are codes. */
    int (*coded)(void *data, const struct graft_coded_info *info, struct graft_error *error);
    /* [load] Later than 1.0. Declares that the Linear called `name` below this module ("q_proj"), or for "" what the
     * class calls super, has a share of its outputs or of its inputs (`of`, GRAFT_SHARE_...): that part of them that
     * `slice` says, a Slice with `of`, of whatever `dim`. Whatever class is built there, the host takes that share of
     * its tensors, as their descriptions say how outputs (`join`) and inputs (`inputs`) lie, and of plain weights and
     * biases. A tensor that does not say it, or that holds several of them where a share ends, is an error. The
     * arguments of that Linear are to be those of the share. */
    int (*share)(void *data, const char *name, int32_t of, const struct graft_operation *slice,
                 struct graft_error *error);
};

/* What `create` works with, whose `error` tells its end as that of `describe` does. The host's: the struct is valid
 * until `create` returns, all that it leads to until `destroy` has returned. */
struct graft_build {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;                  /* "model.layers.0.self_attn" */
    const struct graft_host *host;     /* as given to the entry */
    const struct graft_config *config; /* the model's config.json */
    const struct graft_args *args;     /* what `describe` was given */
    /* What `describe` of the same class kept, valid until `destroy`. NULL: it kept nothing, or the class has none. */
    const void *kept;
    const struct graft_module *super; /* with GRAFT_CLASS_CALLS_SUPER the module that it wraps; else NULL */
    void *data;                       /* the host's; to be handed back to the functions below */
    /* [load] A parameter that this class described, coded or not; NULL for a name it did not, and for one that is
     * absent. */
    const struct graft_weight *(*weight)(void *data, const char *name);
    /* [load] A child that this class described, its instance made; NULL for a name it did not. */
    const struct graft_module *(*child)(void *data, const char *name);
    /* [load] What this class gave to a child; NULL for a name it did not describe. Valid until `destroy`. */
    const struct graft_args *(*child_args)(void *data, const char *name);
    /* [load] A state that this class described, for graft_state_get; NULL for a name it did not. */
    const struct graft_state *(*state)(void *data, const char *name);
    /* [load] Memory of the host's for as long as the instance lives, on a 64-byte boundary and zeroed; NULL when memory
     * ran out. For what a codec points to and no tensor has. */
    void *(*memory)(void *data, int64_t bytes);
};

enum {
    /* Instances call what they replace: the class of that name or, where other plugins replace it as well, the next of
     * theirs. It is built beside them, bound through its own conversions to the same bytes. Such a class may leave out
     * `create`: then the `self` of its forward is that module. */
    GRAFT_CLASS_CALLS_SUPER = 1 << 16,
    /* A building block of many classes (Linear, Embedding): patterns do not reach it, its exact name does. */
    GRAFT_CLASS_BASIC = 1 << 17,
    /* Stacked experts: its forward calls kernels->experts, so what a caller has put into the call computes them. */
    GRAFT_CLASS_CALLS_EXPERTS = 1 << 0,
    /* Asks for the parts of a module that a class above joins from several (`part` of the sink): conditions on tensors
     * hold where one of the parts meets them. Without this flag such tensors have to be those of all parts, and parts
     * that an adapter is for stay apart. */
    GRAFT_CLASS_TAKES_PARTS = 1 << 1,
    /* Of an attention: it takes the argument qkv_joined (attention.h). Of a replacement: it gives it, so its pattern
     * takes attentions with this flag alone. */
    GRAFT_CLASS_JOINS_QKV = 1 << 2,
    /* Its `describe` depends on the class, the config and the arguments, and not on where the module is: of the sink it
     * reads `path` for errors alone, and not `config_path`. So the host may describe one of many modules that are given
     * the same arguments, as experts are, and take the others to be like it: `describe` then runs for the first alone,
     * and what it keeps is for the `create` of all. */
    GRAFT_CLASS_SAME_ANYWHERE = 1 << 3
};

/* Const until the plugin's `deinit`. In a replacement, what is NULL is inherited from the class it replaces: `describe`
 * (together with the conversions), and `create`, `destroy` and `forward` together. An inherited `create` looks for the
 * children and parameters of the original, so who describes others makes them as well. */
struct graft_class {
    uint32_t struct_size;
    uint32_t flags;           /* GRAFT_CLASS_... */
    const char *name;         /* "LlamaAttention": letters, digits and '_' */
    const char *interface_id; /* "graft.linear/1", or a plugin's own (module.h); of a replacement that of its target */

    /* [load] Declares what an instance consists of, from the config and the parent's arguments alone. May be called
     * several times, also without an instance following. `self` may be a copy of the struct, so its fields are to be
     * used and not its address. Required but in a replacement and in a derived class. */
    int (*describe)(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error);
    /* [load] Makes an instance, which may be NULL: the `self` of its forward. On failure nothing is left behind and
     * `destroy` is not called. Required but in a replacement and in a derived class. */
    int (*create)(const struct graft_class *self, const struct graft_build *build, void **instance,
                  struct graft_error *error);
    /* [load] Frees what `create` made, before the instances of its children are freed. Optional; NULL is never passed.
     */
    void (*destroy)(void *instance);
    /* The vtable of the interface, e.g. struct graft_linear. Required but in a replacement and in a derived class. */
    const void *forward;

    const struct graft_conversion *conversions; /* [n_conversions]; names are relative to the module */
    int32_t n_conversions;                      /* at most 4096 */
    uint32_t conversion_stride;
    const void *data; /* the class's own, may be NULL: functions shared by several classes find here how they differ */
    /* The class that this one is derived from, "LlamaAttention", of the same interface; NULL: none. What is NULL here
     * is inherited from it, as a replacement inherits: `describe` (together with the conversions), and `create`,
     * `destroy` and `forward` together. Functions run as those of the base, with its `data`. A name of the plugin's own
     * goes before one of the host. In models of a family that brings this class, it also stands for its base wherever
     * an inherited description names that (family.h). */
    const char *base;
};

/* The first initialisers of a class that is derived from another; with no more than these it is that class under a name
 * of its own. */
#define GRAFT_DERIVED_CLASS(class_name, base_name, interface) \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .base = (base_name), .interface_id = (interface)

/* The initialisers of a class's conversions, an array. */
#define GRAFT_CLASS_CONVERSIONS(array) \
    .conversions = (array), .n_conversions = sizeof(array) / sizeof(array)[0], .conversion_stride = sizeof(array)[0]

/* [any] Conversion number `i`. */
GRAFT_INLINE const struct graft_conversion *graft_class_conversion(const struct graft_class *cls, int32_t i) {
    const char *at = (const char *)cls->conversions + (size_t)i * cls->conversion_stride;
    return (const struct graft_conversion *)(const void *)at;
}

/* [any] Whether one of its conversions has an operation that is GRAFT_CUSTOM_LOSSY. */
GRAFT_INLINE int32_t graft_class_is_lossy(const struct graft_class *cls) {
    for (int32_t i = 0; i < cls->n_conversions; i++) {
        const struct graft_conversion *conversion = graft_class_conversion(cls, i);
        for (int32_t k = 0; k < conversion->n_operations; k++) {
            const struct graft_operation *operation = graft_conversion_operation(conversion, k);
            if (operation->kind == GRAFT_OP_CUSTOM && (operation->custom->flags & GRAFT_CUSTOM_LOSSY) != 0) {
                return 1;
            }
        }
    }
    return 0;
}

#define GRAFT_PARAMETER_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_parameter_info, join)
#define GRAFT_CODED_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_coded_info, context_bytes)
#define GRAFT_CHILD_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_child_info, args)
#define GRAFT_PART_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_part_info, outputs)
#define GRAFT_CLASS_SIZE_1_0 GRAFT_END_OF(struct graft_class, base)

GRAFT_ASSERT_SIZE(struct graft_join, 16);
GRAFT_ASSERT_SIZE(struct graft_parameter_info, 128);
GRAFT_ASSERT_SIZE(struct graft_child_info, 40);
GRAFT_ASSERT_SIZE(struct graft_part_info, 40);
GRAFT_ASSERT_SIZE(struct graft_sink, 184);
GRAFT_ASSERT_SIZE(struct graft_coded_info, 80);
GRAFT_ASSERT_SIZE(struct graft_build, 104);
GRAFT_ASSERT_SIZE(struct graft_class, 88);
GRAFT_ASSERT_OFFSET(struct graft_class, conversions, 56);

#ifdef __cplusplus
}
#endif

#endif
