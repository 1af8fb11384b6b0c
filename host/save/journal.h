/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How stored tensors came from a checkpoint's original ones: what saving runs backwards. A directory in the runtime
 * layout holds it as graft_journal.json (docs/save.md); one in the original layout is its own journal, in which every
 * tensor is one part of itself. Shared by the units of this folder only; all functions are [load].
 */
#ifndef GRAFT_SAVE_JOURNAL_H
#define GRAFT_SAVE_JOURNAL_H

#include "base/crash_context.h"
#include "base/json.h"
#include "model/tree.h"
#include "plan/plan.h"
#include "value/computed.h"
#include "weights/checkpoint.h"

#define SAVE_JOURNAL_FILE "graft_journal.json"

/* A box of elements: `at` is its place in the stored tensor, `begin` its place in original tensor number `tensor`. */
struct journal_part {
    size_t tensor;
    struct graft_box box;
};

struct journal_tensor {
    const char *name;
    graft_dtype dtype;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    int64_t count;                 /* elements; bytes where the type's elements are unknown here */
    const char *lost;              /* "NAME of plugin ID": the custom operation that cannot be undone; or NULL */
    int32_t made;                  /* 1: not an original tensor, but an output of one of the journal's uses */
};

/* The tensor stored under `name`: disjoint parts, sorted by box.at, that cover it. A parameter that the original
 * checkpoint lacks has no parts. */
struct journal_entry {
    const char *name;
    struct journal_part *parts;
    size_t n_parts;
    size_t capacity;
};

/* One use of a custom operation that can be undone. Its outputs are the journal's `made` tensors; its inputs are parts
 * of tensors, and a `made` tensor among them is the output of an earlier use. */
struct journal_use {
    /* NULL when the use was read from a file: see graft_journal_find_operations */
    const struct graft_custom_operation *operation;
    const struct graft_computed *computed; /* of this load's plan; NULL when the use was read from a file */
    const char *name;
    const char *plugin;              /* the plugin's id; "(none)" for the host's own operations */
    struct graft_value_info *inputs; /* [n_inputs] */
    struct journal_entry *origins;   /* [n_inputs] where the inputs come from, as far as known; without names */
    int32_t n_inputs;
    struct graft_value_info *outputs; /* [n_outputs] */
    int32_t n_outputs;
    size_t first; /* tensor number of the first output; the other outputs follow */
};

/* The call to record while a function of the use's operation runs (base/crash_context.h). */
struct graft_plugin_call graft_journal_use_task(const struct journal_use *use, const char *function);

/* A replacement whose parameters the runtime layout stores. */
struct journal_class {
    const char *class_name;
    const char *original;
    const char *plugin;
};

/* An option's value, of a plugin that provided a class of the saved model. */
struct journal_option {
    const char *plugin;
    const char *name;
    const char *value;
};

/* Names are borrowed: from the checkpoint, from a tree, or from `document`. */
struct journal {
    graft_json *document; /* the document that the journal was read from, or NULL */
    struct journal_tensor *tensors;
    size_t n_tensors;
    size_t tensor_capacity;
    struct journal_entry *entries;
    size_t n_entries;
    size_t entry_capacity;
    struct journal_class *classes;
    size_t n_classes;
    size_t class_capacity;
    struct journal_option *options;
    size_t n_options;
    size_t option_capacity;
    struct journal_use *uses; /* in the order in which they have to run */
    size_t n_uses;
    size_t use_capacity;
    const char **absent; /* parameters for which this layout has no tensor */
    size_t n_absent;
    size_t absent_capacity;
    char **texts; /* the strings that `lost` points to, where the document does not hold them */
    size_t n_texts;
};

void graft_journal_finish(struct journal *journal);

/* What a stored tensor looks like. */
struct journal_tensor graft_journal_tensor_of(const struct graft_tensor_view *view);

/* Each returns 0, or -1 if memory ran out. A new entry has no parts yet. */
int graft_journal_add_tensor(struct journal *journal, const struct journal_tensor *tensor);
int graft_journal_add_entry(struct journal *journal, const char *name);
int graft_journal_add_part(struct journal_entry *entry, const struct journal_part *part);

int graft_journal_add_class(struct journal *journal, const struct journal_class *cls);
int graft_journal_add_option(struct journal *journal, const struct journal_option *option);
int graft_journal_add_absent(struct journal *journal, const char *name);

/* The entry of that name in a journal whose entries are sorted by name; NULL if there is none. */
struct journal_entry *graft_journal_find(const struct journal *journal, const char *name);
void graft_journal_sort(struct journal *journal);

/* Reads DIR/graft_journal.json; without one `journal` is empty. It is checked in itself only (GRAFT_ERROR_MODEL). */
int graft_journal_read(const char *directory, struct journal *journal, struct graft_error *error);

/* The journal of an open checkpoint, sorted: the stored one, and for every tensor it does not know one part of
 * itself. */
int graft_journal_of_checkpoint(const char *directory, const struct graft_checkpoint *checkpoint,
                                struct journal *journal, struct graft_error *error);

/* Adds the original parts of `value`, which is made of stored tensors, to `entry`. Returns 0, or -1 if memory ran out
 * or the value falls into too many pieces. */
int graft_journal_compose(const struct journal *stored, const struct graft_value *value, struct journal_entry *entry);

/* Adds the entry `name` of `count` elements to `journal`, with the original parts of `value`; without parts where an
 * irreversible custom operation made the value. Returns like graft_journal_compose. */
int graft_journal_add_origin(struct journal *journal, const struct journal *stored, const char *name,
                             const struct graft_value *value, int64_t count);

/* Adds the plan's custom operations that can be undone, so that values made by them can be composed. */
int graft_journal_add_uses(struct journal *journal, const struct graft_plan *plan, struct graft_error *error);

/* A use with room for that many inputs and outputs, or NULL if memory ran out. */
struct journal_use *graft_journal_add_use(struct journal *journal, int32_t n_inputs, int32_t n_outputs);
void graft_journal_uses_free(struct journal_use *uses, size_t n);

/* The tensor number of an output of the plan's custom operations; SIZE_MAX if the operation cannot be undone. */
size_t graft_journal_find_output(const struct journal *journal, const struct graft_tensor_view *view);

/* Looks up the operations of uses that were read from a file, by name, among those of plugins and of the tree's
 * classes, and lets each one `infer` its outputs again: the file cannot be trusted. */
int graft_journal_find_operations(struct journal *journal, struct graft_tree *tree, struct graft_error *error);

/* Whether the layout has no tensor for a parameter. */
int graft_journal_is_absent(const struct journal *journal, const char *name);

/* Whether a replacement describes the module's parameters, by its own `describe` or by that of its base. Returns 1 and
 * sets `cls` to that replacement; returns 0 where the original class describes them. */
int graft_journal_class_at(const struct graft_tree *tree, const struct graft_node *node, struct journal_class *cls);

/* Adds the replacements of the tree that describe parameters. */
int graft_journal_add_classes(struct journal *journal, struct graft_tree *tree, struct graft_error *error);

/* Adds the options, including defaults, of the plugins that the journal's classes come from. */
int graft_journal_add_options(struct journal *journal, const struct graft_tree *tree, struct graft_error *error);

/* Whether the plugin is loaded now and its option has another value than the saved one. */
int graft_journal_differs(const struct journal_option *saved, const struct graft_tree *tree);

/* Writes graft_journal.json to `text`, which the caller frees with graft_text_free. If memory ran out, `text->failed`
 * is set. */
struct graft_text;
void graft_journal_dump(const struct journal *journal, struct graft_text *text);

#endif
