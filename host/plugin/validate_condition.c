/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the conditions of replacements. */
#include "plugin/validate.h"

enum { MAX_CONDITIONS = 256 };

static int validate_condition(const struct graft_place *place, const struct graft_condition *condition,
                              struct graft_error *error) {
    int status = GRAFT_OK;
    int of_tensors = condition->kind == GRAFT_CONDITION_TENSOR || condition->kind == GRAFT_CONDITION_NO_TENSOR;
    if (condition->kind == GRAFT_CONDITION_CONFIG || condition->kind == GRAFT_CONDITION_NO_CONFIG) {
        status = graft_check_text(place, "field", condition->field, GRAFT_MAX_NAME, error);
    } else if (!of_tensors) {
        status = graft_check_failed(place, "kind", error, "expected one of GRAFT_CONDITION_..., %d to %d, got %d",
                                    GRAFT_CONDITION_CONFIG, GRAFT_CONDITION_NO_TENSOR, (int)condition->kind);
    } else if (condition->field != NULL) {
        status = graft_check_failed(place, "field", error, "expected NULL, because the tensors are listed in any_of");
    }
    if (status == GRAFT_OK && (of_tensors || condition->any_of != NULL) &&
        (condition->any_of == NULL || condition->any_of[0] == NULL)) {
        status = graft_check_failed(place, "any_of", error, "expected at least one string, got none");
    }
    return status == GRAFT_OK ? graft_check_names(place, "any_of", condition->any_of, error) : status;
}

int graft_conditions_validate(const struct graft_place *place, const struct graft_replacement *replacement,
                              struct graft_error *error) {
    const struct graft_array array = {"conditions",
                                      "n_conditions",
                                      "condition_stride",
                                      replacement->conditions,
                                      replacement->n_conditions,
                                      0,
                                      MAX_CONDITIONS,
                                      replacement->condition_stride,
                                      GRAFT_CONDITION_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < replacement->n_conditions && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "conditions", .index = i};
        status = validate_condition(&element, graft_replacement_condition(replacement, i), error);
    }
    graft_error_hint(error, "graft/condition.h says what a condition must hold");
    return status;
}
