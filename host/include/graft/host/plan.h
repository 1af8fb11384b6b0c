/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan made when a model is opened: which tensors become which parameters, by which operations, and at what cost.
 *
 *     const struct graft_plan_info *plan = graft_model_plan(model);
 *     for (size_t i = 0; i < plan->n_parameters; i++) {
 *         const struct graft_planned_parameter *parameter = plan->parameters[i];
 *         if (parameter->status == GRAFT_PLANNED_MISSING) {
 *             printf("no tensor for %s\n", parameter->name);
 *         }
 *     }
 *
 * Loading carries out the plan without changing it. Everything returned belongs to the model, is const, and stays valid
 * until graft_model_free; structs may grow at their end, as in graft/host/modules.h.
 */
#ifndef GRAFT_HOST_PLAN_H
#define GRAFT_HOST_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/modules.h"
#include "graft/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;
struct graft_text;

/* Where a parameter's weight comes from. A model with one of the last three cannot be loaded. */
enum {
    GRAFT_PLANNED_FOUND = 0,      /* from `sources` */
    GRAFT_PLANNED_TIED = 1,       /* shares the weight of `tied_to` */
    GRAFT_PLANNED_INITIAL = 2,    /* not in the checkpoint: zeros or ones, as the class declares */
    GRAFT_PLANNED_MISSING = 3,    /* not in the checkpoint */
    GRAFT_PLANNED_MISMATCHED = 4, /* the checkpoint's shape differs: `source_shape` */
    GRAFT_PLANNED_FAILED = 5,     /* it cannot be converted: `problem` says why */
    GRAFT_PLANNED_ABSENT = 6      /* not in the checkpoint, but optional for the class */
};

/* Who converted the tensors of a parameter, in the order of conversion. */
enum {
    /* A list for the whole model: one registered for its type or class (graft/host/registry.h), or the library's own
       list for names in old checkpoints. */
    GRAFT_CONVERTED_BY_LIST = 1,
    GRAFT_CONVERTED_BY_PATCH = 2, /* the load patch (graft/host/registry.h) */
    GRAFT_CONVERTED_BY_CLASS = 4  /* the class of `converter` */
};

struct graft_planned_parameter {
    uint32_t struct_size;
    int32_t status;                          /* GRAFT_PLANNED_... */
    const char *name;                        /* "model.layers.0.mlp.gate_proj.weight" */
    const char *own_name;                    /* last component of the name: "weight" */
    const struct graft_named_module *module; /* the parameter's module */
    int32_t rank;                            /* as the class declares it */
    graft_dtype dtype;                       /* type of the weight in memory; GRAFT_DTYPE_NONE if there is none */
    int64_t shape[GRAFT_MAX_RANK];           /* [rank] as the class declares it */
    int32_t init;                            /* GRAFT_INIT_...: the declared value if there is no tensor */
    uint32_t flags;                          /* GRAFT_PARAMETER_..., as the class declares them */
    const char *const *sources; /* [n_sources] names of the checkpoint's tensors, in the order of the weight's rows */
    size_t n_sources;
    /* "MergeModulelist(dim=0), Concatenate(dim=1)"; "renamed" if only the name differs; "" if the tensor with the
     * parameter's name is used unchanged. */
    const char *operations;
    const struct graft_named_module *converter;    /* the module whose class declares the operations; or NULL */
    uint32_t converted_by;                         /* GRAFT_CONVERTED_BY_..., joined by | */
    int32_t computed;                              /* 1: at least a part of it comes from a custom operation */
    const struct graft_planned_parameter *tied_to; /* GRAFT_PLANNED_TIED only */
    /* If a replacement has a parameter of the same name, and this one belongs to the module that it calls: that
     * parameter. Both are filled from the same tensors. NULL for all others. */
    const struct graft_planned_parameter *shared_with;
    int64_t bytes;                        /* size of the weight in memory; 0 if it is shared */
    int32_t copied;                       /* 1: copied when the model is loaded; 0: used in the mapped file */
    int32_t source_rank;                  /* dimensions of source_shape; 0: unknown */
    int64_t source_shape[GRAFT_MAX_RANK]; /* [source_rank] shape after the operations */
    const char *problem;                  /* NULL: none */
};

/* A module that a fusion family considered (graft/fusion.h). */
struct graft_considered_module {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;        /* "visual.patch_embed" */
    const char *class_name;  /* its class if it were not fused */
    const char *fused_class; /* the class chosen by the family; NULL: not fused */
    const char *reason;      /* why it was or was not fused; or NULL */
};

/* A fusion family that was asked for. */
struct graft_planned_fusion {
    uint32_t struct_size;
    uint32_t reserved;
    const char *family;                                   /* the family's name: "patch_embeddings" */
    const char *plugin;                                   /* the plugin's id; NULL: the family was added by a call */
    const struct graft_considered_module *const *modules; /* [n_modules] */
    size_t n_modules;
};

/* An adapter in effect (struct graft_adapter_options). */
struct graft_planned_adapter {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;      /* the name given to it */
    const char *directory; /* likewise */
    double scale;          /* factor for its effect; 1: as trained */
    size_t n_tensors;      /* number of tensors in its file */
};

struct graft_plan_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *directory;    /* the directory, as passed to graft_model_open */
    const char *model_type;   /* config.json's */
    const char *plugin;       /* id of the plugin that brings the model type; NULL: the host's own */
    const char *architecture; /* class of the root: "LlamaForCausalLM" */
    /* The parameters of all modules, in the order of modules. */
    const struct graft_planned_parameter *const *parameters; /* [n_parameters] */
    size_t n_parameters;
    const char *const *unexpected; /* [n_unexpected] tensors that no parameter uses */
    size_t n_unexpected;
    const struct graft_planned_fusion *const *fusions; /* [n_fusions] in the order of the request */
    size_t n_fusions;
    size_t n_tensors;             /* number of tensors in the checkpoint */
    size_t n_files;               /* number of files that hold them */
    int64_t mapped_bytes;         /* of weights that stay in the mapped files */
    int64_t copied_bytes;         /* of weights that are copied when the model is loaded */
    int64_t computed_bytes;       /* of results of custom operations, and of weights that were quantized or dequantized
                                     (model.h) */
    int64_t peak_anonymous_bytes; /* the most memory that loading takes, besides the mapped files */
    double seconds;               /* opening took */
    int64_t state_bytes;          /* memory that modules' states take for each sequence (graft/state.h) */
    const struct graft_planned_adapter *const *adapters; /* [n_adapters] in the order of the options */
    size_t n_adapters;
    const char *const *elsewhere; /* [n_elsewhere] tensors used by other processes only (graft/parallel.h) */
    size_t n_elsewhere;
    int64_t elsewhere_bytes; /* bytes of those tensors that are in this process's files, and of other processes' parts
                                of shared ones */
};

/* [any] The model's plan; never NULL. */
const struct graft_plan_info *graft_model_plan(const struct graft_model *model);

/* [any] Appends the plan to `json` (graft/host/tokenizer.h), which the caller frees with graft_text_free. It is the
 * document of `plan --json` (docs/cli.md): everything in this header and in modules.h, the library's plugins, and all
 * notes. With `indent` 0 it is a single line; otherwise `indent` is the number of spaces for each level. */
int graft_model_plan_json(const struct graft_model *model, int32_t indent, struct graft_text *json,
                          struct graft_error *error);

/* [any] Appends the plan to `html` as the page of `plan --html`: a complete HTML document without scripts or external
 * resources, which contains the document of graft_model_plan_json. */
int graft_model_plan_html(const struct graft_model *model, struct graft_text *html, struct graft_error *error);

/* [any] Checks that checkpoint and model fit exactly. GRAFT_ERROR_MODEL if a parameter is missing, mismatched or cannot
 * be converted, a tensor is unexpected, tied parameters have two values (this reads the tensors), or a field of a JSON
 * file is not used. */
int graft_model_check_strict(const struct graft_model *model, struct graft_error *error);

/* [any] The seconds that graft_model_load took; negative if the model was not loaded. */
double graft_model_load_seconds(const struct graft_model *model);

/* --- Fields --- */

/*
 * How each field of a model's JSON files was used: config.json, generation_config.json, tokenizer_config.json, each
 * adapter's adapter_config.json and, for models that take images, preprocessor_config.json and its siblings.
 *
 *     const struct graft_model_field *field;
 *     for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
 *         if (field->use == GRAFT_FIELD_NOT_USED) {
 *             printf("%s: %s is %s, which is not used\n", field->file, field->name, field->value);
 *         }
 *     }
 *
 * A field is a number, a string, or an array of these; members of objects have dotted names: "rope_parameters.factor".
 * In tokenizer_config.json each top-level member is one field. Fields are known once the model is open. Everything
 * returned belongs to the model, is const, and stays valid until graft_model_free; structs may grow at their end, as in
 * graft/host/modules.h.
 */

enum {
    GRAFT_FIELD_USED = 1,           /* it was read */
    GRAFT_FIELD_WITHOUT_EFFECT = 2, /* it has no effect, whatever its value; `by` says who knows that */
    GRAFT_FIELD_NEUTRAL = 3,        /* its value means nothing, such as null; `by` says who knows that */
    GRAFT_FIELD_NOT_USED = 4,       /* none of these: results may differ from what the file asks for */
    GRAFT_FIELD_IGNORED = 5         /* an option says to ignore it (`ignored_fields` of struct graft_model_options) */
};

struct graft_model_field {
    uint32_t struct_size;
    int32_t use;         /* GRAFT_FIELD_USED, ... */
    const char *file;    /* "config.json" */
    const char *adapter; /* adapter that the file belongs to; NULL: a file of the model */
    const char *name;    /* name in the file: "n_embd", "rope_parameters.factor" */
    const char *value;   /* JSON, or NaN, Infinity, -Infinity; after 200 bytes "..." follows */
    const char *by;      /* "the host", "model type llama", "plugin gptq"; or NULL */
};

/* [any] Field `i`, in the order of files; NULL after the last. */
const struct graft_model_field *graft_model_field_at(const struct graft_model *model, size_t i);

/* [any] Name `i` of the fields of config.json that the model's classes asked for while it was opened, in the order of
 * asking, whether or not the file has them; NULL after the last. */
const char *graft_model_asked_field(const struct graft_model *model, size_t i);

#ifdef __cplusplus
}
#endif

#endif
