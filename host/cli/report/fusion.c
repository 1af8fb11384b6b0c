/* SPDX-License-Identifier: Apache-2.0 */
/* What each fusion family that was asked for got, and what not, with the reasons. */
#include "model/fusion.h"
#include "cli/generic_name.h"
#include "cli/report/report.h"
#include "cli/report/rows.h"

static void add_row(const struct graft_tree *tree, const struct graft_candidate *candidate, struct graft_rows *fused,
                    struct graft_rows *left) {
    struct graft_text row = {0};
    struct graft_text reason = {0};
    int is_fused = graft_tree_is_fused(tree, candidate, &reason);
    graft_text_printf(&row, "%s: ", graft_fusion_family_of(candidate->family)->name);
    graft_generic_name_add(&row, candidate->path);
    if (is_fused) {
        graft_text_printf(&row, ": %s -> %s: %s", candidate->original->name, candidate->fused.name, candidate->reason);
    } else {
        graft_text_printf(&row, " (%s): %s", candidate->original->name, reason.length > 0 ? reason.bytes : "");
    }
    row.failed |= reason.failed;
    graft_text_free(&reason);
    graft_rows_add(is_fused ? fused : left, &row, NULL, NULL);
}

static void print_rows(FILE *out, const char *label, const struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        (void)fprintf(out, "  %s %s (%zu module%s)\n", label, rows->items[i].text, rows->items[i].count,
                      rows->items[i].count == 1 ? "" : "s");
    }
}

int graft_report_fusion_text(const struct graft_tree *tree, FILE *out, struct graft_error *error) {
    struct graft_rows fused = {0};
    struct graft_rows left = {0};
    for (size_t i = 0; i < tree->n_discoveries; i++) {
        for (size_t k = 0; k < tree->discoveries[i]->n; k++) {
            add_row(tree, tree->discoveries[i]->candidates[k], &fused, &left);
        }
    }
    int failed = fused.failed || left.failed;
    if (!failed) {
        print_rows(out, "fusion    ", &fused);
        print_rows(out, "not fused ", &left);
    }
    graft_rows_free(&fused);
    graft_rows_free(&left);
    return failed ? graft_error_set(error, GRAFT_ERROR_INTERNAL, "report", "out of memory") : GRAFT_OK;
}

static graft_json *candidate_json(const struct graft_tree *tree, const struct graft_candidate *candidate, int *failed) {
    graft_json *module = graft_json_new_object();
    struct graft_text reason = {0};
    int is_fused = graft_tree_is_fused(tree, candidate, &reason);
    const char *why = is_fused ? candidate->reason : reason.bytes;
    *failed |= reason.failed || graft_json_set_take(module, "path", graft_json_new_string(candidate->path)) != 0 ||
               graft_json_set_take(module, "class", graft_json_new_string(candidate->original->name)) != 0 ||
               graft_json_set_take(module, "fused_class",
                                   graft_json_new_string(is_fused ? candidate->fused.name : NULL)) != 0 ||
               graft_json_set_take(module, "reason", graft_json_new_string(why)) != 0;
    graft_text_free(&reason);
    return module;
}

graft_json *graft_report_fusion_json(const struct graft_tree *tree) {
    graft_json *array = graft_json_new_array();
    int failed = array == NULL;
    for (size_t i = 0; i < tree->n_discoveries; i++) {
        const struct graft_fused_modules *discovery = tree->discoveries[i];
        graft_json *family = graft_json_new_object();
        graft_json *modules = graft_json_new_array();
        for (size_t k = 0; k < discovery->n; k++) {
            failed |= graft_json_append_take(modules, candidate_json(tree, discovery->candidates[k], &failed)) != 0;
        }
        const char *name = graft_fusion_family_of(discovery->known)->name;
        const char *plugin = graft_fusion_origin(discovery->known)->plugin;
        failed |= graft_json_set_take(family, "family", graft_json_new_string(name)) != 0;
        failed |= graft_json_set_take(family, "plugin", graft_json_new_string(plugin)) != 0;
        failed |= graft_json_set_take(family, "modules", modules) != 0;
        failed |= graft_json_append_take(array, family) != 0;
    }
    if (failed) {
        graft_json_free(array);
        return NULL;
    }
    return array;
}
