/* SPDX-License-Identifier: Apache-2.0 */
/* The load report for people. Equal lines are counted in one row, so that the report of any model fits on a screen. */
#include "base/text.h"
#include "base/alloc.h"
#include "cli/generic_name.h"
#include "cli/hints.h"
#include "cli/output.h"
#include "cli/report/fields.h"
#include "cli/report/implementations.h"
#include "cli/report/report.h"
#include "cli/report/rows.h"
#include "cli/report/stack.h"

enum { MAX_ROWS = 12 };

struct summary {
    struct graft_rows replaced;
    struct graft_rows fused;
    struct graft_rows converted;
    struct graft_rows initial;
    struct graft_rows problems;
    size_t plain;
    size_t modules;
};

static void add_replacement(struct summary *summary, const struct graft_named_module *module) {
    struct graft_text text = {0};
    graft_report_stack(&text, module, 1);
    if (module->kernel != NULL) {
        graft_text_printf(&text, ", kernel %s,", module->kernel);
    }
    graft_rows_add(&summary->replaced, &text, NULL);
}

/* Adds a row for a chain: "Qwen3RMSNorm + Qwen3MLP, one after another". */
static void add_fused(struct summary *summary, const struct graft_chain_info *chain) {
    const char **paths = graft_alloc(chain->n_modules, sizeof *paths);
    struct graft_text text = {0};
    text.failed = paths == NULL;
    for (size_t i = 0; i < chain->n_modules && !text.failed; i++) {
        paths[i] = chain->modules[i]->path;
        graft_text_printf(&text, "%s%s", i > 0 ? " + " : "", chain->modules[i]->class_name);
    }
    if (chain->implementation != NULL) {
        graft_text_printf(&text, " -> %s by %s", chain->implementation, chain->plugin);
    } else {
        graft_text_add_string(&text, ", one after another");
    }
    graft_rows_add_names(&summary->fused, &text, paths, chain->n_modules);
    graft_free(paths);
}

static void add_conversion(struct summary *summary, const struct graft_planned_parameter *parameter) {
    struct graft_text text = {0};
    graft_generic_name_add(&text, parameter->name);
    graft_text_printf(&text, ": %s%s%s", parameter->operations,
                      (parameter->converted_by & GRAFT_CONVERTED_BY_PATCH) != 0  ? ", by the patch file"
                      : (parameter->converted_by & GRAFT_CONVERTED_BY_LIST) != 0 ? ", by a list for the whole model"
                                                                                 : "",
                      parameter->computed ? ", computed"
                      : parameter->copied ? ", copied"
                                          : ", row blocks");
    graft_rows_add(&summary->converted, &text, parameter);
}

/* How a parameter without a tensor is initialised; NULL for one that has a tensor. */
static const char *initial(const struct graft_planned_parameter *parameter) {
    return parameter->status != GRAFT_PLANNED_INITIAL ? NULL : parameter->init == GRAFT_INIT_ONES ? "ones" : "zeros";
}

static void add_initial(struct summary *summary, const struct graft_planned_parameter *parameter) {
    struct graft_text text = {0};
    graft_text_printf(&text, "(%s): ", initial(parameter));
    graft_generic_name_add(&text, parameter->name);
    graft_rows_add(&summary->initial, &text, NULL);
}

static void add_problem(struct summary *summary, const struct graft_planned_parameter *parameter) {
    struct graft_text text = {0};
    graft_text_add_string(&text, parameter->status == GRAFT_PLANNED_MISSING ? "missing " : "mismatched ");
    graft_generic_name_add(&text, parameter->name);
    if (parameter->problem != NULL) {
        graft_text_printf(&text, ": %s", parameter->problem);
    }
    graft_rows_add(&summary->problems, &text, NULL);
}

static void add_parameter(struct summary *summary, const struct graft_planned_parameter *parameter) {
    switch (parameter->status) {
    case GRAFT_PLANNED_MISSING:
    case GRAFT_PLANNED_MISMATCHED:
    case GRAFT_PLANNED_FAILED:
        add_problem(summary, parameter);
        break;
    case GRAFT_PLANNED_FOUND:
        if (parameter->operations[0] != '\0') {
            add_conversion(summary, parameter);
        } else if (parameter->shared_with == NULL) {
            summary->plain++;
        }
        break;
    case GRAFT_PLANNED_INITIAL:
        if (parameter->shared_with == NULL) {
            add_initial(summary, parameter);
        }
        break;
    default:
        break;
    }
}

static void summarize(struct summary *summary, const struct graft_model *model) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    const struct graft_named_module *module;
    const struct graft_chain_info *chain;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        if ((module->flags & GRAFT_MODULE_SUPER) != 0) {
            continue; /* a wrapped module is part of its wrapper's row */
        }
        summary->modules++;
        if (module->original_class != NULL) {
            add_replacement(summary, module);
        }
    }
    for (size_t i = 0; i < plan->n_parameters; i++) {
        add_parameter(summary, plan->parameters[i]);
    }
    for (size_t i = 0; (chain = graft_model_chain(model, i)) != NULL; i++) {
        add_fused(summary, chain);
    }
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
        const struct graft_row *row = &rows->items[i];
        (void)fprintf(out, "  fused      %s in %zu chain%s: ", row->text, row->count, row->count == 1 ? "" : "s");
        graft_row_print_paths(out, row);
        (void)fprintf(out, "\n");
    }
}

static void print_rows(FILE *out, const char *label, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count && i < MAX_ROWS; i++) {
        struct graft_row *row = &rows->items[i];
        size_t tensors = graft_row_count_tensors(row);
        if (tensors > 0) {
            (void)fprintf(out, "  %s %zu tensors -> %zu parameters %s\n", label, tensors, row->count, row->text);
        } else {
            (void)fprintf(out, "  %s %s (%zu)\n", label, row->text, row->count);
        }
    }
    if (rows->count > MAX_ROWS) {
        (void)fprintf(out, "  %s ... and %zu more\n", label, rows->count - MAX_ROWS);
    }
}

static void print_initial(FILE *out, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count && i < MAX_ROWS; i++) {
        (void)fprintf(out, "  initial    %zu parameter%s %s\n", rows->items[i].count,
                      rows->items[i].count == 1 ? "" : "s", rows->items[i].text);
    }
    if (rows->count > MAX_ROWS) {
        (void)fprintf(out, "  initial    ... and %zu more\n", rows->count - MAX_ROWS);
    }
}

static void print_unexpected(FILE *out, const struct graft_plan_info *plan) {
    for (size_t i = 0; i < plan->n_unexpected && i < MAX_ROWS; i++) {
        graft_output_line(out, "  unexpected %s", plan->unexpected[i]);
    }
    if (plan->n_unexpected > MAX_ROWS) {
        (void)fprintf(out, "  unexpected ... and %zu more\n", plan->n_unexpected - MAX_ROWS);
    }
}

/* Prints the model's notes. If `brief`, several notes on plugins that are not used become one line with their
 * number. */
static void print_model_notes(FILE *out, const struct graft_model *model, int brief) {
    size_t unused = 0, n = 0;
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        unused += graft_model_note_unused_plugins(model, i);
        n += graft_model_note_unused_plugins(model, i) > 0;
    }
    int is_short = brief && n > 1;
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        const char *note = graft_model_note(model, i);
        if (!is_short || graft_model_note_unused_plugins(model, i) == 0) {
            graft_output_line(out, "  note       %s%s", note, graft_hint_for_note(note));
        }
    }
    if (is_short) {
        graft_output_line(out, "  note       %zu plugins not used; --report full names them", unused);
    }
}

static int print(FILE *out, const struct graft_model *model, const struct graft_library *library, int brief,
                 const struct summary *summary, struct graft_error *error) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    graft_output_line(out, "%s: %s (%s%s%s), %zu modules, %zu tensors in %zu file%s", plan->directory,
                      plan->architecture, plan->model_type, plan->plugin != NULL ? ", by plugin " : "",
                      plan->plugin != NULL ? plan->plugin : "", summary->modules, plan->n_tensors, plan->n_files,
                      plan->n_files == 1 ? "" : "s");
    print_replaced(out, &summary->replaced);
    int status = graft_report_fusion_text(plan, out, error);
    print_fused(out, &summary->fused);
    graft_report_implementations_text(model, out);
    for (size_t i = 0; i < plan->n_adapters; i++) {
        const struct graft_planned_adapter *adapter = plan->adapters[i];
        graft_output_line(out, "  adapter    %s: %s, %zu tensors, scale %g", adapter->name, adapter->directory,
                          adapter->n_tensors, adapter->scale);
    }
    print_rows(out, "converted ", &summary->converted);
    (void)fprintf(out, "  unchanged  %zu tensors\n", summary->plain);
    print_initial(out, &summary->initial);
    print_rows(out, "problem   ", &summary->problems);
    print_unexpected(out, plan);
    if (plan->n_elsewhere > 0 || plan->elsewhere_bytes > 0) {
        (void)fprintf(out, "  elsewhere  %zu tensors, %.1f MB\n", plan->n_elsewhere,
                      (double)plan->elsewhere_bytes / 1e6);
    }
    if (status == GRAFT_OK) {
        status = graft_report_fields_text(model, "  ", out, error);
    }
    for (size_t i = 0; graft_library_note(library, i) != NULL; i++) {
        const char *note = graft_library_note(library, i);
        graft_output_line(out, "  note       %s%s", note, graft_hint_for_note(note));
    }
    print_model_notes(out, model, brief);
    (void)fprintf(out, "  memory     ");
    print_size(out, plan->mapped_bytes);
    (void)fprintf(out, " mapped, ");
    print_size(out, plan->copied_bytes);
    (void)fprintf(out, " copied, ");
    print_size(out, plan->peak_anonymous_bytes);
    (void)fprintf(out, " peak memory besides mapped files");
    if (plan->state_bytes > 0) {
        (void)fprintf(out, ", ");
        print_size(out, plan->state_bytes);
        (void)fprintf(out, " of state for each sequence");
    }
    (void)fprintf(out, "\n  time       %.1f ms to plan", plan->seconds * 1e3);
    if (graft_model_load_seconds(model) >= 0.0) {
        (void)fprintf(out, ", %.1f ms to load", graft_model_load_seconds(model) * 1e3);
    }
    (void)fprintf(out, "\n");
    return status;
}

int graft_report_sha256(const struct graft_library *library, FILE *out, struct graft_error *error) {
    const struct graft_plugin_info *plugin;
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && (plugin = graft_library_plugin(library, i)) != NULL; i++) {
        char digits[GRAFT_SHA256_LENGTH + 1];
        status = graft_library_plugin_sha256(library, i, digits, error);
        if (status == GRAFT_OK) {
            graft_output_line(out, "  plugin     %s %s, sha256 %s (%s)", plugin->descriptor->id,
                              plugin->descriptor->version, digits, plugin->file);
        }
    }
    return status;
}

void graft_report_notes(const struct graft_model *model, const struct graft_library *library, FILE *out) {
    for (size_t i = 0; graft_library_note(library, i) != NULL; i++) {
        const char *note = graft_library_note(library, i);
        (void)fprintf(out, "note: %s%s\n", note, graft_hint_for_note(note));
    }
    for (size_t i = 0; model != NULL && graft_model_note(model, i) != NULL; i++) {
        const char *note = graft_model_note(model, i);
        (void)fprintf(out, "note: %s%s\n", note, graft_hint_for_note(note));
    }
}

int graft_report_text(const struct graft_model *model, const struct graft_library *library, int brief, FILE *out,
                      struct graft_error *error) {
    struct summary summary = {0};
    summarize(&summary, model);
    int failed = summary.replaced.failed || summary.fused.failed || summary.converted.failed ||
                 summary.initial.failed || summary.problems.failed;
    int status = failed ? graft_fail_memory(error, "report") : print(out, model, library, brief, &summary, error);
    graft_rows_free(&summary.replaced);
    graft_rows_free(&summary.fused);
    graft_rows_free(&summary.converted);
    graft_rows_free(&summary.initial);
    graft_rows_free(&summary.problems);
    return status;
}
