/* SPDX-License-Identifier: Apache-2.0 */
/* The comment on a class that its source begins with. */
#include <string.h>

#include "cli/author/author.h"
#include "graft/host/modules.h"
#include "graft/host/plan.h"

/* A comment in the making. */
struct comment {
    struct graft_text *text;
    const char *start; /* start of each line */
};

/* Adds the lines of a text, each with the comment's start. */
static void add_lines(const struct comment *comment, const char *lines) {
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        graft_text_printf(comment->text, "%s%s%.*s\n", comment->start, length > 0 ? " " : "", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void add_argument(const struct comment *comment, const struct graft_arg *arg) {
    graft_text_printf(comment->text, "%s   argument   %s = ", comment->start, arg->name);
    switch (arg->kind) {
    case GRAFT_ARG_REAL:
        graft_text_printf(comment->text, "%g", arg->real);
        break;
    case GRAFT_ARG_STRING:
        graft_text_printf(comment->text, "\"%s\"", arg->string);
        break;
    case GRAFT_ARG_INTS:
        for (int32_t i = 0; i < arg->count; i++) {
            graft_text_printf(comment->text, "%s%lld", i > 0 ? ", " : "[", (long long)arg->integers[i]);
        }
        graft_text_add_string(comment->text, arg->count > 0 ? "]" : "[]");
        break;
    default:
        graft_text_printf(comment->text, "%lld", (long long)arg->integer);
        break;
    }
    graft_text_add_string(comment->text, "\n");
}

static void add_shape(struct graft_text *text, const int64_t *shape, int32_t rank) {
    for (int32_t i = 0; i < rank; i++) {
        graft_text_printf(text, "%s%lld", i > 0 ? ", " : " [", (long long)shape[i]);
    }
    graft_text_add_string(text, "]");
}

/* The module's parameters, or those of a child, under names as the module sees them. */
static void add_parameters(const struct comment *comment, const struct graft_named_module *module, const char *prefix) {
    static const char *const inits[] = {[GRAFT_INIT_ZEROS] = ", zeros where a checkpoint lacks it",
                                        [GRAFT_INIT_ONES] = ", ones where a checkpoint lacks it",
                                        [GRAFT_INIT_ABSENT] = ", may be absent"};
    for (size_t i = 0; i < module->n_parameters; i++) {
        const struct graft_planned_parameter *parameter = module->parameters[i];
        const int has_init = parameter->init > 0 && (size_t)parameter->init < sizeof inits / sizeof inits[0];
        graft_text_printf(comment->text, "%s   parameter  %s%s%s", comment->start, prefix, prefix[0] != '\0' ? "." : "",
                          parameter->own_name);
        add_shape(comment->text, parameter->shape, parameter->rank);
        graft_text_printf(comment->text, "%s\n", has_init ? inits[parameter->init] : "");
    }
}

static void add_module(const struct comment *comment, const struct graft_named_module *module) {
    for (int32_t i = 0; module->arguments != NULL && i < module->arguments->count; i++) {
        add_argument(comment, graft_args_at(module->arguments, i));
    }
    add_parameters(comment, module, "");
    for (size_t i = 0; i < module->n_states; i++) {
        const struct graft_module_state *state = module->states[i];
        graft_text_printf(comment->text, "%s   state      %s", comment->start, state->name);
        add_shape(comment->text, state->shape, state->rank);
        graft_text_add_string(comment->text, " for each sequence\n");
    }
    for (size_t i = 0; i < module->n_children; i++) {
        const struct graft_named_module *child = module->children[i];
        graft_text_printf(comment->text, "%s   child      %s: %s%s%s%s\n", comment->start, child->name,
                          child->class_name, child->interface_id != NULL ? " (" : "",
                          child->interface_id != NULL ? child->interface_id : "",
                          child->interface_id != NULL ? ")" : "");
        add_parameters(comment, child, child->name);
    }
}

void author_about(struct graft_text *text, const struct author_subject *subject, enum author_comment comment,
                  int structs) {
    const struct comment made = {text, comment == AUTHOR_COMMENT_C ? " *" : "//!"};
    const struct sdk_interface *interface = subject->interface;
    graft_text_add_string(text, comment == AUTHOR_COMMENT_C ? "/*\n" : "");
    graft_text_printf(text, "%s %s is called as %s says (%s): arrays, and the arguments of its parent.\n%s\n",
                      made.start, subject->cls->name, interface->id, interface->header, made.start);
    graft_text_printf(text, "%s %s:\n", made.start, subject->where);
    add_module(&made, subject->module);
    graft_text_add_string(text, comment == AUTHOR_COMMENT_C ? " */\n" : "");
    if (structs) {
        const struct comment quoted = {text, "//"};
        graft_text_printf(text, "\n// What %s declares:\n//\n", interface->header);
        add_lines(&quoted, interface->args);
        graft_text_add_string(text, "//\n");
        add_lines(&quoted, interface->vtable);
    }
}
