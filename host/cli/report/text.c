/* SPDX-License-Identifier: Apache-2.0 */
/* The load report for people: equal lines are drawn together, so that a model of any size fits a screen. */
#include "base/text.h"
#include "cli/generic_name.h"
#include "cli/report/implementations.h"
#include "cli/report/report.h"
#include "cli/report/rows.h"

enum { MAX_ROWS = 12 };

struct summary {
    const struct graft_plan *plan;
    const struct graft_snapshot *snapshot;
    struct graft_rows replaced;
    struct graft_rows fused;
    struct graft_rows converted;
    struct graft_rows problems;
    size_t plain;
    size_t modules;
};

static void add_class(struct graft_text *text, const struct graft_known_class *known) {
    graft_text_printf(text, " -> %s by %s (%s)", known->cls->name, known->origin.plugin,
                      known->origin.file != NULL ? known->origin.file : "-");
}

static void add_replacement(struct summary *summary, const struct graft_node *node) {
    struct graft_text text = {0};
    graft_text_add_string(&text, node->original->cls->name);
    if (node->kernel_on != NULL) {
        add_class(&text, node->kernel_on);
    }
    add_class(&text, node->known);
    const struct graft_implementation *kernel = graft_snapshot_kernel_of(summary->snapshot, node->known->cls);
    if (kernel != NULL) {
        graft_text_printf(&text, ", kernel %s,", kernel->name);
    }
    graft_rows_add(&summary->replaced, &text, NULL, NULL);
}

/* "Qwen3RMSNorm + Qwen3MLP, one after the other". */
static void add_fused(struct summary *summary, const struct graft_fused_chain *chain) {
    struct graft_text text = {0};
    for (size_t i = 0; i < chain->n; i++) {
        graft_text_printf(&text, "%s%s", i > 0 ? " + " : "", chain->modules[i].node->class_name);
    }
    if (chain->implementation != NULL) {
        graft_text_printf(&text, " -> %s by %s", chain->implementation->name, chain->plugin);
    } else {
        graft_text_add_string(&text, ", one after the other");
    }
    graft_rows_add(&summary->fused, &text, NULL, NULL);
}

static void add_conversion(struct summary *summary, const struct graft_binding *binding) {
    struct graft_text text = {0};
    graft_generic_name_add(&text, binding->parameter->name);
    graft_text_add_string(&text, ": ");
    graft_binding_operations(binding, &text);
    graft_text_add_string(&text, binding->copied ? ", copied" : ", row blocks");
    graft_rows_add(&summary->converted, &text, &binding->value, summary->plan->checkpoint);
}

static void add_problem(struct summary *summary, const struct graft_binding *binding) {
    struct graft_text text = {0};
    graft_text_add_string(&text, binding->status == GRAFT_BINDING_MISSING ? "missing " : "mismatched ");
    graft_generic_name_add(&text, binding->parameter->name);
    if (binding->problem != NULL) {
        graft_text_printf(&text, ": %s", binding->problem);
    }
    graft_rows_add(&summary->problems, &text, NULL, NULL);
}

static void add_binding(struct summary *summary, const struct graft_binding *binding) {
    switch (binding->status) {
    case GRAFT_BINDING_MISSING:
    case GRAFT_BINDING_MISMATCHED:
    case GRAFT_BINDING_FAILED:
        add_problem(summary, binding);
        break;
    case GRAFT_BINDING_FOUND:
        if (binding->conversion != NULL) {
            add_conversion(summary, binding);
        } else if (binding->shared_with == NULL) {
            summary->plain++;
        }
        break;
    case GRAFT_BINDING_TIED:
    case GRAFT_BINDING_INITIAL:
    default:
        break;
    }
}

static int visit(void *data, struct graft_node *node, struct graft_error *error) {
    struct summary *summary = data;
    (void)error;
    summary->modules += !node->is_super;
    if (node->original != NULL) {
        add_replacement(summary, node);
    }
    for (size_t i = 0; i < node->n_parameters; i++) {
        add_binding(summary, &summary->plan->bindings[node->parameters[i]->index]);
    }
    return GRAFT_OK;
}

static void print_size(FILE *out, int64_t bytes) {
    if (bytes >= 1000000) {
        (void)fprintf(out, "%.2f MB", (double)bytes / 1e6);
    } else {
        (void)fprintf(out, "%lld bytes", (long long)bytes);
    }
}

static void print_replaced(FILE *out, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        (void)fprintf(out, "  replaced   %s in %zu module%s\n", rows->items[i].text, rows->items[i].count,
                      rows->items[i].count == 1 ? "" : "s");
    }
    if (rows->count == 0) {
        (void)fprintf(out, "  replaced   nothing\n");
    }
}

static void print_fused(FILE *out, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        (void)fprintf(out, "  fused      %s in %zu chain%s\n", rows->items[i].text, rows->items[i].count,
                      rows->items[i].count == 1 ? "" : "s");
    }
}

static void print_rows(FILE *out, const char *label, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count && i < MAX_ROWS; i++) {
        const struct graft_row *row = &rows->items[i];
        if (row->tensors > 0) {
            (void)fprintf(out, "  %s %zu tensors -> %zu parameters %s\n", label, row->tensors, row->count, row->text);
        } else {
            (void)fprintf(out, "  %s %s (%zu)\n", label, row->text, row->count);
        }
    }
    if (rows->count > MAX_ROWS) {
        (void)fprintf(out, "  %s ... and %zu more\n", label, rows->count - MAX_ROWS);
    }
}

static void print_unexpected(FILE *out, const struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_unexpected && i < MAX_ROWS; i++) {
        (void)fprintf(out, "  unexpected %s\n", plan->unexpected[i]->name);
    }
    if (plan->n_unexpected > MAX_ROWS) {
        (void)fprintf(out, "  unexpected ... and %zu more\n", plan->n_unexpected - MAX_ROWS);
    }
}

static int print(FILE *out, const struct graft_model *model, const struct graft_library *library,
                 const struct summary *summary, struct graft_error *error) {
    (void)fprintf(out, "%s: %s (%s), %zu modules, %zu tensors in %zu file%s\n", model->directory,
                  model->tree->root->class_name, model->config->model_type, summary->modules,
                  graft_checkpoint_count(model->checkpoint), graft_checkpoint_file_count(model->checkpoint),
                  graft_checkpoint_file_count(model->checkpoint) == 1 ? "" : "s");
    print_replaced(out, &summary->replaced);
    int status = graft_report_fusion_text(model->tree, out, error);
    print_fused(out, &summary->fused);
    graft_report_implementations_text(model, out);
    print_rows(out, "converted ", &summary->converted);
    (void)fprintf(out, "  as it is   %zu tensors\n", summary->plain);
    print_rows(out, "problem   ", &summary->problems);
    print_unexpected(out, model->plan);
    for (size_t i = 0; graft_library_note(library, i) != NULL; i++) {
        (void)fprintf(out, "  note       %s\n", graft_library_note(library, i));
    }
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        (void)fprintf(out, "  note       %s\n", graft_model_note(model, i));
    }
    (void)fprintf(out, "  memory     ");
    print_size(out, model->plan->mapped_bytes);
    (void)fprintf(out, " mapped, ");
    print_size(out, model->plan->copied_bytes);
    (void)fprintf(out, " copied, ");
    print_size(out, model->plan->peak_anonymous_bytes);
    (void)fprintf(out, " at most beside the files\n  time       %.1f ms to plan", model->open_seconds * 1e3);
    if (model->bound != NULL) {
        (void)fprintf(out, ", %.1f ms to load", model->load_seconds * 1e3);
    }
    (void)fprintf(out, "\n");
    return status;
}

void graft_report_notes(const struct graft_model *model, const struct graft_library *library, FILE *out) {
    for (size_t i = 0; graft_library_note(library, i) != NULL; i++) {
        (void)fprintf(out, "note: %s\n", graft_library_note(library, i));
    }
    for (size_t i = 0; model != NULL && graft_model_note(model, i) != NULL; i++) {
        (void)fprintf(out, "note: %s\n", graft_model_note(model, i));
    }
}

int graft_report_text(const struct graft_model *model, const struct graft_library *library, FILE *out,
                      struct graft_error *error) {
    struct summary summary = {.plan = model->plan, .snapshot = model->tree->snapshot};
    (void)graft_tree_walk(model->tree, visit, &summary, NULL);
    for (size_t i = 0; i < model->fusions.count; i++) {
        add_fused(&summary, model->fusions.items[i]);
    }
    int failed = summary.replaced.failed || summary.fused.failed || summary.converted.failed || summary.problems.failed;
    int status = failed ? graft_error_set(error, GRAFT_ERROR_INTERNAL, "report", "out of memory")
                        : print(out, model, library, &summary, error);
    graft_rows_free(&summary.replaced);
    graft_rows_free(&summary.fused);
    graft_rows_free(&summary.converted);
    graft_rows_free(&summary.problems);
    return status;
}

int graft_report_strict(const struct graft_model *model, struct graft_error *error) {
    int status = graft_plan_check(model->plan, error);
    if (status == GRAFT_OK && model->plan->n_unexpected > 0) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, model->plan->unexpected[0]->name,
                            "unexpected: no parameter takes this tensor (%zu such tensors)", model->plan->n_unexpected);
    }
    const struct graft_binding *apart = status == GRAFT_OK ? graft_plan_tied_apart(model->plan) : NULL;
    if (apart != NULL) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, apart->parameter->name,
                            "tied to %s, but the checkpoint has other values for it", apart->parameter->tied_to->name);
    }
    return status;
}
