/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How stored tensors came from a checkpoint's original ones: what saving runs backwards. A directory in the runtime
 * layout holds it as graft_journal.json (docs/save.md); one in the original layout is its own journal, in which every
 * tensor is one part of itself. Shared by the units of this folder only; all functions are [load].
 */
#ifndef GRAFT_SAVE_JOURNAL_H
#define GRAFT_SAVE_JOURNAL_H

#include "base/json.h"
#include "model/tree.h"
#include "plan/plan.h"
#include "value/computed.h"
#include "weights/checkpoint.h"

#define SAVE_JOURNAL_FILE "graft_journal.json"

/* Elements of what is stored (`at`) that are elements of original tensor number `tensor` (`begin`). */
struct journal_part {
    size_t tensor;
    struct graft_box box;
};

struct journal_tensor {
    const char *name;
    graft_dtype dtype;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    int64_t count;                 /* of elements, or of bytes where nothing here knows the type's elements */
    const char *lost;              /* "NAME of plugin ID": the custom operation that no way leads back from; or NULL */
    int32_t made;                  /* 1: no original; an output of one of the journal's uses */
};

/* What is stored under `name`: disjoint parts, sorted by box.at, that are all of it. None for a parameter that the
 * original checkpoint lacks. */
struct journal_entry {
    const char *name;
    struct journal_part *parts;
    size_t n_parts;
    size_t capacity;
};

/* One use of a custom operation that can be undone. Its outputs are tensors of the journal that are `made`; its inputs
 * are parts of tensors, made ones by earlier uses only. */
struct journal_use {
    const struct graft_custom_operation *operation; /* NULL when it was read: see journal_find_operations */
    const struct graft_computed *computed;          /* of this load's plan; NULL when it was read */
    const char *name;
    const char *plugin;              /* "(none)": the host's own */
    struct graft_value_info *inputs; /* [n_inputs] */
    struct journal_entry *origins;   /* [n_inputs] theirs, as far as they are known; without names */
    int32_t n_inputs;
    struct graft_value_info *outputs; /* [n_outputs] */
    int32_t n_outputs;
    size_t first; /* number of the tensor that the first output is; the others follow */
};

/* A replacement that gave the runtime layout its parameters. */
struct journal_class {
    const char *class_name;
    const char *original;
    const char *plugin;
};

/* What was chosen of an option of a plugin that brought such a class. */
struct journal_option {
    const char *plugin;
    const char *name;
    const char *value;
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
    struct journal_option *options;
    size_t n_options;
    size_t option_capacity;
    struct journal_use *uses; /* in the order they have to run in */
    size_t n_uses;
    size_t use_capacity;
    const char **absent; /* parameters that this layout has no tensor for */
    size_t n_absent;
    size_t absent_capacity;
    char **texts; /* what `lost` of tensors points to, unless that is the document's */
    size_t n_texts;
};

void graft_journal_finish(struct journal *journal);

/* What a stored tensor looks like. */
struct journal_tensor graft_journal_tensor_of(const struct graft_tensor_view *view);

/* Each returns 0, or -1 if memory ran out. A new entry has no parts yet. */
int graft_journal_add_tensor(struct journal *journal, const struct journal_tensor *tensor);
int graft_journal_add_entry(struct journal *journal, const char *name);
int graft_journal_add_part(struct journal_entry *entry, const struct journal_part *part);

/* Sorts the parts and joins neighbours. */
void graft_journal_entry_tidy(struct journal_entry *entry);
int graft_journal_add_class(struct journal *journal, const struct journal_class *cls);
int graft_journal_add_option(struct journal *journal, const struct journal_option *option);
int graft_journal_add_absent(struct journal *journal, const char *name);

/* The entry of that name in a journal whose entries are sorted by name; NULL if there is none. */
struct journal_entry *graft_journal_find(const struct journal *journal, const char *name);
void graft_journal_sort(struct journal *journal);

/* Reads DIR/graft_journal.json; without one `journal` is empty. It is checked in itself only (GRAFT_ERROR_MODEL). */
int graft_journal_read(const char *directory, struct journal *journal, struct graft_error *error);

/* The journal of an open checkpoint, sorted: the stored one, and for every tensor it does not know one part of itself.
 */
int graft_journal_of_checkpoint(const char *directory, const struct graft_checkpoint *checkpoint,
                                struct journal *journal, struct graft_error *error);

/* Adds to `entry` what `value`, made of stored tensors, is made of in the end. Returns 0, or -1 if memory ran out or
 * when that takes too many pieces. */
int graft_journal_compose(const struct journal *stored, const struct graft_value *value, struct journal_entry *entry);

/* Adds to `journal` the entry `name` of `count` elements, and what `value` is made of; nothing where a custom operation
 * made it for good. Returns as above. */
int graft_journal_add_origin(struct journal *journal, const struct journal *stored, const char *name,
                             const struct graft_value *value, int64_t count);

/* Adds the plan's custom operations that can be undone, so that values made by them can be composed. */
int graft_journal_add_uses(struct journal *journal, const struct graft_plan *plan, struct graft_error *error);

/* A use with room for its numbers of inputs and outputs, or NULL if memory ran out. */
struct journal_use *graft_journal_add_use(struct journal *journal, int32_t n_inputs, int32_t n_outputs);
void graft_journal_uses_free(struct journal_use *uses, size_t n);

/* The number of the tensor that an output of a plan's custom operation is; SIZE_MAX for one that cannot be undone. */
size_t graft_journal_find_output(const struct journal *journal, const struct graft_tensor_view *view);

/* Gives uses that were read the operations of that name that plugins list, or that the tree's classes have, and lets
 * each `infer` its outputs again: what the file says is not to be believed. */
int graft_journal_find_operations(struct journal *journal, struct graft_tree *tree, struct graft_error *error);

/* Whether the layout has no tensor for a parameter. */
int graft_journal_is_absent(const struct journal *journal, const char *name);

/* Whether the module's parameters are described by a replacement, in whatever way that came by its description: its own
 * `describe`, or that of a base. Then 1, and `cls` is that replacement; 0 where those of the original hold. */
int graft_journal_class_at(const struct graft_tree *tree, const struct graft_node *node, struct journal_class *cls);

/* Adds the replacements of the tree that describe parameters. */
int graft_journal_add_classes(struct journal *journal, struct graft_tree *tree, struct graft_error *error);

/* Adds the options, defaults too, of the plugins that the journal's classes come from. */
int graft_journal_add_options(struct journal *journal, const struct graft_tree *tree, struct graft_error *error);

/* Whether the plugin is loaded, and with another value. */
int graft_journal_differs(const struct journal_option *saved, const struct graft_tree *tree);

/* graft_journal.json; graft_text_free is the caller's. A lack of memory shows in `text`. */
struct graft_text;
void graft_journal_dump(const struct journal *journal, struct graft_text *text);

#endif
