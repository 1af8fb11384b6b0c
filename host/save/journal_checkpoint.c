/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a checkpoint: checks what graft_journal.json says against the tensors of the directory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "bind/exact.h"
#include "save/journal.h"

/* Whether an original tensor of type `dtype` can be restored from a stored tensor's type: only narrow floating-point
 * types are ever widened. */
static int gives_back(graft_dtype stored, graft_dtype dtype) {
    return stored == dtype || (stored == GRAFT_DTYPE_F32 && graft_exact_is_narrow(dtype));
}

static int check_entry(const char *directory, const struct graft_checkpoint *checkpoint, const struct journal *journal,
                       const struct journal_entry *entry, struct graft_error *error) {
    const struct graft_tensor_view *view = graft_checkpoint_find(checkpoint, entry->name);
    int64_t left = view != NULL ? graft_journal_tensor_of(view).count : 0;
    if (view == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, directory,
                               SAVE_JOURNAL_FILE " lists \"%.300s\", but no file has it", entry->name);
    }
    int fits = 1;
    int64_t all = left;
    for (size_t i = 0; i < entry->n_parts && fits; i++) {
        const struct journal_part *part = &entry->parts[i];
        int64_t count = graft_box_count(&part->box);
        fits = count <= left && graft_box_valid(&part->box, all, journal->tensors[part->tensor].count) &&
               gives_back(view->dtype, journal->tensors[part->tensor].dtype);
        left -= count;
    }
    if (!fits || (entry->n_parts > 0 && left != 0)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, directory,
                               SAVE_JOURNAL_FILE " does not fit the size or type of tensor \"%.300s\"", entry->name);
    }
    return GRAFT_OK;
}

/* A tensor that the journal does not know is its own original. */
static int add_itself(struct journal *journal, const struct graft_tensor_view *view) {
    struct journal_tensor tensor = graft_journal_tensor_of(view);
    struct journal_part all = {journal->n_tensors, graft_box_run(0, 0, tensor.count)};
    if (graft_journal_add_tensor(journal, &tensor) != 0 || graft_journal_add_entry(journal, view->name) != 0) {
        return -1;
    }
    return tensor.count > 0 ? graft_journal_add_part(&journal->entries[journal->n_entries - 1], &all) : 0;
}

static int compare_names(const void *left, const void *right) {
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* Refuses two original tensors of the same name. */
static int check_names(const char *directory, const struct journal *journal, struct graft_error *error) {
    int status = GRAFT_OK;
    const char **names = graft_alloc(journal->n_tensors + 1, sizeof *names);
    if (names == NULL) {
        return graft_fail_memory(error, directory);
    }
    size_t n = 0;
    for (size_t i = 0; i < journal->n_tensors; i++) {
        if (!journal->tensors[i].made) {
            names[n++] = journal->tensors[i].name;
        }
    }
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; i < n && status == GRAFT_OK; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, directory,
                                     SAVE_JOURNAL_FILE " and the files have two original tensors \"%.300s\"", names[i]);
        }
    }
    graft_free(names);
    return status;
}

static int complete(const char *directory, const struct graft_checkpoint *checkpoint, struct journal *journal,
                    struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < journal->n_entries && status == GRAFT_OK; i++) {
        status = check_entry(directory, checkpoint, journal, &journal->entries[i], error);
    }
    size_t n_known = journal->n_entries;
    for (size_t i = 0; i < graft_checkpoint_count(checkpoint) && status == GRAFT_OK; i++) {
        const struct graft_tensor_view *view = graft_checkpoint_at(checkpoint, i);
        struct journal sorted = *journal; /* the entries as read, before this function adds others */
        sorted.n_entries = n_known;
        if (graft_journal_find(&sorted, view->name) == NULL && add_itself(journal, view) != 0) {
            status = graft_fail_memory(error, directory);
        }
    }
    graft_journal_sort(journal);
    return status == GRAFT_OK ? check_names(directory, journal, error) : status;
}

int graft_journal_of_checkpoint(const char *directory, const struct graft_checkpoint *checkpoint,
                                struct journal *journal, struct graft_error *error) {
    int status = graft_journal_read(directory, journal, error);
    if (status == GRAFT_OK) {
        status = complete(directory, checkpoint, journal, error);
    }
    if (status != GRAFT_OK) {
        graft_journal_finish(journal);
    }
    return status;
}
