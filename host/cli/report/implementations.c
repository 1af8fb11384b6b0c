/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/implementations.h"

#include "graft/attention_implementation.h"
#include "graft/experts_implementation.h"
#include "graft/kernel_override.h"
#include "graft/logits_processor.h"

static void print_chosen(FILE *out, int *printed, const char *what, const struct graft_implementation_info *chosen) {
    if (chosen->is_default) {
        return;
    }
    (void)fprintf(out, "%s%s %s", *printed ? ", " : "  chosen     ", what, chosen->name);
    if (chosen->plugin != NULL) {
        (void)fprintf(out, " by %s", chosen->plugin);
    }
    *printed = 1;
}

void graft_report_implementations_text(const struct graft_model *model, FILE *out) {
    int printed = 0;
    print_chosen(out, &printed, "attention", graft_model_implementation(model, GRAFT_IMPLEMENTATION_ATTENTION));
    print_chosen(out, &printed, "experts", graft_model_implementation(model, GRAFT_IMPLEMENTATION_EXPERTS));
    if (printed) {
        (void)fputc('\n', out);
    }
}

void graft_list_implementations(const struct graft_plugin *plugin, FILE *out) {
    const char *separator = "; provides ";
    for (int32_t i = 0; i < plugin->n_attention_implementations; i++, separator = ", ") {
        (void)fprintf(out, "%sattention %s", separator, graft_plugin_attention(plugin, i)->name);
    }
    for (int32_t i = 0; i < plugin->n_experts_implementations; i++, separator = ", ") {
        (void)fprintf(out, "%sexperts %s", separator, graft_plugin_experts(plugin, i)->name);
    }
    for (int32_t i = 0; i < plugin->n_kernels; i++, separator = ", ") {
        const struct graft_kernel_override *kernel = graft_plugin_kernel(plugin, i);
        (void)fprintf(out, "%skernel %s (%s)", separator, kernel->name, kernel->replacement->target);
    }
    for (int32_t i = 0; i < graft_plugin_n_logits_processors(plugin); i++, separator = ", ") {
        (void)fprintf(out, "%slogits processor %s", separator, graft_plugin_logits_processor(plugin, i)->name);
    }
}

void graft_list_implementations_json(struct graft_writer *writer, graft_json *object,
                                     const struct graft_plugin *plugin) {
    graft_json *attention = graft_json_new_array();
    graft_json *experts = graft_json_new_array();
    graft_json *kernels = graft_json_new_array();
    graft_json *processors = graft_json_new_array();
    for (int32_t i = 0; i < plugin->n_attention_implementations; i++) {
        graft_writer_append(writer, attention, graft_json_new_string(graft_plugin_attention(plugin, i)->name));
    }
    for (int32_t i = 0; i < plugin->n_experts_implementations; i++) {
        graft_writer_append(writer, experts, graft_json_new_string(graft_plugin_experts(plugin, i)->name));
    }
    for (int32_t i = 0; i < plugin->n_kernels; i++) {
        graft_writer_append(writer, kernels, graft_json_new_string(graft_plugin_kernel(plugin, i)->name));
    }
    for (int32_t i = 0; i < graft_plugin_n_logits_processors(plugin); i++) {
        graft_writer_append(writer, processors, graft_json_new_string(graft_plugin_logits_processor(plugin, i)->name));
    }
    graft_writer_set(writer, object, "attention_implementations", attention);
    graft_writer_set(writer, object, "experts_implementations", experts);
    graft_writer_set(writer, object, "kernels", kernels);
    graft_writer_set(writer, object, "logits_processors", processors);
}

static graft_json *processors_json(struct graft_writer *writer, const struct graft_plugin *plugin) {
    graft_json *processors = graft_json_new_array();
    for (int32_t i = 0; i < graft_plugin_n_logits_processors(plugin); i++) {
        const struct graft_logits_processor *processor = graft_plugin_logits_processor(plugin, i);
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", processor->name);
        graft_writer_set_string(writer, object, "interface", processor->interface_id);
        graft_writer_set_string(writer, object, "description", processor->description);
        graft_writer_set_bool(writer, object, "keeps_states", processor->create != NULL);
        graft_writer_append(writer, processors, object);
    }
    return processors;
}

static graft_json *attention_json(struct graft_writer *writer, const struct graft_attention_implementation *attention) {
    static const char *const names[] = {"none", "causal", "sliding window", "dense"};
    graft_json *object = graft_json_new_object();
    graft_json *masks = graft_json_new_array();
    for (uint32_t kind = 0; kind < sizeof names / sizeof names[0]; kind++) {
        if ((attention->masks & 1u << kind) != 0) {
            graft_writer_append(writer, masks, graft_json_new_string(names[kind]));
        }
    }
    graft_writer_set_string(writer, object, "name", attention->name);
    graft_writer_set(writer, object, "masks", masks);
    graft_writer_set_bool(writer, object, "gives_weights", (attention->flags & GRAFT_ATTENTION_GIVES_WEIGHTS) != 0);
    return object;
}

void graft_inspect_implementations(struct graft_writer *writer, graft_json *object, const struct graft_plugin *plugin) {
    graft_json *attention = graft_json_new_array();
    graft_json *experts = graft_json_new_array();
    graft_json *kernels = graft_json_new_array();
    for (int32_t i = 0; i < plugin->n_attention_implementations; i++) {
        graft_writer_append(writer, attention, attention_json(writer, graft_plugin_attention(plugin, i)));
    }
    for (int32_t i = 0; i < plugin->n_experts_implementations; i++) {
        graft_writer_append(writer, experts, graft_json_new_string(graft_plugin_experts(plugin, i)->name));
    }
    for (int32_t i = 0; i < plugin->n_kernels; i++) {
        const struct graft_kernel_override *kernel = graft_plugin_kernel(plugin, i);
        graft_json *row = graft_json_new_object();
        graft_json *cls = graft_json_new_object();
        graft_writer_set_string(writer, row, "name", kernel->name);
        graft_inspect_key(writer, row, kernel->replacement);
        graft_inspect_class(writer, cls, kernel->replacement->replacement);
        graft_writer_set(writer, row, "class", cls);
        graft_writer_append(writer, kernels, row);
    }
    graft_writer_set(writer, object, "attention_implementations", attention);
    graft_writer_set(writer, object, "experts_implementations", experts);
    graft_writer_set(writer, object, "kernels", kernels);
    graft_writer_set(writer, object, "logits_processors", processors_json(writer, plugin));
}
