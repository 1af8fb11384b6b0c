/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graft/host/process.h"
#include "graft/isa.h"
#include "kernels/tiles.h"

enum { UNDECIDED = -1, N_ISAS = GRAFT_ISA_AMX + 1 };

#if defined(__aarch64__)
static const char *const names[N_ISAS] = {"scalar", "neon", "avx512", "avx512_bf16", "amx"};
#else
static const char *const names[N_ISAS] = {"scalar", "avx2", "avx512", "avx512_bf16", "amx"};
#endif

static atomic_int chosen = UNDECIDED;
static atomic_int modelled = 0;

/* The best instruction set below AMX. Tiles are requested from the operating system only if they are going to be
 * used. */
static int best_below_tiles(void) {
#if defined(__aarch64__)
    return GRAFT_ISA_NEON;
#else
    return graft_isa_runnable() - 1; /* the numbers follow the order of the enumeration */
#endif
}

int graft_cpu_best_isa(void) {
    int best = best_below_tiles();
    return best == GRAFT_ISA_AVX512_BF16 && (graft_cpu_models_tiles() || graft_tiles_are_right()) ? GRAFT_ISA_AMX
                                                                                                  : best;
}

const char *graft_cpu_isa_name(int isa) {
    return names[isa];
}

/* Whether GRAFT_ISA names this instruction set. Names with _vnni count as the set without VNNI, because only loops for
 * coded weights are built for it. */
static int is_name(const char *name, int isa) {
    size_t length = strlen(names[isa]);
    return strncmp(name, names[isa], length) == 0 && (name[length] == '\0' || strcmp(name + length, "_vnni") == 0);
}

/* The instruction set that GRAFT_ISA asks for; an unknown name has no effect. */
static int isa_asked_for(const char *name) {
    int isa = GRAFT_ISA_SCALAR;
    while (isa < GRAFT_ISA_AMX && (name == NULL || !is_name(name, isa))) {
        isa++;
    }
    return isa;
}

void graft_cpu_set_isa(int isa) {
    int best = isa < GRAFT_ISA_AMX ? best_below_tiles() : graft_cpu_best_isa();
    atomic_store(&chosen, isa < best ? isa : best);
}

int graft_cpu_isa(void) {
    if (atomic_load(&chosen) == UNDECIDED) {
        const char *name = getenv("GRAFT_ISA");
        if (name != NULL && strcmp(name, "amx_model") == 0) {
            graft_cpu_model_tiles(1);
        }
        graft_cpu_set_isa(isa_asked_for(name));
    }
    return atomic_load(&chosen);
}

void graft_cpu_model_tiles(int yes) {
    atomic_store(&modelled, yes);
}

int graft_cpu_models_tiles(void) {
    return atomic_load(&modelled);
}

/* Reads the brand string from three CPUID answers of 16 bytes each, and trims blanks. */
void graft_processor_name(char name[GRAFT_PROCESSOR_NAME]) {
    char text[GRAFT_PROCESSOR_NAME] = "";
#if defined(__x86_64__)
    enum { ANSWERS = 3 };
    const unsigned first = 0x80000002u;
    unsigned answers[ANSWERS][4] = {{0}};
    for (unsigned i = 0; i < ANSWERS; i++) {
        (void)__get_cpuid(first + i, &answers[i][0], &answers[i][1], &answers[i][2], &answers[i][3]);
    }
    memcpy(text, answers, sizeof answers);
#endif
    const char *begin = text + strspn(text, " ");
    size_t length = strlen(begin);
    while (length > 0 && begin[length - 1] == ' ') {
        length--;
    }
    if (length > 0) {
        (void)snprintf(name, GRAFT_PROCESSOR_NAME, "%.*s", (int)length, begin);
    } else {
        (void)snprintf(name, GRAFT_PROCESSOR_NAME, "unknown");
    }
}
