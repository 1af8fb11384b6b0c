/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How stored tensors came from a checkpoint's original ones: what saving runs backwards. A directory in the runtime
 * layout holds it as graft_journal.json (docs/save.md); one in the original layout is its own journal, in which every
 * tensor is one run of itself. Shared by the units of this folder only; all functions are [load].
 */
#ifndef GRAFT_SAVE_JOURNAL_H
#define GRAFT_SAVE_JOURNAL_H

#include "base/json.h"
#include "model/tree.h"
#include "transform/value.h"
#include "weights/checkpoint.h"

#define SAVE_JOURNAL_FILE "graft_journal.json"

/* Elements [begin, begin + count) of original tensor number `tensor`. */
struct journal_run {
    size_t tensor;
    int64_t begin;
    int64_t count;
};

struct journal_tensor {
    const char *name;
    graft_dtype dtype;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    int64_t count;                 /* of elements */
};

/* What is stored under `name`: these runs, one behind the other in row-major order. None for a parameter that the
 * original checkpoint lacks. */
struct journal_entry {
    const char *name;
    struct journal_run *runs;
    size_t n_runs;
    size_t capacity;
};

/* A replacement that gave the runtime layout its parameters. */
struct journal_class {
    const char *class_name;
    const char *original;
    const char *plugin;
};

/* Names are borrowed: from the checkpoint, from a tree, or from `document`. */
struct journal {
    graft_json *document; /* what it was read from, or NULL */
    struct journal_tensor *tensors;
    size_t n_tensors;
    size_t tensor_capacity;
    struct journal_entry *entries;
    size_t n_entries;
    size_t entry_capacity;
    struct journal_class *classes;
    size_t n_classes;
    size_t class_capacity;
};

void journal_finish(struct journal *journal);

/* What a stored tensor looks like. */
struct journal_tensor journal_tensor_of(const struct graft_tensor_view *view);

/* Each returns 0, or -1 when memory ran out. A new entry has no runs yet. */
int journal_add_tensor(struct journal *journal, const struct journal_tensor *tensor);
int journal_add_entry(struct journal *journal, const char *name);
int journal_add_run(struct journal_entry *entry, const struct journal_run *run);
int journal_add_class(struct journal *journal, const struct journal_class *cls);

/* The entry of that name in a journal whose entries are sorted by name; NULL if there is none. */
struct journal_entry *journal_find(const struct journal *journal, const char *name);
void journal_sort(struct journal *journal);

/* Reads DIR/graft_journal.json; without one `journal` is empty. It is checked in itself only (GRAFT_ERROR_MODEL). */
int journal_read(const char *directory, struct journal *journal, struct graft_error *error);

/* The journal of an open checkpoint, sorted: the stored one, and for every tensor it does not know one run of itself.
 */
int journal_of_checkpoint(const char *directory, const struct graft_checkpoint *checkpoint, struct journal *journal,
                          struct graft_error *error);

/* Adds to `entry` what `value`, made of stored tensors, is made of in the end. */
int journal_compose(const struct journal *stored, const struct graft_value *value, struct journal_entry *entry);

/* Adds the replacements of the tree that declare parameters of their own. */
int journal_add_classes(struct journal *journal, struct graft_tree *tree, struct graft_error *error);

/* graft_journal.json; graft_text_free is the caller's. A lack of memory shows in `text`. */
struct graft_text;
void journal_dump(const struct journal *journal, struct graft_text *text);

#endif
