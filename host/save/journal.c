/* SPDX-License-Identifier: Apache-2.0 */
#include "save/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void graft_journal_finish(struct journal *journal) {
    for (size_t i = 0; i < journal->n_entries; i++) {
        graft_free(journal->entries[i].parts);
    }
    graft_free(journal->entries);
    graft_free(journal->tensors);
    graft_free(journal->classes);
    graft_free(journal->options);
    graft_journal_uses_free(journal->uses, journal->n_uses);
    graft_free(journal->absent);
    for (size_t i = 0; i < journal->n_texts; i++) {
        graft_free(journal->texts[i]);
    }
    graft_free(journal->texts);
    graft_json_free(journal->document);
    *journal = (struct journal){0};
}

struct journal_tensor graft_journal_tensor_of(const struct graft_tensor_view *view) {
    struct journal_tensor form = {.name = view->name,
                                  .dtype = view->dtype,
                                  .rank = view->rank,
                                  .count = view->bytes / graft_stored_dtype_unit(view->dtype)};
    memcpy(form.shape, view->shape, sizeof form.shape);
    return form;
}

int graft_journal_add_tensor(struct journal *journal, const struct journal_tensor *tensor) {
    if (graft_grow(&journal->tensors, &journal->tensor_capacity, journal->n_tensors, sizeof *tensor) != 0) {
        return -1;
    }
    journal->tensors[journal->n_tensors++] = *tensor;
    return 0;
}

int graft_journal_add_entry(struct journal *journal, const char *name) {
    if (graft_grow(&journal->entries, &journal->entry_capacity, journal->n_entries, sizeof *journal->entries) != 0) {
        return -1;
    }
    journal->entries[journal->n_entries++] = (struct journal_entry){.name = name};
    return 0;
}

int graft_journal_add_part(struct journal_entry *entry, const struct journal_part *part) {
    struct journal_part *last = entry->n_parts > 0 ? &entry->parts[entry->n_parts - 1] : NULL;
    if (last != NULL && last->tensor == part->tensor && graft_box_join(&last->box, &part->box)) {
        return 0;
    }
    if (graft_grow(&entry->parts, &entry->capacity, entry->n_parts, sizeof *part) != 0) {
        return -1;
    }
    entry->parts[entry->n_parts++] = *part;
    return 0;
}

static int compare_parts(const void *left, const void *right) {
    const struct journal_part *a = left, *b = right;
    return (a->box.at > b->box.at) - (a->box.at < b->box.at);
}

/* Sorts the parts and joins neighbours. */
static void tidy(struct journal_entry *entry) {
    size_t n = entry->n_parts;
    if (n < 2) {
        return;
    }
    qsort(entry->parts, n, sizeof *entry->parts, compare_parts);
    entry->n_parts = 1;
    for (size_t i = 1; i < n; i++) {
        struct journal_part *last = &entry->parts[entry->n_parts - 1];
        if (last->tensor != entry->parts[i].tensor || !graft_box_join(&last->box, &entry->parts[i].box)) {
            entry->parts[entry->n_parts++] = entry->parts[i];
        }
    }
}

int graft_journal_add_class(struct journal *journal, const struct journal_class *cls) {
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

int graft_journal_add_absent(struct journal *journal, const char *name) {
    if (graft_grow(&journal->absent, &journal->absent_capacity, journal->n_absent, sizeof *journal->absent) != 0) {
        return -1;
    }
    journal->absent[journal->n_absent++] = name;
    return 0;
}

int graft_journal_is_absent(const struct journal *journal, const char *name) {
    size_t i = 0;
    while (i < journal->n_absent && strcmp(journal->absent[i], name) != 0) {
        i++;
    }
    return i < journal->n_absent;
}

static int compare_entries(const void *left, const void *right) {
    const struct journal_entry *a = left, *b = right;
    return strcmp(a->name, b->name);
}

void graft_journal_sort(struct journal *journal) {
    if (journal->n_entries > 0) {
        qsort(journal->entries, journal->n_entries, sizeof *journal->entries, compare_entries);
    }
}

struct journal_entry *graft_journal_find(const struct journal *journal, const char *name) {
    const struct journal_entry key = {.name = name};
    return journal->n_entries == 0
               ? NULL
               : bsearch(&key, journal->entries, journal->n_entries, sizeof *journal->entries, compare_entries);
}

/* The maximum number of pieces that one part of a parameter may be cut into, where two layouts have nothing in common.
 */
enum { MAX_PIECES = 1 << 18 };

struct composing {
    size_t tensor;
    struct journal_entry *entry;
};

static int add_piece(void *data, const struct graft_box *piece) {
    const struct composing *composing = data;
    const struct journal_part part = {composing->tensor, *piece};
    return graft_journal_add_part(composing->entry, &part);
}

static int compose_stored(const struct journal *stored, const struct graft_part *part, struct journal_entry *entry) {
    const struct journal_entry *source = graft_journal_find(stored, part->tensor->name);
    int64_t limit = MAX_PIECES;
    for (size_t k = 0; source != NULL && k < source->n_parts; k++) {
        struct composing composing = {source->parts[k].tensor, entry};
        if (graft_box_compose(&part->box, &source->parts[k].box, &limit, add_piece, &composing) != 0) {
            return -1;
        }
    }
    return 0;
}

static int compose_computed(const struct journal *stored, const struct graft_part *part, struct journal_entry *entry) {
    const struct journal_part whole = {graft_journal_find_output(stored, part->tensor), part->box};
    return whole.tensor != SIZE_MAX ? graft_journal_add_part(entry, &whole) : 0;
}

int graft_journal_compose(const struct journal *stored, const struct graft_value *value, struct journal_entry *entry) {
    int status = 0;
    for (size_t i = 0; i < value->n_parts && status == 0; i++) {
        status = value->parts[i].tensor->computed == NULL ? compose_stored(stored, &value->parts[i], entry)
                                                          : compose_computed(stored, &value->parts[i], entry);
    }
    tidy(entry);
    return status;
}

int graft_journal_add_origin(struct journal *journal, const struct journal *stored, const char *name,
                             const struct graft_value *value, int64_t count) {
    if (graft_journal_add_entry(journal, name) != 0) {
        return -1;
    }
    struct journal_entry *entry = &journal->entries[journal->n_entries - 1];
    if (graft_journal_compose(stored, value, entry) != 0) {
        return -1;
    }
    for (size_t i = 0; i < entry->n_parts; i++) {
        count -= graft_box_count(&entry->parts[i].box);
    }
    if (count != 0) {
        entry->n_parts = 0; /* an irreversible custom operation made the value: it has no origin */
    }
    return 0;
}

int graft_journal_class_at(const struct graft_tree *tree, const struct graft_node *node, struct journal_class *cls) {
    const struct graft_known_class *replacement = node->kernel_on != NULL ? node->kernel_on : node->known;
    const struct graft_known_class *original = node->original;
    if (original == NULL || node->described_by->cls->describe == NULL ||
        graft_snapshot_describing_class(tree->snapshot, original, &original, NULL) != GRAFT_OK ||
        node->described_by == original) {
        return 0;
    }
    *cls = (struct journal_class){replacement->cls->name, node->original->cls->name, replacement->origin.plugin};
    return 1;
}

struct adding {
    struct journal *journal;
    const struct graft_tree *tree;
};

static int add_class_of(void *data, struct graft_node *node, struct graft_error *error) {
    const struct adding *adding = data;
    struct journal_class cls;
    if (!graft_journal_class_at(adding->tree, node, &cls)) {
        return GRAFT_OK;
    }
    return graft_journal_add_class(adding->journal, &cls) == 0 ? GRAFT_OK : graft_fail_memory(error, node->path);
}

int graft_journal_add_classes(struct journal *journal, struct graft_tree *tree, struct graft_error *error) {
    struct adding adding = {journal, tree};
    return graft_tree_walk(tree, add_class_of, &adding, error);
}
