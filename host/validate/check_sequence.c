/* SPDX-License-Identifier: Apache-2.0 */
/* Runs sequences in steps, and forks and rewinds them. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "generate/session.h"
#include "hooks/forward_hooks.h"
#include "validate/culprit.h"

/* Computes the logits of the last token of the first `n` ids in a single step, in a session of its own. */
static int at_once(const struct graft_subject *subject, size_t n, float *last, struct graft_error *error) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = graft_validation_ids(), .count = n};
    size_t width = (size_t)graft_model_vocab_size(subject->model);
    float *logits = NULL;
    int status = graft_make_logits(subject, subject->model, &prompt, 1, &logits, error);
    if (status == GRAFT_OK) {
        memcpy(last, logits + (n - 1) * width, width * sizeof *last);
    }
    graft_free(logits);
    return status;
}

struct walk {
    const struct graft_subject *subject;
    struct graft_session *session;
    float *expected; /* [vocab_size] */
};

/* Appends ids [from, to) to a slot, and compares the last logits with those of a single step. */
static int step(struct walk *walk, int32_t slot, size_t from, size_t to, const char *what, struct graft_error *error) {
    const struct graft_ids_view view = {.ids = graft_validation_ids() + from, .count = to - from};
    const float *logits = NULL;
    int64_t width = graft_model_vocab_size(walk->subject->model);
    int status = graft_session_step(walk->session, &slot, &view, 1, GRAFT_LOGITS_LAST, &logits, error);
    if (status == GRAFT_OK) {
        status = at_once(walk->subject, to, walk->expected, error);
    }
    return status == GRAFT_OK ? graft_compare_numbers(walk->subject, logits, walk->expected, width,
                                                      GRAFT_VALIDATION_TOLERANCE, what, error)
                              : status;
}

static int steps(struct walk *walk, struct graft_error *error) {
    static const size_t ends[] = {0, 5, 6, 7, 12, 30, 31};
    int status = GRAFT_OK;
    for (size_t i = 1; i < sizeof ends / sizeof ends[0] && status == GRAFT_OK; i++) {
        status = step(walk, 0, ends[i - 1], ends[i], "logits of a prompt in steps and at once", error);
    }
    return status;
}

static int forks(struct walk *walk, struct graft_error *error) {
    int status = step(walk, 0, 0, 9, "logits before a fork", error);
    if (status == GRAFT_OK) {
        status = graft_session_fork(walk->session, 0, 1, error);
    }
    for (int32_t slot = 0; slot < 2 && status == GRAFT_OK; slot++) {
        status = step(walk, slot, 9, 14, slot == 0 ? "logits after a fork" : "logits of the copy", error);
    }
    return status;
}

/* Rewinds to a length in the middle of an earlier step, then continues with the same ids. */
static int rewind_to(struct walk *walk, int64_t length, struct graft_error *error) {
    int64_t reached = 0;
    int status = graft_session_rewind(walk->session, 0, length, &reached, error);
    return status == GRAFT_OK ? step(walk, 0, (size_t)reached, 17, "logits after going back", error) : status;
}

static int rollback(struct walk *walk, struct graft_error *error) {
    int status = step(walk, 0, 0, 11, "logits", error);
    if (status == GRAFT_OK) {
        status = step(walk, 0, 11, 15, "logits", error);
    }
    if (status == GRAFT_OK) {
        status = rewind_to(walk, 11, error);
    }
    if (status == GRAFT_OK) {
        status = rewind_to(walk, 6, error);
    }
    return status == GRAFT_OK ? rewind_to(walk, 0, error) : status;
}

/* --- Steps that fail --- */

/* Runs tokens [8, 11), whose logits are ignored. */
static int try_step(struct walk *walk) {
    const struct graft_ids_view view = {.ids = graft_validation_ids() + 8, .count = 3};
    struct graft_error own = graft_error_none();
    const float *logits = NULL;
    int32_t slot = 0;
    return graft_session_step(walk->session, &slot, &view, 1, GRAFT_LOGITS_LAST, &logits, &own);
}

static void without_memory(struct walk *walk) {
    enum { TRIES = 40 };
    int status = GRAFT_ERROR_INTERNAL;
    for (long n = 1; n <= TRIES && status != GRAFT_OK; n++) {
        (void)graft_alloc_fail_at(n);
        status = try_step(walk);
        (void)graft_alloc_fail_at(0);
    }
    if (status == GRAFT_OK) {
        int64_t reached = 0; /* length at which the step began */
        (void)graft_session_rewind(walk->session, 0, 8, &reached, NULL);
    }
}

/* A failure that hooks cause. */
struct failure {
    long left;                     /* calls of modules before the one that fails */
    const char *path;              /* of the module that failed; NULL: none did */
    const struct graft_node *deaf; /* the first module above it that did not fail; or NULL */
};

/* Runs after each call of a module that did not fail, and lets one of them fail. */
static int fail_after_call(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct failure *failure = data;
    const char *path = hooked->node->path;
    if (failure->path != NULL && failure->deaf == NULL && graft_path_is_below(failure->path, path)) {
        failure->deaf = hooked->node;
    }
    if (failure->left-- != 0) {
        return GRAFT_OK;
    }
    failure->path = path;
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, path, "on purpose, in a check of validate");
}

/* Lets a step fail after the first module call, then after the second, and so on until none fails. */
static int after_each_module(struct walk *walk, struct graft_error *error) {
    enum { TRIES = 60 };
    int status = GRAFT_OK, failed = GRAFT_ERROR_INTERNAL;
    for (long n = 0; n <= TRIES && status == GRAFT_OK && failed != GRAFT_OK; n++) {
        struct failure failure = {.left = n < TRIES ? n : LONG_MAX};
        const struct graft_forward_hooks hooks = {NULL, NULL, fail_after_call, &failure};
        struct graft_hook_handle *handle = NULL;
        status = graft_forward_hooks_register(walk->subject->model->tree, &hooks, &handle, error);
        failed = status == GRAFT_OK ? try_step(walk) : status;
        graft_forward_hooks_remove(handle);
        if (failure.deaf != NULL) {
            status = graft_validation_fault(walk->subject->validation, error,
                                            "%s (%s) goes on although %s failed: it has to return the status of a call",
                                            failure.deaf->path, failure.deaf->class_name, failure.path);
        }
    }
    return status;
}

/* Checks that a step that fails, in a module or for lack of memory, leaves the sequence unchanged. */
static int failed_step(struct walk *walk, struct graft_error *error) {
    int status = step(walk, 0, 0, 8, "logits", error);
    if (status == GRAFT_OK) {
        without_memory(walk);
        status = after_each_module(walk, error);
    }
    return status == GRAFT_OK ? step(walk, 0, 11, 15, "logits after steps that failed", error) : status;
}

static int with_session(struct graft_subject *subject, int (*check)(struct walk *walk, struct graft_error *error),
                        struct graft_error *error) {
    struct walk walk = {.subject = subject};
    if (!graft_subject_has_logits(subject)) {
        return GRAFT_OK;
    }
    if (graft_tree_number(subject->model->tree, "bidirectional", 0) != 0) { /* graft/family.h */
        return graft_subject_leave(subject, "its tokens see those after them");
    }
    if (graft_model_has_encoder(subject->model)) {
        return graft_subject_leave(subject, "its prompts are what its encoder reads");
    }
    walk.expected = graft_alloc((size_t)graft_model_vocab_size(subject->model), sizeof *walk.expected);
    int status = walk.expected != NULL ? graft_model_session(subject->model, 2, &walk.session, error)
                                       : graft_fail_memory(error, subject->directory);
    if (status == GRAFT_OK) {
        status = check(&walk, error);
    }
    graft_session_free(walk.session);
    graft_free(walk.expected);
    return status;
}

#define SEQUENCE(name, function)                                                      \
    static int name##_one(struct graft_subject *subject, struct graft_error *error) { \
        return with_session(subject, (function), error);                              \
    }                                                                                 \
    static int name(struct graft_validation *validation, struct graft_error *error) { \
        return graft_tiny_each(validation, name##_one, error);                        \
    }
SEQUENCE(check_steps, steps)
SEQUENCE(check_forks, forks)
SEQUENCE(check_rollback, rollback)
SEQUENCE(check_failed_step, failed_step)

const struct graft_validation_check graft_sequence_checks[] = {
    GRAFT_CHECK("sequence.steps", "a prompt in steps of several sizes gives the same as at once", check_steps),
    GRAFT_CHECK("sequence.fork", "a copy of a sequence and the original continue alike", check_forks),
    GRAFT_CHECK("sequence.rollback", "a rewound sequence continues as if it had never gone further", check_rollback),
    GRAFT_CHECK("sequence.failed_step", "a step that fails leaves the sequence unchanged", check_failed_step),
    {{0}, NULL, 0},
};
