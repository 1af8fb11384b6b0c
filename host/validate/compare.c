/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/observe.h"

int32_t graft_validation_id(int64_t position) {
    return (int32_t)(3 + position * 29 % 80); /* below the ids that stand for images */
}

const int32_t *graft_validation_ids(void) {
    static int32_t ids[GRAFT_VALIDATION_IDS];
    for (int32_t i = 0; i < GRAFT_VALIDATION_IDS; i++) {
        ids[i] = graft_validation_id(i);
    }
    return ids;
}

struct graft_prompt graft_validation_prompt(void) {
    return (struct graft_prompt){
        .struct_size = sizeof(struct graft_prompt), .ids = graft_validation_ids(), .count = GRAFT_VALIDATION_IDS};
}

int graft_has_logits(const struct graft_model *model) {
    return model->encoding.task == GRAFT_TASK_CAUSAL_LM;
}

int graft_subject_has_logits(struct graft_subject *subject) {
    int has = graft_has_logits(subject->model);
    if (!has) {
        (void)graft_subject_leave(subject, "an encoder, which computes no logits of tokens");
    }
    return has;
}

int graft_make_logits(const struct graft_subject *subject, struct graft_model *model,
                      const struct graft_prompt *prompts, size_t n, float **logits, struct graft_error *error) {
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        tokens += prompts[i].count;
    }
    *logits = graft_alloc(tokens, (size_t)graft_model_vocab_size(model) * sizeof **logits);
    return *logits != NULL ? graft_model_logits(model, prompts, n, *logits, error)
                           : graft_fail_memory(error, subject->directory);
}

int graft_compare_numbers(const struct graft_subject *subject, const float *numbers, const float *reference,
                          int64_t count, double tolerance, const char *what, struct graft_error *error) {
    struct graft_difference found = {0};
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite((double)numbers[i])) {
            return graft_validation_fault(subject->validation, error, "%s: number %lld of %lld is not finite", what,
                                          (long long)i, (long long)count);
        }
    }
    graft_difference_add(&found, numbers, reference, count);
    int same = memcmp(numbers, reference, (size_t)count * sizeof *numbers) == 0;
    if (tolerance == 0.0 ? !same : !(found.difference <= graft_difference_limit(&found, tolerance))) {
        return graft_validation_fault(subject->validation, error, "%s: they differ by %.3g (values up to %.3g)%s", what,
                                      found.difference, found.value, tolerance == 0.0 ? ", and must not in a bit" : "");
    }
    return GRAFT_OK;
}

int graft_same_logits_of(const struct graft_subject *subject, struct graft_model *reference, struct graft_model *model,
                         const struct graft_prompt *prompt, const char *what, double tolerance,
                         struct graft_error *error) {
    float *first = NULL, *second = NULL;
    int status = graft_make_logits(subject, reference, prompt, 1, &first, error);
    if (status == GRAFT_OK) {
        status = graft_make_logits(subject, model, prompt, 1, &second, error);
    }
    if (status == GRAFT_OK) {
        status = graft_compare_numbers(
            subject, second, first, (int64_t)prompt->count * graft_model_vocab_size(reference), tolerance, what, error);
    }
    graft_free(first);
    graft_free(second);
    return status;
}

int graft_same_logits(const struct graft_subject *subject, struct graft_model *reference, struct graft_model *model,
                      const char *what, double tolerance, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    return graft_same_logits_of(subject, reference, model, &prompt, what, tolerance, error);
}

int graft_agrees(const struct graft_subject *subject) {
    struct graft_error ignored = graft_error_none();
    struct graft_library *library = NULL;
    struct graft_model *original = NULL;
    int agrees =
        graft_has_logits(subject->model) && !subject->is_own_type && !subject->is_lossy && !subject->is_on_request &&
        !subject->is_adapted && graft_subject_open(subject, 1, &library, &original, &ignored) == GRAFT_OK &&
        graft_same_logits(subject, original, subject->model, "", GRAFT_VALIDATION_TOLERANCE, &ignored) == GRAFT_OK;
    graft_model_free(original);
    graft_library_free(library);
    return agrees;
}

int graft_same_in_batch(const struct graft_subject *subject, struct graft_model *model, struct graft_error *error) {
    const int32_t *ids = graft_validation_ids();
    const struct graft_prompt prompts[] = {
        {.struct_size = sizeof prompts[0], .ids = ids, .count = 1},
        {.struct_size = sizeof prompts[0], .ids = ids + 5, .count = 7},
        {.struct_size = sizeof prompts[0], .ids = ids, .count = GRAFT_VALIDATION_IDS}};
    float *together = NULL;
    int64_t width = graft_model_vocab_size(model), at = 0;
    int status = graft_make_logits(subject, model, prompts, 3, &together, error);
    for (int i = 0; i < 3 && status == GRAFT_OK; i++) {
        float *alone = NULL;
        int64_t count = (int64_t)prompts[i].count * width;
        status = graft_make_logits(subject, model, &prompts[i], 1, &alone, error);
        if (status == GRAFT_OK) {
            status = graft_compare_numbers(subject, together + at, alone, count, GRAFT_VALIDATION_TOLERANCE,
                                           "logits of a batch and of its prompts alone", error);
        }
        at += count;
        graft_free(alone);
    }
    graft_free(together);
    return status;
}
