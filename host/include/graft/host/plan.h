/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What opening a model decided: which tensors become which parameters, by which operations, and what that costs.
 *
 *     const struct graft_plan_info *plan = graft_model_plan(model);
 *     for (size_t i = 0; i < plan->n_parameters; i++) {
 *         const struct graft_planned_parameter *parameter = plan->parameters[i];
 *         if (parameter->status == GRAFT_PLANNED_MISSING) {
 *             printf("nothing for %s\n", parameter->name);
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
    GRAFT_PLANNED_TIED = 1,       /* it is that of `tied_to` */
    GRAFT_PLANNED_INITIAL = 2,    /* the checkpoint has nothing: zeros or ones, as the class declares */
    GRAFT_PLANNED_MISSING = 3,    /* the checkpoint has nothing */
    GRAFT_PLANNED_MISMATCHED = 4, /* the checkpoint has another shape: `source_shape` */
    GRAFT_PLANNED_FAILED = 5,     /* it cannot be converted: `problem` says why */
    GRAFT_PLANNED_ABSENT = 6      /* the checkpoint has nothing, and the class does without */
};

/* Who converted the tensors of a parameter, in the order in which it happens. */
enum {
    /* A list for the whole model: one registered for its type or class (graft/host/registry.h), or our own for the
     * names of old checkpoints. */
    GRAFT_CONVERTED_BY_LIST = 1,
    GRAFT_CONVERTED_BY_PATCH = 2, /* the load patch (graft/host/registry.h) */
    GRAFT_CONVERTED_BY_CLASS = 4  /* the class of `converter` */
};

struct graft_planned_parameter {
    uint32_t struct_size;
    int32_t status;                          /* GRAFT_PLANNED_... */
    const char *name;                        /* "model.layers.0.mlp.gate_proj.weight" */
    const char *own_name;                    /* its last part: "weight" */
    const struct graft_named_module *module; /* whose it is */
    int32_t rank;                            /* as the class declares it */
    graft_dtype dtype;             /* of the weight in memory; GRAFT_DTYPE_NONE while the checkpoint has nothing */
    int64_t shape[GRAFT_MAX_RANK]; /* [rank] as the class declares it */
    int32_t init;                  /* GRAFT_INIT_...: the value that the class declares if there is no tensor */
    uint32_t flags;                /* GRAFT_PARAMETER_..., as the class declares them */
    const char *const *sources; /* [n_sources] names of the checkpoint's tensors, in the order of the weight's rows */
    size_t n_sources;
    /* "MergeModulelist(dim=0), Concatenate(dim=1)"; "renamed" for none but another name; "" where the tensor of the
     * parameter's own name is taken as it is. */
    const char *operations;
    const struct graft_named_module *converter; /* whose class declares operations; NULL: none does */
    uint32_t converted_by;                      /* GRAFT_CONVERTED_BY_..., joined by | */
    int32_t computed; /* 1: a custom operation makes it, or some of it, when the model is loaded */
    const struct graft_planned_parameter *tied_to; /* GRAFT_PLANNED_TIED only */
    /* The parameter of the same name in a replacement, for one of what that calls: both are filled from the same
     * tensors. NULL for all others. */
    const struct graft_planned_parameter *shared_with;
    int64_t bytes;                        /* of the weight in memory; 0 where it is another's */
    int32_t copied;                       /* 1: copied when the model is loaded; 0: it stays in the mapped files */
    int32_t source_rank;                  /* dimensions of source_shape; 0: it is not known */
    int64_t source_shape[GRAFT_MAX_RANK]; /* [source_rank] what the checkpoint has, operations applied */
    const char *problem;                  /* NULL: none */
};

/* A module that a fusion family considered (graft/fusion.h). */
struct graft_considered_module {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;        /* "visual.patch_embed" */
    const char *class_name;  /* its class without the family */
    const char *fused_class; /* the class that the family gave it; NULL: it was not fused */
    const char *reason;      /* why, or why not; NULL: none is known */
};

/* A fusion family that was asked for. */
struct graft_planned_fusion {
    uint32_t struct_size;
    uint32_t reserved;
    const char *family;                                   /* its name: "patch_embeddings" */
    const char *plugin;                                   /* id; NULL: the family was added by a call */
    const struct graft_considered_module *const *modules; /* [n_modules] */
    size_t n_modules;
};

/* An adapter in effect (struct graft_adapter_options). */
struct graft_planned_adapter {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;      /* as it was given */
    const char *directory; /* likewise */
    double scale;          /* how strongly it takes effect; 1: as it was trained */
    size_t n_tensors;      /* in its file; all are in effect */
};

struct graft_plan_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *directory;    /* as it was opened */
    const char *model_type;   /* config.json's */
    const char *plugin;       /* id of the plugin that brings that model type; NULL: it is the host's own */
    const char *architecture; /* the class of the model itself: "LlamaForCausalLM" */
    /* Those of all modules, in their order. */
    const struct graft_planned_parameter *const *parameters; /* [n_parameters] */
    size_t n_parameters;
    const char *const *unexpected; /* [n_unexpected] tensors that no parameter uses */
    size_t n_unexpected;
    const struct graft_planned_fusion *const *fusions; /* [n_fusions] in the order of asking */
    size_t n_fusions;
    size_t n_tensors;             /* in the checkpoint */
    size_t n_files;               /* that they are in */
    int64_t mapped_bytes;         /* of weights that stay in the mapped files */
    int64_t copied_bytes;         /* of weights that are copied when the model is loaded */
    int64_t computed_bytes;       /* of the results of custom operations, and of weights that were recoded (model.h) */
    int64_t peak_anonymous_bytes; /* the most memory that loading takes besides the mapped files */
    double seconds;               /* opening took */
    int64_t state_bytes;          /* memory for modules' states per sequence while it runs (graft/state.h) */
    const struct graft_planned_adapter *const *adapters; /* [n_adapters] in the order given */
    size_t n_adapters;
    const char *const *elsewhere; /* [n_elsewhere] tensors that another process has (graft/parallel.h) */
    size_t n_elsewhere;
    int64_t elsewhere_bytes; /* of those that are here all the same, and of what others have of tensors in use */
};

/* [any] Never NULL. */
const struct graft_plan_info *graft_model_plan(const struct graft_model *model);

/* [any] Adds the plan to `json` (graft/host/tokenizer.h), which the caller frees with graft_text_free: the document of
 * `plan --json`, which docs/cli.md describes, with all that this header and modules.h tell, the library's plugins and
 * what is noted. On one line, or with `indent` > 0 spaces a level on many. */
int graft_model_plan_json(const struct graft_model *model, int32_t indent, struct graft_text *json,
                          struct graft_error *error);

/* [any] Adds the plan to `html` as a page, the one of `plan --html`: a whole HTML document that runs no script and
 * fetches nothing, with the document of graft_model_plan_json in it. */
int graft_model_plan_html(const struct graft_model *model, struct graft_text *html, struct graft_error *error);

/* [any] Checks that checkpoint and model fit exactly. It is an error (GRAFT_ERROR_MODEL) if anything is missing,
 * unexpected or mismatched, cannot be converted, or is tied but has two values (this reads the tensors), or if a field
 * of its JSON files is not used. */
int graft_model_check_strict(const struct graft_model *model, struct graft_error *error);

/* [any] Seconds that graft_model_load took; negative if the model was not loaded. */
double graft_model_load_seconds(const struct graft_model *model);

/* --- Fields --- */

/*
 * What became of each field of a model's JSON files, as the plan has it for tensors: config.json,
 * generation_config.json, tokenizer_config.json, of each adapter adapter_config.json and, where images are taken,
 * preprocessor_config.json and its siblings.
 *
 *     const struct graft_model_field *field;
 *     for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
 *         if (field->use == GRAFT_FIELD_NOT_USED) {
 *             printf("%s: %s is %s, and nothing is done about it\n", field->file, field->name, field->value);
 *         }
 *     }
 *
 * A field is a value of its own: a number, a string, an array of those. Those of objects have dotted names:
 * "rope_parameters.factor". But a member of tokenizer_config.json is one field, whatever is in it. Fields are known
 * once the model is open. What is returned belongs to the model, is const, and stays valid until graft_model_free;
 * structs may grow at their end, as in graft/host/modules.h.
 */

enum {
    GRAFT_FIELD_USED = 1,           /* somebody asked for it */
    GRAFT_FIELD_WITHOUT_EFFECT = 2, /* nothing depends on it, whatever its value: `by` says so */
    GRAFT_FIELD_NEUTRAL = 3,        /* it has a value that says nothing, such as null: `by` says so */
    GRAFT_FIELD_NOT_USED = 4,       /* none of these: results may not be what the file says */
    GRAFT_FIELD_IGNORED = 5         /* an option asked for that (`ignored_fields` of struct graft_model_options) */
};

struct graft_model_field {
    uint32_t struct_size;
    int32_t use;         /* GRAFT_FIELD_USED, ... */
    const char *file;    /* "config.json" */
    const char *adapter; /* whose adapter_config.json it is in; NULL: it is a file of the model */
    const char *name;    /* as the file spells it: "n_embd", "rope_parameters.factor" */
    const char *value;   /* JSON, but NaN, Infinity and -Infinity; cut behind 200 bytes, with "..." */
    const char *by;      /* "the host", "model type llama", "plugin gptq"; NULL: nobody needs to say so */
};

/* [any] Field number `i`, in the order of the files; NULL behind the last. */
const struct graft_model_field *graft_model_field_at(const struct graft_model *model, size_t i);

/* [any] Name number `i` of the fields of config.json that classes, and others behind the host itself, asked for while
 * the model was opened, in the order of asking, whether or not the file has them; NULL behind the last. */
const char *graft_model_asked_field(const struct graft_model *model, size_t i);

#ifdef __cplusplus
}
#endif

#endif
