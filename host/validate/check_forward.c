/* SPDX-License-Identifier: Apache-2.0 */
/* Runs whole models with the plugin: the results must not depend on how prompts are batched or divided. */
#include <fenv.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/observe.h"
#include "graft/host/process.h"
#include "validate/checks.h"
#include "validate/culprit.h"

/* Opens the model without the plugin. A given model may be quantized, so that it cannot be opened without any plugin:
 * the plugins that it needs stay, and if the validated one is among them, `*original` is NULL and `alone` says why. */
static int open_original(const struct graft_subject *subject, struct graft_library **library,
                         struct graft_model **original, struct graft_error *alone, struct graft_error *error) {
    if (subject->validation->model == NULL) {
        return graft_subject_open(subject, 1, library, original, error);
    }
    struct graft_error own = graft_error_none();
    int status = graft_subject_open(subject, 1, library, original, &own);
    if (status == GRAFT_OK &&
        graft_subject_is_plugins(*original, graft_library_plugin(subject->library, 0)->descriptor->id)) {
        status = graft_error_set(&own, GRAFT_ERROR_MODEL, "", "its weights are quantized, and the plugin reads them");
    }
    if (status != GRAFT_OK) {
        (void)graft_error_set(alone, status, "", "there is no original: %s", own.message);
        graft_model_free(*original);
        *original = NULL;
    }
    return GRAFT_OK;
}

/* Compares the model with its original. Replacements that are used on request only may compute something else. */
static int compare_with(struct graft_subject *subject, struct graft_model *original, struct graft_error *error) {
    if (subject->is_lossy) {
        return graft_subject_leave(subject, "it is lossy");
    }
    if (subject->is_adapted) {
        return graft_subject_leave(subject, "an adapter is in effect");
    }
    const struct graft_prompt prompt = graft_validation_prompt();
    struct graft_error own = graft_error_none();
    int status = graft_same_logits(subject, original, subject->model, "logits with it and without",
                                   GRAFT_VALIDATION_TOLERANCE, subject->is_on_request ? &own : error);
    if (status != GRAFT_OK && !subject->is_on_request) {
        graft_culprit_add(subject, original, &prompt, error);
    }
    return status != GRAFT_OK && subject->is_on_request
               ? graft_subject_leave(subject, "it computes something else, on request only")
               : status;
}

static int agree(struct graft_subject *subject, struct graft_error *error) {
    static struct graft_error alone; /* subject->left points to its message until the caller has copied it */
    struct graft_library *library = NULL;
    struct graft_model *original = NULL;
    if (!graft_subject_has_logits(subject)) {
        return GRAFT_OK;
    }
    if (subject->is_own_type) {
        return graft_subject_leave(subject, "the model type is its own");
    }
    alone = graft_error_none();
    int status = open_original(subject, &library, &original, &alone, error);
    if (status == GRAFT_OK) {
        status =
            original != NULL ? compare_with(subject, original, error) : graft_subject_leave(subject, alone.message);
    }
    graft_model_free(original);
    graft_library_free(library);
    return status;
}

static int repeat(struct graft_subject *subject, struct graft_error *error) {
    return graft_subject_has_logits(subject) ? graft_same_logits(subject, subject->model, subject->model,
                                                                 "logits of the same prompt twice", 0.0, error)
                                             : GRAFT_OK;
}

/* Opens and runs another model of the same directory after the first. */
static int another(struct graft_subject *subject, struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    int status = graft_subject_open(subject, 0, &library, &model, error);
    if (status == GRAFT_OK && graft_subject_has_logits(subject)) {
        status = graft_same_logits(subject, subject->model, model, "logits of two instances", 0.0, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

static int threads(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    float *logits[3] = {NULL};
    int64_t count = GRAFT_VALIDATION_IDS * graft_model_vocab_size(subject->model);
    int status = GRAFT_OK;
    for (int i = 0; i < 3 && status == GRAFT_OK && graft_subject_has_logits(subject); i++) {
        graft_threads_set_count(i + 1);
        status = graft_make_logits(subject, subject->model, &prompt, 1, &logits[i], error);
        if (status == GRAFT_OK && i > 0) {
            status = graft_compare_numbers(subject, logits[i], logits[0], count, 0.0,
                                           "logits with one thread and several", error);
        }
    }
    for (int i = 0; i < 3; i++) {
        graft_free(logits[i]);
    }
    return status;
}

static int batches(struct graft_subject *subject, struct graft_error *error) {
    return graft_subject_has_logits(subject) ? graft_same_in_batch(subject, subject->model, error) : GRAFT_OK;
}

/* Compares with a run under a profiler, which calls each module's forward instead of its optional slots. The order of
 * sums may then differ, as when a wrapper adds to its original's outputs. */
static int slots_with(struct graft_subject *subject, size_t count, struct graft_error *error) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = graft_validation_ids(), .count = count};
    struct graft_profile *profile = NULL;
    float *together = NULL, *alone = NULL;
    int status = graft_make_logits(subject, subject->model, &prompt, 1, &together, error);
    if (status == GRAFT_OK) {
        status = graft_model_profile(subject->model, NULL, &profile, error);
    }
    if (status == GRAFT_OK) {
        status = graft_make_logits(subject, subject->model, &prompt, 1, &alone, error);
    }
    graft_profile_free(profile);
    if (status == GRAFT_OK) {
        status = graft_compare_numbers(
            subject, together, alone, (int64_t)count * graft_model_vocab_size(subject->model),
            GRAFT_VALIDATION_TOLERANCE, "logits of modules that run together and one by one", error);
    }
    graft_free(together);
    graft_free(alone);
    return status;
}

static int slots(struct graft_subject *subject, struct graft_error *error) {
    if (!graft_subject_has_logits(subject)) {
        return GRAFT_OK;
    }
    int status = slots_with(subject, GRAFT_SMALL_BATCH / 2, error);
    return status == GRAFT_OK ? slots_with(subject, GRAFT_VALIDATION_IDS, error) : status;
}

static int bfloat16(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_BFLOAT16};
    struct graft_model *model = NULL;
    int status = graft_tiny_open(subject->library, subject->directory, &options, &model, error);
    if (status == GRAFT_OK) {
        status = graft_model_load(model, error);
    }
    if (status == GRAFT_OK && graft_has_logits(model)) {
        status = graft_same_logits(subject, model, model, "logits in bfloat16", 0.0, error);
    }
    graft_model_free(model);
    return status;
}

static int environment(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    fenv_t before, after;
    float *logits = NULL;
    if (!graft_subject_has_logits(subject)) {
        return GRAFT_OK;
    }
    (void)feclearexcept(FE_ALL_EXCEPT);
    (void)fegetenv(&before);
    int status = graft_make_logits(subject, subject->model, &prompt, 1, &logits, error);
    (void)feclearexcept(FE_ALL_EXCEPT);
    (void)fegetenv(&after);
    graft_free(logits);
    return status == GRAFT_OK && memcmp(&before, &after, sizeof before) != 0
               ? graft_validation_fault(subject->validation, error, "it leaves another floating-point environment")
               : status;
}

/* --- Two models at once --- */

struct runner {
    const struct graft_subject *subject;
    struct graft_model *model;
    float *logits;
    int status;
    struct graft_error error;
};

static void *run(void *data) {
    enum { TIMES = 8 };
    const struct graft_prompt prompt = graft_validation_prompt();
    struct runner *runner = data;
    for (int i = 0; i < TIMES && runner->status == GRAFT_OK; i++) {
        graft_free(runner->logits);
        runner->status = graft_make_logits(runner->subject, runner->model, &prompt, 1, &runner->logits, &runner->error);
    }
    return NULL;
}

static int run_both(struct graft_subject *subject, struct graft_model *other, struct graft_error *error) {
    struct runner runners[] = {{.subject = subject, .model = subject->model}, {.subject = subject, .model = other}};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &runners[1]) != 0) {
        return graft_fail_memory(error, subject->directory);
    }
    (void)run(&runners[0]);
    (void)pthread_join(thread, NULL);
    int status = GRAFT_OK;
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        if (runners[i].status != GRAFT_OK) {
            status = graft_error_set(error, runners[i].status, runners[i].error.source, "%s", runners[i].error.message);
        }
    }
    float *alone = NULL;
    const struct graft_prompt prompt = graft_validation_prompt();
    if (status == GRAFT_OK) {
        status = graft_make_logits(subject, subject->model, &prompt, 1, &alone, error);
    }
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        status = graft_compare_numbers(subject, runners[i].logits, alone,
                                       GRAFT_VALIDATION_IDS * graft_model_vocab_size(other), 0.0,
                                       "logits of a model beside another one, and alone", error);
    }
    graft_free(alone);
    graft_free(runners[0].logits);
    graft_free(runners[1].logits);
    return status;
}

static int at_once(struct graft_subject *subject, struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    int status = graft_subject_open(subject, 0, &library, &model, error);
    if (status == GRAFT_OK && graft_subject_has_logits(subject)) {
        status = run_both(subject, model, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

#define EACH(name, function)                                                          \
    static int name(struct graft_validation *validation, struct graft_error *error) { \
        return graft_tiny_each(validation, (function), error);                        \
    }
EACH(check_agree, agree)
EACH(check_repeat, repeat)
EACH(check_another, another)
EACH(check_threads, threads)
EACH(check_batches, batches)
EACH(check_slots, slots)
EACH(check_bfloat16, bfloat16)
EACH(check_environment, environment)
EACH(check_at_once, at_once)

const struct graft_validation_check graft_forward_checks[] = {
    GRAFT_CHECK("forward.agrees",
                "logits with it and without are the same within 5e-5 of the largest, unless it is lossy, or on request "
                "(GRAFT_REPLACEMENT_ON_REQUEST)",
                check_agree),
    GRAFT_CHECK("forward.choices",
                "with choices of config.json that change its modules, such as biases, each weight is used, and logits "
                "agree",
                graft_check_choices),
    GRAFT_CHECK("forward.larger", "with more layers, longer rows and 1100 tokens logits agree, too",
                graft_check_larger),
    GRAFT_CHECK("forward.repeats", "the same prompt gives the same bits, and finite ones", check_repeat),
    GRAFT_CHECK("forward.instances", "two instances of a model give the same bits", check_another),
    GRAFT_CHECK("forward.threads", "one, two and three threads give the same bits", check_threads),
    GRAFT_CHECK("forward.slots",
                "modules give the same together (as_product, as_kernel) as one by one, within 5e-5 of the largest",
                check_slots),
    GRAFT_CHECK("forward.batches", "prompts of several lengths give the same in a batch as alone", check_batches),
    GRAFT_CHECK("forward.bfloat16", "it runs with products in bfloat16", check_bfloat16),
    GRAFT_CHECK("forward.environment", "it does not change the floating-point environment", check_environment),
    GRAFT_CHECK("forward.at_once", "two models that run in two threads at once give the same bits as alone",
                check_at_once),
    {{0}, NULL, 0},
};
