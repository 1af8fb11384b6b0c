/* SPDX-License-Identifier: Apache-2.0 */
/* The sink of descriptions. Everything that a class declares is checked here, since classes come from plugins. */
#include "model/describe.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/args.h"
#include "base/crash_context.h"
#include "base/dtype.h"
#include "base/lend.h"
#include "graft/state.h"
#include "interface/interface.h"
#include "model/coded.h"
#include "model/join.h"
#include "model/node.h"
#include "plugin/host_services.h"

/* Limits on what a config can make a class describe. */
enum { MAX_SOURCES = 64, MAX_STATES = 1 << 20, MAX_NAME = 256 };
static const int64_t MAX_STATE_BYTES = INT64_C(1) << 40; /* of one state, so that the sum of all fits */

static int refuse(const struct builder *builder, struct graft_error *error, const char *what, const char *name) {
    const struct graft_known_class *known = builder->describing_class;
    return graft_error_set(error, known->origin.plugin != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_ERROR_MODEL,
                           builder->describing->path, "%s describes %s \"%s\"", known->cls->name, what,
                           name != NULL ? name : "(null)");
}

static int out_of_memory(const struct builder *builder, struct graft_error *error) {
    return graft_fail_memory(error, builder->describing->path);
}

/* Whether a name consists of letters, digits, '_' and '-', in components separated by single dots. */
static int is_name(const char *name, int dots_allowed) {
    size_t length = name != NULL ? strlen(name) : 0;
    if (length == 0 || length > MAX_NAME) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        int dot = name[i] == '.';
        int letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z');
        int other = (name[i] >= '0' && name[i] <= '9') || name[i] == '_' || name[i] == '-';
        int dot_allowed = dots_allowed && i > 0 && i + 1 < length && name[i - 1] != '.';
        if (!letter && !other && !(dot && dot_allowed)) {
            return 0;
        }
    }
    return 1;
}

/* Whether every dimension is positive and the size with 8-byte elements fits. */
static int is_shape(const int64_t *shape, int32_t rank) {
    int64_t elements = 1;
    if (rank < 1 || rank > GRAFT_MAX_RANK) {
        return 0;
    }
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] < 1 || shape[i] > INT64_MAX / 8 / elements) {
            return 0;
        }
        elements *= shape[i];
    }
    return 1;
}

/* Makes a parameter, or a source of parameters; NULL if memory ran out. */
static struct graft_parameter *make_parameter(struct graft_tree *tree, struct graft_node *node,
                                              const struct graft_parameter_info *info) {
    const size_t prefix = node->path[0] != '\0' ? strlen(node->path) + 1 : 0, length = strlen(info->name);
    struct graft_parameter *parameter = graft_arena_alloc(&tree->arena, 1, sizeof *parameter + prefix + length + 1);
    if (parameter == NULL) {
        return NULL;
    }
    char *name = (char *)(parameter + 1);
    if (prefix > 0) {
        memcpy(name, node->path, prefix - 1);
        name[prefix - 1] = '.';
    }
    memcpy(name + prefix, info->name, length + 1);
    parameter->name = name;
    parameter->own_name = name + prefix;
    parameter->node = node;
    parameter->rank = info->rank;
    parameter->init = info->init;
    parameter->flags = info->flags;
    parameter->dtype = info->dtype;
    parameter->join = info->join;
    if (GRAFT_HAS(info, struct graft_parameter_info, inputs)) {
        parameter->inputs = info->inputs;
    }
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        parameter->shape[i] = i < info->rank ? info->shape[i] : 1;
    }
    if (info->join.kind == GRAFT_JOIN_EACH || info->join.kind == GRAFT_JOIN_EQUAL) {
        parameter->shape[0] *= graft_join_count(node);
    }
    return parameter;
}

static int add_parameter(struct graft_tree *tree, struct graft_node *node, const struct graft_parameter_info *info) {
    const int is_source = (info->flags & GRAFT_PARAMETER_SOURCE) != 0;
    struct graft_parameter ***list = is_source ? &node->sources : &node->parameters;
    size_t *n = is_source ? &node->n_sources : &node->n_parameters;
    size_t *capacity = is_source ? &node->sources_capacity : &node->parameters_capacity;
    struct graft_parameter *parameter = NULL;
    if (graft_grow(list, capacity, *n, sizeof **list) != 0 || (parameter = make_parameter(tree, node, info)) == NULL) {
        return -1;
    }
    (*list)[(*n)++] = parameter;
    return 0;
}

/* Whether two names have the same first component. */
static int same_start(const char *a, const char *b) {
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && memcmp(a, b, length) == 0;
}

/* Whether a dotted parameter name begins with the name of a child that has a class, so that it could be the child's
 * parameter. Lists have no parameters. */
static int is_below_child(const struct graft_node *node, const char *name) {
    for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(name, '.')) {
        node = graft_node_child(node, name, (size_t)(dot - name));
        if (node == NULL || node->known != NULL) {
            return node != NULL;
        }
        name = dot + 1;
    }
    return 0;
}

static int is_above_parameter(const struct graft_node *node, const char *name) {
    for (size_t i = 0; i < node->n_parameters; i++) {
        const char *own_name = node->parameters[i]->own_name;
        if (strchr(own_name, '.') != NULL && same_start(own_name, name)) {
            return 1;
        }
    }
    return 0;
}

static int is_join(const struct graft_parameter_info *info, const struct graft_join *join) {
    int by_rows = join->kind == GRAFT_JOIN_ROWS;
    return join->kind >= GRAFT_JOIN_NONE && join->kind <= GRAFT_JOIN_EQUAL && join->reserved == 0 &&
           (by_rows ? join->dim >= 0 && join->dim < info->rank && join->rows > 0 : join->dim == 0 && join->rows == 0);
}

/* Whether the parameter's descriptions of how outputs and inputs lie in it are valid. */
static int are_joins(const struct graft_parameter_info *info) {
    const int32_t kind = info->join.kind;
    const int has_any_length = (info->flags & GRAFT_PARAMETER_ANY_LENGTH) != 0;
    return (!has_any_length || kind == GRAFT_JOIN_NONE || kind == GRAFT_JOIN_EACH) && is_join(info, &info->join) &&
           (!GRAFT_HAS(info, struct graft_parameter_info, inputs) || is_join(info, &info->inputs));
}

static int on_source(struct builder *builder, const struct graft_parameter_info *info, struct graft_error *error) {
    struct graft_node *node = builder->describing;
    if (info->init != GRAFT_INIT_NONE) {
        return refuse(builder, error, "an initial value for source", info->name);
    }
    builder->n_by_place++; /* joins look for its tensor */
    if (node->n_sources == MAX_SOURCES) {
        return refuse(builder, error, "too many sources, from", info->name);
    }
    return add_parameter(builder->tree, node, info) == 0 ? GRAFT_OK : out_of_memory(builder, error);
}

static int on_parameter(void *data, const struct graft_parameter_info *info, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    if (info->struct_size < GRAFT_PARAMETER_INFO_SIZE_1_0 || info->reserved != 0) {
        return refuse(builder, error, "a parameter whose struct is too short or not zeroed:", info->name);
    }
    if (!is_name(info->name, 1)) {
        return refuse(builder, error, "a parameter with the invalid name", info->name);
    }
    if (graft_flags_unknown(info->flags, GRAFT_PARAMETER_CONTIGUOUS | GRAFT_PARAMETER_SCALAR | GRAFT_PARAMETER_SOURCE |
                                             GRAFT_PARAMETER_ANY_LENGTH) != 0) {
        return refuse(builder, error, "unknown requirements for parameter", info->name);
    }
    if (!is_shape(info->shape, info->rank)) {
        return refuse(builder, error, "a shape that is empty or too large for parameter", info->name);
    }
    if (info->init < GRAFT_INIT_NONE || info->init > GRAFT_INIT_ABSENT) {
        return refuse(builder, error, "an unknown initial value for parameter", info->name);
    }
    if (!are_joins(info)) {
        return refuse(builder, error, "an unknown way to join or divide parameter", info->name);
    }
    graft_dtype dtype = info->dtype;
    int has_value = info->init == GRAFT_INIT_ZEROS || info->init == GRAFT_INIT_ONES;
    if (dtype != GRAFT_DTYPE_NONE && (graft_dtype_size(dtype) == 0 || (has_value && dtype != GRAFT_DTYPE_F32))) {
        return refuse(builder, error, "an invalid type for parameter", info->name);
    }
    if ((info->flags & GRAFT_PARAMETER_SOURCE) != 0) {
        return on_source(builder, info, error);
    }
    if (graft_node_parameter(node, info->name) != NULL) {
        return refuse(builder, error, "two parameters with the name", info->name);
    }
    if (is_below_child(node, info->name)) {
        return refuse(builder, error, "a child, and a parameter below its name:", info->name);
    }
    if (++builder->tree->n_parameters > GRAFT_MAX_PARAMETERS) {
        return refuse(builder, error, "too many parameters, from", info->name);
    }
    return add_parameter(builder->tree, node, info) == 0 ? GRAFT_OK : out_of_memory(builder, error);
}

/* The list called `name` below `node`, which is made if it does not exist; NULL if memory ran out. */
static struct graft_node *module_list(struct builder *builder, struct graft_node *node, const char *name,
                                      const char *class_name) {
    struct graft_node *list = graft_node_child(node, name, strlen(name));
    if (list != NULL) {
        return list;
    }
    list = graft_node_create(builder->tree, node, name);
    if (list == NULL || graft_node_adopt(node, list) != 0) {
        return NULL;
    }
    list->class_name = class_name;
    builder->tree->n_nodes++;
    return list;
}

/* Adds the child called `name` below `parent`, with a list for each component of the name but the last. */
static int add_child(struct builder *builder, const struct graft_child_info *info, struct graft_error *error) {
    const char *list = (info->flags & GRAFT_CHILD_SEQUENTIAL) != 0 ? "Sequential" : "ModuleList";
    struct graft_node *parent = builder->describing;
    const char *name = info->name;
    for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(name, '.')) {
        char part[MAX_NAME + 1];
        memcpy(part, name, (size_t)(dot - name));
        part[dot - name] = '\0';
        parent = module_list(builder, parent, part, list);
        if (parent == NULL) {
            return out_of_memory(builder, error);
        }
        if (parent->known != NULL) {
            return refuse(builder, error, "a child below another one:", info->name);
        }
        name = dot + 1;
    }
    if (graft_node_child(parent, name, strlen(name)) != NULL) {
        return refuse(builder, error, "two children with the name", info->name);
    }
    return graft_builder_add_child(builder, parent, name, info, error);
}

int graft_builder_check_arguments(const struct builder *builder, const char *what, const char *name,
                                  const char *interface_id, const struct graft_args *args, struct graft_error *error) {
    static const char *const kinds[] = {"an integer", "a real number", "a string", "a list of integers"};
    const struct graft_interface *interface = graft_interface_find(interface_id);
    const struct graft_arg *given = NULL;
    const struct graft_interface_argument *fault =
        interface != NULL ? graft_interface_find_fault(interface, args, &given) : NULL;
    if (fault == NULL) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, builder->describing->path,
                           "%s describes %s%s: argument %s: expected %s, as %s asks for, got %s",
                           builder->describing_class->cls->name, what, name, fault->name, kinds[fault->kind],
                           interface_id, given != NULL ? kinds[given->kind] : "none");
}

static int on_child(void *data, const struct graft_child_info *info, struct graft_error *error) {
    struct builder *builder = data;
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    if (info->struct_size < GRAFT_CHILD_INFO_SIZE_1_0) {
        return refuse(builder, error, "a child whose struct is too short:", info->name);
    }
    if (!is_name(info->name, 1)) {
        return refuse(builder, error, "a child with the invalid name", info->name);
    }
    if (info->class_name == NULL || info->interface_id == NULL) {
        return refuse(builder, error, "a child without class or interface:", info->name);
    }
    if (graft_flags_unknown(info->flags, GRAFT_CHILD_SEQUENTIAL) != 0) {
        return refuse(builder, error, "unknown requirements for child", info->name);
    }
    if (!graft_args_valid(info->args)) {
        return refuse(builder, error, "invalid arguments for child", info->name);
    }
    if (is_above_parameter(builder->describing, info->name)) {
        return refuse(builder, error, "a parameter below the name of child", info->name);
    }
    int status = graft_builder_check_arguments(builder, "child ", info->name, info->interface_id, info->args, error);
    return status == GRAFT_OK ? add_child(builder, info, error) : status;
}

static int on_attribute(void *data, const char *name, const int64_t *values, int32_t count, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    if (!is_name(name, 0) || count < 1 || count > GRAFT_MAX_RANK || values == NULL) {
        return refuse(builder, error, "the invalid attribute", name);
    }
    if (graft_grow(&node->attributes, &node->attributes_capacity, node->n_attributes, sizeof *node->attributes) != 0) {
        return out_of_memory(builder, error);
    }
    struct graft_attribute *attribute = &node->attributes[node->n_attributes];
    *attribute = (struct graft_attribute){.name = graft_arena_strdup(&builder->tree->arena, name), .count = count};
    if (attribute->name == NULL) {
        return out_of_memory(builder, error);
    }
    memcpy(attribute->values, values, (size_t)count * sizeof *values);
    node->n_attributes++;
    return GRAFT_OK;
}

static int on_tie(void *data, const char *name, const char *source, struct graft_error *error) {
    struct builder *builder = data;
    builder->n_by_place++;
    if (!is_name(name, 1) || !is_name(source, 1)) {
        return refuse(builder, error, "an invalid tie of", name);
    }
    if (graft_grow(&builder->ties, &builder->ties_capacity, builder->n_ties, sizeof *builder->ties) != 0) {
        return out_of_memory(builder, error);
    }
    struct tie *tie = &builder->ties[builder->n_ties];
    *tie = (struct tie){builder->describing, graft_strdup(name), graft_strdup(source)};
    builder->n_ties++;
    return tie->name != NULL && tie->source != NULL ? GRAFT_OK : out_of_memory(builder, error);
}

/* The bytes of a state; 0 if it cannot have this type and shape. */
static int64_t state_bytes(const struct graft_state_info *info) {
    int64_t bytes = is_shape(info->shape, info->rank) ? graft_dtype_size(info->dtype) : 0;
    for (int32_t i = 0; bytes > 0 && i < info->rank; i++) {
        bytes *= info->shape[i];
    }
    return bytes <= MAX_STATE_BYTES ? bytes : 0;
}

static int on_state(void *data, const struct graft_state_info *info, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    builder->n_by_place++; /* a state has a number of its own */
    if (info->struct_size < GRAFT_STATE_INFO_SIZE_1_0) {
        return refuse(builder, error, "a state whose struct is too short:", info->name);
    }
    if (!is_name(info->name, 0)) {
        return refuse(builder, error, "a state with the invalid name", info->name);
    }
    if (graft_flags_unknown(info->flags, 0) != 0) {
        return refuse(builder, error, "unknown requirements for state", info->name);
    }
    if (graft_node_state(node, info->name) != NULL) {
        return refuse(builder, error, "two states with the name", info->name);
    }
    if (state_bytes(info) == 0) {
        return refuse(builder, error, "an invalid type or shape for state", info->name);
    }
    if (builder->tree->n_states == MAX_STATES) {
        return refuse(builder, error, "too many states, from", info->name);
    }
    if (graft_grow(&node->states, &node->states_capacity, node->n_states, sizeof *node->states) != 0) {
        return out_of_memory(builder, error);
    }
    struct graft_node_state *state = &node->states[node->n_states];
    *state = (struct graft_node_state){
        graft_strdup(info->name), info->dtype, info->rank, {0}, {builder->tree->n_states, state_bytes(info)}};
    if (state->name == NULL) {
        return out_of_memory(builder, error);
    }
    memcpy(state->shape, info->shape, (size_t)info->rank * sizeof *info->shape);
    node->n_states++;
    builder->tree->n_states++;
    return GRAFT_OK;
}

static int on_elsewhere(void *data, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    builder->n_by_place++;
    if ((builder->describing_class->cls->flags & GRAFT_CLASS_CALLS_SUPER) == 0 ||
        node->described_by != builder->describing_class) {
        return refuse(builder, error, "as elsewhere what only a class that calls super may:", node->name);
    }
    if (node->n_children > 0 || node->n_parameters > 0 || node->n_states > 0) {
        return refuse(builder, error, "as elsewhere a module that it has declared something of:", node->name);
    }
    if (builder->tree->wants_sizes && builder->options->sized == NULL) {
        return GRAFT_OK; /* this tree only measures the sizes of modules */
    }
    node->is_elsewhere = 1;
    builder->tree->n_elsewhere++;
    return GRAFT_OK;
}

static int64_t on_bytes_before(void *data, const char *path) {
    struct builder *builder = data;
    const struct graft_tree *sized = builder->options->sized;
    builder->n_by_place++;
    builder->tree->wants_sizes = 1;
    return sized != NULL ? graft_tree_bytes_before(sized, path) : 0;
}

static int32_t on_comes_before(void *data, const char *interface_id) {
    struct builder *builder = data;
    const struct graft_tree *sized = builder->options->sized;
    builder->n_by_place++;
    builder->tree->wants_sizes = 1;
    return sized != NULL && interface_id != NULL &&
           graft_tree_comes_before(sized, builder->describing->path, interface_id);
}

static const char *on_activation_class(void *data, const char *name) {
    (void)data;
    return name != NULL ? graft_activation_class(name) : NULL;
}

/* Blames the innermost description that failed. */
static int failed(struct builder *builder, const struct graft_node *node, int status, struct graft_error *error) {
    const struct graft_known_class *known = builder->describing_class;
    const char *plugin = known->origin.plugin;
    int code = graft_error_complete(error, status, node->path,
                                    "describe of %s%s%s failed with status %d and recorded no error", known->cls->name,
                                    plugin != NULL ? " of plugin " : "", plugin != NULL ? plugin : "", status);
    if (!builder->blamed) {
        graft_node_blame(node, known, builder->options->config, error);
        graft_join_explain(node, error);
    }
    builder->blamed = 1;
    return code;
}

int graft_builder_run_describe(struct builder *builder, struct graft_node *node, const struct graft_sink *sink,
                               struct graft_error *error) {
    const struct graft_class *cls = builder->describing_class->cls;
    builder->sink = sink;
    builder->n_by_place += (cls->flags & GRAFT_CLASS_SAME_ANYWHERE) == 0;
    const struct graft_plugin_call task = {"describe", node->path, cls->name, builder->describing_class->origin.plugin,
                                           NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    const struct graft_args *lent_args = graft_lend_args(&node->args);
    const struct graft_sink *lent_sink = graft_lend_sink(sink);
    int status = cls->describe(cls, &builder->options->config->view, lent_args, lent_sink, error);
    graft_take_back(lent_sink);
    graft_take_back(lent_args);
    graft_crash_context_end(before);
    status = status == GRAFT_OK ? error->code : status;
    return status == GRAFT_OK ? GRAFT_OK : failed(builder, node, status, error);
}

static const struct graft_tensor_view *find_named(const struct builder *builder, const char *full) {
    const struct graft_adapters *adapters = builder->options->adapters;
    const struct graft_model_facts *facts = builder->options->facts;
    char spelled[GRAFT_ADAPTER_TENSOR_NAME];
    if (adapters == NULL || !graft_adapters_spell(adapters, full, spelled)) {
        return NULL;
    }
    return facts != NULL && facts->tensor != NULL ? facts->tensor(facts->data, "", full)
                                                  : graft_adapters_find(adapters, spelled, NULL);
}

/* Looks up an adapter's tensor by each name of the module. */
static const struct graft_tensor_view *find_adapter_tensor(struct builder *builder, const char *name) {
    char full[GRAFT_NAME_BYTES], alias[GRAFT_NAME_BYTES];
    builder->n_by_place++;
    const struct graft_tensor_view *found =
        graft_join_name(builder->describing, name, full) ? find_named(builder, full) : NULL;
    if (found != NULL || !graft_node_alias(builder->describing, alias)) {
        return found;
    }
    const int length = snprintf(full, sizeof full, "%s.%s", alias, name);
    return length > 0 && length < GRAFT_NAME_BYTES ? find_named(builder, full) : NULL;
}

static int32_t on_adapter_tensor(void *data, const char *name, struct graft_value_info *info) {
    const struct graft_tensor_view *tensor = find_adapter_tensor(data, name);
    if (tensor == NULL) {
        return 0;
    }
    struct graft_value_info found = {.struct_size = sizeof found, .dtype = tensor->dtype, .rank = tensor->rank};
    memcpy(found.shape, tensor->shape, sizeof found.shape);
    graft_struct_copy(info, info->struct_size, &found);
    return 1;
}

/* Implements `adapter_tensor_name`: the name without "adapter.NAME.". */
static const char *on_adapter_tensor_name(void *data, const char *name) {
    const struct graft_tensor_view *tensor = find_adapter_tensor(data, name);
    const char *own = tensor != NULL ? strchr(tensor->name, '.') : NULL;
    own = own != NULL ? strchr(own + 1, '.') : NULL;
    return own != NULL ? own + 1 : NULL;
}

struct graft_sink graft_builder_sink(struct builder *builder, const struct graft_node *node, const char *config_path) {
    return (struct graft_sink){
        .struct_size = sizeof(struct graft_sink),
        .super_flags = node->super != NULL ? node->super->made_by->cls->flags : 0,
        .path = node->path,
        .data = builder,
        .parameter = on_parameter,
        .child = on_child,
        .attribute = on_attribute,
        .tie = on_tie,
        .state = on_state,
        .keep = graft_builder_keep,
        .activation_class = on_activation_class,
        .host = graft_host_get(),
        .base = graft_builder_base,
        .adapter_tensor = on_adapter_tensor,
        .elsewhere = on_elsewhere,
        .conversion = graft_builder_conversion,
        .super = graft_builder_super,
        .config_path = config_path,
        .bytes_before = on_bytes_before,
        .part = graft_join_part,
        .comes_before = on_comes_before,
        .adapter_tensor_name = on_adapter_tensor_name,
        .coded = graft_builder_coded,
        .share = graft_builder_share,
    };
}

size_t graft_builder_max_nodes(const struct builder *builder) {
    const size_t own = builder->options->max_nodes;
    return own > 0 && own < GRAFT_MAX_NODES ? own : GRAFT_MAX_NODES;
}

int graft_builder_describe(struct builder *builder, struct graft_node *node, struct graft_error *error) {
    struct graft_node *outer = builder->describing;
    const struct graft_known_class *outer_class = builder->describing_class;
    const struct graft_sink *outer_sink = builder->sink;
    char config_path[GRAFT_NAME_BYTES];
    graft_join_config_path(node, 0, config_path);
    const struct graft_sink sink = graft_builder_sink(builder, node, config_path);
    if (node->described_by->cls->describe == NULL) {
        return GRAFT_OK;
    }
    builder->describing = node;
    builder->describing_class = node->described_by;
    builder->depth++;
    builder->tree->n_nodes++;
    int status = GRAFT_OK;
    if (builder->depth > GRAFT_MAX_DEPTH) {
        status = refuse(builder, error, "modules nested too deeply, at", node->name);
    } else if (builder->tree->n_nodes > GRAFT_MAX_NODES) {
        status = refuse(builder, error, "too many modules, at", node->name);
    } else if (builder->options->max_nodes > 0 && builder->tree->n_nodes > builder->options->max_nodes) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, builder->options->config->file,
                                 "describes more than %zu modules, for which the checkpoint is too small (at %s)",
                                 builder->options->max_nodes, node->path);
    } else {
        status = graft_builder_run_describe(builder, node, &sink, error);
        if (status == GRAFT_OK && node->made_by != node->described_by) {
            status = graft_builder_keep_for_create(builder, node, &sink, error);
        }
    }
    builder->depth--;
    builder->describing = outer;
    builder->describing_class = outer_class;
    builder->sink = outer_sink;
    return status;
}
