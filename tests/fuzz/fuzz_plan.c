/* SPDX-License-Identifier: Apache-2.0 */
/* Saved plans for `plan --diff`: refused, or compared with a current plan. No plan differs from itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/plan_diff.h"
#include "cli/report/report.h"
#include "fuzz/model.h"
#include "fuzz/target.h"

static graft_json *plan;

static void clean_up(void) {
    graft_json_free(plan);
}

static void make_plan(void) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    if (graft_library_create(&library, &error) != GRAFT_OK ||
        graft_model_open(library, GRAFT_FUZZ_MODELS "/plain/llama", &options, &model, &error) != GRAFT_OK) {
        (void)fprintf(stderr, "%s: %s\n", error.source, error.message);
        exit(2);
    }
    plan = graft_report_json(model);
    graft_model_free(model);
    graft_library_free(library);
    (void)atexit(clean_up);
}

/* GRAFT_OK or GRAFT_ERROR_VERIFY if it is a plan. */
static int compare(const graft_json *document, const char *file, FILE *nowhere) {
    struct graft_error error = graft_error_none();
    int status = graft_plan_diff(document, file, nowhere, &error);
    if (status != error.code || (status != GRAFT_OK && error.message[0] == '\0') ||
        (status != GRAFT_OK && status != GRAFT_ERROR_VERIFY && status != GRAFT_ERROR_MODEL)) {
        abort();
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static FILE *nowhere;
    struct graft_error error = graft_error_none();
    graft_json *own = NULL;
    if (nowhere == NULL) {
        nowhere = fopen("/dev/null", "w");
        make_plan();
    }
    const char *file = fuzz_file("plan.json", bytes, size);
    if (nowhere == NULL) {
        abort();
    }
    int is_plan = compare(plan, file, nowhere) != GRAFT_ERROR_MODEL;
    int is_json = graft_json_parse((const char *)bytes, size, file, &own, &error) == GRAFT_OK;
    if ((is_plan && !is_json) || (is_json && compare(own, file, nowhere) != (is_plan ? GRAFT_OK : GRAFT_ERROR_MODEL))) {
        abort();
    }
    graft_json_free(own);
    return 0;
}
