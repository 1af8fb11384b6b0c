/* SPDX-License-Identifier: Apache-2.0 */
/* Writes graft_journal.json: a line for each tensor and parameter. */
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

static void add_options(struct graft_text *text, const struct journal *journal) {
    for (size_t i = 0; i < journal->n_options; i++) {
        const struct journal_option *option = &journal->options[i];
        add_member(text, i > 0 ? ",\n  {\"plugin\": " : " \"options\": [\n  {\"plugin\": ", option->plugin);
        add_member(text, ", \"name\": ", option->name);
        add_member(text, ", \"value\": ", option->value);
        graft_text_add_string(text, "}");
    }
    graft_text_add_string(text, journal->n_options > 0 ? "],\n" : "");
}

static void add_absent(struct graft_text *text, const struct journal *journal) {
    for (size_t i = 0; i < journal->n_absent; i++) {
        add_member(text, i > 0 ? ",\n  " : " \"absent\": [\n  ", journal->absent[i]);
    }
    graft_text_add_string(text, journal->n_absent > 0 ? "],\n" : "");
}

static void add_form(struct graft_text *text, graft_dtype dtype, int32_t rank, const int64_t *shape) {
    graft_text_printf(text, "\"dtype\": \"%s\", \"shape\": [", graft_stored_dtype_name(dtype));
    for (int32_t j = 0; j < rank; j++) {
        graft_text_printf(text, "%s%" PRId64, j > 0 ? ", " : "", shape[j]);
    }
    graft_text_add_string(text, "]");
}

static void add_tensors(struct graft_text *text, const struct journal *journal) {
    graft_text_add_string(text, " \"tensors\": [");
    for (size_t i = 0; i < journal->n_tensors; i++) {
        const struct journal_tensor *tensor = &journal->tensors[i];
        add_member(text, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ", tensor->name);
        graft_text_add_string(text, ", ");
        add_form(text, tensor->dtype, tensor->rank, tensor->shape);
        if (tensor->lost != NULL) {
            add_member(text, ", \"lost\": ", tensor->lost);
        }
        graft_text_add_string(text, tensor->made ? ", \"made\": true" : "");
        graft_text_add_string(text, "}");
    }
    graft_text_add_string(text, "],\n");
}

/* Whether the parts are contiguous runs, one after another. */
static int is_sequential(const struct journal_entry *entry) {
    int64_t at = 0;
    for (size_t i = 0; i < entry->n_parts; i++) {
        const struct graft_box *box = &entry->parts[i].box;
        int64_t count = graft_box_count(box);
        if (box->at != at || graft_box_together(box) != count) {
            return 0;
        }
        at += count;
    }
    return 1;
}

static void add_runs(struct graft_text *text, const struct journal_entry *entry) {
    graft_text_add_string(text, ", \"runs\": [");
    for (size_t i = 0; i < entry->n_parts; i++) {
        const struct journal_part *part = &entry->parts[i];
        graft_text_printf(text, "%s[%zu, %" PRId64 ", %" PRId64 "]", i > 0 ? ", " : "", part->tensor, part->box.begin,
                          graft_box_count(&part->box));
    }
}

static void add_parts(struct graft_text *text, const struct journal_entry *entry) {
    graft_text_add_string(text, ", \"parts\": [");
    for (size_t i = 0; i < entry->n_parts; i++) {
        const struct journal_part *part = &entry->parts[i];
        const struct graft_box *box = &part->box;
        graft_text_printf(text, "%s[%zu, %" PRId64 ", %" PRId64, i > 0 ? ", " : "", part->tensor, box->at, box->begin);
        for (int32_t k = 0; k < box->loops; k++) {
            graft_text_printf(text, ", [%" PRId64 ", %" PRId64 ", %" PRId64 "]", box->size[k], box->to[k],
                              box->from[k]);
        }
        graft_text_add_string(text, "]");
    }
}

static void add_entry(struct graft_text *text, const struct journal_entry *entry) {
    if (is_sequential(entry)) {
        add_runs(text, entry);
    } else {
        add_parts(text, entry);
    }
    graft_text_add_string(text, "]}");
}

static void add_uses(struct graft_text *text, const struct journal *journal) {
    graft_text_add_string(text, " \"operations\": [");
    for (size_t i = 0; i < journal->n_uses; i++) {
        const struct journal_use *use = &journal->uses[i];
        add_member(text, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ", use->name);
        add_member(text, ", \"plugin\": ", use->plugin);
        graft_text_printf(text, ", \"outputs\": [%zu, %d], \"inputs\": [", use->first, (int)use->n_outputs);
        for (int32_t k = 0; k < use->n_inputs; k++) {
            const struct graft_value_info *info = &use->inputs[k];
            graft_text_add_string(text, k > 0 ? ", {" : "{");
            add_form(text, info->dtype, info->rank, info->shape);
            add_entry(text, &use->origins[k]);
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
        add_entry(text, entry);
    }
    graft_text_add_string(text, "]\n");
}

void graft_journal_dump(const struct journal *journal, struct graft_text *text) {
    graft_text_add_string(text, "{\n \"version\": 1,\n");
    add_classes(text, journal);
    add_options(text, journal);
    add_absent(text, journal);
    add_tensors(text, journal);
    if (journal->n_uses > 0) {
        add_uses(text, journal);
    }
    add_entries(text, journal);
    graft_text_add_string(text, "}\n");
}
