/* SPDX-License-Identifier: Apache-2.0 */
/* A class of modules, under the name transformers gives it: what its modules consist of, how an instance is created,
 * and what it computes.
 *
 * A class describes itself before anything exists: `describe` declares parameters, attributes and children. The host
 * resolves each child's class (so that replacements nest), plans and binds the weights, then calls `create` of children
 * first and of parents last. */
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

/* What a parameter holds if the checkpoint has no tensor for it. */
enum {
    GRAFT_INIT_NONE = 0, /* it is required: generating without it is an error */
    GRAFT_INIT_ZEROS = 1,
    GRAFT_INIT_ONES = 2,
    GRAFT_INIT_ABSENT = 3 /* nothing: it is optional, and `weight` of struct graft_build returns NULL */
};

enum {
    GRAFT_PARAMETER_CONTIGUOUS = 1 << 16, /* needs a single row block; without this flag it accepts several */
    GRAFT_PARAMETER_SCALAR = 1 << 17,     /* has the shape [1]; a tensor without dimensions fits as well */
    /* Not a parameter but a tensor of the checkpoint, from which conversions of the class make parameters. It is
       described so that those of several modules can be joined (struct graft_join). It is not bound, and `init` is
       GRAFT_INIT_NONE. */
    GRAFT_PARAMETER_SOURCE = 1 << 18,
    /* The length of its first dimension is that in the checkpoint, at most `shape[0]`, because only other tensors or
       its own bytes determine it. It joins only with GRAFT_JOIN_EACH: the tensors of the parts are concatenated; with
       GRAFT_INIT_ABSENT some of these may be missing. */
    GRAFT_PARAMETER_ANY_LENGTH = 1 << 19
};

enum {
    GRAFT_JOIN_NONE = 0, /* it cannot be joined: the modules stay apart */
    GRAFT_JOIN_ROWS = 1, /* the parts are concatenated along `dim` */
    /* the parts' tensors are concatenated: with n parts, its first dimension is n times as long as described */
    GRAFT_JOIN_EACH = 2,
    GRAFT_JOIN_EQUAL = 3 /* the parts must have the same bytes; if they differ, the modules stay apart */
};

/* How a parameter is joined where a class above joins the outputs of several modules, as a fused projection does with
 * queries, keys and values. If no conversion of that class produces the parameter, the host joins the tensors that the
 * checkpoint has for the parts, or leaves the modules apart. The struct is embedded in another and will never grow. */
struct graft_join {
    int32_t kind;      /* GRAFT_JOIN_... */
    int32_t dim;       /* GRAFT_JOIN_ROWS: the dimension of the outputs */
    int32_t rows;      /* GRAFT_JOIN_ROWS: outputs for each step along `dim`; at least 1. A part that ends inside a step
                          cannot be followed by another: the modules then stay apart */
    uint32_t reserved; /* 0 */
};

struct graft_parameter_info {
    uint32_t struct_size;
    uint32_t flags;                /* GRAFT_PARAMETER_... */
    const char *name;              /* "weight" */
    int32_t rank;                  /* number of dimensions, 1 to GRAFT_MAX_RANK */
    int32_t init;                  /* GRAFT_INIT_... */
    int64_t shape[GRAFT_MAX_RANK]; /* [rank], each above 0; the other elements are not read */
    graft_dtype
        dtype; /* the only type that is accepted, such as GRAFT_DTYPE_I8; 0: F32, F16 or BF16, as in the checkpoint */
    uint32_t reserved;
    struct graft_join join; /* all zeros: GRAFT_JOIN_NONE */
    /* Later than 1.0. How the parameter is cut where a class above gives the module a share of its inputs.
     * GRAFT_JOIN_ROWS: `dim` is the dimension of the inputs, with `rows` inputs for each step. GRAFT_JOIN_EQUAL: it is
     * the same for all inputs. GRAFT_JOIN_NONE: it cannot be cut, and such a share is an error. */
    struct graft_join inputs;
};

/* What a module may get a share of. */
enum { GRAFT_SHARE_OUTPUTS = 1, GRAFT_SHARE_INPUTS = 2 };

enum {
    /* in "mlp.0" the component before the dot becomes a Sequential, not a ModuleList */
    GRAFT_CHILD_SEQUENTIAL = 1 << 16
};

/* The role of a tensor in a coded parameter. */
enum {
    GRAFT_CODED_CODES = 1,
    GRAFT_CODED_SCALES = 2,
    GRAFT_CODED_ZEROS = 3,       /* zero points */
    GRAFT_CODED_GROUP_INDEX = 4, /* index of each column's group */
    GRAFT_CODED_DIVISOR = 5,     /* one F32 number by which scales are divided */
    GRAFT_CODED_FACTOR = 6,      /* one F32 number by which scales are multiplied */
    GRAFT_CODED_OTHER = 7        /* used by `finish`, or only kept for saving */
};

enum {
    /* The class computes products with loops of its own; the codec only tells others what the codes mean. Its `create`
       gets no coded weight: `weight` of struct graft_build returns the tensor of that name, if there is one. */
    GRAFT_CODED_OWN_LOOPS = 1
};

/* A parameter whose numbers are codes (codec.h), and the tensors that it consists of. The host describes these as
 * parameters, and gives `create` one weight under the parameter's name. So a class that accepts any weight, as Linear
 * does, accepts a coded one as well, and a replacement of it needs only a `describe`. */
struct graft_coded_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;                           /* "weight"; a parameter of this name must not be described as well */
    const struct graft_codec *codec;            /* everything but its weights */
    const struct graft_parameter_info *tensors; /* [n_tensors] */
    const int32_t *roles;                       /* [n_tensors] GRAFT_CODED_... */
    int32_t n_tensors;
    uint32_t tensor_stride;
    /* [load] Optional: called when the tensors are bound, to check them or to complete the codec from them. `context`
     * is a copy of the member below. */
    int (*finish)(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error);
    const void *context;   /* [context_bytes] for `finish`; must be equal in parts that are joined; NULL: none */
    int64_t context_bytes; /* size of the context; 0: none */
    uint64_t flags;        /* later than 1.0: GRAFT_CODED_OWN_LOOPS */
};

struct graft_child_info {
    uint32_t struct_size;
    uint32_t flags;                /* GRAFT_CHILD_... */
    const char *name;              /* "q_proj"; in "layers.0" the component before the dot becomes a ModuleList */
    const char *class_name;        /* "Linear": looked up among all classes, including replacements */
    const char *interface_id;      /* the interface through which the parent will call it: GRAFT_INTERFACE_LINEAR */
    const struct graft_args *args; /* NULL: none */
};

/* A part of the described module: one of the modules whose outputs a class above joins in it. */
struct graft_part_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "q_proj"; "" if the module is not joined, and so its own only part */
    const char *path; /* "model.layers.0.self_attn.q_proj" */
    int64_t first;    /* index of its first output in the described module */
    int64_t outputs;  /* number of its outputs; 0: the parent passed no out_features */
};

/* Receives a description. Belongs to the host; valid until `describe` returns. Everything passed to its functions is
 * copied before the call returns.
 *
 * Errors. A call that fails records why in `error`, which is the one passed to `describe` and is never NULL there. That
 * error stays: later declarations have no effect, and a description that ends with an error in `error` has failed,
 * whatever it returns. So declare everything without checks, and return error->code.
 *
 * Names have 1 to 256 letters, digits, '_' and '-'; those of children and parameters, and the paths of a tie, may have
 * several components separated by dots. The first component of a parameter's name must not be that of a child's name.
 * Parameters and children are declared once. A child has at most 32 arguments, with up to 4096 numbers in a list. A
 * model has at most 2^20 modules, nested up to 64 deep, and 2^21 parameters, each of fewer than 2^60 elements. */
struct graft_sink {
    uint32_t struct_size;
    uint32_t super_flags; /* GRAFT_CLASS_... of the class that the module calls as super; 0: it calls none */
    const char *path;     /* path of the described module: "model.layers.0.self_attn"; valid until `describe` returns */
    /* The name of the module in config.json: `path`, or if a class above joins several modules, the name of the first
     * of them. `describe` is then called again with each of the other names, and the results are only compared: parts
     * whose descriptions differ stay apart. */
    const char *config_path;
    const struct graft_host *host; /* the one passed to the entry function */
    void *data;                    /* the host's; passed back to the functions below */

    /* [load] Declares a parameter of the module. */
    int (*parameter)(void *data, const struct graft_parameter_info *info, struct graft_error *error);
    /* [load] Declares a child, whose class describes itself before the call returns. */
    int (*child)(void *data, const struct graft_child_info *info, struct graft_error *error);
    /* [load] Declares a property of the module under its name in transformers: kernel_size, stride, in_features.
     * `values` has `count` numbers, 1 to GRAFT_MAX_RANK. */
    int (*attribute)(void *data, const char *name, const int64_t *values, int32_t count, struct graft_error *error);
    /* [load] Declares that parameter `name` is the same as parameter `source`; both are paths below this module
     * ("lm_head.weight"). */
    int (*tie)(void *data, const char *name, const char *source, struct graft_error *error);
    /* [load] Declares what instances keep for each sequence (state.h). */
    int (*state)(void *data, const struct graft_state_info *info, struct graft_error *error);
    /* [load] Declares a conversion for this module only, in addition to those of the class: one whose numbers depend on
     * arguments, the config or the rank (parallel.h). The conversions of the class that this one calls as super then
     * take the results as their sources. So a class that wraps a quantized projection may declare a Slice of its
     * weight. */
    int (*conversion)(void *data, const struct graft_conversion *conversion, struct graft_error *error);

    /* [load] Runs `describe` of the class's base here, like super().__init__(). The base, and later `create`, get the
     * module's arguments with those of `more` (NULL: none) added, or in place of those of the same names; pointers from
     * `args` are invalid afterwards. In a replacement without a base, runs that of the replaced class. In any other
     * class without a base, an error. */
    int (*base)(void *data, const struct graft_args *more, struct graft_error *error);
    /* [load] Changes the arguments of the class that the module calls as super: those of `more` are added, or replace
     * those of the same names. An error in a class that calls no super. */
    int (*super)(void *data, const struct graft_args *more, struct graft_error *error);
    /* [load] Declares that another process computes this module (parallel.h). A class that calls super declares this
     * instead of anything else, and gets no super then. Tensors below its path are loaded by other processes, and need
     * not exist here. */
    int (*elsewhere)(void *data, struct graft_error *error);

    /* [load] Zeroed memory in which `describe` keeps its findings for `create`, which gets them as `kept`. It belongs
     * to the host, is aligned for any type, has 1 byte to 1 MiB, and can be requested once. NULL with an error recorded
     * on failure. */
    void *(*keep)(void *data, int64_t bytes, struct graft_error *error);

    /* [load] The class that transformers' ACT2FN has for a name in config.json ("gelu_new"); NULL if the host knows
     * none. */
    const char *(*activation_class)(void *data, const char *name);
    /* [load] Whether an adapter has a tensor for the module; `name` is relative to the module,
     * "adapter.NAME.lora_A.weight". If so, returns 1 and fills in `info`, whose struct_size the caller has set. */
    int32_t (*adapter_tensor)(void *data, const char *name, struct graft_value_info *info);
    /* [load] Gets part `i` of the module, in the order of outputs; a module that is not joined has one part, itself.
     * Returns 1 and fills in `info`, whose struct_size the caller has set; 0 after the last part. Strings are valid
     * until `describe` returns. Names of what belongs to a part are prefixed with the part's name: the child
     * "q_proj.adapter.NAME" of qkv_proj has the tensors of q_proj's "adapter.NAME", and adapter_tensor knows
     * "q_proj.adapter.NAME.lora_A.weight". */
    int32_t (*part)(void *data, int32_t i, struct graft_part_info *info);
    /* [load] The bytes of all parameters described before the module at `path` and what is below it; of all parameters,
     * if there is no such module or `path` is NULL. Elements of the checkpoint's own type count as two bytes. The model
     * is first described for these sizes, then again; the first time this returns 0, and `elsewhere` has no effect. The
     * result is the same in all processes that have the same classes. */
    int64_t (*bytes_before)(void *data, const char *path);
    /* [load] Whether the module is described before the first module of an interface: 1, or 0 if it is not or the model
     * has none. Classes describe their children in the order in which they call them. As with bytes_before, the model
     * is described twice, and the first time this returns 0. */
    int32_t (*comes_before)(void *data, const char *interface_id);
    /* [load] The name in the adapter of a tensor that adapter_tensor found,
     * "model.layers.0.self_attn.q_proj.lora_A.weight", which differs if classes or lists renamed its module. NULL:
     * there is none. Valid until `describe` returns. */
    const char *(*adapter_tensor_name)(void *data, const char *name);
    /* [load] Declares a parameter whose numbers are codes. */
    int (*coded)(void *data, const struct graft_coded_info *info, struct graft_error *error);
    /* [load] Later than 1.0. Declares that a Linear gets only a share of its outputs or of its inputs (`of`,
     * GRAFT_SHARE_...). `name` is the Linear's path below this module ("q_proj"), or "" for the class that this module
     * calls as super. `slice` is a Slice with `of` that selects the share; its `dim` is ignored. Whatever class is
     * built there, the host cuts that share out of plain weights and biases, and out of the class's tensors as their
     * descriptions say (`join` for outputs, `inputs` for inputs). A tensor whose description does not say how, or whose
     * steps do not divide at the ends of the share, is an error. The arguments of that Linear must be those of the
     * share. */
    int (*share)(void *data, const char *name, int32_t of, const struct graft_operation *slice,
                 struct graft_error *error);
};

/* What `create` is given. Errors are latched in `error` as in `describe`. Belongs to the host: the struct is valid
 * until `create` returns, everything that it points to until `destroy` has returned. */
struct graft_build {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;                  /* "model.layers.0.self_attn" */
    const struct graft_host *host;     /* the one passed to the entry function */
    const struct graft_config *config; /* the model's config.json */
    const struct graft_args *args;     /* the arguments that `describe` got */
    /* The memory that `describe` of the same class filled, valid until `destroy`. NULL: it kept nothing, or the class
     * has no `describe`. */
    const void *kept;
    const struct graft_module *super; /* with GRAFT_CLASS_CALLS_SUPER the wrapped module; else NULL */
    void *data;                       /* the host's; passed back to the functions below */
    /* [load] A parameter that this class described, coded or not; NULL if it described none of that name, or the
     * parameter is absent. */
    const struct graft_weight *(*weight)(void *data, const char *name);
    /* [load] A child that this class described, with its instance; NULL if it described none of that name. */
    const struct graft_module *(*child)(void *data, const char *name);
    /* [load] The arguments that this class passed to a child; NULL if it described none of that name. Valid until
     * `destroy`. */
    const struct graft_args *(*child_args)(void *data, const char *name);
    /* [load] A state that this class described, for graft_state_get; NULL if it described none of that name. */
    const struct graft_state *(*state)(void *data, const char *name);
    /* [load] Memory that lives as long as the instance, zeroed and on a 64-byte boundary; NULL if memory ran out. For
     * data of a codec that no tensor holds. */
    void *(*memory)(void *data, int64_t bytes);
};

enum {
    /* Instances call the class that they replace: the class of that name or, if other plugins replace it as well, the
     * next replacement. It is built next to them, and bound through its own conversions to the same bytes. Such a class
     * may omit `create`: then the `self` of its forward is that module. */
    GRAFT_CLASS_CALLS_SUPER = 1 << 16,
    /* A building block of many classes (Linear, Embedding): patterns do not match it, only its exact name does. */
    GRAFT_CLASS_BASIC = 1 << 17,
    /* Stacked experts whose forward calls kernels->experts, so that the call's experts implementation runs. */
    GRAFT_CLASS_CALLS_EXPERTS = 1 << 0,
    /* Handles the parts of a module that a class above joins from several (`part` of the sink). Conditions on tensors
       then hold if one of the parts meets them. Without this flag all parts have to have such tensors, and parts that
       an adapter changes stay apart. */
    GRAFT_CLASS_TAKES_PARTS = 1 << 1,
    /* Of an attention: it accepts the argument qkv_joined (attention.h). Of a replacement: it passes that argument, so
       its pattern matches only attentions with this flag. */
    GRAFT_CLASS_JOINS_QKV = 1 << 2,
    /* Its `describe` depends only on the class, the config and the arguments, not on the module's place in the model:
       of the sink it reads `path` for errors alone, and not `config_path`. So of many modules that get the same
       arguments, such as experts, the host may describe only the first: `describe` then runs once, and what it keeps is
       passed to the `create` of all. */
    GRAFT_CLASS_SAME_ANYWHERE = 1 << 3
};

/* Must not change until the plugin's `deinit`. In a replacement, members that are NULL are inherited from the class it
 * replaces: `describe` (together with the conversions) by itself; `create`, `destroy` and `forward` together. An
 * inherited `create` looks for the children and parameters of the original, so a class that describes others needs its
 * own. */
struct graft_class {
    uint32_t struct_size;
    uint32_t flags;           /* GRAFT_CLASS_... */
    const char *name;         /* "LlamaAttention": letters, digits and '_' */
    const char *interface_id; /* "graft.linear/1", or a plugin's own (module.h); in a replacement that of its target */

    /* [load] Declares what an instance consists of, from the config and the parent's arguments alone. May be called
     * several times, and an instance need not follow. `self` may be a copy of the struct, so use its fields, not its
     * address. Required, except in replacements and derived classes. */
    int (*describe)(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error);
    /* [load] Creates an instance, which becomes the `self` of its forward and may be NULL. On failure it leaves nothing
     * behind, and `destroy` is not called. Required, except in replacements and derived classes. */
    int (*create)(const struct graft_class *self, const struct graft_build *build, void **instance,
                  struct graft_error *error);
    /* [load] Frees what `create` made, before the instances of the children are freed. Optional; never called with
     * NULL. */
    void (*destroy)(void *instance);
    /* The vtable of the interface, such as struct graft_linear. Required, except in replacements and derived classes.
     * The `error` of its functions is never NULL, and holds no error when they are called. */
    const void *forward;

    const struct graft_conversion *conversions; /* [n_conversions]; names are relative to the module */
    int32_t n_conversions;                      /* at most 4096 */
    uint32_t conversion_stride;
    const void *data; /* for the class's use, may be NULL: how classes that share functions differ */
    /* The class that this one is derived from, "LlamaAttention", which has the same interface; NULL: none. Members that
     * are NULL are inherited from it, as in a replacement: `describe` (together with the conversions) by itself;
     * `create`, `destroy` and `forward` together. Inherited functions run with the base's `data`. A class of the same
     * plugin takes precedence over one of the host. In models of a family that brings this class, it also replaces its
     * base wherever an inherited description names the base (family.h). */
    const char *base;
};

/* The first initialisers of a derived class. With these alone it is its base under another name. */
#define GRAFT_DERIVED_CLASS(class_name, base_name, interface) \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .base = (base_name), .interface_id = (interface)

/* The initialisers of a class's conversions, an array. */
#define GRAFT_CLASS_CONVERSIONS(array) \
    .conversions = (array), .n_conversions = sizeof(array) / sizeof(array)[0], .conversion_stride = sizeof(array)[0]

/* [any] Conversion `i`. */
GRAFT_INLINE const struct graft_conversion *graft_class_conversion(const struct graft_class *cls, int32_t i) {
    const char *at = (const char *)cls->conversions + (size_t)i * cls->conversion_stride;
    return (const struct graft_conversion *)(const void *)at;
}

/* [any] Whether one of the class's conversions has an operation with GRAFT_CUSTOM_LOSSY. */
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
