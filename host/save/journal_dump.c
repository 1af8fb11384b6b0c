/* SPDX-License-Identifier: Apache-2.0 */
/* Writing of graft_journal.json: a line for each tensor and parameter. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/text.h"
#include "save/journal.h"

static void add_string(struct graft_text *text, const char *string) {
    graft_json *value = graft_json_new_string(string);
    char *dump = value != NULL ? graft_json_dump(value, 0) : NULL;
    if (dump != NULL) {
        graft_text_add_string(text, dump);
    } else {
        text->failed = 1;
    }
    graft_free(dump);
    graft_json_free(value);
}

static void add_member(struct graft_text *text, const char *before, const char *string) {
    graft_text_add_string(text, before);
    add_string(text, string);
}

static void add_classes(struct graft_text *text, const struct journal *journal) {
    graft_text_add_string(text, " \"replacements\": [");
    for (size_t i = 0; i < journal->n_classes; i++) {
        const struct journal_class *cls = &journal->classes[i];
        add_member(text, i > 0 ? ",\n  {\"class\": " : "\n  {\"class\": ", cls->class_name);
        add_member(text, ", \"original_class\": ", cls->original);
        add_member(text, ", \"plugin\": ", cls->plugin);
        graft_text_add_string(text, "}");
    }
    graft_text_add_string(text, "],\n");
}

static void add_tensors(struct graft_text *text, const struct journal *journal) {
    graft_text_add_string(text, " \"tensors\": [");
    for (size_t i = 0; i < journal->n_tensors; i++) {
        const struct journal_tensor *tensor = &journal->tensors[i];
        add_member(text, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ", tensor->name);
        graft_text_printf(text, ", \"dtype\": \"%s\", \"shape\": [", graft_dtype_name(tensor->dtype));
        for (int32_t j = 0; j < tensor->rank; j++) {
            graft_text_printf(text, "%s%" PRId64, j > 0 ? ", " : "", tensor->shape[j]);
        }
        graft_text_add_string(text, "]}");
    }
    graft_text_add_string(text, "],\n");
}

static void add_entries(struct graft_text *text, const struct journal *journal) {
    graft_text_add_string(text, " \"parameters\": [");
    for (size_t i = 0; i < journal->n_entries; i++) {
        const struct journal_entry *entry = &journal->entries[i];
        add_member(text, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ", entry->name);
        graft_text_add_string(text, ", \"runs\": [");
        for (size_t j = 0; j < entry->n_runs; j++) {
            const struct journal_run *run = &entry->runs[j];
            graft_text_printf(text, "%s[%zu, %" PRId64 ", %" PRId64 "]", j > 0 ? ", " : "", run->tensor, run->begin,
                              run->count);
        }
        graft_text_add_string(text, "]}");
    }
    graft_text_add_string(text, "]\n");
}

void journal_dump(const struct journal *journal, struct graft_text *text) {
    graft_text_add_string(text, "{\n \"version\": 1,\n");
    add_classes(text, journal);
    add_tensors(text, journal);
    add_entries(text, journal);
    graft_text_add_string(text, "}\n");
}
