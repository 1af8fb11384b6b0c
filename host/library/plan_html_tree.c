/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the module tree. The nesting comes from the model; texts about modules and parameters come from the document's
 * lists, which have them in the order of this traversal. */
#include <string.h>

#include "library/plan_html.h"

enum { FEW_SOURCES = 4, OPEN_DEPTH = 2 };

struct writer {
    struct graft_text *page;
    const struct graft_model *model;
    const struct graft_library *library;
    const graft_json *modules;
    const graft_json *parameters;
    size_t module; /* index of the next module in `modules`, and of the next parameter in `parameters` */
    size_t parameter;
};

static const char *text_of(const graft_json *object, const char *key) {
    return graft_json_string(graft_json_get(object, key), NULL);
}

static void add(struct writer *writer, const char *html) {
    graft_text_add_string(writer->page, html);
}

static void add_code(struct writer *writer, const char *text) {
    add(writer, "<code>");
    graft_plan_html_escape(writer->page, text);
    add(writer, "</code>");
}

/* The number of replaced modules below `node`. */
static size_t count_replaced(const struct graft_named_module *node) {
    size_t count = node->super != NULL ? count_replaced(node->super) : 0;
    for (size_t i = 0; i < node->n_children; i++) {
        count += (node->children[i]->original_class != NULL) + count_replaced(node->children[i]);
    }
    return count;
}

static void add_sources(struct writer *writer, const graft_json *sources) {
    size_t n = graft_json_size(sources);
    if (n == 1) {
        add(writer, " ");
        add_code(writer, graft_json_string(graft_json_at(sources, 0), NULL));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (i == FEW_SOURCES && n > FEW_SOURCES + 1) {
            graft_text_printf(writer->page, "<details><summary>and %zu more</summary>", n - i);
        }
        add(writer, "<div>");
        add_code(writer, graft_json_string(graft_json_at(sources, i), NULL));
        add(writer, "</div>");
    }
    add(writer, n > FEW_SOURCES + 1 ? "</details>" : "");
}

/* The word before a parameter's tensors, "from", or why it has none. */
static const char *origin_of(const struct graft_planned_parameter *planned) {
    switch (planned->status) {
    case GRAFT_PLANNED_MISSING:
        return "<span class=\"bad\">missing: the checkpoint has no tensor for it</span>";
    case GRAFT_PLANNED_INITIAL:
        return "not in the checkpoint: starts at the value its class declares";
    case GRAFT_PLANNED_MISMATCHED:
        return "<span class=\"bad\">mismatched: the checkpoint has another shape</span>, from";
    case GRAFT_PLANNED_FAILED:
        return "<span class=\"bad\">failed</span>";
    case GRAFT_PLANNED_TIED:
        return "tied to";
    case GRAFT_PLANNED_FOUND:
    default:
        return "from";
    }
}

static void add_shape(struct writer *writer, const graft_json *shape) {
    for (size_t i = 0; i < graft_json_size(shape); i++) {
        graft_text_printf(writer->page, "%s%lld", i > 0 ? " × " : "",
                          (long long)graft_json_int(graft_json_at(shape, i)));
    }
}

static void add_parameter(struct writer *writer, const struct graft_planned_parameter *planned) {
    const graft_json *parameter = graft_json_at(writer->parameters, writer->parameter++);
    const char *operations = text_of(parameter, "operations");
    const char *dtype = text_of(parameter, "dtype");
    int64_t bytes = graft_json_int(graft_json_get(parameter, "bytes"));
    int copied = graft_json_bool(graft_json_get(parameter, "copied"));
    int computed = graft_json_bool(graft_json_get(parameter, "computed"));
    add(writer, "<div class=\"par\"><span class=\"name\">");
    graft_plan_html_escape(writer->page, planned->own_name);
    add(writer, "</span> <span class=\"soft\">");
    add_shape(writer, graft_json_get(parameter, "shape"));
    add(writer, " ");
    graft_plan_html_escape(writer->page, dtype);
    add(writer, "</span> ");
    if (bytes > 0) {
        add(writer, computed ? "<span class=\"copy\">computed, "
                    : copied ? "<span class=\"copy\">copied, "
                             : "<span class=\"soft\">mapped, ");
        graft_plan_html_size(writer->page, bytes);
        add(writer, "</span>");
    }
    add(writer, "<div class=\"from\">");
    if (operations != NULL && operations[0] != '\0') {
        add(writer, "by ");
        add_code(writer, operations);
        add(writer, " ");
    }
    add(writer, origin_of(planned));
    add_sources(writer, graft_json_get(parameter, "sources"));
    if (planned->problem != NULL) {
        add(writer, "<div class=\"bad\">");
        graft_plan_html_escape(writer->page, planned->problem);
        add(writer, "</div>");
    }
    add(writer, "</div></div>\n");
}

/* Adds the node's own parameters, without those that it shares with another module. */
static void add_parameters(struct writer *writer, const struct graft_named_module *node) {
    for (size_t i = 0; i < node->n_parameters; i++) {
        if (node->parameters[i]->shared_with == NULL) {
            add_parameter(writer, node->parameters[i]);
        }
    }
}

static void add_replaced(struct writer *writer, const graft_json *module) {
    const char *original = text_of(module, "original_class");
    const char *plugin = text_of(module, "plugin");
    int number = graft_plan_html_plugin(writer->library, plugin);
    if (original == NULL) {
        return;
    }
    graft_text_printf(writer->page, " <span class=\"who p%d\">", number < 0 ? 0 : number % PLAN_HTML_COLOURS);
    if (number >= 0) {
        graft_plan_html_letter(writer->page, number);
    }
    add(writer, "replaces ");
    add_code(writer, original);
    add(writer, ", by <b>");
    graft_plan_html_escape(writer->page, plugin != NULL ? plugin : "this program");
    add(writer, "</b></span>");
}

static int is_fused(const struct graft_model *model, const struct graft_named_module *node) {
    const struct graft_chain_info *chain;
    for (size_t i = 0; (chain = graft_model_chain(model, i)) != NULL; i++) {
        for (size_t j = 0; j < chain->n_modules; j++) {
            if (chain->modules[j] == node) {
                return 1;
            }
        }
    }
    return 0;
}

static void add_title(struct writer *writer, const struct graft_named_module *node, size_t replaced) {
    const graft_json *module = graft_json_at(writer->modules, writer->module++);
    add(writer, "<span class=\"name\">");
    graft_plan_html_escape(writer->page, node->parent != NULL ? node->name : "model");
    add(writer, "</span> ");
    add_code(writer, text_of(module, "class"));
    if ((node->flags & GRAFT_MODULE_SUPER) != 0) {
        add(writer, node->original_class == NULL
                        ? " <span class=\"soft\">the original, kept next to its replacement</span>"
                        : " <span class=\"soft\">called by the replacement above</span>");
    }
    add_replaced(writer, module);
    if (is_fused(writer->model, node)) {
        add(writer, " <span class=\"soft\">fused with its neighbours</span>");
    }
    if (replaced > 0) {
        graft_text_printf(writer->page, " <span class=\"soft\">%zu replaced inside</span>", replaced);
    }
}

/* Whether a module starts expanded: if it or a module in it is replaced, but only the first such element of a list, as
 * elements are alike. */
static int is_open(const struct graft_named_module *node, int depth) {
    const struct graft_named_module *parent = node->parent;
    int interesting = node->original_class != NULL || count_replaced(node) > 0;
    if (!interesting || parent == NULL || (parent->flags & GRAFT_MODULE_LIST) == 0) {
        return interesting || depth < OPEN_DEPTH;
    }
    for (size_t i = 0; parent->children[i] != node; i++) {
        if (parent->children[i]->original_class != NULL || count_replaced(parent->children[i]) > 0) {
            return 0;
        }
    }
    return 1;
}

/* Adds a node. Recursion is as deep as the tree, whose depth is bounded when the model is built. */
static void add_node(struct writer *writer, const struct graft_named_module *node, int depth) {
    size_t replaced = count_replaced(node);
    int leaf = node->n_parameters + node->n_children == 0 && node->super == NULL;
    int open = is_open(node, depth);
    add(writer, "<li>");
    add(writer, leaf ? "<div class=\"leaf\">" : open ? "<details open><summary>" : "<details><summary>");
    add_title(writer, node, replaced);
    add(writer, leaf ? "</div>" : "</summary>\n");
    add_parameters(writer, node);
    if (node->super != NULL || node->n_children > 0) {
        add(writer, "<ul class=\"in\">\n");
        if (node->super != NULL) {
            add_node(writer, node->super, depth + 1);
        }
        for (size_t i = 0; i < node->n_children; i++) {
            add_node(writer, node->children[i], depth + 1);
        }
        add(writer, "</ul>\n");
    }
    add(writer, leaf ? "</li>\n" : "</details></li>\n");
}

void graft_plan_html_tree(struct graft_text *page, const struct graft_model *model, const struct graft_library *library,
                          const graft_json *document) {
    struct writer writer = {
        .page = page,
        .model = model,
        .library = library,
        .modules = graft_json_get(document, "modules"),
        .parameters = graft_json_get(document, "parameters"),
    };
    graft_text_add_string(page, "<ul class=\"tree\">\n");
    add_node(&writer, graft_model_module(model, 0), 0);
    graft_text_add_string(page, "</ul>\n");
}
