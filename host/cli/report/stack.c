/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/stack.h"

/* Adds " -> GptqLinear by gptq (plugins/gptq.so)". */
static void add_class(struct graft_text *text, const char *class_name, const char *plugin, const char *file,
                      int with_files) {
    graft_text_printf(text, " -> %s by %s", class_name, plugin);
    if (with_files) {
        graft_text_printf(text, " (%s)", file != NULL ? file : "-");
    }
}

/* Adds the innermost class first. Recursion is as deep as the stack, whose depth the host bounds. */
static void add_module(struct graft_text *text, const struct graft_named_module *module, int with_files) {
    if (module->super != NULL) {
        add_module(text, module->super, with_files);
    }
    if (module->kernel_on != NULL) {
        add_class(text, module->kernel_on, module->kernel_on_plugin, module->kernel_on_file, with_files);
    }
    if (module->original_class != NULL) {
        add_class(text, module->class_name, module->plugin, module->file, with_files);
    }
}

void graft_report_stack(struct graft_text *text, const struct graft_named_module *module, int with_files) {
    graft_text_add_string(text, module->original_class != NULL ? module->original_class : module->class_name);
    add_module(text, module, with_files);
}
