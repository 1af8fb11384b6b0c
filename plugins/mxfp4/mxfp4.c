/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experts of checkpoints in MXFP4 (quant_method "mxfp4"; Rouhani et al. 2023), read where they lie in the file. Blocks
 * and scales have a row for each output, of gate and up by turns: it is the architecture's own parameter, [experts, in,
 * out], that is turned.
 */
#include "graft/describe.h"
#include "graft/field_rule.h"
#include "graft/option.h"
#include "graft/packed_experts.h"
#include "graft/parts.h"
#include "graft/plugin.h"

enum {
    BLOCK = 32, /* inputs that share a scale */
    BYTES = 16  /* of a block's codes */
};

static int32_t input_bits;

struct experts {
    struct graft_instance base;
    struct graft_packed_experts packed;
};

static int read_sizes(const struct graft_args *args, const char *path, struct graft_expert_sizes *sizes,
                      struct graft_error *error) {
    int status = graft_args_expert_sizes(args, path, sizes, error);
    if (status == GRAFT_OK && (sizes->hidden_size % BLOCK != 0 || sizes->intermediate_size % BLOCK != 0)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                 "hidden_size is %lld and intermediate_size %lld, expected multiples of %d: so many "
                                 "inputs are a block of MXFP4",
                                 (long long)sizes->hidden_size, (long long)sizes->intermediate_size, BLOCK);
    }
    return status;
}

/* NAME_blocks, NAME_scales and NAME_bias of `rows` outputs and `columns` inputs. */
static int describe_stack(const struct graft_sink *sink, const char *name, int64_t experts, int64_t rows,
                          int64_t columns, struct graft_error *error) {
    const int64_t shape[] = {experts, rows, columns / BLOCK, BYTES};
    char parameter[GRAFT_PACKED_STACK_NAME];
    (void)snprintf(parameter, sizeof parameter, "%s_blocks", name);
    int status = graft_describe_typed(sink, parameter, 4, shape, GRAFT_DTYPE_U8, error);
    if (status == GRAFT_OK) {
        (void)snprintf(parameter, sizeof parameter, "%s_scales", name);
        status = graft_describe_typed(sink, parameter, 3, shape, GRAFT_DTYPE_U8, error);
    }
    if (status == GRAFT_OK) {
        (void)snprintf(parameter, sizeof parameter, "%s_bias", name);
        status = graft_describe_parameter(sink, parameter, 2, shape, 0, GRAFT_INIT_NONE, error);
    }
    return status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_expert_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)cls;
    (void)config;
    int status = sizes != NULL ? read_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_swiglu_check(args, sink->path, error);
    }
    if (status == GRAFT_OK) {
        status = describe_stack(sink, "gate_up_proj", sizes->num_experts, 2 * sizes->intermediate_size,
                                sizes->hidden_size, error);
    }
    return status == GRAFT_OK ? describe_stack(sink, "down_proj", sizes->num_experts, sizes->hidden_size,
                                               sizes->intermediate_size, error)
                              : status;
}

/* Points to what describe_stack described. */
static int bind_stack(const struct graft_build *build, const char *name, struct graft_packed_stack *stack,
                      struct graft_error *error) {
    struct graft_packed_rows *rows = &stack->rows;
    int status = graft_packed_stack_bind(build, name, "blocks", stack, error);
    if (status == GRAFT_OK) {
        rows->loops = graft_packed_rows_choose(graft_packed_rows_float4);
        rows->out_features = rows->codes->shape[1];
        rows->groups = rows->codes->shape[2];
        rows->in_features = rows->groups * BLOCK;
        rows->row_bytes = rows->groups * BYTES;
        rows->block_rows = 1;
        rows->group_size = BLOCK;
        rows->bits = 4;
        rows->input_bits = input_bits;
    }
    return status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct graft_expert_sizes *sizes = build->kept;
    struct experts *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->packed.num_experts = sizes->num_experts;
    self->packed.by_turns = 1;
    self->packed.swiglu = graft_swiglu_of(build->args);
    int status = bind_stack(build, "gate_up_proj", &self->packed.gate_up, error);
    if (status == GRAFT_OK) {
        status = bind_stack(build, "down_proj", &self->packed.down, error);
    }
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    const struct experts *self = instance;
    return graft_packed_experts_forward(&self->packed, call, args, error);
}

static const struct graft_experts vtable = {
    .struct_size = sizeof vtable, .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING, .forward = forward};

static const struct graft_class experts_class = {
    .struct_size = sizeof experts_class,
    .flags = GRAFT_CLASS_TAKES_ADDITIONS,
    .name = "Mxfp4GptOssExperts",
    .interface_id = GRAFT_INTERFACE_EXPERTS,
    .describe = describe,
    .create = create,
    .destroy = graft_instance_destroy,
    .forward = &vtable,
};

static const char *const methods[] = {"mxfp4", NULL};
static const char *const packed_tensors[] = {"gate_up_proj_blocks", NULL};

static const struct graft_condition conditions[] = {
    {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", methods},
    {sizeof conditions[0], GRAFT_CONDITION_TENSOR, NULL, packed_tensors},
};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "GptOssExperts",
    .replacement = &experts_class,
    .conditions = conditions,
    .n_conditions = sizeof conditions / sizeof conditions[0],
    .condition_stride = sizeof conditions[0],
};

static const struct graft_option options[] = {{GRAFT_PACKED_ACTIVATION_BITS("16")}};

static const struct graft_host *host;
static const struct graft_plugin plugin;

static int init(struct graft_error *error) {
    (void)error;
    input_bits = graft_packed_input_bits(host->options(&plugin));
    return GRAFT_OK;
}

static const struct graft_field_rule field_rules[] = {
    /* What the tensors say, and how the reference computes. */
    {.name = "quantization_config.dequantize"},
    {.name = "quantization_config.modules_to_not_convert"},
    {.name = "quantization_config.use_experts_hub_kernels"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "mxfp4",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Experts of checkpoints in MXFP4, multiplied from their packed form",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .init = init,
    .options = options,
    .n_options = 1,
    .option_stride = sizeof options[0],
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
