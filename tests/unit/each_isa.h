/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a group of tests with each instruction set of this processor. */
#ifndef GRAFT_TEST_EACH_ISA_H
#define GRAFT_TEST_EACH_ISA_H

#include "kernels/cpu.h"

/* Calls `run` with each instruction set, from plain C upwards. Returns the sum of its results, the number of failed
 * tests. */
static inline int each_isa(int (*run)(void)) {
    int failures = 0;
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        print_message("%s\n", graft_cpu_isa_name(isa));
        failures += run();
    }
    return failures;
}

/* Does the same, and then runs with emulated tiles if the processor can (kernels/tile_model.h). */
static inline int each_isa_and_model(int (*run)(void)) {
    int failures = each_isa(run);
    graft_cpu_model_tiles(1);
    if (graft_cpu_best_isa() == GRAFT_ISA_AMX) {
        graft_cpu_set_isa(GRAFT_ISA_AMX);
        print_message("amx_model\n");
        failures += run();
    } else {
        print_message("skipped with the model of tiles: this processor has no AVX512-BF16\n");
    }
    return failures;
}

#endif
