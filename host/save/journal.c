/* SPDX-License-Identifier: Apache-2.0 */
#include "save/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void journal_finish(struct journal *journal) {
    for (size_t i = 0; i < journal->n_entries; i++) {
        graft_free(journal->entries[i].runs);
    }
    graft_free(journal->entries);
    graft_free(journal->tensors);
    graft_free(journal->classes);
    graft_json_free(journal->document);
    *journal = (struct journal){0};
}

struct journal_tensor journal_tensor_of(const struct graft_tensor_view *view) {
    struct journal_tensor form = {
        view->name, view->dtype, view->rank, {0}, view->bytes / graft_dtype_size(view->dtype)};
    memcpy(form.shape, view->shape, sizeof form.shape);
    return form;
}

int journal_add_tensor(struct journal *journal, const struct journal_tensor *tensor) {
    if (graft_grow(&journal->tensors, &journal->tensor_capacity, journal->n_tensors, sizeof *tensor) != 0) {
        return -1;
    }
    journal->tensors[journal->n_tensors++] = *tensor;
    return 0;
}

int journal_add_entry(struct journal *journal, const char *name) {
    if (graft_grow(&journal->entries, &journal->entry_capacity, journal->n_entries, sizeof *journal->entries) != 0) {
        return -1;
    }
    journal->entries[journal->n_entries++] = (struct journal_entry){.name = name};
    return 0;
}

int journal_add_run(struct journal_entry *entry, const struct journal_run *run) {
    struct journal_run *last = entry->n_runs > 0 ? &entry->runs[entry->n_runs - 1] : NULL;
    if (last != NULL && last->tensor == run->tensor && last->begin + last->count == run->begin) {
        last->count += run->count;
        return 0;
    }
    if (graft_grow(&entry->runs, &entry->capacity, entry->n_runs, sizeof *run) != 0) {
        return -1;
    }
    entry->runs[entry->n_runs++] = *run;
    return 0;
}

int journal_add_class(struct journal *journal, const struct journal_class *cls) {
    for (size_t i = 0; i < journal->n_classes; i++) {
        const struct journal_class *known = &journal->classes[i];
        if (strcmp(known->class_name, cls->class_name) == 0 && strcmp(known->original, cls->original) == 0 &&
            strcmp(known->plugin, cls->plugin) == 0) {
            return 0;
        }
    }
    if (graft_grow(&journal->classes, &journal->class_capacity, journal->n_classes, sizeof *cls) != 0) {
        return -1;
    }
    journal->classes[journal->n_classes++] = *cls;
    return 0;
}

static int compare_entries(const void *left, const void *right) {
    const struct journal_entry *a = left, *b = right;
    return strcmp(a->name, b->name);
}

void journal_sort(struct journal *journal) {
    if (journal->n_entries > 0) {
        qsort(journal->entries, journal->n_entries, sizeof *journal->entries, compare_entries);
    }
}

struct journal_entry *journal_find(const struct journal *journal, const char *name) {
    const struct journal_entry key = {.name = name};
    return journal->n_entries == 0
               ? NULL
               : bsearch(&key, journal->entries, journal->n_entries, sizeof *journal->entries, compare_entries);
}

/* Elements [begin, begin + count) of what `stored` describes. */
static int add_slice(const struct journal_entry *stored, int64_t begin, int64_t count, struct journal_entry *entry) {
    int64_t first = 0; /* element of `stored` that the run starts at */
    for (size_t i = 0; i < stored->n_runs && first < begin + count; i++) {
        const struct journal_run *run = &stored->runs[i];
        int64_t from = begin > first ? begin - first : 0;
        int64_t to = begin + count - first < run->count ? begin + count - first : run->count;
        struct journal_run part = {run->tensor, run->begin + from, to - from};
        if (from < to && journal_add_run(entry, &part) != 0) {
            return -1;
        }
        first += run->count;
    }
    return 0;
}

int journal_compose(const struct journal *stored, const struct graft_value *value, struct journal_entry *entry) {
    for (size_t i = 0; i < value->n_runs; i++) {
        const struct graft_run *run = &value->runs[i];
        const struct journal_entry *source = journal_find(stored, run->tensor->name);
        if (source != NULL && add_slice(source, run->begin, run->count, entry) != 0) {
            return -1;
        }
    }
    return 0;
}

static int add_class_of(void *data, struct graft_node *node, struct graft_error *error) {
    if (node->original == NULL || node->describer != node->known) {
        return GRAFT_OK;
    }
    struct journal_class cls = {node->known->cls->name, node->original->cls->name, node->known->origin.plugin};
    return journal_add_class(data, &cls) == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_INTERNAL, node->path, "out of memory");
}

int journal_add_classes(struct journal *journal, struct graft_tree *tree, struct graft_error *error) {
    return graft_tree_walk(tree, add_class_of, journal, error);
}
