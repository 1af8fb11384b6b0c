/* SPDX-License-Identifier: Apache-2.0 */
/* The load report for people: equal lines are drawn together, so that a model of any size fits a screen. */
#include "base/text.h"
#include "cli/generic_name.h"
#include "cli/report.h"
#include "cli/rows.h"

enum { MAX_ROWS = 12 };

struct summary {
    const struct graft_plan *plan;
    struct graft_rows replaced;
    struct graft_rows converted;
    struct graft_rows problems;
    size_t plain;
    size_t modules;
};

static void add_replacement(struct summary *summary, const struct graft_node *node) {
    struct graft_text text = {0};
    graft_text_printf(&text, "%s -> %s by %s (%s)", node->original->cls->name, node->class_name,
                      node->known->origin.plugin, node->known->origin.file != NULL ? node->known->origin.file : "-");
    graft_rows_add(&summary->replaced, &text, NULL, NULL);
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

static void print(FILE *out, const struct graft_model *model, const struct graft_library *library,
                  const struct summary *summary) {
    (void)fprintf(out, "%s: %s (%s), %zu modules, %zu tensors in %zu file%s\n", model->directory,
                  model->tree->root->class_name, model->config->model_type, summary->modules,
                  graft_checkpoint_count(model->checkpoint), graft_checkpoint_file_count(model->checkpoint),
                  graft_checkpoint_file_count(model->checkpoint) == 1 ? "" : "s");
    print_replaced(out, &summary->replaced);
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
    (void)fprintf(out, " copied\n  time       %.1f ms to plan", model->open_seconds * 1e3);
    if (model->bound != NULL) {
        (void)fprintf(out, ", %.1f ms to load", model->load_seconds * 1e3);
    }
    (void)fprintf(out, "\n");
}

int graft_report_text(const struct graft_model *model, const struct graft_library *library, FILE *out,
                      struct graft_error *error) {
    struct summary summary = {.plan = model->plan};
    (void)graft_tree_walk(model->tree, visit, &summary, NULL);
    int failed = summary.replaced.failed || summary.converted.failed || summary.problems.failed;
    if (!failed) {
        print(out, model, library, &summary);
    }
    graft_rows_free(&summary.replaced);
    graft_rows_free(&summary.converted);
    graft_rows_free(&summary.problems);
    return failed ? graft_error_set(error, GRAFT_ERROR_INTERNAL, "report", "out of memory") : GRAFT_OK;
}

int graft_report_strict(const struct graft_model *model, struct graft_error *error) {
    int status = graft_plan_check(model->plan, error);
    if (status == GRAFT_OK && model->plan->n_unexpected > 0) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, model->plan->unexpected[0]->name,
                            "unexpected: no parameter takes this tensor (%zu such tensors)", model->plan->n_unexpected);
    }
    return status;
}
