/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/implementations.h"

#include <string.h>

static void print_chosen(FILE *out, int *printed, const char *what, const struct graft_implementation *offer) {
    (void)fprintf(out, "%s%s %s", *printed ? ", " : "  chosen     ", what, offer->name);
    if (offer->origin.plugin != NULL) {
        (void)fprintf(out, " by %s", offer->origin.plugin);
    }
    *printed = 1;
}

int graft_report_is_usual(const struct graft_model *model, const struct graft_implementation *offer) {
    const struct graft_implementation *at = graft_snapshot_implementation_at(model->tree->snapshot, 0);
    for (size_t i = 0; at != NULL && at->kind != offer->kind; i++) {
        at = graft_snapshot_implementation_at(model->tree->snapshot, i);
    }
    return at == offer;
}

void graft_report_implementations_text(const struct graft_model *model, FILE *out) {
    int printed = 0;
    if (!graft_report_is_usual(model, model->attention)) {
        print_chosen(out, &printed, "attention", model->attention);
    }
    if (!graft_report_is_usual(model, model->experts)) {
        print_chosen(out, &printed, "experts", model->experts);
    }
    if (printed) {
        (void)fputc('\n', out);
    }
}

static graft_json *offer_json(struct graft_writer *writer, const struct graft_implementation *offer) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "name", offer->name);
    graft_writer_set_string(writer, object, "plugin", offer->origin.plugin);
    return object;
}

/* A kernel that some modules run. */
struct search {
    const struct graft_class *cls;
    int64_t modules;
};

static int count(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    (void)error;
    search->modules += node->known != NULL && node->known->cls == search->cls;
    return GRAFT_OK;
}

static graft_json *kernels_json(struct graft_writer *writer, const struct graft_model *model) {
    graft_json *kernels = graft_json_new_array();
    const struct graft_implementation *offer;
    for (size_t i = 0; (offer = graft_snapshot_implementation_at(model->tree->snapshot, i)) != NULL; i++) {
        if (offer->kind == GRAFT_IMPLEMENTATION_KERNEL) {
            const struct graft_kernel_override *kernel = offer->declared;
            struct search search = {kernel->replacement->replacement, 0};
            (void)graft_tree_walk(model->tree, count, &search, NULL);
            if (search.modules > 0) {
                graft_json *object = offer_json(writer, offer);
                graft_writer_set_string(writer, object, "class", search.cls->name);
                graft_writer_set_string(writer, object, "original_class", kernel->replacement->target);
                graft_writer_set_int(writer, object, "modules", search.modules);
                graft_writer_append(writer, kernels, object);
            }
        }
    }
    return kernels;
}

void graft_report_implementations_json(struct graft_writer *writer, graft_json *document,
                                       const struct graft_model *model) {
    graft_writer_set(writer, document, "attention_implementation", offer_json(writer, model->attention));
    graft_writer_set(writer, document, "experts_implementation", offer_json(writer, model->experts));
    graft_writer_set(writer, document, "kernels", kernels_json(writer, model));
}

void graft_list_implementations(const struct graft_plugin *plugin, FILE *out) {
    const char *separator = "; offers ";
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
}

void graft_list_implementations_json(struct graft_writer *writer, graft_json *object,
                                     const struct graft_plugin *plugin) {
    graft_json *attention = graft_json_new_array();
    graft_json *experts = graft_json_new_array();
    graft_json *kernels = graft_json_new_array();
    for (int32_t i = 0; i < plugin->n_attention_implementations; i++) {
        graft_writer_append(writer, attention, graft_json_new_string(graft_plugin_attention(plugin, i)->name));
    }
    for (int32_t i = 0; i < plugin->n_experts_implementations; i++) {
        graft_writer_append(writer, experts, graft_json_new_string(graft_plugin_experts(plugin, i)->name));
    }
    for (int32_t i = 0; i < plugin->n_kernels; i++) {
        graft_writer_append(writer, kernels, graft_json_new_string(graft_plugin_kernel(plugin, i)->name));
    }
    graft_writer_set(writer, object, "attention_implementations", attention);
    graft_writer_set(writer, object, "experts_implementations", experts);
    graft_writer_set(writer, object, "kernels", kernels);
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
}
