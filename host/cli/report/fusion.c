/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what each requested fusion family fused, and what it did not and why. */
#include "cli/report/report.h"
#include "cli/report/rows.h"

static void add_row(const struct graft_planned_fusion *fusion, const struct graft_considered_module *module,
                    struct graft_rows *fused, struct graft_rows *left) {
    struct graft_text row = {0};
    const char *arrow = module->fused_class != NULL ? " -> " : "";
    graft_text_printf(&row, "%s: %s%s%s: %s", fusion->family, module->class_name, arrow,
                      module->fused_class != NULL ? module->fused_class : "",
                      module->reason != NULL ? module->reason : "");
    graft_rows_add_names(module->fused_class != NULL ? fused : left, &row, &module->path, 1);
}

static void print_rows(FILE *out, const char *label, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        const struct graft_row *row = &rows->items[i];
        (void)fprintf(out, "  %s %s (%zu module%s: ", label, row->text, row->count, row->count == 1 ? "" : "s");
        graft_row_print_paths(out, row);
        (void)fprintf(out, ")\n");
    }
}

int graft_report_fusion_text(const struct graft_plan_info *plan, FILE *out, struct graft_error *error) {
    struct graft_rows fused = {0};
    struct graft_rows left = {0};
    for (size_t i = 0; i < plan->n_fusions; i++) {
        for (size_t k = 0; k < plan->fusions[i]->n_modules; k++) {
            add_row(plan->fusions[i], plan->fusions[i]->modules[k], &fused, &left);
        }
    }
    int failed = fused.failed || left.failed;
    if (!failed) {
        print_rows(out, "fusion    ", &fused);
        print_rows(out, "not fused ", &left);
    }
    graft_rows_free(&fused);
    graft_rows_free(&left);
    return failed ? graft_fail_memory(error, "report") : GRAFT_OK;
}
