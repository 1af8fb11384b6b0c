/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one allocation of the host fail per run: each in turn, or an even sample if there are many. Each failure must
 * be reported as an error, and the next attempt must succeed. */
#include "base/alloc.h"
#include "validate/compare.h"
#include "validate/lender.h"

/* An action whose allocations fail in turn. */
typedef int (*attempt)(struct graft_subject *subject, struct graft_error *error);

/* The maximum number of allocations that fail for one model, and for all models together. */
enum { MAX_FAILURES = 150, MAX_OF_ALL = 300 };

static int count_allocations(struct graft_subject *subject, attempt try, long *count, struct graft_error *error) {
    const long many = 1L << 40;
    (void)graft_alloc_fail_at(many);
    int status = try(subject, error);
    *count = many - graft_alloc_fail_at(0);
    return status;
}

/* Lets allocations fail. Similar models allocate alike, so each begins its sample at another place. */
static int fail_each(struct graft_subject *subject, attempt try, struct graft_error *error) {
    const long share = MAX_OF_ALL / subject->models, most = share < MAX_FAILURES ? share : MAX_FAILURES;
    long count = 0;
    int status = count_allocations(subject, try, &count, error);
    long stride = count > most && !subject->validation->thorough ? count / most + 1 : 1;
    for (long n = 1 + subject->number * stride / subject->models; n <= count && status == GRAFT_OK; n += stride) {
        struct graft_error own = graft_error_none();
        (void)graft_alloc_fail_at(n);
        int failed = try(subject, &own);
        (void)graft_alloc_fail_at(0);
        if (failed != GRAFT_OK && own.message[0] == '\0') {
            status = graft_validation_fault(subject->validation, error,
                                            "when allocation %ld of %ld fails, it fails without a reason", n, count);
        }
    }
    return status == GRAFT_OK ? try(subject, error) : status;
}

static int open_and_load(struct graft_subject *subject, struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    int status = graft_subject_open(subject, 0, &library, &model, error);
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

static int forward(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    float *logits = NULL;
    int status = graft_subject_has_logits(subject)
                     ? graft_make_logits(subject, subject->model, &prompt, 1, &logits, error)
                     : GRAFT_OK;
    graft_free(logits);
    return status;
}

static int fail_load(struct graft_subject *subject, struct graft_error *error) {
    return fail_each(subject, open_and_load, error);
}

static int fail_forward(struct graft_subject *subject, struct graft_error *error) {
    return fail_each(subject, forward, error);
}

/* Loads and frees the model several times; the plugin must free what it keeps for each. */
static int come_and_go(struct graft_subject *subject, struct graft_error *error) {
    enum { TIMES = 5 };
    int status = GRAFT_OK;
    for (int i = 0; i < TIMES && status == GRAFT_OK; i++) {
        status = open_and_load(subject, error);
    }
    return status;
}

/* Counts the blocks that the modules and `init` took from the host. */
static int free_all(struct graft_subject *subject, struct graft_error *error) {
    graft_region_forget();
    graft_lender_begin(GRAFT_REGION_GUARD_AFTER);
    int status = graft_subject_open(subject, 0, &subject->library, &subject->model, error);
    if (status == GRAFT_OK) {
        status = forward(subject, error);
    }
    graft_subject_close(subject);
    return status == GRAFT_OK ? graft_lender_check_freed(subject->validation, error) : status;
}

static int check_freed(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, free_all, error);
}

static int check_load(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, fail_load, error);
}

static int check_forward(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each(validation, fail_forward, error);
}

static int check_again(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, come_and_go, error);
}

const struct graft_validation_check graft_memory_checks[] = {
    GRAFT_CHECK("memory.freed", "what is allocated with host->alloc is freed with the model", check_freed),
    GRAFT_CHECK("memory.load", "allocations of the host fail in turn while a model is opened and loaded", check_load),
    GRAFT_CHECK("memory.forward", "allocations of the host fail in turn while a model runs", check_forward),
    GRAFT_CHECK("memory.unload", "models are loaded and freed five times, with deinit each time", check_again),
    {{0}, NULL, 0},
};
