/* SPDX-License-Identifier: Apache-2.0 */
/* A group of tests on each instruction set that this processor has. */
#ifndef GRAFT_TEST_EACH_ISA_H
#define GRAFT_TEST_EACH_ISA_H

#include "kernels/cpu.h"

/* Calls `run` on each, from plain C upwards; the sum of what it returns: how many tests failed. */
static inline int each_isa(int (*run)(void)) {
    int failures = 0;
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        print_message("%s\n", graft_cpu_isa_name(isa));
        failures += run();
    }
    return failures;
}

/* The same, and then with emulated tiles where the processor allows it (kernels/tile_model.h). */
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
