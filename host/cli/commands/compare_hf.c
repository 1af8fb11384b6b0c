/* SPDX-License-Identifier: Apache-2.0 */
/* `compare-hf`: runs share/compare_layers.py, which compares a model with transformers. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands/commands.h"
#include "cli/program.h"

/* The interpreter that has transformers. */
static const char *find_python(void) {
    const char *chosen = getenv("GRAFT_PYTHON");
    return chosen != NULL && chosen[0] != '\0' ? chosen : "python3";
}

static int become(const char *script, const char *program, const char *const *arguments, struct graft_error *error) {
    const char *python = find_python();
    const char *const first[] = {python, script, "--host", program};
    const size_t n_first = sizeof first / sizeof first[0];
    size_t n = 0;
    while (arguments[n] != NULL) {
        n++;
    }
    const char **all = graft_alloc(n_first + n + 1, sizeof *all);
    if (all == NULL) {
        return graft_fail_memory(error, "compare-hf");
    }
    for (size_t i = 0; i < n_first + n; i++) {
        all[i] = i < n_first ? first[i] : arguments[i - n_first];
    }
    all[n_first + n] = NULL;
    (void)execvp(python, (char *const *)(uintptr_t)all); /* execvp does not change them */
    int failed = errno;
    graft_free(all);
    return failed == ENOENT
               ? graft_error_set(
                     error, GRAFT_ERROR_USAGE, "compare-hf",
                     "needs Python with torch and transformers, and there is no %s (GRAFT_PYTHON names one)", python)
               : graft_fail_errno(error, GRAFT_ERROR_IO, python, "cannot be started", failed);
}

int graft_command_compare_hf(const struct graft_options *options, struct graft_error *error) {
    char *script = graft_program_comparer(), *program = NULL;
    int status = script != NULL
                     ? graft_program_path(&program, error)
                     : graft_error_set(error, GRAFT_ERROR_USAGE, "compare-hf",
                                       "its script is not installed: expected " GRAFT_DATA_DIR "/compare_layers.py");
    if (status == GRAFT_OK) {
        status = become(script, program, options->arguments, error);
    }
    graft_free(program);
    graft_free(script);
    return status;
}
