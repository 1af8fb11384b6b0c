/* SPDX-License-Identifier: Apache-2.0 */
/* Calls logits processors as the host does, on guarded copies of what they are lent. */
#include <stdio.h>
#include <string.h>

#include "base/crash_context.h"
#include "base/fail.h"
#include "base/text.h"
#include "graft/logits_processor.h"
#include "validate/checks.h"
#include "validate/compare.h"
#include "validate/crash.h"
#include "validate/lender.h"
#include "validate/tiny.h"

enum { VOCAB = 97, PROMPT = 5, STEPS = 6, FORKED = 3 /* the step before which the state is copied */ };

/* A sequence, to which a processor's state belongs. */
struct trial {
    const struct graft_validation *validation;
    const struct graft_logits_processor *processor;
    const char *plugin;
    char path[120]; /* "logits processor NAME" */
    void *state;
    size_t first; /* number of the first region of the call */
};

/* Ends everything that the call was lent. */
static void end_lent(const struct trial *trial) {
    graft_region_end_borrowed(trial->first, GRAFT_REGION_ARRAY);
    graft_region_end_borrowed(trial->first, GRAFT_REGION_STRUCT);
}

static struct graft_region *lend(const struct trial *trial, const char *what, enum graft_region_kind kind,
                                 const char *name, const void *data, size_t bytes, size_t element) {
    struct graft_region *region = graft_region_make(kind, name, bytes, element > 1 ? element : 0, (int32_t)element);
    if (region != NULL) {
        (void)snprintf(region->owner, sizeof region->owner, "%s of %s", what, trial->path);
        memcpy(region->data, data, bytes);
    }
    return region;
}

/* The first `count` ids of the sequence, which may only be read. */
static struct graft_region *lend_ids(const struct trial *trial, const char *what, int64_t count) {
    int32_t ids[PROMPT + STEPS];
    char name[32];
    for (int64_t i = 0; i < count; i++) {
        ids[i] = graft_validation_id(i);
    }
    (void)snprintf(name, sizeof name, "ids [%lld]", (long long)count);
    struct graft_region *region =
        lend(trial, what, GRAFT_REGION_ARRAY, name, ids, (size_t)count * sizeof *ids, sizeof *ids);
    if (region != NULL) {
        graft_region_seal(region);
    }
    return region;
}

static int judge(const struct trial *trial, const char *what, int status, const struct graft_error *own,
                 struct graft_error *error) {
    return status != GRAFT_OK && own->message[0] == '\0'
               ? graft_validation_fault(trial->validation, error,
                                        "%s of %s failed with status %d and recorded no error", what, trial->path,
                                        status)
               : GRAFT_OK;
}

static int begin(struct trial *trial, struct graft_error *own, struct graft_error *error) {
    const int32_t eos = 2;
    struct graft_logits_sequence sequence = {.struct_size = sizeof sequence,
                                             .count = PROMPT,
                                             .vocab_size = VOCAB,
                                             .n_eos_ids = 1,
                                             .directory = trial->validation->folder,
                                             .setting = ""};
    const struct graft_plugin_call task = {.what = "create", .path = trial->path, .plugin = trial->plugin};
    trial->first = graft_region_count();
    trial->state = NULL;
    if (trial->processor->create == NULL) {
        return GRAFT_OK;
    }
    const struct graft_region *ids = lend_ids(trial, "create", PROMPT);
    const struct graft_region *ends =
        lend(trial, "create", GRAFT_REGION_ARRAY, "eos_ids [1]", &eos, sizeof eos, sizeof eos);
    if (ids == NULL || ends == NULL) {
        return graft_fail_memory(error, trial->path);
    }
    sequence.ids = (const int32_t *)(const void *)ids->data;
    sequence.eos_ids = (const int32_t *)(const void *)ends->data;
    const struct graft_region *lent =
        lend(trial, "create", GRAFT_REGION_STRUCT, "sequence", &sequence, sizeof sequence, 1);
    if (lent == NULL) {
        return graft_fail_memory(error, trial->path);
    }
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = trial->processor->create((const void *)lent->data, &trial->state, own);
    graft_crash_context_end(before);
    end_lent(trial);
    return judge(trial, "create", status, own, error);
}

static void destroy(const struct trial *trial, void *state) {
    const struct graft_plugin_call task = {.what = "destroy", .path = trial->path, .plugin = trial->plugin};
    if (trial->processor->destroy != NULL && state != NULL) {
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        trial->processor->destroy(state);
        graft_crash_context_end(before);
    }
}

/* Makes the scores of a step. */
static int process(struct trial *trial, int step, float *scores, struct graft_error *own, struct graft_error *error) {
    const struct graft_plugin_call task = {.what = "process", .path = trial->path, .plugin = trial->plugin};
    struct graft_logits_args args = {
        .struct_size = sizeof args, .count = PROMPT + step, .prompt = PROMPT, .vocab_size = VOCAB};
    char name[32];
    graft_tiny_fill(scores, VOCAB, 0.0F, (uint64_t)step + 1);
    trial->first = graft_region_count();
    (void)snprintf(name, sizeof name, "scores [%d]", VOCAB);
    struct graft_region *lent =
        lend(trial, "process", GRAFT_REGION_ARRAY, name, scores, VOCAB * sizeof *scores, sizeof *scores);
    const struct graft_region *ids = lend_ids(trial, "process", args.count);
    args.ids = ids != NULL ? (const int32_t *)(const void *)ids->data : NULL;
    args.scores = lent != NULL ? (float *)(void *)lent->data : NULL;
    const struct graft_region *given = lend(trial, "process", GRAFT_REGION_STRUCT, "args", &args, sizeof args, 1);
    if (lent == NULL || ids == NULL || given == NULL) {
        return graft_fail_memory(error, trial->path);
    }
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = trial->processor->process(trial->state, (const void *)given->data, own);
    graft_crash_context_end(before);
    memcpy(scores, lent->data, VOCAB * sizeof *scores);
    const int is_whole = graft_region_is_whole(lent);
    end_lent(trial);
    return is_whole ? judge(trial, "process", status, own, error)
                    : graft_validation_fault(trial->validation, error, "%s writes outside of scores [%d]", trial->path,
                                             VOCAB);
}

/* Goes on with a copy of the state, if there is one. */
static int fork_state(struct trial *trial, struct graft_error *own, struct graft_error *error) {
    const struct graft_plugin_call task = {.what = "fork", .path = trial->path, .plugin = trial->plugin};
    void *copy = NULL;
    if (trial->processor->fork == NULL || trial->state == NULL) {
        return GRAFT_OK;
    }
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = trial->processor->fork(trial->state, &copy, own);
    graft_crash_context_end(before);
    if (status == GRAFT_OK) {
        destroy(trial, trial->state);
        trial->state = copy;
    }
    return judge(trial, "fork", status, own, error);
}

static int accept(const struct trial *trial, int step, struct graft_error *own, struct graft_error *error) {
    const struct graft_plugin_call task = {.what = "accept", .path = trial->path, .plugin = trial->plugin};
    if (trial->processor->accept == NULL) {
        return GRAFT_OK;
    }
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = trial->processor->accept(trial->state, graft_validation_id(PROMPT + step), own);
    graft_crash_context_end(before);
    return judge(trial, "accept", status, own, error);
}

/* Bits are compared, since scores may be NaN. */
static int are_same(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

/* One step: the scores, twice, as a step that failed is tried again. */
static int step(struct trial *trial, int number, float *scores, struct graft_error *own, struct graft_error *error) {
    float again[VOCAB];
    int status = process(trial, number, scores, own, error);
    if (status == GRAFT_OK && own->code == GRAFT_OK) {
        status = process(trial, number, again, own, error);
    }
    if (status == GRAFT_OK && own->code == GRAFT_OK && !are_same(again, scores, sizeof again)) {
        status = graft_validation_fault(trial->validation, error,
                                        "%s: process gives other scores when it is called again in the same state",
                                        trial->path);
    }
    return status == GRAFT_OK && own->code == GRAFT_OK ? accept(trial, number, own, error) : status;
}

/* A whole sequence. An error that the processor gives a reason for ends it, as one that needs a setting may. */
static int run(struct trial *trial, enum graft_region_side side, int forks, float *scores, struct graft_error *own,
               struct graft_error *error) {
    graft_region_forget();
    graft_lender_begin(side);
    int status = begin(trial, own, error);
    for (int i = 0; i < STEPS && status == GRAFT_OK && own->code == GRAFT_OK; i++) {
        if (forks && i == FORKED) {
            status = fork_state(trial, own, error);
        }
        if (status == GRAFT_OK && own->code == GRAFT_OK) {
            status = step(trial, i, scores + (ptrdiff_t)i * VOCAB, own, error);
        }
    }
    destroy(trial, trial->state);
    return status == GRAFT_OK ? graft_lender_check_blocks(trial->validation, error) : status;
}

static int try_processor(struct trial *trial, struct graft_text *refused, struct graft_error *error) {
    static float scores[2][STEPS * VOCAB];
    struct graft_error own = graft_error_none();
    int status = run(trial, GRAFT_REGION_GUARD_AFTER, 0, scores[0], &own, error);
    if (status == GRAFT_OK && own.code == GRAFT_OK) {
        status = run(trial, GRAFT_REGION_GUARD_BEFORE, 1, scores[1], &own, error);
    }
    if (own.code != GRAFT_OK) {
        graft_text_printf(refused, "%s%s: %s", refused->length > 0 ? "; " : "", trial->path, own.message);
    } else if (status == GRAFT_OK && !are_same(scores[0], scores[1], sizeof scores[0])) {
        status = graft_validation_fault(
            trial->validation, error, "%s gives other scores for the same sequence, when it begins again or is copied",
            trial->path);
    }
    return status;
}

static int try_all(struct graft_validation *validation, const struct graft_plugin *plugin, struct graft_error *error) {
    const int guards = (graft_plugin_flags(plugin) & GRAFT_PLUGIN_GUARDS_STATICS) == 0;
    struct graft_text refused = {0};
    int status = GRAFT_OK;
    for (int32_t i = 0; i < graft_plugin_n_logits_processors(plugin) && status == GRAFT_OK; i++) {
        struct trial trial = {
            .validation = validation, .processor = graft_plugin_logits_processor(plugin, i), .plugin = plugin->id};
        (void)snprintf(trial.path, sizeof trial.path, "logits processor %.80s", trial.processor->name);
        if (guards) {
            (void)graft_crash_guard_statics(1);
        }
        status = try_processor(&trial, &refused, error);
        if (guards) {
            (void)graft_crash_guard_statics(0);
        }
    }
    if (status == GRAFT_OK && refused.length > 0) {
        (void)graft_validation_say(validation, refused.bytes);
    }
    graft_text_free(&refused);
    return status;
}

static int check_processors(struct graft_validation *validation, struct graft_error *error) {
    const struct graft_plugin *descriptor = NULL;
    struct graft_library *library = NULL;
    int status = graft_validation_descriptor(validation, &descriptor, error);
    if (status == GRAFT_OK && graft_plugin_n_logits_processors(descriptor) == 0) {
        return graft_validation_skip(validation, "it has no logits processors");
    }
    if (status == GRAFT_OK) {
        status = graft_validation_library(validation, NULL, 0, &library, error);
    }
    if (status == GRAFT_OK) {
        status = try_all(validation, graft_library_plugin(library, 0)->descriptor, error);
    }
    graft_library_free(library);
    return status;
}

const struct graft_validation_check graft_processor_checks[] = {
    GRAFT_OBJECT_CHECK(
        "processors.calls",
        "logits processors stay within the memory that they are lent, and give the same when repeated or copied",
        check_processors),
    {{0}, NULL, 0},
};
