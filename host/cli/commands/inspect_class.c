/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `inspect` about a class and its modules. */
#include "cli/commands/inspect.h"

#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/text.h"
#include "cli/generic_name.h"
#include "graft/activation.h"
#include "graft/host/registry.h"
#include "graft/linear.h"

/* Slots that a vtable may leave out. */
static const struct slot {
    const char *interface_id;
    const char *name;
    size_t offset;
} optional_slots[] = {
    {GRAFT_INTERFACE_ACTIVATION, "as_kernel", offsetof(struct graft_activation, as_kernel)},
    {GRAFT_INTERFACE_LINEAR, "as_product", offsetof(struct graft_linear, as_product)},
};

/* Every vtable starts with its size, and its slots are pointers to functions. */
static int has_slot(const void *vtable, const struct slot *slot) {
    typedef void (*function)(void);
    uint32_t size;
    function pointer;
    memcpy(&size, vtable, sizeof size);
    if (size < slot->offset + sizeof pointer) {
        return 0;
    }
    memcpy(&pointer, (const char *)vtable + slot->offset, sizeof pointer);
    return pointer != NULL;
}

static graft_json *slots_json(struct graft_writer *writer, const struct graft_class *cls) {
    graft_json *array = graft_json_new_array();
    if (cls->forward == NULL) {
        return array;
    }
    graft_writer_append(writer, array, graft_json_new_string("forward"));
    for (size_t i = 0; i < sizeof optional_slots / sizeof optional_slots[0]; i++) {
        const struct slot *slot = &optional_slots[i];
        if (strcmp(slot->interface_id, cls->interface_id) == 0 && has_slot(cls->forward, slot)) {
            graft_writer_append(writer, array, graft_json_new_string(slot->name));
        }
    }
    return array;
}

static graft_json *operations_json(const struct graft_conversion *conversion) {
    size_t size = graft_conversion_operations(conversion, NULL, 0) + 1;
    char *text = graft_alloc(size, 1);
    if (text != NULL) {
        (void)graft_conversion_operations(conversion, text, size);
    }
    graft_json *string = graft_json_new_string(text);
    graft_free(text);
    return text != NULL ? string : NULL;
}

static graft_json *conversions_json(struct graft_writer *writer, const struct graft_class *cls) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < cls->n_conversions; i++) {
        const struct graft_conversion *conversion = graft_class_conversion(cls, i);
        graft_json *object = graft_json_new_object();
        graft_writer_set(writer, object, "sources",
                         graft_writer_strings(writer, conversion->sources, conversion->n_sources));
        graft_writer_set(writer, object, "targets",
                         graft_writer_strings(writer, conversion->targets, conversion->n_targets));
        graft_writer_set(writer, object, "operations", operations_json(conversion));
        graft_writer_append(writer, array, object);
    }
    return array;
}

void graft_inspect_class(struct graft_writer *writer, graft_json *object, const struct graft_class *cls) {
    graft_json *own = graft_json_new_array();
    const struct {
        const char *name;
        int brought;
    } parts[] = {{"describe", cls->describe != NULL},
                 {"create", cls->create != NULL},
                 {"destroy", cls->destroy != NULL},
                 {"forward", cls->forward != NULL}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].brought) {
            graft_writer_append(writer, own, graft_json_new_string(parts[i].name));
        }
    }
    graft_writer_set_string(writer, object, "class", cls->name);
    graft_writer_set_string(writer, object, "interface", cls->interface_id);
    if (cls->base != NULL) {
        graft_writer_set_string(writer, object, "base", cls->base);
    }
    graft_writer_set_bool(writer, object, "by_pattern", (cls->flags & GRAFT_CLASS_BASIC) == 0);
    graft_writer_set_bool(writer, object, "calls_super", (cls->flags & GRAFT_CLASS_CALLS_SUPER) != 0);
    if (graft_class_is_lossy(cls)) {
        graft_writer_set_bool(writer, object, "lossy", 1);
    }
    graft_writer_set(writer, object, "brings", own);
    graft_writer_set(writer, object, "slots", slots_json(writer, cls));
    graft_writer_set(writer, object, "conversions", conversions_json(writer, cls));
}

/* The tensors from which a parameter is made; names that differ only in indices appear once. */
static graft_json *sources_json(struct graft_writer *writer, const struct graft_planned_parameter *parameter) {
    graft_json *array = graft_json_new_array();
    struct graft_text seen = {0};
    for (size_t i = 0; i < parameter->n_sources; i++) {
        struct graft_text name = {0};
        graft_text_add_string(&name, "\n");
        graft_generic_name_add(&name, parameter->sources[i]);
        graft_text_add_string(&name, "\n");
        if (name.failed || (seen.bytes != NULL && strstr(seen.bytes, name.bytes) != NULL)) {
            writer->failed |= name.failed;
        } else {
            graft_text_add_string(&seen, name.bytes);
            graft_writer_append(writer, array, graft_json_new_string_n(name.bytes + 1, name.length - 2));
        }
        graft_text_free(&name);
    }
    writer->failed |= seen.failed;
    graft_text_free(&seen);
    return array;
}

static graft_json *parameters_json(struct graft_writer *writer, const struct graft_named_module *module) {
    static const char *const initial[] = {NULL, "zeros", "ones", "absent"};
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < module->n_parameters; i++) {
        const struct graft_planned_parameter *parameter = module->parameters[i];
        int has_dtype = parameter->dtype != GRAFT_DTYPE_NONE && parameter->status != GRAFT_PLANNED_TIED;
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", parameter->own_name);
        graft_writer_set(writer, object, "shape", graft_writer_ints(writer, parameter->shape, parameter->rank));
        graft_writer_set_string(writer, object, "dtype", has_dtype ? graft_dtype_name(parameter->dtype) : NULL);
        graft_writer_set_bool(writer, object, "contiguous", (parameter->flags & GRAFT_PARAMETER_CONTIGUOUS) != 0);
        graft_writer_set_string(writer, object, "initial", initial[parameter->init]);
        graft_writer_set(writer, object, "sources", sources_json(writer, parameter));
        graft_writer_set_string(writer, object, "operations", parameter->operations);
        graft_writer_set_bool(writer, object, "copied", parameter->copied);
        graft_writer_append(writer, array, object);
    }
    return array;
}

static graft_json *states_json(struct graft_writer *writer, const struct graft_named_module *module) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < module->n_states; i++) {
        const struct graft_module_state *state = module->states[i];
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", state->name);
        graft_writer_set(writer, object, "shape", graft_writer_ints(writer, state->shape, state->rank));
        graft_writer_set_string(writer, object, "dtype", graft_dtype_name(state->dtype));
        graft_writer_append(writer, array, object);
    }
    return array;
}

static graft_json *children_json(struct graft_writer *writer, const struct graft_named_module *module) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < module->n_children; i++) {
        const struct graft_named_module *child = module->children[i];
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", child->name);
        graft_writer_set_string(writer, object, "class", child->class_name);
        graft_writer_set_string(writer, object, "interface", child->interface_id);
        graft_writer_append(writer, array, object);
    }
    return array;
}

static void set_argument(struct graft_writer *writer, graft_json *arguments, const struct graft_arg *arg) {
    switch (arg->kind) {
    case GRAFT_ARG_REAL:
        graft_writer_set(writer, arguments, arg->name, graft_json_new_real(arg->real));
        break;
    case GRAFT_ARG_STRING:
        graft_writer_set_string(writer, arguments, arg->name, arg->string);
        break;
    case GRAFT_ARG_INTS:
        graft_writer_set(writer, arguments, arg->name, graft_writer_ints(writer, arg->integers, arg->count));
        break;
    default:
        graft_writer_set_int(writer, arguments, arg->name, arg->integer);
        break;
    }
}

void graft_inspect_module(struct graft_writer *writer, graft_json *object, const struct graft_named_module *module) {
    graft_json *arguments = graft_json_new_object();
    graft_json *attributes = graft_json_new_object();
    for (int32_t i = 0; module->arguments != NULL && i < module->arguments->count; i++) {
        set_argument(writer, arguments, graft_args_at(module->arguments, i));
    }
    for (size_t i = 0; i < module->n_attributes; i++) {
        const struct graft_module_attribute *attribute = module->attributes[i];
        graft_writer_set(writer, attributes, attribute->name,
                         graft_writer_ints(writer, attribute->values, attribute->count));
    }
    graft_writer_set_string(writer, object, "path", module->path);
    graft_writer_set(writer, object, "arguments", arguments);
    graft_writer_set(writer, object, "attributes", attributes);
    graft_writer_set(writer, object, "parameters", parameters_json(writer, module));
    graft_writer_set(writer, object, "states", states_json(writer, module));
    graft_writer_set(writer, object, "children", children_json(writer, module));
}

struct graft_inspected graft_inspect_find(const struct graft_model *model, const char *class_name,
                                          const struct graft_class *replacement) {
    struct graft_inspected found = {0};
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        const char *name = replacement == NULL ? module->class_name : module->original_class;
        if (name != NULL && strcmp(name, class_name) == 0 &&
            (replacement == NULL ? module->flags == 0 : replacement == module->cls)) {
            found.first = found.modules == 0 ? module : found.first;
            found.modules++;
        }
    }
    return found;
}
