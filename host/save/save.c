/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of saving: the journal, the content, files in a folder under a temporary name, then the rename. */
#include "save/save.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "save/sidecar.h"
#include "save/write.h"

struct job {
    const char *directory;
    const struct graft_plan *plan;
    const struct graft_save_options *options;
    const struct graft_config_changes *changes; /* or NULL */
    graft_json *metadata;                       /* `__metadata__` of the source's files; NULL if they have none */
    struct graft_text journal;                  /* empty for the original layout */
    struct save_content content;
};

static void job_finish(struct job *job) {
    graft_save_content_finish(&job->content);
    graft_text_free(&job->journal);
    graft_json_free(job->metadata);
}

/* Collects `__metadata__` of the source's files; the first file that has a key decides. */
static int collect_metadata(struct job *job, struct graft_error *error) {
    const struct graft_checkpoint *checkpoint = job->plan->checkpoint;
    for (size_t i = 0; i < graft_checkpoint_file_count(checkpoint); i++) {
        const graft_json *from = graft_checkpoint_file_at(checkpoint, i)->metadata;
        void *iterator = NULL;
        const char *key;
        const graft_json *value;
        if (from != NULL && job->metadata == NULL && (job->metadata = graft_json_new_object()) == NULL) {
            return graft_fail_memory(error, job->directory);
        }
        while (graft_json_next(from, &iterator, &key, &value)) {
            size_t length;
            const char *text = graft_json_string(value, &length);
            if (graft_json_get(job->metadata, key) == NULL &&
                graft_json_set_take(job->metadata, key, graft_json_new_string_n(text, length)) != 0) {
                return graft_fail_memory(error, job->directory);
            }
        }
    }
    return GRAFT_OK;
}

static int collect_runtime(struct job *job, struct journal *stored, struct graft_tree *tree,
                           struct graft_error *error) {
    struct journal journal;
    int status = graft_save_content_runtime(job->plan, stored, &job->content, &journal, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_journal_add_classes(&journal, tree, error);
    if (status == GRAFT_OK) {
        status = graft_journal_add_options(&journal, tree, error);
    }
    if (status == GRAFT_OK) {
        status = graft_journal_add_lacking(&journal, job->plan, error);
    }
    if (status == GRAFT_OK) {
        graft_journal_dump(&journal, &job->journal);
        status = job->journal.failed ? graft_fail_memory(error, SAVE_JOURNAL_FILE) : GRAFT_OK;
    }
    graft_journal_finish(&journal);
    return status;
}

static void note(const struct job *job, const char *what, const struct graft_text *names) {
    if (job->options->on_note != NULL && names->length > 0 && !names->failed) {
        char *text = graft_format("%s: %s", what, names->bytes);
        if (text != NULL) {
            graft_error_clean(text);
            job->options->on_note(job->options->data, text);
        }
        graft_free(text);
    }
}

static int compare_names(const void *left, const void *right) {
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* The names of what is written, sorted; the caller frees the array, not the names. NULL if memory ran out. */
static const char **written_names(const struct save_content *content) {
    const char **names = graft_alloc(content->n_tensors, sizeof *names);
    for (size_t i = 0; names != NULL && i < content->n_tensors; i++) {
        names[i] = content->tensors[i].form.name;
    }
    if (names != NULL && content->n_tensors > 0) {
        qsort(names, content->n_tensors, sizeof *names, compare_names);
    }
    return names;
}

/* Notes how many unused tensors are kept. Those that a patch made, or that the journal splits, are not kept. */
static int note_kept(const struct job *job, struct graft_error *error) {
    const struct graft_checkpoint *checkpoint = job->plan->checkpoint;
    const char **written = written_names(&job->content);
    struct graft_text names = {0};
    if (written == NULL) {
        return graft_fail_memory(error, job->directory);
    }
    for (size_t i = 0; i < job->plan->n_unexpected; i++) {
        const char *name = job->plan->unexpected[i]->name;
        size_t at = graft_checkpoint_lower_bound(checkpoint, name);
        int stored =
            at < graft_checkpoint_count(checkpoint) && strcmp(graft_checkpoint_at(checkpoint, at)->name, name) == 0;
        if (stored && bsearch(&name, written, job->content.n_tensors, sizeof *written, compare_names) != NULL) {
            graft_text_printf(&names, "%s%s", names.length > 0 ? ", " : "", name);
        }
    }
    note(job, "tensors that no parameter uses are kept unchanged", &names);
    graft_text_free(&names);
    graft_free(written);
    return GRAFT_OK;
}

static int fill(const struct job *job, const struct save_staging *staging, struct graft_error *error) {
    struct graft_text left = {0}, linked = {0};
    int status = graft_save_sidecars(job->directory, job->changes, staging, &left, &linked, error);
    if (status == GRAFT_OK && job->journal.length > 0) {
        status = graft_save_write_text(staging, SAVE_JOURNAL_FILE, &job->journal, error);
    }
    if (status == GRAFT_OK) {
        status = graft_save_write_tensors(staging, &job->content, job->metadata, job->options, error);
    }
    if (status == GRAFT_OK) {
        note(job, "not part of the model, so not copied", &left);
        note(job, "copied from outside of the model's directory, where links lead", &linked);
    }
    graft_text_free(&left);
    graft_text_free(&linked);
    return status;
}

static int write_aside(const struct job *job, const char *output, struct graft_error *error) {
    struct save_staging staging;
    struct graft_text cleared = {0};
    int status = graft_save_staging_begin(output, &staging, &cleared, error);
    note(job, "removed what an interrupted save left behind", &cleared);
    graft_text_free(&cleared);
    if (status != GRAFT_OK) {
        return status;
    }
    status = fill(job, &staging, error);
    if (status != GRAFT_OK) {
        graft_save_staging_abort(&staging);
        return status;
    }
    return graft_save_staging_commit(&staging, error);
}

const struct graft_computed *graft_save_irreversible(const struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_computed; i++) {
        if (plan->computed[i]->operation->reverse == NULL && !plan->computed[i]->from_tied) {
            return plan->computed[i];
        }
    }
    return NULL;
}

int graft_save_check_target(const char *directory, const struct graft_plan *plan, const char *output,
                            const struct graft_save_options *options, struct graft_error *error) {
    const struct graft_computed *final = options->runtime_layout ? NULL : graft_save_irreversible(plan);
    int status = graft_save_staging_check(output, directory, error);
    if (status == GRAFT_OK && final != NULL) {
        status =
            graft_error_set(error, GRAFT_ERROR_PLUGIN, directory,
                            "the operation %s of plugin %s, at \"%s\", cannot be undone: there is no way back to "
                            "the original layout",
                            final->operation->name, final->plugin != NULL ? final->plugin : "(none)", final->place);
        graft_error_hint(error, "the runtime layout keeps its results; the original is still in the source directory");
    }
    return status;
}

/* The journal for undoing this load: the checkpoint's own, followed by the plan's custom operations. */
static int find_way_back(const struct job *job, struct graft_tree *tree, struct journal *stored,
                         struct graft_error *error) {
    int status = graft_journal_of_checkpoint(job->directory, job->plan->checkpoint, stored, error);
    if (status == GRAFT_OK) {
        status = graft_journal_add_uses(stored, job->plan, error);
    }
    return status == GRAFT_OK && !job->options->runtime_layout ? graft_journal_find_operations(stored, tree, error)
                                                               : status;
}

int graft_save(const char *directory, struct graft_tree *tree, const struct graft_plan *plan,
               const struct graft_config_changes *changes, const char *output, const struct graft_save_options *options,
               struct graft_error *error) {
    struct job job = {.directory = directory, .plan = plan, .options = options, .changes = changes};
    struct journal stored = {0};
    int status = graft_save_check_target(directory, plan, output, options, error);
    if (status == GRAFT_OK) {
        status = find_way_back(&job, tree, &stored, error);
    }
    if (status == GRAFT_OK) {
        status = options->runtime_layout ? collect_runtime(&job, &stored, tree, error)
                                         : graft_save_content_original(plan, &stored, &job.content, error);
    }
    if (status == GRAFT_OK) {
        status = collect_metadata(&job, error);
    }
    if (status == GRAFT_OK) {
        status = note_kept(&job, error);
    }
    if (status == GRAFT_OK) {
        status = write_aside(&job, output, error);
    }
    job_finish(&job);
    graft_journal_finish(&stored); /* its names are the content's */
    return status;
}
